#include "holdfast/keras/layers/numbers.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {
namespace {

void flatten(const Config& value, const std::string& what, size_t depth, std::vector<int64_t>& dims,
             std::vector<double>& out) {
  if (value.kind() != Config::Kind::kList) {
    if (depth != dims.size()) fail(Code::E1103, cat(what, " has rows of different lengths"));
    out.push_back(value.as_number(what));
    return;
  }
  auto size = static_cast<int64_t>(value.as_list().size());
  if (depth == dims.size() && out.empty()) dims.push_back(size);
  if (depth >= dims.size() || dims[depth] != size)
    fail(Code::E1103, cat(what, " has rows of different lengths"));
  for (const Config& one : value.as_list()) flatten(one, what, depth + 1, dims, out);
}

}  // namespace

Tensor numbers(const Config& value, DType dtype, const std::string& what) {
  std::vector<int64_t> dims;
  std::vector<double> flat;
  flatten(value, what, 0, dims, flat);
  return cast(reshape(constant(flat), dims), dtype);
}

}  // namespace holdfast::keras::layers
