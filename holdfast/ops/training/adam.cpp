// Steps over the moments of recent gradients: Adam and RMSProp.
#include <cmath>

#include "holdfast/ops/training.h"
#include "holdfast/ops/training/rule.h"

namespace holdfast::train {
namespace {

struct NesterovAttrs {
  Attr<bool> use_locking;
  Attr<bool> use_nesterov;
};

template <class W>
struct Adam {
  static constexpr int kCells = 3;
  W rate, beta1, beta2, epsilon;
  bool nesterov;
  Adam(const W* k, bool flag)
      : rate(k[2] * std::sqrt(W(1) - k[1]) / (W(1) - k[0])),
        beta1(k[3]),
        beta2(k[4]),
        epsilon(k[5]),
        nesterov(flag) {}
  void operator()(W* at, W g) const {
    at[1] += (g - at[1]) * (W(1) - beta1);
    at[2] += (g * g - at[2]) * (W(1) - beta2);
    W mean = nesterov ? g * (W(1) - beta1) + beta1 * at[1] : at[1];
    at[0] -= mean * rate / (std::sqrt(at[2]) + epsilon);
  }
};

template <class W>
struct AmsGrad {
  static constexpr int kCells = 4, kReal = 1;
  W rate, beta1, beta2, epsilon;
  AmsGrad(const W* k, bool)
      : rate(k[2] * std::sqrt(1 - k[1]) / (1 - k[0])), beta1(k[3]), beta2(k[4]), epsilon(k[5]) {}
  void operator()(W* at, W g) const {
    at[1] += (g - at[1]) * (1 - beta1);
    at[2] += (g * g - at[2]) * (1 - beta2);
    at[3] = at[2] > at[3] ? at[2] : at[3];
    at[0] -= at[1] * rate / (std::sqrt(at[3]) + epsilon);
  }
};

template <class W>
struct AdaMax {
  static constexpr int kCells = 3, kReal = 1;
  W rate, beta1, beta2, epsilon;
  AdaMax(const W* k, bool) : rate(k[1] / (1 - k[0])), beta1(k[2]), beta2(k[3]), epsilon(k[4]) {}
  void operator()(W* at, W g) const {
    at[1] += (g - at[1]) * (1 - beta1);
    W faded = beta2 * at[2], size = std::abs(g);
    at[2] = faded > size ? faded : size;
    at[0] -= rate * (at[1] / (at[2] + epsilon));
  }
};

template <class W>
struct RmsProp {
  static constexpr int kCells = 3;
  W lr, rho, momentum, epsilon;
  RmsProp(const W* k, bool) : lr(k[0]), rho(k[1]), momentum(k[2]), epsilon(k[3]) {}
  void operator()(W* at, W g) const {
    at[1] += (g * g - at[1]) * (W(1) - rho);
    at[2] = at[2] * momentum + g * lr / std::sqrt(at[1] + epsilon);
    at[0] -= at[2];
  }
};

template <class W>
struct CenteredRmsProp {
  static constexpr int kCells = 4;
  W lr, rho, momentum, epsilon;
  CenteredRmsProp(const W* k, bool) : lr(k[0]), rho(k[1]), momentum(k[2]), epsilon(k[3]) {}
  void operator()(W* at, W g) const {
    at[2] += (g * g - at[2]) * (W(1) - rho);
    at[1] += (g - at[1]) * (W(1) - rho);
    at[3] = at[3] * momentum + g * lr / std::sqrt(at[2] - at[1] * at[1] + epsilon);
    at[0] -= at[3];
  }
};

const Op adam_op = moves<Adam, &NesterovAttrs::use_nesterov>(
    RAW_OP(ResourceApplyAdam)
        .doc("A step along the mean of recent gradients, over the root of the mean of squares."),
    "var: R, m: R, v: R, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad");
const Op amsgrad_op = moves<AmsGrad>(
    RAW_OP(ResourceApplyAdamWithAmsgrad)
        .doc("ResourceApplyAdam over the largest mean of squares so far."),
    "var: R, m: R, v: R, vhat: R, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad");
const Op ada_max_op = moves<AdaMax>(
    RAW_OP(ResourceApplyAdaMax).doc("ResourceApplyAdam over the largest recent gradient."),
    "var: R, m: R, v: R, beta1_power, lr, beta1, beta2, epsilon, grad");
const Op rms_op = moves<RmsProp>(
    RAW_OP(ResourceApplyRMSProp)
        .doc("A step along the gradient, over the root of the mean of recent squares."),
    "var: R, ms: R, mom: R, lr, rho, momentum, epsilon, grad");
const Op sparse_rms_op =
    moves<RmsProp>(RAW_OP(ResourceSparseApplyRMSProp)
                       .doc("ResourceApplyRMSProp for the rows that `indices` names."),
                   "var: R, ms: R, mom: R, lr, rho, momentum, epsilon, grad, indices: Tindices");
const Op centered_op = moves<CenteredRmsProp>(
    RAW_OP(ResourceApplyCenteredRMSProp).doc("ResourceApplyRMSProp over the recent variance."),
    "var: R, mg: R, ms: R, mom: R, lr, rho, momentum, epsilon, grad");
const Op sparse_centered_op = moves<CenteredRmsProp>(
    RAW_OP(ResourceSparseApplyCenteredRMSProp)
        .doc("ResourceApplyCenteredRMSProp for the rows that `indices` names."),
    "var: R, mg: R, ms: R, mom: R, lr, rho, momentum, epsilon, grad, indices: Tindices");

}  // namespace

void apply_adam(const Variable& var, const Variable& m, const Variable& v, const In& beta1_power,
                const In& beta2_power, const In& lr, const In& beta1, const In& beta2,
                const In& epsilon, const In& grad, bool use_nesterov) {
  step(adam_op, {false, use_nesterov}, var, m, v, beta1_power, beta2_power, lr, beta1, beta2,
       epsilon, grad);
}
void apply_adam_with_amsgrad(const Variable& var, const Variable& m, const Variable& v,
                             const Variable& vhat, const In& beta1_power, const In& beta2_power,
                             const In& lr, const In& beta1, const In& beta2, const In& epsilon,
                             const In& grad) {
  step(amsgrad_op, {}, var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad);
}
void apply_ada_max(const Variable& var, const Variable& m, const Variable& v, const In& beta1_power,
                   const In& lr, const In& beta1, const In& beta2, const In& epsilon,
                   const In& grad) {
  step(ada_max_op, {}, var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad);
}
void apply_rms_prop(const Variable& var, const Variable& ms, const Variable& mom, const In& lr,
                    const In& rho, const In& momentum, const In& epsilon, const In& grad) {
  step(rms_op, {}, var, ms, mom, lr, rho, momentum, epsilon, grad);
}
void apply_rms_prop(const Variable& var, const Variable& ms, const Variable& mom, const In& lr,
                    const In& rho, const In& momentum, const In& epsilon,
                    const IndexedSlices& grad) {
  step(sparse_rms_op, {}, var, ms, mom, lr, rho, momentum, epsilon, grad);
}
void apply_centered_rms_prop(const Variable& var, const Variable& mg, const Variable& ms,
                             const Variable& mom, const In& lr, const In& rho, const In& momentum,
                             const In& epsilon, const In& grad) {
  step(centered_op, {}, var, mg, ms, mom, lr, rho, momentum, epsilon, grad);
}
void apply_centered_rms_prop(const Variable& var, const Variable& mg, const Variable& ms,
                             const Variable& mom, const In& lr, const In& rho, const In& momentum,
                             const In& epsilon, const IndexedSlices& grad) {
  step(sparse_centered_op, {}, var, mg, ms, mom, lr, rho, momentum, epsilon, grad);
}

}  // namespace holdfast::train
