// Pixels of image files, and image files of pixels. The formats are io/images.h.
#include "holdfast/io/images.h"

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/io.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/strings.h"

namespace holdfast {
namespace {

struct JpegAttrs {
  Attr<int64_t> channels;
  Attr<int64_t> ratio;
  Attr<bool> fancy_upscaling;
  Attr<bool> try_recover_truncated;
  Attr<double> acceptable_fraction;
  Attr<std::string> dct_method;
};
struct PngAttrs {
  Attr<int64_t> channels;
  Attr<DType> dtype;
};
struct BmpAttrs {
  Attr<int64_t> channels;
};
struct ImageAttrs {
  Attr<int64_t> channels;
  Attr<DType> dtype;
  Attr<bool> expand_animations;
};
struct JpegShapeAttrs {
  Attr<DType> output_type;
};
struct EncodeJpegAttrs {
  Attr<std::string> format;
  Attr<int64_t> quality;
  Attr<bool> progressive;
  Attr<bool> optimize_size;
  Attr<bool> chroma_downsampling;
  Attr<std::string> density_unit;
  Attr<int64_t> x_density;
  Attr<int64_t> y_density;
  Attr<std::string> xmp_metadata;
};
struct EncodePngAttrs {
  Attr<int64_t> compression;
};

void check_channels(Infer& s, int64_t channels, std::initializer_list<int> allowed) {
  std::string all;
  for (int each : allowed) {
    if (channels == each) return;
    all += cat(all.empty() ? "" : ", ", each);
  }
  s.bad_value("channels", cat(channels), all);
}
Shape pixels_of(int64_t channels) {
  return Shape{kUnknown, kUnknown, channels ? channels : kUnknown};
}

Status told(const char* what, const std::string& wrong) {
  if (wrong.empty()) return {};
  return {Code::E1301, cat("`contents` can't be read as ", what), wrong};
}

const std::string& contents(Call& c) { return *c.in().raw<std::string>(); }

// Memory of the op's output, of the size that a file turns out to have.
io::ImagePlace output_of(Call& c, bool frames) {
  return [&c, frames](const io::ImageSize& size) {
    Dims dims{size.height, size.width, size.channels};
    if (frames) dims = {size.frames, size.height, size.width, size.channels};
    return c.out(0, Shape(dims)).mutable_raw();
  };
}

// -- whatever it is

// As TensorFlow brings integers to another range: by shifts, or by a factor.
void convert_pixels(const void* from, bool sixteen, int64_t count, Tensor& to) {
  auto each = [&](auto* out, auto&& change) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = change(sixteen ? static_cast<const uint16_t*>(from)[i]
                              : static_cast<const uint8_t*>(from)[i]);
  };
  if (to.dtype() == float32)
    each(to.mutable_raw<float>(),
         [&](int v) { return static_cast<float>(v) * (1 / (sixteen ? 65535.f : 255.f)); });
  else if (to.dtype() == uint16)
    each(to.mutable_raw<uint16_t>(),
         [&](int v) { return static_cast<uint16_t>(sixteen ? v : v << 8); });
  else
    each(to.mutable_raw<uint8_t>(), [&](int v) { return static_cast<uint8_t>(v); });
}

// What an op makes of a file of any kind.
struct Wanted {
  const char* what;
  int channels;
  DType dtype;
  // Frames of a GIF: one and no more, the first one, along an axis, and so for all other files too.
  enum { kOne, kFirst, kAxis, kAlways } frames;
};

Status read_any(Call& c, const Wanted& w) {
  const std::string& file = contents(c);
  io::ImageFormat format = io::image_format(file);
  bool sixteen = format == io::ImageFormat::kPng && w.dtype != uint8,
       gif = format == io::ImageFormat::kGif;
  io::ImageSize size;
  Tensor pixels;  // where they are not yet as they are wanted
  bool direct = w.dtype == (sixteen ? uint16 : uint8);
  io::ImagePlace output =
      output_of(c, w.frames == Wanted::kAlways || (gif && w.frames == Wanted::kAxis));
  io::ImagePlace place = [&](const io::ImageSize& found) -> void* {
    size = found;
    if (direct && (found.frames == 1 || w.frames != Wanted::kOne)) return output(found);
    pixels = c.scratch(sixteen ? uint16 : uint8,
                       Shape{found.frames, found.height, found.width, found.channels});
    return pixels.mutable_raw();
  };
  std::string wrong;
  switch (format) {
    case io::ImageFormat::kJpeg:
      wrong = io::read_jpeg(file, {.channels = w.channels}, place);
      break;
    case io::ImageFormat::kPng: wrong = io::read_png(file, w.channels, sixteen, place); break;
    case io::ImageFormat::kBmp: wrong = io::read_bmp(file, w.channels, place); break;
    case io::ImageFormat::kGif:
      if (w.channels != 0 && w.channels != 3) return told(w.what, "a GIF has 3 channels");
      wrong = io::read_gif(file, w.frames != Wanted::kFirst, place);
      if (wrong.empty() && w.frames == Wanted::kOne && size.frames != 1)
        wrong = cat("it is a GIF of ", size.frames, " frames: decode_gif and decode_image read it");
      break;
    case io::ImageFormat::kUnknown: wrong = "it is neither JPEG nor PNG, GIF or BMP";
  }
  if (!wrong.empty() || direct) return told(w.what, wrong);
  output(size);
  convert_pixels(pixels.raw(), sixteen, pixels.size(), c.out(0));
  return {};
}

// -- one kind each

// The ops of JPEG, PNG and GIF read each other's files too, as in TensorFlow.
bool is_another(Call& c, io::ImageFormat own) {
  io::ImageFormat found = io::image_format(contents(c));
  return found != own && found != io::ImageFormat::kBmp && found != io::ImageFormat::kUnknown;
}

void infer_jpeg(Infer& s) {
  auto a = s.attrs<JpegAttrs>();
  s.need_rank(0, 0, 0);
  check_channels(s, a.channels(), {0, 1, 3});
  int64_t ratio = a.ratio();
  if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8)
    s.bad_value("ratio", cat(ratio), "1, 2, 4 or 8");
  const std::string& dct = a.dct_method();
  if (!dct.empty() && dct != "INTEGER_FAST" && dct != "INTEGER_ACCURATE")
    s.bad_value("dct_method", cat("\"", dct, "\""),
                "\"\", \"INTEGER_FAST\" or \"INTEGER_ACCURATE\"");
  s.output(uint8, pixels_of(a.channels()));
}
io::JpegDecoding jpeg_options(const Call& c) {
  auto a = c.attrs<JpegAttrs>();
  return {.channels = static_cast<int>(a.channels()),
          .ratio = static_cast<int>(a.ratio()),
          .fancy_upscaling = a.fancy_upscaling(),
          .try_recover_truncated = a.try_recover_truncated(),
          .acceptable_fraction = static_cast<float>(a.acceptable_fraction()),
          .accurate = a.dct_method() == "INTEGER_ACCURATE"};
}
Status run_jpeg(Call& c) {
  auto a = c.attrs<JpegAttrs>();
  if (is_another(c, io::ImageFormat::kJpeg)) {
    if (a.ratio() != 1) return told("a JPEG", cat("a `ratio` of ", a.ratio(), " is for JPEGs"));
    return read_any(c, {"an image", static_cast<int>(a.channels()), uint8, Wanted::kOne});
  }
  return told("a JPEG", io::read_jpeg(contents(c), jpeg_options(c), output_of(c, false)));
}

