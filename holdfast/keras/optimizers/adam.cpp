#include "holdfast/keras/optimizers/adam.h"

#include <algorithm>
#include <cmath>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/name_pattern.h"
#include "holdfast/keras/optimizers/declare.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/training.h"

namespace holdfast::keras::optimizers {
namespace {

// The mean moves towards `value` by a share of the distance; gives what it is then.
Tensor moved(const Variable& mean, const Tensor& value, double share) {
  Tensor was = mean.read(), now = was + (value - was) * share;
  mean.assign(now);
  return now;
}

}  // namespace

// -- Adam, AdamW, Adamax

void AdamOptimizer::make_slots(const std::vector<Variable>& variables) {
  add_slots(variables, {"momentum", "velocity"});
  if (options_.amsgrad) add_slots(variables, {"velocity_hat"});
}
void AdamOptimizer::update_step(const Gradient& g, const Variable& v, Step& step) {
  const auto& o = options_;
  DType d = v.dtype();
  Tensor p1 = step.power(o.beta_1, d), p2 = step.power(o.beta_2, d);
  if (o.amsgrad)
    train::apply_adam_with_amsgrad(v, slot(0, v), slot(1, v), slot(2, v), p1, p2, step.rate(d),
                                   o.beta_1, o.beta_2, o.epsilon, dense(g, v));
  else
    train::apply_adam(v, slot(0, v), slot(1, v), p1, p2, step.rate(d), o.beta_1, o.beta_2,
                      o.epsilon, dense(g, v));
}

void AdamWOptimizer::check() {
  if (!options_.weight_decay)
    fail(Code::E1104, "AdamW: `weight_decay` is not given, expected a number",
         "AdamW decays weights", {manual_fix("use Adam where nothing is to decay")});
}
void AdamWOptimizer::make_slots(const std::vector<Variable>& variables) {
  add_slots(variables, {"momentum", "velocity"});
  if (options_.amsgrad) add_slots(variables, {"velocity_hat"});
}
void AdamWOptimizer::update_step(const Gradient& g, const Variable& v, Step& step) {
  const auto& o = options_;
  DType d = v.dtype();
  Tensor p1 = step.power(o.beta_1, d), p2 = step.power(o.beta_2, d);
  if (o.amsgrad)
    train::apply_adam_with_amsgrad(v, slot(0, v), slot(1, v), slot(2, v), p1, p2, step.rate(d),
                                   o.beta_1, o.beta_2, o.epsilon, dense(g, v));
  else
    train::apply_adam(v, slot(0, v), slot(1, v), p1, p2, step.rate(d), o.beta_1, o.beta_2,
                      o.epsilon, dense(g, v));
}

void AdamaxOptimizer::make_slots(const std::vector<Variable>& variables) {
  add_slots(variables, {"momentum", "norm"});
}
void AdamaxOptimizer::update_step(const Gradient& g, const Variable& v, Step& step) {
  const auto& o = options_;
  train::apply_ada_max(v, slot(0, v), slot(1, v), step.power(o.beta_1, v.dtype()),
                       step.rate(v.dtype()), o.beta_1, o.beta_2, o.epsilon, dense(g, v));
}

// -- Nadam, Lamb

void NadamOptimizer::make_slots(const std::vector<Variable>& variables) {
  add_slots(variables, {"momentum", "velocity"});
  if (product_.defined()) return;
  InterpreterScope eagerly(nullptr);
  product_ = add_kept("product", Tensor::scalar(1.0, variables[0].dtype()));
}
void NadamOptimizer::begin_step(Step& step) {
  DType d = product_.dtype();
  product_.assign(product_ * (options_.beta_1 * (1 - 0.5 * step.power(0.96, d))));
}
void NadamOptimizer::update_step(const Gradient& gradient, const Variable& v, Step& step) {
  const auto& o = options_;
  DType d = v.dtype();
  Tensor g = dense(gradient, v);
  Tensor u = o.beta_1 * (1 - 0.5 * step.power(0.96, d));
  Tensor u_next = o.beta_1 * (1 - 0.5 * (step.power(0.96, d) * 0.96));
  Tensor product = cast(product_, d), product_next = product * u_next;
  Tensor m = moved(slot(0, v), g, 1 - o.beta_1), s = moved(slot(1, v), square(g), 1 - o.beta_2);
  Tensor mean = u_next * m / (1 - product_next) + (1 - u) * g / (1 - product);
  Tensor squares = s / (1 - step.power(o.beta_2, d));
  v.assign_sub(mean * step.rate(d) / (sqrt(squares) + o.epsilon));
}

void LambOptimizer::make_slots(const std::vector<Variable>& variables) {
  add_slots(variables, {"momentum", "velocity"});
}
void LambOptimizer::update_step(const Gradient& gradient, const Variable& v, Step& step) {
  const auto& o = options_;
  DType d = v.dtype();
  Tensor g = dense(gradient, v), now = v.read();
  Tensor m = moved(slot(0, v), g, 1 - o.beta_1), s = moved(slot(1, v), square(g), 1 - o.beta_2);
  Tensor update =
      m / (1 - step.power(o.beta_1, d)) / (sqrt(s / (1 - step.power(o.beta_2, d))) + o.epsilon);
  Tensor length = reduce_euclidean_norm(now), moves = reduce_euclidean_norm(update);
  Tensor ratio = select(logical_and(length > 0, moves > 0), length / moves, ones_like(length));
  v.assign_sub(ratio * step.rate(d) * update);
}

// -- Muon

void MuonOptimizer::check() {
  if (!options_.exclude_layers) options_.exclude_layers.emplace();
  for (const std::string& pattern : *options_.exclude_layers)
    NamePattern(pattern, "Muon: `exclude_layers`");
}
bool MuonOptimizer::uses_adam(const Variable& v) const {
  if (v.shape().rank() != 2) return true;
  std::string name = v.name();
  if (options_.exclude_layers)
    for (const std::string& pattern : *options_.exclude_layers)
      if (NamePattern(pattern, "Muon: `exclude_layers`").is_in(name)) return true;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return options_.exclude_embeddings && name.find("embedding") != std::string::npos;
}
void MuonOptimizer::make_slots(const std::vector<Variable>& variables) {
  for (const Variable& v : variables) {
    momenta_.push_back(add_variable_from_reference(v, "momentum"));
    velocities_.push_back(uses_adam(v) ? add_variable_from_reference(v, "velocity") : Variable());
  }
}
void MuonOptimizer::decay_weights(const std::vector<Variable>& variables, Step& step) {
  for (const Variable& v : variables) {
    const auto& by = uses_adam(v) ? options_.adam_weight_decay : options_.weight_decay;
    if (by && decays(v)) v.assign_sub(v.read() * (*by * step.rate(v.dtype())));
  }
}
// Newton and Schulz' iteration: all singular values come near 1.
Tensor MuonOptimizer::orthogonal(Tensor x) const {
  const auto& o = options_;
  bool tall = x.dim(-2) > x.dim(-1);
  if (tall) x = transpose(x);
  x = x / (reduce_euclidean_norm(x) + 1e-7);
  for (int64_t i = 0; i < o.ns_steps; ++i) {
    Tensor a = matmul(x, x, {.transpose_b = true});
    x = o.muon_a * x + matmul(o.muon_b * a + o.muon_c * matmul(a, a), x);
  }
  return tall ? transpose(x) : x;
}
void MuonOptimizer::update_step(const Gradient& gradient, const Variable& v, Step& step) {
  const auto& o = options_;
  DType d = v.dtype();
  Tensor g = dense(gradient, v), lr = step.rate(d);
  const Variable &m = momenta_[index_of(v)], &s = velocities_[index_of(v)];
  if (s.defined())
    return train::apply_adam(v, m, s, step.power(o.adam_beta_1, d), step.power(o.adam_beta_2, d),
                             lr * o.adam_lr_ratio, o.adam_beta_1, o.adam_beta_2, o.epsilon, g);
  Tensor mean = m * o.momentum + g;
  m.assign(mean);
  Tensor update = lr * orthogonal(o.nesterov ? g + o.momentum * mean : mean);
  if (o.rms_rate)
    update = update * (std::sqrt(double(std::max(v.shape()[0], v.shape()[1]))) * *o.rms_rate);
  v.assign_sub(update);
}

namespace {

using AdamO = AdamOptions;
const ClassDef& adam_def = with_common(
    Declare<AdamOptimizer>(
        "optimizers.Adam",
        "Along the mean of recent gradients, over the root of the mean of their squares.",
        &Optimizer::def())
        .option<&AdamO::learning_rate>("learning_rate")
        .option<&AdamO::beta_1>("beta_1")
        .option<&AdamO::beta_2>("beta_2")
        .option<&AdamO::epsilon>("epsilon")
        .option<&AdamO::amsgrad>("amsgrad"));

using AdamWO = AdamWOptions;
const ClassDef& adamw_def =
    with_common(Declare<AdamWOptimizer>("optimizers.AdamW", "Adam with weight decay.", &adam_def)
                    .option<&AdamWO::learning_rate>("learning_rate")
                    .option<&AdamWO::weight_decay>("weight_decay")
                    .option<&AdamWO::beta_1>("beta_1")
                    .option<&AdamWO::beta_2>("beta_2")
                    .option<&AdamWO::epsilon>("epsilon")
                    .option<&AdamWO::amsgrad>("amsgrad"));

using AdamaxO = AdamaxOptions;
const ClassDef& adamax_def = with_common(
    Declare<AdamaxOptimizer>(
        "optimizers.Adamax",
        "Adam over the largest recent gradient in place of the mean of squares.", &Optimizer::def())
        .option<&AdamaxO::learning_rate>("learning_rate")
        .option<&AdamaxO::beta_1>("beta_1")
        .option<&AdamaxO::beta_2>("beta_2")
        .option<&AdamaxO::epsilon>("epsilon"));

using NadamO = NadamOptions;
const ClassDef& nadam_def = with_common(
    Declare<NadamOptimizer>("optimizers.Nadam", "Adam with Nesterov's momentum.", &Optimizer::def())
        .option<&NadamO::learning_rate>("learning_rate")
        .option<&NadamO::beta_1>("beta_1")
        .option<&NadamO::beta_2>("beta_2")
        .option<&NadamO::epsilon>("epsilon"));

using LambO = LambOptions;
const ClassDef& lamb_def = with_common(
    Declare<LambOptimizer>("optimizers.Lamb",
                           "Adam with steps in proportion to the length of each variable.",
                           &Optimizer::def())
        .option<&LambO::learning_rate>("learning_rate")
        .option<&LambO::beta_1>("beta_1")
        .option<&LambO::beta_2>("beta_2")
        .option<&LambO::epsilon>("epsilon"));

using MuonO = MuonOptions;
const ClassDef& muon_def =
    with_common(
        Declare<MuonOptimizer>("optimizers.Muon",
                               "Matrices along momentum made orthogonal, all else by AdamW.",
                               &Optimizer::def())
            .option<&MuonO::learning_rate>("learning_rate")
            .option<&MuonO::adam_beta_1>("adam_beta_1")
            .option<&MuonO::adam_beta_2>("adam_beta_2")
            .option<&MuonO::adam_weight_decay>("adam_weight_decay")
            .option<&MuonO::epsilon>("epsilon"))
        .option<&MuonO::exclude_layers>("exclude_layers")
        .option<&MuonO::exclude_embeddings>("exclude_embeddings")
        .key_before("exclude_embeddings")
        .key_before("adam_weight_decay")
        .key_before("rms_rate")
        .option<&MuonO::muon_a>("muon_a")
        .option<&MuonO::muon_b>("muon_b")
        .option<&MuonO::muon_c>("muon_c")
        .option<&MuonO::adam_lr_ratio>("adam_lr_ratio")
        .option<&MuonO::momentum>("momentum")
        .option<&MuonO::ns_steps>("ns_steps")
        .option<&MuonO::nesterov>("nesterov")
        .option<&MuonO::rms_rate>("rms_rate");

}  // namespace

const ClassDef& AdamOptimizer::definition() const { return adam_def; }
const ClassDef& AdamWOptimizer::definition() const { return adamw_def; }
const ClassDef& AdamaxOptimizer::definition() const { return adamax_def; }
const ClassDef& NadamOptimizer::definition() const { return nadam_def; }
const ClassDef& LambOptimizer::definition() const { return lamb_def; }
const ClassDef& MuonOptimizer::definition() const { return muon_def; }

}  // namespace holdfast::keras::optimizers
