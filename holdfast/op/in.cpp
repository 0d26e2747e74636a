#include "holdfast/op/in.h"

#include <utility>

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/op/context.h"
#include "holdfast/op/function.h"
#include "holdfast/op/variable.h"
#include "holdfast/tensor/scope.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {

DType In::dtype() const {
  if (variable_) return variable_->dtype();
  return weak() || !held().defined() ? DType::kInvalid : held().dtype();
}

bool In::fits(DType d) const {
  bool out = true;
  if (weak_ == Weak::kInt)
    visit_plain(d, [&]<class T>(T) {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        out = beyond_int64_ ? std::is_same_v<T, uint64_t> : std::in_range<T>(int_);
    });
  return out;
}

Tensor In::tensor(DType hint) const {
  if (variable_) return variable_->read();
  if (!weak()) return held();  // may be empty: an optional input that is not there
  DType own = weak_ == Weak::kBool ? DType::kBool : weak_ == Weak::kFloat ? float32 : int32;
  if (weak_ == Weak::kInt && !fits(int32)) own = beyond_int64_ ? uint64 : int64;
  DType d = hint == DType::kInvalid ? own : hint;
  auto number = [&] {
    if (weak_ == Weak::kFloat) return cat(float_);
    return beyond_int64_ ? cat(static_cast<uint64_t>(int_)) : cat(int_);
  };
  bool right_kind = d == own || (weak_ == Weak::kInt && kNumbers.has(d)) ||
                    (weak_ == Weak::kFloat && kDifferentiable.has(d));
  if (!right_kind) {
    fail(Code::E1101, cat("the number ", number(), " does not fit beside a ", name(d), " operand"),
         cat("a bare number takes the dtype of the operand beside it, and ", name(d),
             " can't hold it"),
         {manual_fix(cat("cast the tensor, or write a number that ", name(d), " holds"))});
  }
  if (!fits(d)) {
    fail(Code::E1103, cat("the number ", number(), " does not fit into ", name(d)),
         cat("a bare number takes the dtype of the operand beside it, and ", name(d),
             " can't hold it"),
         {manual_fix("cast the tensor to a wider dtype, such as int64")});
  }
  return weak_ == Weak::kFloat ? Tensor::scalar(float_, d)
         : beyond_int64_       ? Tensor::scalar(static_cast<uint64_t>(int_), d)
                               : Tensor::scalar(int_, d);
}

Arg In::arg() const {
  switch (weak_) {
    case Weak::kBool: return Arg(int_ != 0);
    case Weak::kInt: return Arg(int_);
    case Weak::kFloat: return Arg(float_);
    case Weak::kNo: break;
  }
  return given() ? Arg(tensor()) : Arg();
}

In In::from(const Arg& a) {
  if (a.none()) return In(Tensor());
  if (auto* b = std::get_if<bool>(&a.value())) return In(*b);
  if (auto* i = std::get_if<int64_t>(&a.value())) return In(*i);
  if (auto* f = std::get_if<double>(&a.value())) return In(*f);
  return In(a.tensor());
}

Tensors Ins::tensors() const {
  DType hint = DType::kInvalid;
  for (const In& in : list_)
    if (!in.weak()) {
      hint = in.dtype();
      break;
    }
  Tensors out;
  for (const In& in : list_) {
    out.push_back(in.tensor(hint));
    if (hint == DType::kInvalid) hint = out.back().dtype();
  }
  return out;
}

Tensor Sizes::tensor() const {
  if (tensor_.defined()) return tensor_;
  bool small = true;
  for (int64_t v : ints_) small = small && v == static_cast<int32_t>(v);
  Shape shape = single_ ? Shape{} : Shape{static_cast<int64_t>(ints_.size())};
  Tensor t = empty(small ? int32 : int64, shape, cpu());
  t.rep()->op = "Const";
  for (size_t i = 0; i < ints_.size(); ++i) {
    if (small)
      t.mutable_raw<int32_t>()[i] = static_cast<int32_t>(ints_[i]);
    else
      t.mutable_raw<int64_t>()[i] = ints_[i];
  }
  return t;
}

Dims Sizes::ints() const {
  if (!tensor_.defined()) return ints_;
  if (tensor_.is_symbolic()) went_by_numbers(tensor_);
  const Tensor& known =
      tensor_.is_symbolic() && !symbol_of(tensor_)->unknown ? symbol_of(tensor_)->known : tensor_;
  Tensor host = copy_to(known.defined() ? known : tensor_, cpu());
  Dims out;
  if (host.dtype() == int32)
    for (int64_t i = 0; i < host.size(); ++i) out.push_back(host.raw<int32_t>()[i]);
  else if (host.dtype() == int64)
    for (int64_t i = 0; i < host.size(); ++i) out.push_back(host.raw<int64_t>()[i]);
  else
    fail(Code::E1101, cat("sizes are ", name(host.dtype()), ", expected int32 or int64"));
  return out;
}

Ins::Ins(std::initializer_list<In> list) : list_(list.begin(), list.end()) {}
Ins::Ins(std::span<const Tensor> list) : list_(list.begin(), list.end()) {}
Ins::Ins(const Ins&) = default;
Ins& Ins::operator=(const Ins&) = default;
Ins::~Ins() = default;

}  // namespace holdfast