// Rows and columns of a file; the second input is where they begin, and how many there are.
void infer_cropped(Infer& s) {
  infer_jpeg(s);
  s.need_rank(1, 1, 1);
  if (!s.shape(1).compatible(Shape{4})) s.bad_shape(1, "four numbers");
  if (auto window = s.ints(1)) {
    if ((*window)[0] < 0 || (*window)[1] < 0 || (*window)[2] < 1 || (*window)[3] < 1)
      s.bad_value("crop_window", Shape(*window).text(), "a row, a column, a height and a width");
    Shape& out = s.shapes[0];
    out.dims()[0] = (*window)[2];
    out.dims()[1] = (*window)[3];
  }
}
Status run_cropped(Call& c) {
  if (io::image_format(contents(c)) != io::ImageFormat::kJpeg) return told("a JPEG", "it is none");
  Dims window(c.ints(1));
  Tensor pixels;
  io::ImageSize size;
  std::string wrong =
      io::read_jpeg(contents(c), jpeg_options(c), [&](const io::ImageSize& found) -> void* {
        size = found;
        pixels = c.scratch(uint8, Shape{found.height, found.width, found.channels});
        return pixels.mutable_raw();
      });
  if (!wrong.empty()) return told("a JPEG", wrong);
  int64_t top = window[0], left = window[1], high = window[2], wide = window[3];
  if (top > size.height || high > size.height - top || left > size.width ||
      wide > size.width - left)
    return {Code::E1103, cat("`crop_window` is ", Shape(window).text()),
            cat("the image is ", size.height, " high and ", size.width, " wide")};
  auto* to = c.out(0, Shape{high, wide, size.channels}).mutable_raw<uint8_t>();
  for (int64_t row = 0; row < high; ++row)
    std::copy_n(pixels.raw<uint8_t>() + ((top + row) * size.width + left) * size.channels,
                wide * size.channels, to + row * wide * size.channels);
  return {};
}

