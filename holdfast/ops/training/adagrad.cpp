// Steps that shrink with the squares of all gradients so far.
#include <cmath>

#include "holdfast/ops/training.h"
#include "holdfast/ops/training/rule.h"
#include "holdfast/ops/training/towards_zero.h"

namespace holdfast::train {
namespace {

struct SlotsAttrs {
  Attr<bool> use_locking;
  Attr<bool> update_slots;
};

template <class W>
struct Adagrad {
  static constexpr int kCells = 2;
  W lr;
  bool update;
  Adagrad(const W* k, bool flag) : lr(k[0]), update(flag) {}
  void operator()(W* at, W g) const {
    if (update) at[1] += g * g;
    at[0] -= g * lr / std::sqrt(at[1]);
  }
};

template <class W>
struct AdagradV2 {
  static constexpr int kCells = 2;
  W lr, epsilon;
  bool update;
  AdagradV2(const W* k, bool flag) : lr(k[0]), epsilon(k[1]), update(flag) {}
  void operator()(W* at, W g) const {
    if (update) at[1] += g * g;
    at[0] -= g * lr / (std::sqrt(at[1]) + epsilon);
  }
};

template <class W>
struct ProximalAdagrad {
  static constexpr int kCells = 2, kReal = 1;
  W lr, l1, l2;
  ProximalAdagrad(const W* k, bool) : lr(k[0]), l1(k[1]), l2(k[2]) {}
  void operator()(W* at, W g) const {
    at[1] += g * g;
    W rate = lr / std::sqrt(at[1]);
    at[0] = towards_zero(at[0] - g * rate, rate * l1, rate * l2);
  }
};

// The variable is not moved but computed anew, from the sums of gradients and of their squares.
template <class W>
struct AdagradDualAveraging {
  static constexpr int kCells = 3, kReal = 1;
  W lr, l1, l2, steps;
  AdagradDualAveraging(const W* k, bool) : lr(k[0]), l1(k[1]), l2(k[2]), steps(k[3]) {}
  void operator()(W* at, W g) const {
    at[1] += g;
    at[2] += g * g;
    W sum = l1 > 0 ? sign_of(at[1]) * std::max(std::abs(at[1]) - l1 * steps, W(0)) : at[1];
    at[0] = -lr * sum / (l2 * steps * lr + std::sqrt(at[2]));
  }
};

template <class W>
struct Adadelta {
  static constexpr int kCells = 3;
  W lr, rho, epsilon;
  Adadelta(const W* k, bool) : lr(k[0]), rho(k[1]), epsilon(k[2]) {}
  void operator()(W* at, W g) const {
    at[1] = at[1] * rho + g * g * (W(1) - rho);
    W update = std::sqrt(at[2] + epsilon) / std::sqrt(at[1] + epsilon) * g;
    at[0] -= update * lr;
    at[2] = at[2] * rho + update * update * (W(1) - rho);
  }
};

const Op adagrad_op = moves<Adagrad, &SlotsAttrs::update_slots>(
    RAW_OP(ResourceApplyAdagrad)
        .doc("A step along the gradient, over the root of the sum of all squares so far."),
    "var: R, accum: R, lr, grad", true);
const Op sparse_adagrad_op = moves<Adagrad, &SlotsAttrs::update_slots>(
    RAW_OP(ResourceSparseApplyAdagrad)
        .doc("ResourceApplyAdagrad for the rows that `indices` names."),
    "var: R, accum: R, lr, grad, indices: Tindices", true);
const Op adagrad2_op = moves<AdagradV2, &SlotsAttrs::update_slots>(
    RAW_OP(ResourceApplyAdagradV2).doc("ResourceApplyAdagrad with `epsilon` added to the root."),
    "var: R, accum: R, lr, epsilon, grad", true);
const Op sparse_adagrad2_op = moves<AdagradV2, &SlotsAttrs::update_slots>(
    RAW_OP(ResourceSparseApplyAdagradV2)
        .doc("ResourceApplyAdagradV2 for the rows that `indices` names."),
    "var: R, accum: R, lr, epsilon, grad, indices: Tindices", true);
const Op proximal_op = moves<ProximalAdagrad>(
    RAW_OP(ResourceApplyProximalAdagrad).doc("A step of Adagrad, then one towards zero."),
    "var: R, accum: R, lr, l1, l2, grad");
const Op sparse_proximal_op = moves<ProximalAdagrad>(
    RAW_OP(ResourceSparseApplyProximalAdagrad)
        .doc("ResourceApplyProximalAdagrad for the rows that `indices` names."),
    "var: R, accum: R, lr, l1, l2, grad, indices: Tindices");
const Op dual_op = moves<AdagradDualAveraging>(
    RAW_OP(ResourceApplyAdagradDA)
        .doc("Adagrad with dual averaging: a variable from the sums of all gradients and squares."),
    "var: R, gradient_accumulator: R, gradient_squared_accumulator: R, grad, lr, l1, l2, "
    "global_step: Step");
const Op sparse_dual_op = moves<AdagradDualAveraging>(
    RAW_OP(ResourceSparseApplyAdagradDA)
        .doc("ResourceApplyAdagradDA for the rows that `indices` names."),
    "var: R, gradient_accumulator: R, gradient_squared_accumulator: R, grad, indices: Tindices, "
    "lr, l1, l2, global_step: Step");
const Op adadelta_op = moves<Adadelta>(
    RAW_OP(ResourceApplyAdadelta)
        .doc("Steps as large as past steps were, over gradients as large as past gradients."),
    "var: R, accum: R, accum_update: R, lr, rho, epsilon, grad");
const Op sparse_adadelta_op =
    moves<Adadelta>(RAW_OP(ResourceSparseApplyAdadelta)
                        .doc("ResourceApplyAdadelta for the rows that `indices` names."),
                    "var: R, accum: R, accum_update: R, lr, rho, epsilon, grad, indices: Tindices");

}  // namespace

void apply_adagrad(const Variable& var, const Variable& accum, const In& lr, const In& grad,
                   bool update_slots) {
  step(adagrad_op, {false, update_slots}, var, accum, lr, grad);
}
void apply_adagrad(const Variable& var, const Variable& accum, const In& lr,
                   const IndexedSlices& grad, bool update_slots) {
  step(sparse_adagrad_op, {false, update_slots}, var, accum, lr, grad);
}
void apply_adagrad_v2(const Variable& var, const Variable& accum, const In& lr, const In& epsilon,
                      const In& grad, bool update_slots) {
  step(adagrad2_op, {false, update_slots}, var, accum, lr, epsilon, grad);
}
void apply_adagrad_v2(const Variable& var, const Variable& accum, const In& lr, const In& epsilon,
                      const IndexedSlices& grad, bool update_slots) {
  step(sparse_adagrad2_op, {false, update_slots}, var, accum, lr, epsilon, grad);
}
void apply_proximal_adagrad(const Variable& var, const Variable& accum, const In& lr, const In& l1,
                            const In& l2, const In& grad) {
  step(proximal_op, {}, var, accum, lr, l1, l2, grad);
}
void apply_proximal_adagrad(const Variable& var, const Variable& accum, const In& lr, const In& l1,
                            const In& l2, const IndexedSlices& grad) {
  step(sparse_proximal_op, {}, var, accum, lr, l1, l2, grad);
}
void apply_adagrad_da(const Variable& var, const Variable& sums, const Variable& squares,
                      const In& grad, const In& lr, const In& l1, const In& l2,
                      const In& global_step) {
  step(dual_op, {}, var, sums, squares, grad, lr, l1, l2, In(global_step.tensor(int64)));
}
void apply_adagrad_da(const Variable& var, const Variable& sums, const Variable& squares,
                      const IndexedSlices& grad, const In& lr, const In& l1, const In& l2,
                      const In& global_step) {
  step(sparse_dual_op, {}, var, sums, squares, grad, lr, l1, l2, In(global_step.tensor(int64)));
}
void apply_adadelta(const Variable& var, const Variable& accum, const Variable& accum_update,
                    const In& lr, const In& rho, const In& epsilon, const In& grad) {
  step(adadelta_op, {}, var, accum, accum_update, lr, rho, epsilon, grad);
}
void apply_adadelta(const Variable& var, const Variable& accum, const Variable& accum_update,
                    const In& lr, const In& rho, const In& epsilon, const IndexedSlices& grad) {
  step(sparse_adadelta_op, {}, var, accum, accum_update, lr, rho, epsilon, grad);
}

}  // namespace holdfast::train
