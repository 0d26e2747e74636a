// PNG by libpng, whose errors come by a jump: nothing that has to be destroyed is made between.
#include "holdfast/io/images.h"

#ifdef HOLDFAST_PNG
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <vector>
#endif

namespace holdfast::io {

#ifndef HOLDFAST_PNG

namespace {
std::string absent() { return "this build of Holdfast has no libpng"; }
}  // namespace
std::string read_png(std::string_view, int, bool, const ImagePlace&) { return absent(); }
std::string write_png(const void*, const ImageSize&, bool, int, std::string&) { return absent(); }

#else

namespace {

/// What a coding needs between jumps.
struct Coding {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string_view from;
  std::string* to = nullptr;
  std::string error;
  ImageSize size;
  std::vector<png_bytep> rows;
};

void fail_png(png_structp png, png_const_charp text) {
  auto* c = static_cast<Coding*>(png_get_error_ptr(png));
  c->error = text;
  png_longjmp(png, 1);
}
void ignore_warning(png_structp, png_const_charp) {}

void take(png_structp png, png_bytep to, png_size_t count) {
  auto* c = static_cast<Coding*>(png_get_io_ptr(png));
  if (count > c->from.size()) png_error(png, "it ends too early");
  std::memcpy(to, c->from.data(), count);
  c->from.remove_prefix(count);
}
void give(png_structp png, png_bytep bytes, png_size_t count) {
  static_cast<Coding*>(png_get_io_ptr(png))->to->append(reinterpret_cast<char*>(bytes), count);
}
void no_flush(png_structp) {}

// Up to where the size is known; pixels are asked for as they are wanted.
bool read_header(Coding& c, int wanted, bool sixteen_bits) {
  if (setjmp(png_jmpbuf(c.png))) return false;
  png_set_read_fn(c.png, &c, take);
  png_set_user_limits(c.png, 1 << 24, 1 << 24);
  png_read_info(c.png, c.info);
  int kind = png_get_color_type(c.png, c.info), bits = png_get_bit_depth(c.png, c.info);
  bool clear = png_get_valid(c.png, c.info, PNG_INFO_tRNS) != 0;
  if (kind == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(c.png);
  if (kind == PNG_COLOR_TYPE_GRAY && bits < 8) png_set_expand_gray_1_2_4_to_8(c.png);
  int own = kind == PNG_COLOR_TYPE_GRAY         ? 1
            : kind == PNG_COLOR_TYPE_GRAY_ALPHA ? 2
            : kind == PNG_COLOR_TYPE_RGB_ALPHA  ? 4
                                                : 3;
  bool has_alpha = own % 2 == 0 || clear;
  const int found = own == 3 && clear ? 4 : own == 1 && clear ? 2 : own;
  const int channels = wanted ? wanted : found;
  bool wants_alpha = channels % 2 == 0, wants_color = channels > 2, has_color = own > 2;
  if (clear && wants_alpha) png_set_tRNS_to_alpha(c.png);
  // Palettes and 16 bits bring the alpha of tRNS along, wanted or not.
  if (has_alpha && !wants_alpha) png_set_strip_alpha(c.png);
  if (bits == 16 && !sixteen_bits) png_set_strip_16(c.png);
  if (bits < 16 && sixteen_bits) png_set_expand_16(c.png);
  if (sixteen_bits) png_set_swap(c.png);  // as this machine has them
  if (wants_color && !has_color) png_set_gray_to_rgb(c.png);
  if (!wants_color && has_color) png_set_rgb_to_gray(c.png, 1, 0.299, 0.587);
  if (wants_alpha && !has_alpha)
    png_set_add_alpha(c.png, sixteen_bits ? 65535 : 255, PNG_FILLER_AFTER);
  png_set_interlace_handling(c.png);
  png_read_update_info(c.png, c.info);
  c.size = {1, png_get_image_height(c.png, c.info), png_get_image_width(c.png, c.info), channels};
  size_t expected =
      static_cast<size_t>(c.size.width) * static_cast<size_t>(channels) * (sixteen_bits ? 2 : 1);
  if (png_get_rowbytes(c.png, c.info) != expected) png_error(c.png, "its rows are of another size");
  return true;
}

bool read_image(Coding& c) {
  if (setjmp(png_jmpbuf(c.png))) return false;
  png_read_image(c.png, c.rows.data());
  png_read_end(c.png, c.info);
  return true;
}

bool write_image(Coding& c, const ImageSize& size, bool sixteen_bits, int compression) {
  if (setjmp(png_jmpbuf(c.png))) return false;
  static constexpr int kKinds[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                   PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_write_fn(c.png, &c, give, no_flush);
  png_set_user_limits(c.png, 1 << 24, 1 << 24);
  if (compression >= 0) png_set_compression_level(c.png, compression);
  png_set_IHDR(c.png, c.info, static_cast<png_uint_32>(size.width),
               static_cast<png_uint_32>(size.height), sixteen_bits ? 16 : 8,
               kKinds[size.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(c.png, c.info);
  if (sixteen_bits) png_set_swap(c.png);
  png_write_image(c.png, c.rows.data());
  png_write_end(c.png, nullptr);
  return true;
}

void set_rows(Coding& c, const void* pixels, const ImageSize& size, bool sixteen_bits) {
  auto* at = static_cast<png_bytep>(const_cast<void*>(pixels));
  auto stride = static_cast<size_t>(size.width * size.channels) * (sixteen_bits ? 2 : 1);
  for (int64_t y = 0; y < size.height; ++y, at += stride) c.rows.push_back(at);
}

constexpr int64_t kMostPixels = int64_t{1} << 29;

}  // namespace

std::string read_png(std::string_view file, int channels, bool sixteen_bits,
                     const ImagePlace& place) {
  Coding c;
  c.from = file;
  c.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &c, fail_png, ignore_warning);
  if (!c.png) return "libpng has no memory";
  struct Ended {
    ~Ended() { png_destroy_read_struct(&c.png, &c.info, nullptr); }
    Coding& c;
  } end{c};
  c.info = png_create_info_struct(c.png);
  if (!c.info) return "libpng has no memory";
  if (!read_header(c, channels, sixteen_bits)) return c.error;
  // Each row of an honest file takes bytes; what claims far more is not given memory.
  if (c.size.height * c.size.width > kMostPixels) return "it has too many pixels";
  set_rows(c, place(c.size), c.size, sixteen_bits);
  return read_image(c) ? std::string() : c.error;
}

std::string write_png(const void* pixels, const ImageSize& size, bool sixteen_bits, int compression,
                      std::string& file) {
  if (size.height < 1 || size.width < 1 || size.height > 1 << 24 || size.width > 1 << 24)
    return "a PNG has 1 to 16777216 rows and columns";
  if (size.channels < 1 || size.channels > 4) return "a PNG has 1 to 4 channels";
  Coding c;
  c.to = &file;
  c.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &c, fail_png, ignore_warning);
  if (!c.png) return "libpng has no memory";
  struct Ended {
    ~Ended() { png_destroy_write_struct(&c.png, &c.info); }
    Coding& c;
  } end{c};
  c.info = png_create_info_struct(c.png);
  if (!c.info) return "libpng has no memory";
  set_rows(c, pixels, size, sixteen_bits);
  return write_image(c, size, sixteen_bits, compression) ? std::string() : c.error;
}

#endif

}  // namespace holdfast::io