void infer_png(Infer& s) {
  auto a = s.attrs<PngAttrs>();
  s.need_rank(0, 0, 0);
  check_channels(s, a.channels(), {0, 1, 3, 4});
  if (a.dtype() != uint8 && a.dtype() != uint16)
    s.bad_value("dtype", std::string(name(a.dtype())), "uint8 or uint16");
  s.output(a.dtype(), pixels_of(a.channels()));
}
Status run_png(Call& c) {
  auto a = c.attrs<PngAttrs>();
  if (is_another(c, io::ImageFormat::kPng))
    return read_any(c, {"an image", static_cast<int>(a.channels()), a.dtype(), Wanted::kOne});
  return told("a PNG", io::read_png(contents(c), static_cast<int>(a.channels()),
                                    a.dtype() == uint16, output_of(c, false)));
}

void infer_bmp(Infer& s) {
  s.need_rank(0, 0, 0);
  int64_t channels = s.attrs<BmpAttrs>().channels();
  check_channels(s, channels, {0, 1, 3, 4});
  s.output(uint8, pixels_of(channels));
}
Status run_bmp(Call& c) {
  auto channels = static_cast<int>(c.attrs<BmpAttrs>().channels());
  return told("a BMP", io::read_bmp(contents(c), channels, output_of(c, false)));
}

void infer_gif(Infer& s) {
  s.need_rank(0, 0, 0);
  s.output(uint8, Shape{kUnknown, kUnknown, kUnknown, 3});
}
Status run_gif(Call& c) {
  if (is_another(c, io::ImageFormat::kGif))
    return read_any(c, {"an image", 3, uint8, Wanted::kAlways});
  return told("a GIF", io::read_gif(contents(c), true, output_of(c, true)));
}

void infer_image(Infer& s) {
  auto a = s.attrs<ImageAttrs>();
  s.need_rank(0, 0, 0);
  check_channels(s, a.channels(), {0, 1, 3, 4});
  DType to = a.dtype();
  if (to != uint8 && to != uint16 && to != float32)
    s.bad_value("dtype", std::string(name(to)), "uint8, uint16 or float32");
  s.output(to, a.expand_animations() ? Shape::unknown() : pixels_of(a.channels()));
}

Status run_image(Call& c) {
  auto a = c.attrs<ImageAttrs>();
  return read_any(c, {"an image", static_cast<int>(a.channels()), a.dtype(),
                      a.expand_animations() ? Wanted::kAxis : Wanted::kFirst});
}

void infer_jpeg_shape(Infer& s) {
  s.need_rank(0, 0, 0);
  DType to = s.attrs<JpegShapeAttrs>().output_type();
  if (to != int32 && to != int64)
    s.bad_value("output_type", std::string(name(to)), "int32 or int64");
  s.output(to, Shape{3});
}
Status run_jpeg_shape(Call& c) {
  io::ImageSize size;
  if (std::string wrong = io::jpeg_size(contents(c), size); !wrong.empty())
    return told("a JPEG", wrong);
  const int64_t all[] = {size.height, size.width, size.channels};
  for (int i = 0; i < 3; ++i)
    if (c.out().dtype() == int32)
      c.out().mutable_raw<int32_t>()[i] = static_cast<int32_t>(all[i]);
    else
      c.out().mutable_raw<int64_t>()[i] = all[i];
  return {};
}

// -- files of pixels

