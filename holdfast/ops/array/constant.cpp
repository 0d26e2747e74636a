#include "holdfast/ops/constant.h"

#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::detail {
namespace {

template <class To, class From>
To converted(const From& v) {
  if constexpr (is_complex_v<From>) {
    if constexpr (is_complex_v<To>)
      return To(static_cast<typename To::value_type>(v.real()),
                static_cast<typename To::value_type>(v.imag()));
    else
      return converted<To>(v.real());
  } else if constexpr (is_complex_v<To>) {
    return To(static_cast<typename To::value_type>(static_cast<float_of<From>>(v)));
  } else {
    return static_cast<To>(static_cast<float_of<To>>(static_cast<float_of<From>>(v)));
  }
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
    std::copy_n(static_cast<const std::string*>(values), count, t.mutable_data<std::string>());
    return t;
  }
  visit_plain(from, [&]<class F>(F) {
    visit_plain(to, [&]<class T>(T) {
      const auto* p = static_cast<const F*>(values);
      if constexpr (std::is_integral_v<F> && std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        for (size_t i = 0; i < count; ++i)
          if (!std::is_same_v<F, bool> &&
              static_cast<__int128>(p[i]) != static_cast<__int128>(static_cast<T>(p[i])))
            fail(Code::E1103,
                 cat("constant: the value ", p[i], " at position ", i, " does not fit ", name(to)));
      }
      std::transform(p, p + count, t.mutable_data<T>(), [](const F& v) { return converted<T>(v); });
    });
  });
  return t;
}

void ragged_constant(int64_t got, int64_t expected, int depth) {
  fail(Code::E1102,
       cat("constant: a list at depth ", depth, " has ", got, " values, the one before it ",
           expected),
       "a tensor is rectangular: all lists of one depth have one length");
}

}  // namespace holdfast::detail
