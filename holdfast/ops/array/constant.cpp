#include "holdfast/ops/constant.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/expr/expr.h"
#include "holdfast/op/context.h"
#include "holdfast/ops/array/asked_device.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {

Tensor on_asked_device(const Tensor& value) {
  constexpr int64_t kFewIntegers = 256;  // bytes
  Device* asked = context().device;
  if (!asked || asked == value.device() || context().interpreter) return value;
  if (value.dtype() == DType::kString || value.dtype() == DType::kResource) return value;
  if (is_integer(value.dtype()) && value.bytes() <= kFewIntegers) return value;
  return copy_to(value, asked);
}

}  // namespace holdfast

namespace holdfast::detail {
namespace {

// What an integer dtype holds.
std::pair<__int128, __int128> bounds(DType d) {
  std::pair<__int128, __int128> out;
  visit_plain(d, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>)
      out = {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
  });
  return out;
}

// Refuses integers that `to`, another dtype of integers, does not hold.
void need_fitting(DType from, const void* values, size_t count, DType to) {
  if (!is_integer(from) || !is_integer(to)) return;
  auto [low, high] = bounds(to);
  visit_plain(from, [&]<class F>(F) {
    if constexpr (std::is_integral_v<F>) {
      const auto* p = static_cast<const F*>(values);
      for (size_t i = 0; i < count; ++i)
        if (p[i] < low || p[i] > high)
          fail(Code::E1103,
               cat("constant: the value ", p[i], " at position ", i, " does not fit ", name(to)));
    }
  });
}

// Integers become floats, floats other floats; nothing is cut off on the quiet.
bool converts(DType from, DType to) {
  if (from == to) return true;
  if (is_integer(from)) return kNumbers.has(to);
  if (is_floating(from)) return kDifferentiable.has(to);
  return is_complex(from) && is_complex(to);
}

}  // namespace

Tensor make_constant(DType from, const void* values, size_t count, Shape shape, DType to) {
  if (to == DType::kInvalid) to = from;
  if (!converts(from, to))
    fail(Code::E1101, cat("constant: ", name(from), " values were given for dtype ", name(to)));
  Tensor t = empty(to, shape, cpu());
  t.rep()->op = "Const";
  if (from == DType::kString) {
    std::copy_n(static_cast<const std::string*>(values), count, t.mutable_raw<std::string>());
    return t;
  }
  need_fitting(from, values, count, to);
  cast_loop(from, to)(&values, t.mutable_raw(), static_cast<int64_t>(count));
  return on_asked_device(t);
}

Tensor text_constant(const char* value, DType to) {
  if (!value) fail(Code::E1104, "constant: a text is a null pointer");
  const std::string text = value;
  return make_constant(DType::kString, &text, 1, Shape{}, to);
}

void ragged_constant(int64_t got, int64_t expected, int depth) {
  fail(Code::E1102,
       cat("constant: a list at depth ", depth, " has ", got, " values, the one before it ",
           expected),
       "a tensor is rectangular: all lists of one depth have one length");
}

}  // namespace holdfast::detail