void infer_encode_jpeg(Infer& s) {
  auto a = s.attrs<EncodeJpegAttrs>();
  s.need_rank(0, 3, 3);
  const std::string &format = a.format(), &unit = a.density_unit();
  if (!format.empty() && format != "grayscale" && format != "rgb")
    s.bad_value("format", cat("\"", format, "\""), "\"\", \"grayscale\" or \"rgb\"");
  if (unit != "in" && unit != "cm")
    s.bad_value("density_unit", cat("\"", unit, "\""), "\"in\" or \"cm\"");
  if (a.quality() < 0 || a.quality() > 100) s.bad_value("quality", cat(a.quality()), "0 to 100");
  for (int64_t density : {a.x_density(), a.y_density()})
    if (density < 0 || density > 65535) s.bad_value("x_density", cat(density), "0 to 65535");
  const Shape& in = s.shape();
  int64_t channels = in.has_rank() ? in[2] : kUnknown;
  int64_t wanted = format == "grayscale" ? 1 : format == "rgb" ? 3 : kUnknown;
  bool good = channels == kUnknown ||
              (wanted == kUnknown ? channels == 1 || channels == 3 : channels == wanted);
  if (!good) s.bad_shape(0, wanted == kUnknown ? "1 or 3 channels" : cat(wanted, " channels"));
  s.output(string, Shape{});
}
Status run_encode_jpeg(Call& c) {
  auto a = c.attrs<EncodeJpegAttrs>();
  const Tensor& in = c.in();
  std::string wrong = io::write_jpeg(in.raw<uint8_t>(), {1, in.dim(0), in.dim(1), in.dim(2)},
                                     {.quality = static_cast<int>(a.quality()),
                                      .progressive = a.progressive(),
                                      .optimize_size = a.optimize_size(),
                                      .chroma_downsampling = a.chroma_downsampling(),
                                      .per_centimetre = a.density_unit() == "cm",
                                      .x_density = static_cast<int>(a.x_density()),
                                      .y_density = static_cast<int>(a.y_density()),
                                      .xmp_metadata = a.xmp_metadata()},
                                     *c.out().mutable_raw<std::string>());
  if (wrong.empty()) return {};
  return {Code::E1102, cat("`image` of the shape ", in.shape().text(), " can't be a JPEG"), wrong};
}

void infer_encode_png(Infer& s) {
  s.need_rank(0, 3);
  int64_t level = s.attrs<EncodePngAttrs>().compression();
  if (level < -1 || level > 9) s.bad_value("compression", cat(level), "-1 to 9");
  const Shape& in = s.shape();
  if (!in.has_rank()) return s.output(string, Shape::unknown());
  Dims images(in.dims().begin(), in.dims().end() - 3);
  s.output(string, Shape(images));
}
Status run_encode_png(Call& c) {
  const Tensor& in = c.in();
  int r = in.rank();
  io::ImageSize size{1, in.dim(r - 3), in.dim(r - 2), in.dim(r - 1)};
  Dims images(in.shape().dims().begin(), in.shape().dims().end() - 3);
  Tensor& out = c.out(0, Shape(images));
  bool sixteen = in.dtype() == uint16;
  auto level = static_cast<int>(c.attrs<EncodePngAttrs>().compression());
  auto bytes = static_cast<size_t>(size.height * size.width * size.channels) * (sixteen ? 2 : 1);
  for (int64_t i = 0; i < out.size(); ++i) {
    const char* from = static_cast<const char*>(in.raw()) + static_cast<size_t>(i) * bytes;
    std::string wrong =
        io::write_png(from, size, sixteen, level, out.mutable_raw<std::string>()[i]);
    if (!wrong.empty())
      return {Code::E1102, cat("`image` of the shape ", in.shape().text(), " can't be a PNG"),
              wrong};
  }
  return {};
}

// Whole files and parts of them are decoded alike.
Builder& decodes_jpeg(Builder& b) {
  using O = io::DecodeJpegOptions;
  return b
      .options<&O::channels, &O::ratio, &O::fancy_upscaling, &O::try_recover_truncated,
               &O::acceptable_fraction, &O::dct_method>(
          "channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, "
          "dct_method")
      .attr("channels", 0)
      .attr("ratio", 1)
      .attr("fancy_upscaling", true)
      .attr("try_recover_truncated", false)
      .attr("acceptable_fraction", 1.0)
      .attr("dct_method", "")
      .attrs<&JpegAttrs::channels, &JpegAttrs::ratio, &JpegAttrs::fancy_upscaling,
             &JpegAttrs::try_recover_truncated, &JpegAttrs::acceptable_fraction,
             &JpegAttrs::dct_method>()
      .on_host()
      .no_gradient();
}

