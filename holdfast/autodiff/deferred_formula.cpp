// Gradients that are only written out when the program runs.
#include "holdfast/autodiff/deferred_formula.h"

#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"

namespace holdfast {
namespace {

// What is among the tensors of a deferred formula, as plain numbers: of inputs, outputs and
// upstream gradients how many there are and, one number each, whether they are there; what is
// wanted; and for which inputs.
class Packed {
 public:
  void add(std::span<const Tensor> from, Tensors& list) {
    numbers.push_back(static_cast<int64_t>(from.size()));
    for (const Tensor& t : from) {
      numbers.push_back(t.defined());
      if (t.defined()) list.push_back(t);
    }
  }
  Ints numbers;
};

class Unpacked {
 public:
  Unpacked(const Ints& numbers, std::span<const Tensor> list) : numbers_(numbers), list_(list) {}
  Tensors tensors() {
    Tensors out;
    for (int64_t n = number(); n > 0; --n) out.push_back(number() ? next() : Tensor());
    return out;
  }
  int64_t number() { return at_ < numbers_.size() ? numbers_[at_++] : 0; }
  bool more() const { return at_ < numbers_.size(); }

 private:
  Tensor next() {
    if (taken_ == list_.size())
      fail(Code::E1103, "Deferred: a formula has fewer tensors than its arguments say");
    return list_[taken_++];
  }
  const Ints& numbers_;
  std::span<const Tensor> list_;
  size_t at_ = 0, taken_ = 0;
};

// What a formula gives for the inputs in `which`; zeros where it gives nothing.
Tensors run_formula(const OpDef& op, const Attrs& attrs, const Tensors& x, const Tensors& y,
                    const Tensors& dy, uint32_t wanted, const std::vector<size_t>& which) {
  Grad g(op, x, y, attrs, dy, wanted);
  Tensors dx = op.gradient(g);
  std::vector<Gradient> found(x.size());
  for (size_t i = 0; i < dx.size() && i < x.size(); ++i)
    if (dx[i].defined()) found[i].dense = op.elementwise ? sum_to(dx[i], x[i]) : dx[i];
  for (auto& [i, slices] : g.sparse()) found[static_cast<size_t>(i)].slices = slices;
  Tensors out;
  for (size_t i : which) out.push_back(found[i].none() ? zeros_like(x[i]) : found[i].tensor());
  return out;
}

Tensors pull_back(const Body& body, std::span<const Tensor> inputs,
                  std::span<const Tensor> upstream) {
  GradientTape tape({.watch_accessed_variables = false});
  Tensors own(inputs);
  std::vector<Source> sources;
  std::vector<size_t> which;
  for (size_t i = 0; i < own.size(); ++i) {
    if (!is_differentiable(own[i].dtype())) continue;
    own[i] =
        identity(own[i]);  // the same tensor may come twice, and each has a gradient of its own
    tape.watch(own[i]);
    sources.emplace_back(own[i]);
    which.push_back(i);
  }
  Tensors y = body(own);
  if (y.size() != upstream.size())
    fail(Code::E1103, cat("Deferred: `pulled` says that there are ", upstream.size(),
                          " results, and there are ", y.size()));
  std::vector<Tensor> targets, dy;
  for (size_t i = 0; i < y.size(); ++i) {
    if (!upstream[i].defined()) continue;
    targets.push_back(y[i]);
    dy.push_back(upstream[i]);
  }
  std::vector<Gradient> found = tape.gradients(targets, sources, dy, Unconnected::kZero);
  Tensors dx(inputs.size());
  for (size_t i = 0; i < which.size(); ++i) dx[which[i]] = found[i].tensor();
  return dx;
}

Tensors formula(const OpDef& op, const Attrs& attrs, std::span<const Tensor> in,
                const Ints& numbers) {
  Unpacked packed(numbers, in);
  Tensors x = packed.tensors(), y = packed.tensors(), dy = packed.tensors();
  auto wanted = static_cast<uint32_t>(packed.number());
  std::vector<size_t> which;
  while (packed.more()) which.push_back(static_cast<size_t>(packed.number()));
  // A graph that somebody wrote may say anything: formulas read what the op's signature promises.
  bool fits = y.size() == dy.size() && y.size() >= op.outputs.size();
  for (size_t i = 0; i < op.inputs.size(); ++i)
    fits = fits && (op.inputs[i].list || op.inputs[i].optional || i < x.size());
  for (size_t i : which) fits = fits && i < x.size() && x[i].defined();
  if (!fits)
    fail(Code::E1103, cat("Deferred: the tensors of a formula of ", op.name, " do not fit the op"));
  return run_formula(op, attrs, x, y, dy, wanted, which);
}

const bool registered = [] {
  set_pullback(pull_back, formula);
  return true;
}();

}  // namespace

bool needs_ranks(const Record& r) {
  bool unknown = false;
  if (!r.op->inputs.empty() && r.op->inputs.back().group == "any")
    return false;  // bodies of code, which say themselves what they need
  for (const Tensor& t : r.inputs) {
    if (t.defined() && (t.dtype() == DType::kResource || t.dtype() == DType::kVariant))
      return false;
    unknown = unknown || (t.defined() && !t.shape().has_rank());
  }
  return unknown;
}

Tensors deferred_formula(const Record& r, const Tensors& upstream, uint32_t wanted) {
  Tensors list;
  Packed packed;
  packed.add(r.inputs, list);
  packed.add(r.outputs, list);
  packed.add(upstream, list);
  packed.numbers.push_back(wanted);
  std::vector<size_t> which;
  Given results;
  for (size_t i = 0; i < r.inputs.size(); ++i) {
    if (!r.inputs[i].defined() || !(wanted >> (i < 31 ? i : 31) & 1) ||
        !is_differentiable(r.inputs[i].dtype()))
      continue;
    which.push_back(i);
    packed.numbers.push_back(static_cast<int64_t>(i));
    results.emplace_back(r.inputs[i].dtype(), r.inputs[i].shape());
  }
  Tensors found = deferred_gradient(*r.op, r.attrs, list, results, packed.numbers);
  Tensors dx(r.inputs.size());
  for (size_t i = 0; i < which.size(); ++i) dx[which[i]] = found[i];
  return dx;
}

}  // namespace holdfast
