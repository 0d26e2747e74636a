// Strings.
#pragma once

#include <string>

#include "holdfast/op/in.h"

namespace holdfast::strings {

struct JoinOptions {
  std::string separator;
};
/// Strings put together element by element; scalars go with every element.
HOLDFAST_API Tensor join(const Ins& inputs, const JoinOptions& = {});

struct ReduceJoinOptions {
  Axes axis = {};
  bool keepdims = false;
  std::string separator;
};
/// Strings put together over axes: first along the one that is named first.
HOLDFAST_API Tensor reduce_join(const In& inputs, const ReduceJoinOptions& = {});

struct LengthOptions {
  std::string unit = "BYTE";  // or "UTF8_CHAR"
};
/// How long strings are, as int32.
HOLDFAST_API Tensor length(const In& input, const LengthOptions& = {});
struct LettersOptions {
  std::string encoding = {};  // of other letters than Latin ones none is changed: ""
};
/// Latin letters made small, or large; other characters stay.
HOLDFAST_API Tensor lower(const In& input, const LettersOptions& = {});
HOLDFAST_API Tensor upper(const In& input, const LettersOptions& = {});
/// Without white space at both ends.
HOLDFAST_API Tensor strip(const In& input);

struct SubstrOptions {
  std::string unit = "BYTE";  // or "UTF8_CHAR"
};
/// Parts of strings: `len` units from `pos` on, which counts from the end where it is negative;
/// all that are left where `len` is negative. Both are scalars, or have the shape of `input`.
HOLDFAST_API Tensor substr(const In& input, const In& pos, const In& len,
                           const SubstrOptions& = {});

struct ToNumberOptions {
  DType out_type = float32;  // or float64, int32, int64
};
/// The numbers that strings are written as.
HOLDFAST_API Tensor to_number(const In& input, const ToNumberOptions& = {});

}  // namespace holdfast::strings
