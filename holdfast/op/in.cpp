#include "holdfast/op/in.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/op/context.h"
#include "holdfast/op/function.h"
#include "holdfast/op/variable.h"
#include "holdfast/tensor/scope.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

Tensor host_constant(DType d, const Shape& shape) {
  Tensor out = empty(d, shape, cpu());
  out.rep()->op = "Const";
  return out;
}

}  // namespace

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

DType In::own_dtype() const {
  if (weak_ == Weak::kBool) return DType::kBool;
  if (weak_ == Weak::kFloat) return float32;
  return fits(int32) ? int32 : beyond_int64_ ? uint64 : int64;
}

Tensor In::number_as(DType d) const {
  const DType own = own_dtype();
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

Tensor In::tensor(DType hint) const {
  if (variable_) return variable_->read();
  if (!weak()) return held();  // may be empty: an optional input that is not there
  if (tensor_.defined()) return listed(hint);
  return number_as(hint == DType::kInvalid ? own_dtype() : hint);
}

// Rows are all of one length, and the deepest hold the numbers or texts.
void In::take(std::initializer_list<Braced> numbers) {
  using Item = Braced::Kind;
  Dims shape;
  std::vector<const Braced*> leaves;
  Item kind = Item::kBool;
  auto walk = [&](auto&& self, std::initializer_list<Braced> row, size_t depth) -> void {
    const auto count = static_cast<int64_t>(row.size());
    if (depth == shape.size()) {
      if (!leaves.empty()) fail(Code::E1102, "a row in braces stands where a number stood before");
      shape.push_back(count);
    }
    if (shape[depth] != count)
      fail(Code::E1102,
           cat("a row in braces has ", count, " elements, the one before it ", shape[depth]));
    for (const Braced& item : row) {
      if (item.kind_ == Item::kRow) {
        self(self, item.row_, depth + 1);
        continue;
      }
      if (depth + 1 != shape.size())
        fail(Code::E1102, "a number in braces stands where a row stood before");
      if (!leaves.empty() && (item.kind_ == Item::kText) != (kind == Item::kText))
        fail(Code::E1101, "texts and numbers stand in the same braces");
      if (item.beyond_int64_)
        fail(Code::E1103,
             cat("the number ", static_cast<uint64_t>(item.int_),
                 " in braces does not fit into int64"),
             "", {manual_fix("write constant(std::vector<uint64_t>{...})")});
      kind = std::max(kind, item.kind_);
      leaves.push_back(&item);
    }
  };
  walk(walk, numbers, 0);
  if (kind == Item::kText) {
    tensor_ = host_constant(DType::kString, Shape(shape));
    for (size_t i = 0; i < leaves.size(); ++i)
      tensor_.mutable_raw<std::string>()[i] = leaves[i]->text_;
    return;
  }
  const bool floats = kind == Item::kFloat || leaves.empty();
  weak_ = floats ? Weak::kFloat : kind == Item::kInt ? Weak::kInt : Weak::kBool;
  tensor_ = host_constant(floats               ? float64
                          : kind == Item::kInt ? int64
                                               : DType::kBool,
                          Shape(shape));
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (floats)
      tensor_.mutable_raw<double>()[i] = leaves[i]->number_;
    else if (kind == Item::kInt)
      tensor_.mutable_raw<int64_t>()[i] = leaves[i]->int_;
    else
      tensor_.mutable_raw<bool>()[i] = leaves[i]->int_ != 0;
  }
}

void detail::refuse_null_text() { fail(Code::E1104, "a text is a null pointer"); }

void In::take(std::string_view text) {
  tensor_ = host_constant(DType::kString, Shape{});
  *tensor_.mutable_raw<std::string>() = text;
}

Tensor In::listed(DType d) const {
  const int64_t count = tensor_.size();
  auto item = [&](int64_t i) {
    switch (weak_) {
      case Weak::kBool: return In(tensor_.raw<bool>()[i]);
      case Weak::kInt: return In(tensor_.raw<int64_t>()[i]);
      default: return In(tensor_.raw<double>()[i]);
    }
  };
  if (d == DType::kInvalid) {
    d = weak_ == Weak::kBool ? DType::kBool : weak_ == Weak::kFloat ? float32 : int32;
    for (int64_t i = 0; weak_ == Weak::kInt && i < count; ++i)
      if (!item(i).fits(int32)) d = int64;
  }
  if (d == tensor_.dtype()) return tensor_;
  Tensor out = host_constant(d, tensor_.shape());
  const auto width = static_cast<size_t>(size_of(d));
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(static_cast<char*>(out.mutable_raw()) + static_cast<size_t>(i) * width,
                item(i).number_as(d).raw(), width);
  return out;
}

Arg In::arg() const {
  if (weak() && tensor_.defined()) return Arg(tensor());
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
  Tensor t = host_constant(small ? int32 : int64, shape);
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
