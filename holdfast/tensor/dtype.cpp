#include "holdfast/tensor/dtype.h"

#include <utility>

namespace holdfast {
namespace {

constexpr DTypeInfo kInfo[kNumDTypes] = {
    {"invalid", 0, 0},
    {"bool", 1, 10},
    {"int8", 1, 6},
    {"int16", 2, 5},
    {"int32", 4, 3},
    {"int64", 8, 9},
    {"uint8", 1, 4},
    {"uint16", 2, 17},
    {"uint32", 4, 22},
    {"uint64", 8, 23},
    {"float16", 2, 19},
    {"bfloat16", 2, 14},
    {"float32", 4, 1},
    {"float64", 8, 2},
    {"complex64", 8, 8},
    {"complex128", 16, 18},
    {"string", sizeof(std::string), 7},
    {"resource", 0, 20},
    {"variant", 0, 21},
};

}  // namespace

const DTypeInfo& info(DType d) {
  int i = static_cast<int>(d);
  return kInfo[i < kNumDTypes ? i : 0];
}

DType real_of(DType d) {
  if (d == DType::kComplex64) return float32;
  return d == DType::kComplex128 ? float64 : d;
}

std::optional<DType> dtype_named(std::string_view name) {
  static constexpr std::pair<std::string_view, DType> kAliases[] = {
      {"half", float16},       {"float", float32}, {"double", float64},
      {"str", DType::kString}, {"int", int32},     {"boolean", DType::kBool}};
  for (auto& [alias, d] : kAliases)
    if (alias == name) return d;
  for (int i = 1; i < kNumDTypes; ++i)
    if (name == kInfo[i].name) return static_cast<DType>(i);
  return std::nullopt;
}

std::string to_text(DTypes set) {
  std::string out;
  int left = 0;
  for (int i = 1; i < kNumDTypes; ++i) left += set.has(static_cast<DType>(i));
  for (int i = 1; i < kNumDTypes; ++i) {
    if (!set.has(static_cast<DType>(i))) continue;
    out += kInfo[i].name;
    if (--left) out += left == 1 ? " or " : ", ";
  }
  return out;
}

}  // namespace holdfast
