// Small integers that are known while tracing: sizes, and arithmetic on them. They let shape rules
// see through `reshape(x, [shape(x)[0], 6])`.
#include <algorithm>

#include "holdfast/graph/trace.h"
#include "holdfast/ops/array/raw.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

// Which elements of `t` are not known; nothing if none is.
std::optional<uint64_t> unknown_of(const Tensor& t) {
  if (!kIndices.has(t.dtype()) || !t.shape().is_full() || t.size() > kMostKnown)
    return std::nullopt;
  if (!t.is_symbolic())
    return t.device() && t.device()->kind() == DeviceKind::kCpu ? std::optional<uint64_t>(0)
                                                                : std::nullopt;
  if (!symbol_of(t)->known.defined()) return std::nullopt;
  return symbol_of(t)->unknown;
}

const Tensor& value_of(const Tensor& t) { return t.is_symbolic() ? symbol_of(t)->known : t; }

// Runs an op on values that are known, outside of any trace and tape.
Tensors run_known(const OpDef& op, const Tensors& in, const Attrs& attrs) {
  Tensors out;
  DeviceScope host(cpu());
  eager()->run(op, in, attrs, out);
  return out;
}

Tensor from_bits(DType dtype, const Shape& shape, uint64_t bits) {
  Tensor t = empty(dtype, shape, cpu());
  visit_indices(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < t.size(); ++i) t.mutable_raw<T>()[i] = static_cast<T>(bits >> i & 1);
  });
  return t;
}

uint64_t all_bits(int64_t n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

uint64_t to_bits(const Tensor& t) {
  uint64_t bits = 0;
  visit_indices(t.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < t.size(); ++i) bits |= static_cast<uint64_t>(t.raw<T>()[i] != 0) << i;
  });
  return bits;
}

// One number that the shape of a tensor tells.
void follow_number(int64_t n, const Tensor& out) {
  if (out.dtype() == int32 && n != static_cast<int32_t>(n)) return;  // refused when it runs
  symbol_of(out)->known = Tensor::scalar(n, out.dtype());
}

// `Shape` of a tensor: its dimensions, as far as they are known.
void follow_shape(const Tensor& x, const Tensor& out) {
  if (!x.shape().has_rank() || x.rank() > kMostKnown) return;
  Tensor known = empty(out.dtype(), Shape{x.rank()}, cpu());
  uint64_t unknown = 0;
  visit_indices(out.dtype(), [&]<class T>(T) {
    for (int i = 0; i < x.rank(); ++i) {
      bool hidden = x.dim(i) == kUnknown;
      known.mutable_raw<T>()[i] = hidden ? 1 : static_cast<T>(x.dim(i));
      if (hidden) unknown |= uint64_t{1} << i;
    }
  });
  symbol_of(out)->known = known;
  symbol_of(out)->unknown = unknown;
}

// An operand as far as it is known: where it is not, any number stands in.
struct Partly {
  Tensor value;
  uint64_t unknown = 0;
};

std::optional<Partly> partly(const Tensor& t) {
  if (!t.defined()) return std::nullopt;
  if (auto unknown = unknown_of(t)) return Partly{value_of(t), *unknown};
  if (!t.is_symbolic() || !kIndices.has(t.dtype()) || !t.shape().is_full() || t.size() > kMostKnown)
    return std::nullopt;
  return Partly{from_bits(t.dtype(), t.shape(), ~uint64_t{0}), all_bits(t.size())};
}

// The group of what an op rearranges; inputs of other groups say where to.
const std::string& data_group(const OpDef& op) {
  for (const InputDef& def : op.inputs)
    if (!def.host) return def.group;
  return op.inputs[0].group;
}

}  // namespace

void follow_known(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs,
                  std::span<const Tensor> out) {
  if (out.empty() || op.traits.stateful || op.traits.reads || !kIndices.has(out[0].dtype())) return;
  if (op.traits.replaceable) return;  // a run may give another value
  for (const Arg& a : attrs)          // a loop may take its time, or never end
    if (std::holds_alternative<Ref<RefCounted>>(a.value())) return;
  if (in.empty()) return;
  const OfShape of = op.traits.of_shape;
  if (of == OfShape::kShape && out.size() == 1) return follow_shape(in[0], out[0]);
  if (of == OfShape::kSize && in[0].shape().elements())
    return follow_number(*in[0].shape().elements(), out[0]);
  if (of == OfShape::kRank && in[0].shape().has_rank()) return follow_number(in[0].rank(), out[0]);
  for (const Tensor& t : out)
    if (t.dtype() != out[0].dtype() || !t.shape().is_full() || t.size() > kMostKnown) return;
  auto index = [&](size_t i) {
    return !op.elementwise && op.inputs[std::min(i, op.inputs.size() - 1)].group != data_group(op);
  };
  bool all = true;
  Tensors values;
  std::vector<uint64_t> unknown;
  for (size_t i = 0; i < in.size(); ++i) {
    auto operand = partly(in[i]);
    if (!operand || (index(i) && operand->unknown)) return;
    all = all && !operand->unknown;
    values.push_back(operand->value);
    unknown.push_back(operand->unknown);
  }
  if (!all && !op.elementwise && !op.traits.rearranges) return;
  Tensors known;
  try {
    known = run_known(op, values, attrs);
  } catch (const Error&) {
    return;  // the step will say so, if it ever runs
  }
  for (const Tensor& t : known)
    if (t.size() > kMostKnown) return;
  if (all) {
    for (size_t i = 0; i < out.size(); ++i) symbol_of(out[i])->known = known[i];
    return;
  }
  // The same op on the marks themselves tells where the unknown elements went; an elementwise
  // result is unknown where any operand is.
  Tensors marks;
  for (size_t i = 0; i < in.size(); ++i)  // an index says where to look, not what is there
    marks.push_back(index(i) ? values[i]
                             : from_bits(values[i].dtype(), values[i].shape(), unknown[i]));
  Tensors hidden;
  if (op.elementwise) {
    Tensor any = marks[0];
    for (size_t i = 1; i < marks.size(); ++i)
      any = run_known(raw::maximum(), {any, marks[i]}, {})[0];
    hidden = {any};
  } else {
    hidden = run_known(op, marks, attrs);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t bits = to_bits(hidden[i]);
    if (bits == all_bits(known[i].size())) continue;
    symbol_of(out[i])->known = known[i];
    symbol_of(out[i])->unknown = bits;
  }
}

}  // namespace holdfast
