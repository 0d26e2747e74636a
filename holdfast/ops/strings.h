// Strings.
#pragma once

#include <string>
#include <vector>

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

struct AsStringOptions {
  int64_t precision = -1;                     // digits behind the point; -1: as many as usual
  bool scientific = false, shortest = false;  // 1.5e+00; whichever is shorter
  int64_t width = -1;                         // at least so many characters
  std::string fill = {};                      // with what: " ", "0", "-" (to the left) or "+"
};
/// Numbers as texts.
HOLDFAST_API Tensor as_string(const In& input, const AsStringOptions& = {});

struct SegmentJoinOptions {
  std::string separator;
};
/// Element i of the result is the strings put together whose segment id is i.
HOLDFAST_API Tensor unsorted_segment_join(const In& inputs, const In& segment_ids,
                                          const Sizes& num_segments,
                                          const SegmentJoinOptions& = {});

struct RegexReplaceOptions {
  bool replace_global = true;  // else the first place alone
};
/// `rewrite` in place of what a pattern of RE2 finds; \\1 to \\9 are its groups.
HOLDFAST_API Tensor regex_replace(const In& input, const In& pattern, const In& rewrite,
                                  const RegexReplaceOptions& = {});
/// Whether a pattern of RE2 is true of the whole of each string.
HOLDFAST_API Tensor regex_full_match(const In& input, const In& pattern);

/// The number of a bucket for each text; the same on every machine.
HOLDFAST_API Tensor to_hash_bucket(const In& input, int64_t num_buckets);
/// By FarmHash.
HOLDFAST_API Tensor to_hash_bucket_fast(const In& input, int64_t num_buckets);
/// By SipHash, with a key of two numbers.
HOLDFAST_API Tensor to_hash_bucket_strong(const In& input, int64_t num_buckets,
                                          const std::vector<int64_t>& key);

struct TranscodeOptions {
  std::string errors = "replace";  // of bytes that are no character; or "ignore", "strict"
  int64_t replacement_char = 65533;
  bool replace_control_characters = false;
};
/// Texts of another encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE", from these and "UTF-16",
/// "UTF-32" (by their marks), "UTF-16-LE", "UTF-32-LE", "US-ASCII" and "ISO-8859-1".
HOLDFAST_API Tensor unicode_transcode(const In& input, const std::string& input_encoding,
                                      const std::string& output_encoding,
                                      const TranscodeOptions& = {});

}  // namespace holdfast::strings
