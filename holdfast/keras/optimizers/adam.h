// Adam and its kin: optimizers over the mean of recent gradients and of their squares.
#pragma once

#include "holdfast/keras/optimizer.h"

namespace holdfast::keras::optimizers {

struct AdamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  bool amsgrad = false;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};
};
struct AdamWOptions {
  LearningRate learning_rate = 0.001;
  std::optional<double> weight_decay = 0.004;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  bool amsgrad = false;
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};
};
struct AdamaxOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};
};
struct NadamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};
};
struct LambOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};
};
struct MuonOptions {
  LearningRate learning_rate = 0.001;
  double adam_beta_1 = 0.9, adam_beta_2 = 0.999;
  std::optional<double> adam_weight_decay = 0.004;
  double epsilon = 1e-7;
  std::optional<double> weight_decay = 0.004;
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};
  std::optional<std::vector<std::string>> exclude_layers = {};  // patterns of variables' names
  bool exclude_embeddings = true;
  double muon_a = 3.4445, muon_b = -4.7750, muon_c = 2.0315, adam_lr_ratio = 1, momentum = 0.95;
  int64_t ns_steps = 5;
  bool nesterov = true;
  std::optional<double> rms_rate = 0.2;
};

class HOLDFAST_API AdamOptimizer : public Declares<AdamOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void make_slots(const std::vector<Variable>& variables) override;
  void update_step(const Gradient& gradient, const Variable& variable, Step& step) override;
};
class HOLDFAST_API AdamWOptimizer : public Declares<AdamWOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void make_slots(const std::vector<Variable>& variables) override;
  void update_step(const Gradient& gradient, const Variable& variable, Step& step) override;

 private:
  void check() override;
};
class HOLDFAST_API AdamaxOptimizer : public Declares<AdamaxOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void make_slots(const std::vector<Variable>& variables) override;
  void update_step(const Gradient& gradient, const Variable& variable, Step& step) override;
};
class HOLDFAST_API NadamOptimizer : public Declares<NadamOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void make_slots(const std::vector<Variable>& variables) override;
  void update_step(const Gradient& gradient, const Variable& variable, Step& step) override;
  void begin_step(Step& step) override;

 private:
  Variable product_;  // of the momenta of all steps
};
class HOLDFAST_API LambOptimizer : public Declares<LambOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void make_slots(const std::vector<Variable>& variables) override;
  void update_step(const Gradient& gradient, const Variable& variable, Step& step) override;
};
class HOLDFAST_API MuonOptimizer : public Declares<MuonOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void make_slots(const std::vector<Variable>& variables) override;
  void update_step(const Gradient& gradient, const Variable& variable, Step& step) override;

 private:
  void check() override;
  void decay_weights(const std::vector<Variable>& variables, Step& step) override;
  bool uses_adam(const Variable&) const;
  Tensor orthogonal(Tensor x) const;
  std::vector<Variable> momenta_, velocities_;  // in the order of `trained`; the latter for Adam
};

/// Along the mean of recent gradients, over the root of the mean of their squares.
using Adam = Held<AdamOptimizer>;
/// Adam with weight decay.
using AdamW = Held<AdamWOptimizer>;
/// Adam over the largest recent gradient in place of the mean of squares.
using Adamax = Held<AdamaxOptimizer>;
/// Adam with Nesterov's momentum.
using Nadam = Held<NadamOptimizer>;
/// Adam with steps in proportion to the length of each variable.
using Lamb = Held<LambOptimizer>;
/// Matrices along momentum made orthogonal, all else by AdamW.
using Muon = Held<MuonOptimizer>;

}  // namespace holdfast::keras::optimizers
