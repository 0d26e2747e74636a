// JPEG by libjpeg, whose errors come by a jump: nothing that has to be destroyed is made between.
#include "holdfast/io/images.h"

#ifdef HOLDFAST_JPEG
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>  // before jpeglib.h, which does not include it
#include <cstring>
#include <vector>
#endif

namespace holdfast::io {

#ifndef HOLDFAST_JPEG

namespace {
std::string absent() { return "this build of Holdfast has no libjpeg"; }
}  // namespace
std::string read_jpeg(std::string_view, const JpegDecoding&, const ImagePlace&) { return absent(); }
std::string jpeg_size(std::string_view, ImageSize&) { return absent(); }
std::string write_jpeg(const uint8_t*, const ImageSize&, const JpegEncoding&, std::string&) {
  return absent();
}

#else

namespace {

struct Trouble {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX];
  bool cut_off;
};

void jump(j_common_ptr info) {
  auto* trouble = reinterpret_cast<Trouble*>(info->err);
  info->err->format_message(info, trouble->text);
  std::longjmp(trouble->back, 1);
}
// Warnings are kept, not printed; a file that ends too early is one.
void note(j_common_ptr info, int level) {
  if (level >= 0) return;
  ++info->err->num_warnings;
  auto* trouble = reinterpret_cast<Trouble*>(info->err);
  if (info->err->msg_code == JWRN_JPEG_EOF) trouble->cut_off = true;
}
void set_up(Trouble& trouble) {
  jpeg_std_error(&trouble.manager);
  trouble.manager.error_exit = jump;
  trouble.manager.emit_message = note;
  trouble.text[0] = 0;
  trouble.cut_off = false;
}

void begin(jpeg_decompress_struct& info, std::string_view file) {
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info, TRUE);
}

constexpr int64_t kMostPixels = int64_t{1} << 29;

// Four channels are ink: what is left of light through cyan, magenta and yellow, and then black.
void from_ink(const uint8_t* row, uint8_t* to, int64_t width, bool inverted) {
  for (int64_t x = 0; x < width; ++x, row += 4, to += 3)
    for (int k = 0; k < 3; ++k) {
      int ink = row[k], black = row[3];
      to[k] =
          static_cast<uint8_t>(inverted ? ink * black / 255 : (255 - ink) * (255 - black) / 255);
    }
}

/// What a decoding needs between jumps.
struct Decoding {
  jpeg_decompress_struct info;
  Trouble trouble;
  ImageSize size;
  uint8_t* to = nullptr;
  uint8_t* ink = nullptr;  // a row of four channels
  int64_t rows = 0;
  bool begun = false;
};

// Up to where the size is known.
bool read_size(Decoding& d, std::string_view file, const JpegDecoding& o) {
  if (setjmp(d.trouble.back)) return false;
  begin(d.info, file);
  d.info.scale_num = 1;
  d.info.scale_denom = static_cast<unsigned>(o.ratio);
  d.info.do_fancy_upsampling = o.fancy_upscaling ? TRUE : FALSE;
  d.info.dct_method = o.accurate ? JDCT_ISLOW : JDCT_IFAST;
  int own = d.info.num_components;
  int channels = o.channels ? o.channels : own == 4 ? 3 : std::min(own, 3);
  if (channels == 1)
    d.info.out_color_space = JCS_GRAYSCALE;
  else
    d.info.out_color_space = own == 4 ? JCS_CMYK : JCS_RGB;
  jpeg_calc_output_dimensions(&d.info);
  d.size = {1, d.info.output_height, d.info.output_width, channels};
  return true;
}

bool read_rows(Decoding& d, bool recover) {
  if (setjmp(d.trouble.back)) return false;
  if (!d.begun) {
    jpeg_start_decompress(&d.info);
    d.begun = true;
  }
  int64_t stride = d.size.width * d.size.channels;
  while (d.info.output_scanline < d.info.output_height) {
    uint8_t* row = d.to + stride * d.info.output_scanline;
    JSAMPROW into = d.ink ? d.ink : row;
    if (jpeg_read_scanlines(&d.info, &into, 1) != 1) return false;
    if (d.ink) from_ink(d.ink, row, d.size.width, d.info.saw_Adobe_marker);
    if (d.trouble.cut_off && !recover) return false;  // else the library fills in what is missing
    ++d.rows;
  }
  jpeg_finish_decompress(&d.info);
  return true;
}

/// Ends what libjpeg holds, however the function ends.
template <class Info>
struct Ended {
  explicit Ended(Info& i) : info(&i) {}
  ~Ended() { jpeg_destroy(reinterpret_cast<j_common_ptr>(info)); }
  Ended(const Ended&) = delete;
  Info* info;
};

struct Encoding {
  jpeg_compress_struct info;
  Trouble trouble;
  unsigned char* bytes = nullptr;
  unsigned long count = 0;  // libjpeg's type
};

