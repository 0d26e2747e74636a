// Files and what they hold, as tensors.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

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
using ParsedFeatures = std::map<std::string, Tensors>;

/// Examples as tensors: of one text, or of a vector of texts, whose tensors have an axis in front.
HOLDFAST_API ParsedFeatures parse_example(const In& serialized, const FeatureRules& features);
/// Likewise for examples with lists of features: those of the context, and the lists.
HOLDFAST_API std::pair<ParsedFeatures, ParsedFeatures> parse_sequence_example(
    const In& serialized, const FeatureRules& context_features = {},
    const FeatureRules& sequence_features = {});

namespace detail {
/// The same for rules that may name a feature more than once: one entry for each rule.
HOLDFAST_API std::vector<Tensors> parse_features(const In& serialized, bool sequence,
                                                 const FeatureRules& context,
                                                 const FeatureRules& lists);
}  // namespace detail

}  // namespace holdfast::io
