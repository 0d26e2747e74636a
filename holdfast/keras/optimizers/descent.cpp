#include "holdfast/keras/optimizers/descent.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/optimizers/declare.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/scatter.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/ops/sort.h"
#include "holdfast/ops/training.h"

namespace holdfast::keras::optimizers {
namespace {

// Each row once: values of rows that are named twice are added up.
IndexedSlices each_once(const IndexedSlices& s, DType dtype) {
  auto [rows, place] = unique(s.indices);
  Tensor values = s.values.dtype() == dtype ? s.values : cast(s.values, dtype);
  return {unsorted_segment_sum(values, place, size(rows)), rows, s.dense_shape};
}

Tensor rms(const Tensor& x) { return sqrt(reduce_mean(square(x))); }

}  // namespace

// -- SGD

void SGDOptimizer::check() {
  if (!(options_.momentum >= 0 && options_.momentum <= 1))
    fail(Code::E1103,
         cat("SGD: `momentum` is ", options_.momentum, ", expected a number between 0 and 1"));
}
void SGDOptimizer::make_slots(const std::vector<Variable>& variables) {
  if (options_.momentum != 0) add_slots(variables, {"momentum"});
}
void SGDOptimizer::update_step(const Gradient& g, const Variable& v, Step& step) {
  Tensor lr = step.rate(v.dtype());
  if (options_.momentum != 0)
    train::apply_keras_momentum(v, slot(0, v), lr, dense(g, v), options_.momentum,
                                options_.nesterov);
  else if (g.slices)
    scatter_sub(v, {cast(g.slices->values, v.dtype()) * lr, g.slices->indices, {}});
  else
    train::apply_gradient_descent(v, lr, dense(g, v));
}

// -- RMSprop

void RMSpropOptimizer::make_slots(const std::vector<Variable>& variables) {
  add_slots(variables, {"velocity"});
  if (options_.momentum > 0) add_slots(variables, {"momentum"});
  if (options_.centered) add_slots(variables, {"average_gradient"});
}
void RMSpropOptimizer::update_step(const Gradient& gradient, const Variable& v, Step& step) {
  const auto& o = options_;
  Tensor lr = step.rate(v.dtype()), g = dense(gradient, v);
  const Variable& squares = slot(0, v);
  if (o.momentum > 0 && o.centered)
    return train::apply_centered_rms_prop(v, slot(2, v), squares, slot(1, v), lr, o.rho, o.momentum,
                                          o.epsilon, g);
  if (o.momentum > 0)
    return train::apply_rms_prop(v, squares, slot(1, v), lr, o.rho, o.momentum, o.epsilon, g);
  Tensor s = o.rho * squares + (1 - o.rho) * square(g), under = s + o.epsilon;
  squares.assign(s);
  if (o.centered) {
    const Variable& means = slot(1, v);
    Tensor mean = o.rho * means + (1 - o.rho) * g;
    means.assign(mean);
    under = s - square(mean) + o.epsilon;
  }
  v.assign_sub(lr * g / sqrt(under));
}

// -- Adagrad, Adadelta

void AdagradOptimizer::make_slots(const std::vector<Variable>& variables) {
  add_slots(variables, {"accumulator"}, {options_.initial_accumulator_value});
}
void AdagradOptimizer::update_step(const Gradient& gradient, const Variable& v, Step& step) {
  Tensor lr = step.rate(v.dtype());
  const Variable& sum = slot(0, v);
  if (gradient.slices) {
    // Rows without a gradient neither add to the sum nor move.
    IndexedSlices g = each_once(*gradient.slices, v.dtype());
    scatter_add(sum, {square(g.values), g.indices, {}});
    Tensor under = sqrt(gather(sum, g.indices) + options_.epsilon);
    scatter_sub(v, {lr * g.values / under, g.indices, {}});
    return;
  }
  Tensor g = dense(gradient, v), s = sum + square(g);
  sum.assign(s);
  v.assign_sub(lr * g / sqrt(s + options_.epsilon));
}

void AdadeltaOptimizer::make_slots(const std::vector<Variable>& variables) {
  add_slots(variables, {"accumulated_grad", "accumulated_delta_var"});
}
void AdadeltaOptimizer::update_step(const Gradient& g, const Variable& v, Step& step) {
  train::apply_adadelta(v, slot(0, v), slot(1, v), step.rate(v.dtype()), options_.rho,
                        options_.epsilon, dense(g, v));
}

// -- Adafactor

void AdafactorOptimizer::make_slots(const std::vector<Variable>& variables) {
  auto kept = [&](const Variable& v, const char* what, int without) {
    // A vector has neither, but files of Keras have a place for both.
    std::vector<int64_t> sizes;
    for (int i = 0; v.shape().rank() >= 2 && i < v.shape().rank(); ++i)
      if (i != without) sizes.push_back(v.shape()[i]);
    InterpreterScope eagerly(nullptr);
    return add_kept(cat(plain_name(v), "_", what), zeros(sizes, v.dtype()));
  };
  for (const Variable& v : variables) {
    int rank = v.shape().rank();
    rows_.push_back(kept(v, "rows", rank - 1));
    columns_.push_back(kept(v, "columns", rank - 2));
    squares_.push_back(add_variable_from_reference(v, "velocity"));
  }
}
void AdafactorOptimizer::update_step(const Gradient& gradient, const Variable& v, Step& step) {
  const auto& o = options_;
  DType d = v.dtype();
  Tensor g = dense(gradient, v), n = step.number(d), lr = step.rate(d), now = v.read();
  Tensor at_most = rsqrt(n);
  if (o.relative_step && rate_source().is_number()) lr = minimum(lr, at_most);
  Tensor alpha = maximum(o.epsilon_2, rms(now)) * minimum(lr, at_most);
  Tensor squares = square(g) + o.epsilon_1, beta = 1 - pow(n, o.beta_2_decay);
  const Variable& kept = squares_[index_of(v)];
  Tensor s;
  if (v.shape().rank() >= 2) {
    const Variable &rows = rows_[index_of(v)], &columns = columns_[index_of(v)];
    Tensor r = beta * rows + (1 - beta) * reduce_mean(squares, {.axis = -1});
    Tensor c = beta * columns + (1 - beta) * reduce_mean(squares, {.axis = -2});
    rows.assign(r);
    columns.assign(c);
    s = expand_dims(r / reduce_mean(r, {.axis = -1, .keepdims = true}), -1) * expand_dims(c, -2);
  } else {
    s = beta * kept + (1 - beta) * squares;
  }
  kept.assign(s);
  Tensor u = g / sqrt(s);
  v.assign_sub(alpha * u / maximum(1, rms(u) / o.clip_threshold));
}

// -- Ftrl, Lion

void FtrlOptimizer::check() {
  const auto& o = options_;
  auto need = [](const char* option, double value, bool holds, const char* expected) {
    if (!holds) fail(Code::E1103, cat("Ftrl: `", option, "` is ", value, ", expected ", expected));
  };
  need("initial_accumulator_value", o.initial_accumulator_value, o.initial_accumulator_value >= 0,
       "at least 0");
  need("learning_rate_power", o.learning_rate_power, o.learning_rate_power <= 0, "at most 0");
  need("l1_regularization_strength", o.l1_regularization_strength,
       o.l1_regularization_strength >= 0, "at least 0");
  need("l2_regularization_strength", o.l2_regularization_strength,
       o.l2_regularization_strength >= 0, "at least 0");
  need("l2_shrinkage_regularization_strength", o.l2_shrinkage_regularization_strength,
       o.l2_shrinkage_regularization_strength >= 0, "at least 0");
}
void FtrlOptimizer::make_slots(const std::vector<Variable>& variables) {
  add_slots(variables, {"accumulator", "linear"}, {options_.initial_accumulator_value, 0});
}
void FtrlOptimizer::update_step(const Gradient& g, const Variable& v, Step& step) {
  const auto& o = options_;
  Tensor lr = step.rate(v.dtype());
  Tensor l2 = Tensor::scalar(o.l2_regularization_strength, v.dtype());
  if (o.beta != 0) l2 = l2 + o.beta / (2 * lr);
  train::apply_ftrl_v2(v, slot(0, v), slot(1, v), dense(g, v), lr, o.l1_regularization_strength, l2,
                       o.l2_shrinkage_regularization_strength, o.learning_rate_power);
}

void LionOptimizer::check() {
  if (!(options_.beta_1 > 0 && options_.beta_1 <= 1))
    fail(Code::E1103,
         cat("Lion: `beta_1` is ", options_.beta_1, ", expected a number above 0 and at most 1"));
}
void LionOptimizer::make_slots(const std::vector<Variable>& variables) {
  add_slots(variables, {"momentum"});
}
void LionOptimizer::update_step(const Gradient& gradient, const Variable& v, Step& step) {
  const auto& o = options_;
  Tensor g = dense(gradient, v), m = slot(0, v).read();
  v.assign_sub(step.rate(v.dtype()) * sign(m * o.beta_1 + g * (1 - o.beta_1)));
  slot(0, v).assign(m * o.beta_2 + g * (1 - o.beta_2));
}

namespace {

using SGDO = SGDOptions;
const ClassDef& sgd_def = with_common(
    Declare<SGDOptimizer>("optimizers.SGD", "Along the gradient, with momentum if there is any.",
                          &Optimizer::def())
        .option<&SGDO::learning_rate>("learning_rate")
        .option<&SGDO::momentum>("momentum")
        .option<&SGDO::nesterov>("nesterov"));

using RMSpropO = RMSpropOptions;
const ClassDef& rmsprop_def = with_common(
    Declare<RMSpropOptimizer>(
        "optimizers.RMSprop",
        "Along the gradient, over the root of the mean of its recent squares.", &Optimizer::def())
        .option<&RMSpropO::learning_rate>("learning_rate")
        .option<&RMSpropO::rho>("rho")
        .option<&RMSpropO::momentum>("momentum")
        .option<&RMSpropO::epsilon>("epsilon")
        .option<&RMSpropO::centered>("centered"));

using AdagradO = AdagradOptions;
const ClassDef& adagrad_def = with_common(
    Declare<AdagradOptimizer>("optimizers.Adagrad",
                              "Along the gradient, over the root of the sum of all its squares.",
                              &Optimizer::def())
        .option<&AdagradO::learning_rate>("learning_rate")
        .option<&AdagradO::initial_accumulator_value>("initial_accumulator_value")
        .option<&AdagradO::epsilon>("epsilon"));

using AdadeltaO = AdadeltaOptions;
const ClassDef& adadelta_def =
    with_common(Declare<AdadeltaOptimizer>(
                    "optimizers.Adadelta",
                    "Steps as large as past steps, over gradients as large as past gradients.",
                    &Optimizer::def())
                    .option<&AdadeltaO::learning_rate>("learning_rate")
                    .option<&AdadeltaO::rho>("rho")
                    .option<&AdadeltaO::epsilon>("epsilon"));

using AdafactorO = AdafactorOptions;
const ClassDef& adafactor_def = with_common(
    Declare<AdafactorOptimizer>(
        "optimizers.Adafactor",
        "As Adam, with the squares of a matrix kept by rows and by columns.", &Optimizer::def())
        .option<&AdafactorO::learning_rate>("learning_rate")
        .option<&AdafactorO::beta_2_decay>("beta_2_decay")
        .option<&AdafactorO::epsilon_1>("epsilon_1")
        .option<&AdafactorO::epsilon_2>("epsilon_2")
        .option<&AdafactorO::clip_threshold>("clip_threshold")
        .option<&AdafactorO::relative_step>("relative_step"));

using FtrlO = FtrlOptions;
const ClassDef& ftrl_def = with_common(
    Declare<FtrlOptimizer>("optimizers.Ftrl", "Follows the regularised leader.", &Optimizer::def())
        .option<&FtrlO::learning_rate>("learning_rate")
        .option<&FtrlO::learning_rate_power>("learning_rate_power")
        .option<&FtrlO::initial_accumulator_value>("initial_accumulator_value")
        .option<&FtrlO::l1_regularization_strength>("l1_regularization_strength")
        .option<&FtrlO::l2_regularization_strength>("l2_regularization_strength")
        .option<&FtrlO::l2_shrinkage_regularization_strength>(
            "l2_shrinkage_regularization_strength")
        .option<&FtrlO::beta>("beta"));

using LionO = LionOptions;
const ClassDef& lion_def = with_common(
    Declare<LionOptimizer>("optimizers.Lion", "Along the sign of the mean of recent gradients.",
                           &Optimizer::def())
        .option<&LionO::learning_rate>("learning_rate")
        .option<&LionO::beta_1>("beta_1")
        .option<&LionO::beta_2>("beta_2"));

}  // namespace

const ClassDef& SGDOptimizer::definition() const { return sgd_def; }
const ClassDef& RMSpropOptimizer::definition() const { return rmsprop_def; }
const ClassDef& AdagradOptimizer::definition() const { return adagrad_def; }
const ClassDef& AdadeltaOptimizer::definition() const { return adadelta_def; }
const ClassDef& AdafactorOptimizer::definition() const { return adafactor_def; }
const ClassDef& FtrlOptimizer::definition() const { return ftrl_def; }
const ClassDef& LionOptimizer::definition() const { return lion_def; }

}  // namespace holdfast::keras::optimizers
