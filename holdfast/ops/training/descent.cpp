// Steps along the gradient: plain, with momentum, by its sign.
#include <cmath>

#include "holdfast/ops/training.h"
#include "holdfast/ops/training/rule.h"
#include "holdfast/ops/training/towards_zero.h"

namespace holdfast::train {
namespace {

struct NesterovAttrs {
  Attr<bool> use_locking;
  Attr<bool> use_nesterov;
};

template <class W>
struct GradientDescent {
  static constexpr int kCells = 1;
  W alpha;
  GradientDescent(const W* k, bool) : alpha(k[0]) {}
  void operator()(W* at, W g) const { at[0] -= g * alpha; }
};

template <class W>
struct ProximalGradientDescent {
  static constexpr int kCells = 1, kReal = 1;
  W alpha, l1, l2;
  ProximalGradientDescent(const W* k, bool) : alpha(k[0]), l1(k[1]), l2(k[2]) {}
  void operator()(W* at, W g) const {
    at[0] = towards_zero(at[0] - g * alpha, alpha * l1, alpha * l2);
  }
};

template <class W>
struct Momentum {
  static constexpr int kCells = 2;
  W lr, momentum;
  bool nesterov;
  Momentum(const W* k, bool flag) : lr(k[0]), momentum(k[1]), nesterov(flag) {}
  void operator()(W* at, W g) const {
    at[1] = at[1] * momentum + g;
    at[0] -= nesterov ? g * lr + at[1] * momentum * lr : at[1] * lr;
  }
};

template <class W>
struct KerasMomentum {
  static constexpr int kCells = 2;
  W lr, momentum;
  bool nesterov;
  KerasMomentum(const W* k, bool flag) : lr(k[0]), momentum(k[1]), nesterov(flag) {}
  void operator()(W* at, W g) const {
    at[1] = at[1] * momentum - g * lr;
    at[0] += nesterov ? at[1] * momentum - g * lr : at[1];
  }
};

template <class W>
W signs(W a, W b) {
  return sign_of(a) * sign_of(b);
}

template <class W>
struct AddSign {
  static constexpr int kCells = 2, kReal = 1;
  W lr, alpha, decay, beta;
  AddSign(const W* k, bool) : lr(k[0]), alpha(k[1]), decay(k[2]), beta(k[3]) {}
  void operator()(W* at, W g) const {
    at[1] = at[1] * beta + g * (1 - beta);
    at[0] -= lr * (alpha + decay * signs(g, at[1])) * g;
  }
};

template <class W>
struct PowerSign {
  static constexpr int kCells = 2, kReal = 1;
  W lr, logbase, decay, beta;
  PowerSign(const W* k, bool) : lr(k[0]), logbase(k[1]), decay(k[2]), beta(k[3]) {}
  void operator()(W* at, W g) const {
    at[1] = at[1] * beta + g * (1 - beta);
    at[0] -= lr * std::exp(logbase * decay * signs(g, at[1])) * g;
  }
};

const Op descent_op = moves<GradientDescent>(
    RAW_OP(ResourceApplyGradientDescent).doc("Takes `alpha` times `delta` off a variable."),
    "var: R, alpha, delta");
const Op proximal_op =
    moves<ProximalGradientDescent>(RAW_OP(ResourceApplyProximalGradientDescent)
                                       .doc("A step along the gradient, then one towards zero."),
                                   "var: R, alpha, l1, l2, delta");
const Op sparse_proximal_op = moves<ProximalGradientDescent>(
    RAW_OP(ResourceSparseApplyProximalGradientDescent)
        .doc("ResourceApplyProximalGradientDescent for the rows that `indices` names."),
    "var: R, alpha, l1, l2, grad, indices: Tindices");
const Op momentum_op = moves<Momentum, &NesterovAttrs::use_nesterov>(
    RAW_OP(ResourceApplyMomentum).doc("A step along the gradients, of which older ones fade."),
    "var: R, accum: R, lr, grad, momentum");
const Op sparse_momentum_op = moves<Momentum, &NesterovAttrs::use_nesterov>(
    RAW_OP(ResourceSparseApplyMomentum)
        .doc("ResourceApplyMomentum for the rows that `indices` names."),
    "var: R, accum: R, lr, grad, indices: Tindices, momentum");
const Op keras_op = moves<KerasMomentum, &NesterovAttrs::use_nesterov>(
    RAW_OP(ResourceApplyKerasMomentum)
        .doc("ResourceApplyMomentum that keeps steps, not gradients."),
    "var: R, accum: R, lr, grad, momentum");
const Op sparse_keras_op = moves<KerasMomentum, &NesterovAttrs::use_nesterov>(
    RAW_OP(ResourceSparseApplyKerasMomentum)
        .doc("ResourceApplyKerasMomentum for the rows that `indices` names."),
    "var: R, accum: R, lr, grad, indices: Tindices, momentum");
const Op add_sign_op = moves<AddSign>(
    RAW_OP(ResourceApplyAddSign)
        .doc("A longer step where the gradient agrees with its mean, a shorter one elsewhere."),
    "var: R, m: R, lr, alpha, sign_decay, beta, grad");
const Op power_sign_op =
    moves<PowerSign>(RAW_OP(ResourceApplyPowerSign)
                         .doc("ResourceApplyAddSign with a power of the agreement as its factor."),
                     "var: R, m: R, lr, logbase, sign_decay, beta, grad");

}  // namespace

void apply_gradient_descent(const Variable& var, const In& alpha, const In& delta) {
  step(descent_op, {}, var, alpha, delta);
}
void apply_proximal_gradient_descent(const Variable& var, const In& alpha, const In& l1,
                                     const In& l2, const In& delta) {
  step(proximal_op, {}, var, alpha, l1, l2, delta);
}
void apply_proximal_gradient_descent(const Variable& var, const In& alpha, const In& l1,
                                     const In& l2, const IndexedSlices& grad) {
  step(sparse_proximal_op, {}, var, alpha, l1, l2, grad);
}
void apply_momentum(const Variable& var, const Variable& accum, const In& lr, const In& grad,
                    const In& momentum, bool use_nesterov) {
  step(momentum_op, {false, use_nesterov}, var, accum, lr, grad, momentum);
}
void apply_momentum(const Variable& var, const Variable& accum, const In& lr,
                    const IndexedSlices& grad, const In& momentum, bool use_nesterov) {
  step(sparse_momentum_op, {false, use_nesterov}, var, accum, lr, grad, momentum);
}
void apply_keras_momentum(const Variable& var, const Variable& accum, const In& lr, const In& grad,
                          const In& momentum, bool use_nesterov) {
  step(keras_op, {false, use_nesterov}, var, accum, lr, grad, momentum);
}
void apply_keras_momentum(const Variable& var, const Variable& accum, const In& lr,
                          const IndexedSlices& grad, const In& momentum, bool use_nesterov) {
  step(sparse_keras_op, {false, use_nesterov}, var, accum, lr, grad, momentum);
}
void apply_add_sign(const Variable& var, const Variable& m, const In& lr, const In& alpha,
                    const In& sign_decay, const In& beta, const In& grad) {
  step(add_sign_op, {}, var, m, lr, alpha, sign_decay, beta, grad);
}
void apply_power_sign(const Variable& var, const Variable& m, const In& lr, const In& logbase,
                      const In& sign_decay, const In& beta, const In& grad) {
  step(power_sign_op, {}, var, m, lr, logbase, sign_decay, beta, grad);
}

}  // namespace holdfast::train
