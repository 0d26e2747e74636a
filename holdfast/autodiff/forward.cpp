// A product J v is had from two backward passes. The gradient g(u) = Jᵀu is linear in the upstream
// u, so the gradient of <g(u), v> with respect to u is J v, whatever u is: ones, since a formula
// may leave out where nothing arrives. No op needs a forward rule, only the gradient of its
// gradient.
#include "holdfast/autodiff/forward.h"

#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"

namespace holdfast {
namespace {

// A tape that does not see what is done in its lifetime.
class Paused {
 public:
  explicit Paused(GradientTape& tape) : tape_(tape), was_(tape.recording()) { tape_.stop(); }
  ~Paused() {
    if (was_) tape_.start();
  }
  Paused(const Paused&) = delete;

 private:
  GradientTape& tape_;
  bool was_;
};

}  // namespace

Tensor jvp(GradientTape& tape, const Tensor& y, const std::vector<Source>& primals,
           const std::vector<Tensor>& tangents, Unconnected unconnected) {
  if (primals.size() != tangents.size())
    fail(Code::E1104, cat("jvp: ", tangents.size(), " tangents for ", primals.size(),
                          " primals, expected one each"));
  for (size_t i = 0; i < primals.size(); ++i)
    if (primals[i].id() == y.id()) return tangents[i];
  Paused paused(tape);
  GradientTape second;
  Tensor u = ones_like(y);
  second.watch(u);
  std::vector<Tensor> pulled, along;
  auto found = tape.gradients({y}, primals, {u});
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].none()) continue;
    pulled.push_back(found[i].tensor());
    along.push_back(tangents[i]);
  }
  second.stop();
  if (pulled.empty()) return unconnected == Unconnected::kZero ? zeros_like(y) : Tensor();
  return second.gradients(pulled, {u}, along, Unconnected::kZero)[0].tensor();
}

void ForwardAccumulator::begin() {
  if (primals_.size() != tangents_.size())
    fail(Code::E1104, cat("ForwardAccumulator: ", tangents_.size(), " tangents for ",
                          primals_.size(), " primals, expected one each"));
  for (size_t i = 0; i < primals_.size(); ++i) {
    const Tensor &x = primals_[i].type(), &v = tangents_[i];
    if (!v.defined() || v.dtype() != x.dtype() || !v.shape().compatible(x.shape()))
      fail(
          v.defined() && v.dtype() == x.dtype() ? Code::E1102 : Code::E1101,
          cat("ForwardAccumulator: tangent ", i, " is ", type_text(v), ", expected ", type_text(x)),
          "a tangent has the dtype and shape of its primal");
  }
  tape_.start();
  for (const Source& s : primals_) {
    if (s.variable().defined())
      tape_.watch(Variable::from_handle(s.variable()));
    else
      tape_.watch(s.type());
  }
}

Tensor ForwardAccumulator::push(const Tensor& y, Unconnected unconnected) {
  return holdfast::jvp(tape_, y, primals_, tangents_, unconnected);
}

std::vector<Tensor> ForwardAccumulator::push(const std::vector<Tensor>& ys,
                                             Unconnected unconnected) {
  std::vector<Tensor> out;
  for (const Tensor& y : ys) out.push_back(jvp(y, unconnected));
  return out;
}

}  // namespace holdfast