const Op jpeg_op =
    decodes_jpeg(OP(DecodeJpeg, &io::decode_jpeg)
                     .args("contents")
                     .python("io.decode_jpeg, image.decode_jpeg")
                     .doc("The pixels of a JPEG file; of a PNG or a GIF of one frame too.")
                     .inputs("contents")
                     .dtypes(kStrings)
                     .infer(infer_jpeg)
                     .kernel("libjpeg", run_jpeg));
const Op cropped_op = decodes_jpeg(
    OP(DecodeAndCropJpeg, &io::decode_and_crop_jpeg)
        .args("contents, crop_window")
        .python("io.decode_and_crop_jpeg, image.decode_and_crop_jpeg")
        .doc("A part of the pixels of a JPEG file: `crop_window` is its first row and column, its "
             "height and its width.")
        .inputs("contents, crop_window: W!")
        .dtypes(kStrings)
        .dtypes(kIndices, "W")
        .infer(infer_cropped)
        .kernel("libjpeg", run_cropped));
const Op png_op =
    OP(DecodePng, &io::decode_png)
        .args("contents")
        .options<&io::DecodePngOptions::channels, &io::DecodePngOptions::dtype>("channels, dtype")
        .python("io.decode_png, image.decode_png")
        .doc("The pixels of a PNG file; of a JPEG or a GIF of one frame too.")
        .inputs("contents")
        .dtypes(kStrings)
        .attr("channels", 0)
        .attr("dtype", uint8)
        .attrs<&PngAttrs::channels, &PngAttrs::dtype>()
        .infer(infer_png)
        .kernel("libpng", run_png)
        .on_host()
        .no_gradient();
const Op bmp_op = OP(DecodeBmp, &io::decode_bmp)
                      .args("contents")
                      .options<&io::DecodeBmpOptions::channels>("channels")
                      .python("io.decode_bmp, image.decode_bmp")
                      .doc("The pixels of a BMP file.")
                      .inputs("contents")
                      .dtypes(kStrings)
                      .attr("channels", 0)
                      .attrs<&BmpAttrs::channels>()
                      .infer(infer_bmp)
                      .kernel("reference", run_bmp)
                      .on_host()
                      .no_gradient();
const Op gif_op = OP(DecodeGif, &io::decode_gif)
                      .args("contents")
                      .python("io.decode_gif, image.decode_gif")
                      .doc("The frames of a GIF file; a JPEG or PNG is one frame.")
                      .dtypes(kStrings)
                      .infer(infer_gif)
                      .kernel("reference", run_gif)
                      .on_host()
                      .no_gradient();
const Op image_op =
    OP(DecodeImage, &io::decode_image)
        .args("contents")
        .options<&io::DecodeImageOptions::channels, &io::DecodeImageOptions::dtype,
                 &io::DecodeImageOptions::expand_animations>("channels, dtype, expand_animations")
        .python("io.decode_image, image.decode_image")
        .doc("The pixels of an image file, of whatever kind it is.")
        .inputs("contents")
        .dtypes(kStrings)
        .attr("channels", 0)
        .attr("dtype", uint8)
        .attr("expand_animations", true)
        .attrs<&ImageAttrs::channels, &ImageAttrs::dtype, &ImageAttrs::expand_animations>()
        .infer(infer_image)
        .kernel("reference", run_image)
        .on_host()
        .no_gradient();
const Op jpeg_shape_op = OP(ExtractJpegShape, &io::extract_jpeg_shape)
                             .args("contents")
                             .options<&io::ExtractJpegShapeOptions::output_type>("output_type")
                             .python("io.extract_jpeg_shape, image.extract_jpeg_shape")
                             .doc("Height, width and channels of a JPEG, from its header alone.")
                             .inputs("contents")
                             .dtypes(kStrings)
                             .attr("output_type", int32)
                             .attrs<&JpegShapeAttrs::output_type>()
                             .infer(infer_jpeg_shape)
                             .kernel("libjpeg", run_jpeg_shape)
                             .on_host()
                             .no_gradient();
