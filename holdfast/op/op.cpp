#include "holdfast/op/op.h"

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
        if (!other.weak() && other.dtype() != DType::kInvalid && group(k) == group(i)) { hint = other.dtype(); break; }
        ++k;
      }
      if (hint == DType::kInvalid) for (size_t j = 0; j < i; ++j) if (group(j) == group(i)) hint = out[j].dtype();
    }
    out.push_back(in.tensor(hint));
    ++i;
  }
}

void fill_defaults(const OpDef& op, Attrs& attrs) {
  for (size_t i = attrs.size(); i < op.attrs.size(); ++i) attrs.push_back(op.attrs[i].default_value);
}

}  // namespace

Tensor Op::operator()(const In& x) const {
  Tensor in = x.tensor();
  Tensors out;
  Attrs attrs;
  if (!def_->attrs.empty()) fill_defaults(*def_, attrs);
  apply(*def_, {&in, 1}, attrs, out);
  return std::move(out[0]);
}

Tensor Op::operator()(const In& x, const In& y) const {
  Tensor in[2];
  if (x.weak()) {
    in[1] = y.tensor();
    in[0] = x.tensor(y.weak() ? DType::kInvalid : in[1].dtype());
    if (y.weak()) in[1] = y.tensor(in[0].dtype());
  } else {
    in[0] = x.tensor();
    in[1] = y.tensor(in[0].dtype());
  }
  Tensors out;
  Attrs attrs;
  if (!def_->attrs.empty()) fill_defaults(*def_, attrs);
  apply(*def_, in, attrs, out);
  return std::move(out[0]);
}

Tensors Op::many(std::initializer_list<In> inputs, Attrs attrs) const {
  Tensors in, out;
  resolve(*def_, inputs, in);
  fill_defaults(*def_, attrs);
  apply(*def_, in, attrs, out);
  return out;
}

Tensors Op::list(const Tensors& inputs, Attrs attrs) const {
  Tensors out;
  fill_defaults(*def_, attrs);
  apply(*def_, inputs, attrs, out);
  return out;
}

}  // namespace holdfast
