// Files and what they hold, as tensors.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/base/by_name.h"
#include "holdfast/op/in.h"

namespace holdfast::io {

/// How one feature of examples becomes tensors; made by the functions below.
struct FeatureRule {
  enum class Kind : uint8_t { kFixed, kSequence, kSparse, kRagged };
  Kind kind = Kind::kFixed;
  DType dtype = float32;  // float32, int64 or string
  Shape shape = {};       // of one example's values, or of one step of a sequence
  Tensor default_value = {};
  bool allow_missing = false;
  DType splits = int32;
};

/// As many values in each example as `shape` has: one tensor.
inline FeatureRule FixedLenFeature(const Shape& shape, DType dtype, const Tensor& otherwise = {}) {
  return {.dtype = dtype, .shape = shape, .default_value = otherwise};
}
/// Steps of one shape, padded to the longest example of a batch: one tensor. In a feature list:
/// that, and the number of steps.
inline FeatureRule FixedLenSequenceFeature(const Shape& shape, DType dtype,
                                           bool allow_missing = false, const Tensor& padding = {}) {
  return {.kind = FeatureRule::Kind::kSequence,
          .dtype = dtype,
          .shape = shape,
          .default_value = padding,
          .allow_missing = allow_missing};
}
/// Any number of values: indices, values and the dense shape of a sparse tensor.
inline FeatureRule VarLenFeature(DType dtype) {
  return {.kind = FeatureRule::Kind::kSparse, .dtype = dtype};
}
/// Any number of values: the values and the row splits of a ragged tensor, the innermost first.
inline FeatureRule RaggedFeature(DType dtype, DType row_splits_dtype = int32) {
  return {.kind = FeatureRule::Kind::kRagged, .dtype = dtype, .splits = row_splits_dtype};
}

using FeatureRules = std::vector<std::pair<std::string, FeatureRule>>;
/// The tensors of each feature, by its name.
using ParsedFeatures = ByName<Tensors>;

/// Examples as tensors: of one text, or of a vector of texts, whose tensors have an axis in front.
HOLDFAST_API ParsedFeatures parse_example(const In& serialized, const FeatureRules& features);
/// Likewise for examples with lists of features: those of the context, and the lists.
HOLDFAST_API std::pair<ParsedFeatures, ParsedFeatures> parse_sequence_example(
    const In& serialized, const FeatureRules& context_features = {},
    const FeatureRules& sequence_features = {});

// -- files

/// What a file holds, as a text.
HOLDFAST_API Tensor read_file(const In& filename);
/// Makes a file of a text, with the folders that lead to it.
HOLDFAST_API void write_file(const In& filename, const In& contents);
/// The names of files that patterns with `*`, `?` and `[...]` stand for, sorted.
HOLDFAST_API Tensor matching_files(const In& pattern);

// -- numbers and texts

struct DecodeRawOptions {
  bool little_endian = true;
  std::optional<int64_t> fixed_length =
      {};  // each text is cut or filled with zeros to so many bytes
};
/// The numbers that texts of bytes are.
HOLDFAST_API Tensor decode_raw(const In& input_bytes, DType out_type, const DecodeRawOptions& = {});

struct DecodeCsvOptions {
  std::string field_delim = ",";
  bool use_quote_delim = true;
  std::string na_value = {};
  std::optional<std::vector<int64_t>> select_cols = {};
};
/// The columns of lines of a CSV file: of the dtypes of `record_defaults`, which stand for empty
/// fields; an empty default: none may be empty.
HOLDFAST_API Tensors decode_csv(const In& records, const Ins& record_defaults,
                                const DecodeCsvOptions& = {});

struct EncodeBase64Options {
  bool pad = false;  // with `=` to a multiple of four letters
};
/// Bytes as letters that are safe in addresses, and back.
HOLDFAST_API Tensor encode_base64(const In& input, const EncodeBase64Options& = {});
HOLDFAST_API Tensor decode_base64(const In& input);
/// A tensor as a text, in TensorFlow's format, and back.
HOLDFAST_API Tensor serialize_tensor(const In& tensor);
HOLDFAST_API Tensor parse_tensor(const In& serialized, DType out_type);

// -- images

struct DecodeJpegOptions {
  int64_t channels = 0, ratio = 1;
  bool fancy_upscaling = true, try_recover_truncated = false;
  double acceptable_fraction = 1;
  std::string dct_method = {};  // "", "INTEGER_FAST" or "INTEGER_ACCURATE"
};
/// The pixels of a JPEG file: uint8 of the shape height, width, channels.
HOLDFAST_API Tensor decode_jpeg(const In& contents, const DecodeJpegOptions& = {});
/// A part of the pixels: `crop_window` is its first row and column, its height and its width.
HOLDFAST_API Tensor decode_and_crop_jpeg(const In& contents, const Sizes& crop_window,
                                         const DecodeJpegOptions& = {});
struct DecodePngOptions {
  int64_t channels = 0;
  DType dtype = uint8;  // or uint16
};
HOLDFAST_API Tensor decode_png(const In& contents, const DecodePngOptions& = {});
struct DecodeBmpOptions {
  int64_t channels = 0;
};
HOLDFAST_API Tensor decode_bmp(const In& contents, const DecodeBmpOptions& = {});
/// All frames: number, height, width, 3.
HOLDFAST_API Tensor decode_gif(const In& contents);
struct DecodeImageOptions {
  int64_t channels = 0;
  DType dtype = uint8;  // or uint16, float32
  bool expand_animations = true;
};
/// The pixels of a file of any of these kinds. An animated one has an axis of frames, unless
/// `expand_animations` is false: then it is its first frame.
HOLDFAST_API Tensor decode_image(const In& contents, const DecodeImageOptions& = {});
/// Whether a text begins as JPEG files do.
HOLDFAST_API Tensor is_jpeg(const In& contents);
struct ExtractJpegShapeOptions {
  DType output_type = int32;
};
/// Height, width and channels, from a JPEG's header alone.
HOLDFAST_API Tensor extract_jpeg_shape(const In& contents, const ExtractJpegShapeOptions& = {});

struct EncodeJpegOptions {
  std::string format = {};  // "", "grayscale" or "rgb"
  int64_t quality = 95;
  bool progressive = false, optimize_size = false, chroma_downsampling = true;
  std::string density_unit = "in";
  int64_t x_density = 300, y_density = 300;
  std::string xmp_metadata = {};
};
/// A JPEG file of uint8 pixels.
HOLDFAST_API Tensor encode_jpeg(const In& image, const EncodeJpegOptions& = {});
struct EncodePngOptions {
  int64_t compression = -1;
};
/// A PNG file of uint8 or uint16 pixels; of each of several images where there are more axes.
HOLDFAST_API Tensor encode_png(const In& image, const EncodePngOptions& = {});

namespace detail {
/// The same for rules that may name a feature more than once: one entry for each rule.
HOLDFAST_API std::vector<Tensors> parse_features(const In& serialized, bool sequence,
                                                 const FeatureRules& context,
                                                 const FeatureRules& lists);
}  // namespace detail

}  // namespace holdfast::io