const Op encode_jpeg_op =
    OP(EncodeJpeg, &io::encode_jpeg)
        .args("image")
        .options<&io::EncodeJpegOptions::format, &io::EncodeJpegOptions::quality,
                 &io::EncodeJpegOptions::progressive, &io::EncodeJpegOptions::optimize_size,
                 &io::EncodeJpegOptions::chroma_downsampling, &io::EncodeJpegOptions::density_unit,
                 &io::EncodeJpegOptions::x_density, &io::EncodeJpegOptions::y_density,
                 &io::EncodeJpegOptions::xmp_metadata>(
            "format, quality, progressive, optimize_size, chroma_downsampling, density_unit, "
            "x_density, y_density, xmp_metadata")
        .python("io.encode_jpeg, image.encode_jpeg")
        .doc("A JPEG file of pixels.")
        .inputs("image")
        .dtypes(DTypes{uint8})
        .attr("format", "")
        .attr("quality", 95)
        .attr("progressive", false)
        .attr("optimize_size", false)
        .attr("chroma_downsampling", true)
        .attr("density_unit", "in")
        .attr("x_density", 300)
        .attr("y_density", 300)
        .attr("xmp_metadata", "")
        .attrs<&EncodeJpegAttrs::format, &EncodeJpegAttrs::quality, &EncodeJpegAttrs::progressive,
               &EncodeJpegAttrs::optimize_size, &EncodeJpegAttrs::chroma_downsampling,
               &EncodeJpegAttrs::density_unit, &EncodeJpegAttrs::x_density,
               &EncodeJpegAttrs::y_density, &EncodeJpegAttrs::xmp_metadata>()
        .infer(infer_encode_jpeg)
        .kernel("libjpeg", run_encode_jpeg)
        .on_host()
        .no_gradient();
const Op encode_png_op = OP(EncodePng, &io::encode_png)
                             .args("image")
                             .options<&io::EncodePngOptions::compression>("compression")
                             .python("io.encode_png, image.encode_png")
                             .doc("A PNG file of pixels.")
                             .inputs("image")
                             .dtypes(DTypes{uint8, uint16})
                             .attr("compression", -1)
                             .attrs<&EncodePngAttrs::compression>()
                             .infer(infer_encode_png)
                             .kernel("libpng", run_encode_png)
                             .on_host()
                             .no_gradient();

}  // namespace

Tensor io::decode_jpeg(const In& contents, const DecodeJpegOptions& o) {
  return jpeg_op({contents}, {o.channels, o.ratio, o.fancy_upscaling, o.try_recover_truncated,
                              o.acceptable_fraction, o.dct_method});
}
Tensor io::decode_and_crop_jpeg(const In& contents, const Sizes& crop_window,
                                const DecodeJpegOptions& o) {
  return cropped_op({contents, crop_window.tensor()},
                    {o.channels, o.ratio, o.fancy_upscaling, o.try_recover_truncated,
                     o.acceptable_fraction, o.dct_method});
}
Tensor io::decode_png(const In& contents, const DecodePngOptions& o) {
  return png_op({contents}, {o.channels, o.dtype});
}
Tensor io::decode_bmp(const In& contents, const DecodeBmpOptions& o) {
  return bmp_op({contents}, {o.channels});
}
Tensor io::decode_gif(const In& contents) { return gif_op(contents); }
Tensor io::decode_image(const In& contents, const DecodeImageOptions& o) {
  return image_op({contents}, {o.channels, o.dtype, o.expand_animations});
}
Tensor io::extract_jpeg_shape(const In& contents, const ExtractJpegShapeOptions& o) {
  return jpeg_shape_op({contents}, {o.output_type});
}
Tensor io::encode_jpeg(const In& image, const EncodeJpegOptions& o) {
  return encode_jpeg_op({image},
                        {o.format, o.quality, o.progressive, o.optimize_size, o.chroma_downsampling,
                         o.density_unit, o.x_density, o.y_density, o.xmp_metadata});
}
Tensor io::encode_png(const In& image, const EncodePngOptions& o) {
  return encode_png_op({image}, {o.compression});
}

REGISTER(FUNCTION(&io::is_jpeg)
             .args("contents")
             .python("io.is_jpeg, image.is_jpeg")
             .doc("Whether a text begins as JPEG files do.")
             .samples("strings(1)"));
Tensor io::is_jpeg(const In& contents) {
  return equal(strings::substr(contents, 0, 3), "\xff\xd8\xff");
}

}  // namespace holdfast
