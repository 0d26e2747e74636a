#include "holdfast/op/op.h"

#include <cstring>
#include <new>

#include "holdfast/base/text.h"

namespace holdfast {
namespace {

// Numbers among the inputs take the dtype of the first tensor of their group.
void resolve(const OpDef& op, std::initializer_list<In> inputs, Tensors& out) {
  size_t last = op.inputs.size() - 1;
  auto group = [&](size_t i) -> const std::string& { return op.inputs[i < last ? i : last].group; };
  size_t i = 0;
  for (const In& in : inputs) {
    DType hint = DType::kInvalid;
    if (in.weak()) {
      size_t k = 0;
      for (const In& other : inputs) {
        if (!other.weak() && other.dtype() != DType::kInvalid && group(k) == group(i)) {
          hint = other.dtype();
          break;
        }
        ++k;
      }
      if (hint == DType::kInvalid)
        for (size_t j = 0; j < i; ++j)
          if (group(j) == group(i)) hint = out[j].dtype();
    }
    out.push_back(in.tensor(hint));
    ++i;
  }
}

// Tensors side by side that somebody else holds for the time of the call: a count up and down for
// each operand would be a good part of a small op's time.
template <size_t N>
class Borrowed {
 public:
  void set(size_t i, const Tensor& t) {
    std::memcpy(bytes_ + i * sizeof(Tensor), &t, sizeof(Tensor));
  }
  std::span<const Tensor> tensors() const {
    return {std::launder(reinterpret_cast<const Tensor*>(bytes_)), N};
  }

 private:
  static_assert(sizeof(Tensor) == sizeof(void*), "a tensor is one counted pointer");
  alignas(Tensor) unsigned char bytes_[N * sizeof(Tensor)];
};

const Attrs kNone{};  // `apply` puts in the defaults

// The output of an op that has one; an op that only changes something has none.
Tensor first(Tensors& out) { return out.empty() ? Tensor() : std::move(out[0]); }

}  // namespace

Tensor Op::operator()(const In& x) const {
  Tensor own;
  const Tensor* in = x.borrowed();
  if (!in) in = &(own = x.tensor());
  Tensors out;
  apply(*def_, {in, 1}, kNone, out);
  return first(out);
}

Tensor Op::operator()(const In& x, const In& y) const {
  if (const Tensor *a = x.borrowed(), *b = y.borrowed(); a && b) {
    Borrowed<2> in;
    in.set(0, *a);
    in.set(1, *b);
    Tensors out;
    apply(*def_, in.tensors(), kNone, out);
    return first(out);
  }
  Tensor own[2];
  Borrowed<2> in;
  const Tensor *a = x.borrowed(), *b = y.borrowed();
  if (!a && !x.weak()) a = &(own[0] = x.tensor());
  if (!b && !y.weak()) b = &(own[1] = y.tensor());
  // A number takes the dtype of the other operand; two of them that of the first.
  if (!a) a = &(own[0] = x.tensor(b && b->defined() ? b->dtype() : DType::kInvalid));
  if (!b) b = &(own[1] = y.tensor(a->defined() ? a->dtype() : DType::kInvalid));
  in.set(0, *a);
  in.set(1, *b);
  Tensors out;
  apply(*def_, in.tensors(), kNone, out);
  return first(out);
}

Tensor Op::operator()(std::initializer_list<In> inputs, Attrs attrs) const {
  return many(inputs, std::move(attrs))[0];
}
Tensors Op::many(std::initializer_list<In> inputs, Attrs attrs) const {
  Tensors in, out;
  resolve(*def_, inputs, in);
  apply(*def_, in, attrs, out);
  return out;
}

Tensors Op::list(const Tensors& inputs, Attrs attrs) const {
  Tensors out;
  apply(*def_, inputs, attrs, out);
  return out;
}

}  // namespace holdfast
