// What JPEG files of a low quality leave of images.
#include "holdfast/base/text.h"
#include "holdfast/io/images.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/io.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"

namespace holdfast::image {
namespace {

void infer_encode(Infer& s) {
  s.need_rank(0, 3, 3);
  s.need_rank(1, 0, 0);
  const Shape& in = s.shape();
  if (in.has_rank() && in[2] >= 0 && in[2] != 1 && in[2] != 3) s.bad_shape(0, "1 or 3 channels");
  if (auto quality = s.ints(1); quality && ((*quality)[0] < 0 || (*quality)[0] > 100))
    s.bad_value("quality", cat((*quality)[0]), "0 to 100");
  s.output(string, Shape{});
}

Status run_encode(Call& c) {
  const Tensor& in = c.in();
  int64_t quality = c.ints(1)[0];
  if (quality < 0 || quality > 100)
    return {Code::E1103, cat(c.op.name, ": `quality` is ", quality, ", expected 0 to 100")};
  io::JpegEncoding how;
  how.quality = static_cast<int>(quality);
  std::string wrong = io::write_jpeg(in.raw<uint8_t>(), {1, in.dim(0), in.dim(1), in.dim(2)}, how,
                                     *c.out().mutable_raw<std::string>());
  if (wrong.empty()) return {};
  return {Code::E1102, cat("`images` of the shape ", in.shape().text(), " can't be a JPEG"), wrong};
}

const Op encode_op = RAW_OP(EncodeJpegVariableQuality)
                         .doc("A JPEG file of pixels, of a quality that a tensor says.")
                         .inputs("images: T, quality: I!")
                         .outputs("contents")
                         .dtypes(DTypes{uint8}, "T")
                         .dtypes(DTypes{int32}, "I")
                         .infer(infer_encode)
                         .kernel("libjpeg", run_encode)
                         .on_host()
                         .no_gradient();

void need_range(const char* function, int64_t lowest, int64_t highest) {
  if (lowest < 0 || highest > 100 || lowest >= highest)
    fail(Code::E1103, cat(function, ": `min_jpeg_quality` is ", lowest, " and `max_jpeg_quality` ",
                          highest, ", expected 0 to 100, and a larger number"));
}

}  // namespace

REGISTER(
    FUNCTION(&adjust_jpeg_quality)
        .args("image, jpeg_quality: Q")
        .options<&AdjustJpegQualityOptions::dct_method>("dct_method")
        .python("image.adjust_jpeg_quality")
        .doc("What is left of an image that was written as a JPEG of this quality, 0 to 100."));
Tensor adjust_jpeg_quality(const In& image, const In& jpeg_quality,
                           const AdjustJpegQualityOptions& o) {
  Tensor x = image, quality = jpeg_quality.tensor(int32);
  if (!kInts.has(quality.dtype()))
    fail(Code::E1101, cat("adjust_jpeg_quality: `jpeg_quality` is ", type_text(quality),
                          ", expected an integer"));
  Tensor file =
      encode_op({convert_image_dtype(x, uint8, {.saturate = true}), cast(quality, int32)});
  int64_t channels = x.shape().has_rank() ? std::max<int64_t>(x.dim(-1), 0) : 0;
  Tensor pixels = io::decode_jpeg(file, {.channels = channels, .dct_method = o.dct_method});
  return convert_image_dtype(pixels, x.dtype(), {.saturate = true});
}

REGISTER(FUNCTION(&random_jpeg_quality)
             .args("image, min_jpeg_quality, max_jpeg_quality")
             .options<&RandomImageOptions::seed>("seed")
             .python("image.random_jpeg_quality")
             .doc("What a JPEG leaves of an image, of a quality between two numbers; the second is "
                  "not among them."));
Tensor random_jpeg_quality(const In& image, int64_t min_jpeg_quality, int64_t max_jpeg_quality,
                           const RandomImageOptions& o) {
  need_range("random_jpeg_quality", min_jpeg_quality, max_jpeg_quality);
  return adjust_jpeg_quality(image, random::uniform(Sizes{}, {.minval = min_jpeg_quality,
                                                              .maxval = max_jpeg_quality,
                                                              .dtype = int32,
                                                              .seed = o.seed}));
}

REGISTER(FUNCTION(&stateless_random_jpeg_quality)
             .args("image, min_jpeg_quality, max_jpeg_quality, seed: Seed")
             .python("image.stateless_random_jpeg_quality")
             .doc("What a JPEG leaves of an image, of a quality between two numbers, as `seed` "
                  "decides."));
Tensor stateless_random_jpeg_quality(const In& image, int64_t min_jpeg_quality,
                                     int64_t max_jpeg_quality, const In& seed) {
  need_range("stateless_random_jpeg_quality", min_jpeg_quality, max_jpeg_quality);
  return adjust_jpeg_quality(
      image,
      random::stateless_uniform(
          Sizes{}, seed, {.minval = min_jpeg_quality, .maxval = max_jpeg_quality, .dtype = int32}));
}

}  // namespace holdfast::image
