// What optimizers do to a variable in one step, in place: `var` moves along `grad`, and what is
// kept beside it for the next step moves with it. With IndexedSlices only the rows they name move,
// each as often as it is named.
#pragma once

#include "holdfast/op/variable.h"
#include "holdfast/tensor/indexed_slices.h"

namespace holdfast::train {

/// var -= alpha * delta
HOLDFAST_API void apply_gradient_descent(const Variable& var, const In& alpha, const In& delta);
/// The same, then drawn towards zero: by alpha * l1, and by the factor 1 / (1 + alpha * l2).
HOLDFAST_API void apply_proximal_gradient_descent(const Variable& var, const In& alpha,
                                                  const In& l1, const In& l2, const In& delta);
HOLDFAST_API void apply_proximal_gradient_descent(const Variable& var, const In& alpha,
                                                  const In& l1, const In& l2,
                                                  const IndexedSlices& grad);

/// accum = momentum * accum + grad; var -= lr * accum. Nesterov's looks a step ahead.
HOLDFAST_API void apply_momentum(const Variable& var, const Variable& accum, const In& lr,
                                 const In& grad, const In& momentum, bool use_nesterov = false);
HOLDFAST_API void apply_momentum(const Variable& var, const Variable& accum, const In& lr,
                                 const IndexedSlices& grad, const In& momentum,
                                 bool use_nesterov = false);
/// accum = momentum * accum - lr * grad; var += accum: the rate is part of what is kept.
HOLDFAST_API void apply_keras_momentum(const Variable& var, const Variable& accum, const In& lr,
                                       const In& grad, const In& momentum,
                                       bool use_nesterov = false);
HOLDFAST_API void apply_keras_momentum(const Variable& var, const Variable& accum, const In& lr,
                                       const IndexedSlices& grad, const In& momentum,
                                       bool use_nesterov = false);
/// m = beta * m + (1 - beta) * grad; var -= lr * (alpha + sign_decay * sign(grad) * sign(m)) * grad
HOLDFAST_API void apply_add_sign(const Variable& var, const Variable& m, const In& lr,
                                 const In& alpha, const In& sign_decay, const In& beta,
                                 const In& grad);
/// The same with the factor exp(logbase * sign_decay * sign(grad) * sign(m)).
HOLDFAST_API void apply_power_sign(const Variable& var, const Variable& m, const In& lr,
                                   const In& logbase, const In& sign_decay, const In& beta,
                                   const In& grad);

/// accum += grad^2; var -= lr * grad / sqrt(accum)
HOLDFAST_API void apply_adagrad(const Variable& var, const Variable& accum, const In& lr,
                                const In& grad, bool update_slots = true);
HOLDFAST_API void apply_adagrad(const Variable& var, const Variable& accum, const In& lr,
                                const IndexedSlices& grad, bool update_slots = true);
/// The same with `epsilon` beside the root.
HOLDFAST_API void apply_adagrad_v2(const Variable& var, const Variable& accum, const In& lr,
                                   const In& epsilon, const In& grad, bool update_slots = true);
HOLDFAST_API void apply_adagrad_v2(const Variable& var, const Variable& accum, const In& lr,
                                   const In& epsilon, const IndexedSlices& grad,
                                   bool update_slots = true);
/// Adagrad, then drawn towards zero.
HOLDFAST_API void apply_proximal_adagrad(const Variable& var, const Variable& accum, const In& lr,
                                         const In& l1, const In& l2, const In& grad);
HOLDFAST_API void apply_proximal_adagrad(const Variable& var, const Variable& accum, const In& lr,
                                         const In& l1, const In& l2, const IndexedSlices& grad);
/// Adagrad with dual averaging: the variable follows from the sums of all gradients and squares.
HOLDFAST_API void apply_adagrad_da(const Variable& var, const Variable& gradient_accumulator,
                                   const Variable& gradient_squared_accumulator, const In& grad,
                                   const In& lr, const In& l1, const In& l2, const In& global_step);
HOLDFAST_API void apply_adagrad_da(const Variable& var, const Variable& gradient_accumulator,
                                   const Variable& gradient_squared_accumulator,
                                   const IndexedSlices& grad, const In& lr, const In& l1,
                                   const In& l2, const In& global_step);
/// Adadelta: steps as large as past steps, over gradients as large as past gradients.
HOLDFAST_API void apply_adadelta(const Variable& var, const Variable& accum,
                                 const Variable& accum_update, const In& lr, const In& rho,
                                 const In& epsilon, const In& grad);
HOLDFAST_API void apply_adadelta(const Variable& var, const Variable& accum,
                                 const Variable& accum_update, const In& lr, const In& rho,
                                 const In& epsilon, const IndexedSlices& grad);

/// Adam: both moments, corrected for their start at zero.
HOLDFAST_API void apply_adam(const Variable& var, const Variable& m, const Variable& v,
                             const In& beta1_power, const In& beta2_power, const In& lr,
                             const In& beta1, const In& beta2, const In& epsilon, const In& grad,
                             bool use_nesterov = false);
/// Adam whose second moment never shrinks.
HOLDFAST_API void apply_adam_with_amsgrad(const Variable& var, const Variable& m, const Variable& v,
                                          const Variable& vhat, const In& beta1_power,
                                          const In& beta2_power, const In& lr, const In& beta1,
                                          const In& beta2, const In& epsilon, const In& grad);
/// Adam over the largest gradient in place of the second moment.
HOLDFAST_API void apply_ada_max(const Variable& var, const Variable& m, const Variable& v,
                                const In& beta1_power, const In& lr, const In& beta1,
                                const In& beta2, const In& epsilon, const In& grad);

/// ms = rho * ms + (1 - rho) * grad^2; mom = momentum * mom + lr * grad / sqrt(ms + epsilon);
/// var -= mom
HOLDFAST_API void apply_rms_prop(const Variable& var, const Variable& ms, const Variable& mom,
                                 const In& lr, const In& rho, const In& momentum, const In& epsilon,
                                 const In& grad);
HOLDFAST_API void apply_rms_prop(const Variable& var, const Variable& ms, const Variable& mom,
                                 const In& lr, const In& rho, const In& momentum, const In& epsilon,
                                 const IndexedSlices& grad);
/// The same over the variance: the square of the mean gradient `mg` is taken off.
HOLDFAST_API void apply_centered_rms_prop(const Variable& var, const Variable& mg,
                                          const Variable& ms, const Variable& mom, const In& lr,
                                          const In& rho, const In& momentum, const In& epsilon,
                                          const In& grad);
HOLDFAST_API void apply_centered_rms_prop(const Variable& var, const Variable& mg,
                                          const Variable& ms, const Variable& mom, const In& lr,
                                          const In& rho, const In& momentum, const In& epsilon,
                                          const IndexedSlices& grad);

/// Follow the regularised leader.
HOLDFAST_API void apply_ftrl(const Variable& var, const Variable& accum, const Variable& linear,
                             const In& grad, const In& lr, const In& l1, const In& l2,
                             const In& lr_power, bool multiply_linear_by_lr = false);
HOLDFAST_API void apply_ftrl(const Variable& var, const Variable& accum, const Variable& linear,
                             const IndexedSlices& grad, const In& lr, const In& l1, const In& l2,
                             const In& lr_power, bool multiply_linear_by_lr = false);
/// The same with `l2_shrinkage`, which draws towards zero by what the variable is now.
HOLDFAST_API void apply_ftrl_v2(const Variable& var, const Variable& accum, const Variable& linear,
                                const In& grad, const In& lr, const In& l1, const In& l2,
                                const In& l2_shrinkage, const In& lr_power,
                                bool multiply_linear_by_lr = false);
HOLDFAST_API void apply_ftrl_v2(const Variable& var, const Variable& accum, const Variable& linear,
                                const IndexedSlices& grad, const In& lr, const In& l1, const In& l2,
                                const In& l2_shrinkage, const In& lr_power,
                                bool multiply_linear_by_lr = false);

}  // namespace holdfast::train