bool write_rows(Encoding& e, const uint8_t* pixels, const ImageSize& size, const JpegEncoding& o,
                const std::vector<unsigned char>& marker) {
  if (setjmp(e.trouble.back)) return false;
  jpeg_create_compress(&e.info);
  jpeg_mem_dest(&e.info, &e.bytes, &e.count);
  e.info.image_width = static_cast<JDIMENSION>(size.width);
  e.info.image_height = static_cast<JDIMENSION>(size.height);
  e.info.input_components = static_cast<int>(size.channels);
  e.info.in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&e.info);
  if (o.optimize_size) e.info.optimize_coding = TRUE;
  e.info.density_unit = o.per_centimetre ? 2 : 1;
  e.info.X_density = static_cast<UINT16>(o.x_density);
  e.info.Y_density = static_cast<UINT16>(o.y_density);
  jpeg_set_quality(&e.info, o.quality, TRUE);
  if (o.progressive) jpeg_simple_progression(&e.info);
  if (!o.chroma_downsampling)
    for (int i = 0; i < e.info.num_components; ++i)
      e.info.comp_info[i].h_samp_factor = e.info.comp_info[i].v_samp_factor = 1;
  jpeg_start_compress(&e.info, TRUE);
  if (!marker.empty())
    jpeg_write_marker(&e.info, JPEG_APP0 + 1, marker.data(), static_cast<unsigned>(marker.size()));
  while (e.info.next_scanline < e.info.image_height) {
    auto* row = const_cast<uint8_t*>(pixels) + e.info.next_scanline * size.width * size.channels;
    JSAMPROW from = row;
    jpeg_write_scanlines(&e.info, &from, 1);
  }
  jpeg_finish_compress(&e.info);
  return true;
}

}  // namespace

std::string read_jpeg(std::string_view file, const JpegDecoding& o, const ImagePlace& place) {
  Decoding d{};
  set_up(d.trouble);
  d.info.err = &d.trouble.manager;
  Ended end(d.info);
  if (file.empty()) return "it is empty";
  if (!read_size(d, file, o)) return d.trouble.text;
  if (o.channels == 4) return "4 channels are wanted, and a JPEG has 1 or 3";
  if (d.size.height * d.size.width > kMostPixels) return "it has too many pixels";
  std::vector<uint8_t> ink(
      d.info.out_color_space == JCS_CMYK ? static_cast<size_t>(d.size.width) * 4 : 0);
  d.ink = ink.empty() ? nullptr : ink.data();
  d.to = static_cast<uint8_t*>(place(d.size));
  if (d.size.height == 0 || d.size.width == 0) return "it has no pixels";
  if (read_rows(d, o.try_recover_truncated)) return {};
  float fraction = static_cast<float>(d.rows) / static_cast<float>(d.size.height);
  if (!o.try_recover_truncated || fraction < o.acceptable_fraction)
    return d.trouble.cut_off || !d.trouble.text[0] ? "it ends too early" : d.trouble.text;
  auto stride = static_cast<size_t>(d.size.width * d.size.channels);
  auto done = static_cast<size_t>(d.rows);
  std::memset(d.to + stride * done, 0, stride * (static_cast<size_t>(d.size.height) - done));
  return {};
}

std::string jpeg_size(std::string_view file, ImageSize& size) {
  Decoding d{};
  set_up(d.trouble);
  d.info.err = &d.trouble.manager;
  Ended end(d.info);
  if (file.empty()) return "it is empty";
  if (!read_size(d, file, {})) return d.trouble.text;
  size = d.size;
  size.channels = d.info.num_components;
  return {};
}

std::string write_jpeg(const uint8_t* pixels, const ImageSize& size, const JpegEncoding& o,
                       std::string& file) {
  if (size.height < 1 || size.width < 1 || size.height > 65500 || size.width > 65500)
    return "a JPEG has 1 to 65500 rows and columns";
  if (size.channels != 1 && size.channels != 3) return "a JPEG has 1 or 3 channels";
  if (o.xmp_metadata.size() > 65000) return "the metadata is longer than a marker can be";
  Encoding e{};
  set_up(e.trouble);
  e.info.err = &e.trouble.manager;
  Ended end(e.info);
  std::vector<unsigned char> marker;
  if (!o.xmp_metadata.empty()) {
    static constexpr std::string_view kXmp("http://ns.adobe.com/xap/1.0/\0", 29);  // with its zero
    marker.assign(kXmp.begin(), kXmp.end());
    marker.insert(marker.end(), o.xmp_metadata.begin(), o.xmp_metadata.end());
  }
  bool good = write_rows(e, pixels, size, o, marker);
  if (good) file.assign(reinterpret_cast<const char*>(e.bytes), e.count);
  std::free(e.bytes);
  return good ? std::string() : e.trouble.text;
}

#endif

}  // namespace holdfast::io
