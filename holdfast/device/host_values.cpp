// Numbers in and out of host tensors, one at a time or as spans.
#include <algorithm>
#include <cstring>

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {

Tensor Tensor::from_bytes(DType dtype, Shape shape, const void* values, size_t count) {
  auto n = shape.elements();
  if (!n || static_cast<size_t>(*n) != count) {
    fail(Code::E1102, cat("Tensor::of: got ", count, " values for shape ", shape.text()),
         "the product of the dimensions must be the number of values");
  }
  Tensor t = empty(dtype, shape, cpu());
  t.rep()->op = "Const";
  if (dtype == DType::kString) {
    std::copy_n(static_cast<const std::string*>(values), count, t.mutable_raw<std::string>());
  } else if (count) {
    std::memcpy(t.mutable_raw(), values, count * static_cast<size_t>(size_of(dtype)));
  }
  return t;
}

Tensor Tensor::scalar_of(DType dtype, double f, int64_t i) {
  Tensor t = empty(dtype, Shape{}, cpu());
  t.rep()->op = "Const";
  visit_plain(dtype, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bool>)
      *t.mutable_raw<T>() = f != 0;
    else if constexpr (std::is_integral_v<T>)
      *t.mutable_raw<T>() = static_cast<T>(i);
    else if constexpr (is_complex_v<T>)
      *t.mutable_raw<T>() = T(static_cast<typename T::value_type>(f));
    else
      *t.mutable_raw<T>() = T(static_cast<float_of<T>>(f));
  });
  return t;
}

double Tensor::as_double() const {
  Tensor host = on_host(dtype(), 1);
  double out = 0;
  visit_plain(dtype(), [&]<class T>(T) {
    if constexpr (is_complex_v<T>)
      out = host.raw<T>()->real();
    else
      out = static_cast<double>(static_cast<float_of<T>>(*host.raw<T>()));
  });
  return out;
}

int64_t Tensor::as_int() const {
  Tensor host = on_host(dtype(), 1);
  int64_t out = 0;
  visit_plain(dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>)
      out = static_cast<int64_t>(*host.raw<T>());
    else
      out = static_cast<int64_t>(host.to_double());
  });
  return out;
}

}  // namespace holdfast
