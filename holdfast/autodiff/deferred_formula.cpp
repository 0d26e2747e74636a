// Gradients that are only written out when the program runs.
#include "holdfast/autodiff/deferred_formula.h"

#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"

namespace holdfast {
namespace {

// Tensors of a record, of which some may be missing, packed into a list and found again.
class Packed {
 public:
  Packed(std::span<const Tensor> from, Tensors& list) {
    for (const Tensor& t : from) {
      there_.push_back(t.defined());
      if (t.defined()) list.push_back(t);
    }
  }
  Tensors unpack(std::span<const Tensor> list, size_t& next) const {
    Tensors out;
    for (bool there : there_) out.push_back(there ? list[next++] : Tensor());
    return out;
  }

 private:
  std::vector<bool> there_;
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

const bool registered = [] {
  set_pullback(pull_back);
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
  Packed x(r.inputs, list), y(r.outputs, list), dy(upstream, list);
  std::vector<size_t> which;
  Given results;
  for (size_t i = 0; i < r.inputs.size(); ++i) {
    if (!r.inputs[i].defined() || !(wanted >> (i < 31 ? i : 31) & 1) ||
        !is_differentiable(r.inputs[i].dtype()))
      continue;
    which.push_back(i);
    results.emplace_back(r.inputs[i].dtype(), r.inputs[i].shape());
  }
  auto body = [op = r.op, attrs = r.attrs, x, y, dy, wanted, which](std::span<const Tensor> in) {
    size_t next = 0;
    Tensors a = x.unpack(in, next), b = y.unpack(in, next), c = dy.unpack(in, next);
    return run_formula(*op, attrs, a, b, c, wanted, which);
  };
  Tensors found = deferred(cat("gradient of ", r.op->name), list, results, body);
  Tensors dx(r.inputs.size());
  for (size_t i = 0; i < which.size(); ++i) dx[which[i]] = found[i];
  return dx;
}

}  // namespace holdfast
