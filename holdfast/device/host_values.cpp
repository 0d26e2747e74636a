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
    std::copy_n(static_cast<const std::string*>(values), count, t.mutable_data<std::string>());
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
      *t.mutable_data<T>() = f != 0;
    else if constexpr (std::is_integral_v<T>)
      *t.mutable_data<T>() = static_cast<T>(i);
    else if constexpr (is_complex_v<T>)
      *t.mutable_data<T>() = T(static_cast<typename T::value_type>(f));
    else
      *t.mutable_data<T>() = T(static_cast<float_of<T>>(f));
  });
  return t;
}

Tensor Tensor::on_host(DType want, int64_t size) const {
  if (!*this) fail(Code::E1104, "a Tensor that refers to nothing was read");
  if (dtype() != want) {
    fail(Code::E1101, cat("a ", name(dtype()), " tensor was read as ", name(want)),
         "reading does not convert",
         {manual_fix(cat("read it as ", name(dtype()), ", or cast it first"))});
  }
  if (size >= 0 && this->size() != size)
    fail(Code::E1102, cat("item(): got shape ", shape().text(), ", expected one element"));
  if (!device())
    fail(Code::E1104, cat("a ", name(dtype()), " tensor that holds no value was read"));
  return device()->kind() == DeviceKind::kCpu ? *this : copy_to(*this, cpu());
}

double Tensor::to_double() const {
  Tensor host = on_host(dtype(), 1);
  double out = 0;
  visit_plain(dtype(), [&]<class T>(T) {
    if constexpr (is_complex_v<T>)
      out = host.data<T>()->real();
    else
      out = static_cast<double>(static_cast<float_of<T>>(*host.data<T>()));
  });
  return out;
}

int64_t Tensor::to_int() const {
  Tensor host = on_host(dtype(), 1);
  int64_t out = 0;
  visit_plain(dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>)
      out = static_cast<int64_t>(*host.data<T>());
    else
      out = static_cast<int64_t>(host.to_double());
  });
  return out;
}

}  // namespace holdfast
