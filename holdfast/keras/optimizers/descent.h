// Optimizers along the gradient, and those that divide it by how large it has been.
#pragma once

#include "holdfast/keras/optimizer.h"

namespace holdfast::keras::optimizers {

struct SGDOptions {
  LearningRate learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};
};
struct RMSpropOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.9, momentum = 0, epsilon = 1e-7;
  bool centered = false;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};
};
struct AdagradOptions {
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1, epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};
};
struct AdadeltaOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.95, epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};
};
struct AdafactorOptions {
  LearningRate learning_rate = 0.001;
  double beta_2_decay = -0.8, epsilon_1 = 1e-30, epsilon_2 = 1e-3, clip_threshold = 1;
  bool relative_step = true;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};
};
struct FtrlOptions {
  LearningRate learning_rate = 0.001;
  double learning_rate_power = -0.5, initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0, l2_regularization_strength = 0,
         l2_shrinkage_regularization_strength = 0;
  double beta = 0;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};
};
struct LionOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.99;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};
};

class HOLDFAST_API SGDOptimizer : public Declares<SGDOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void make_slots(const std::vector<Variable>& variables) override;
  void update_step(const Gradient& gradient, const Variable& variable, Step& step) override;

 private:
  void check() override;
};
class HOLDFAST_API RMSpropOptimizer : public Declares<RMSpropOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void make_slots(const std::vector<Variable>& variables) override;
  void update_step(const Gradient& gradient, const Variable& variable, Step& step) override;
};
class HOLDFAST_API AdagradOptimizer : public Declares<AdagradOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void make_slots(const std::vector<Variable>& variables) override;
  void update_step(const Gradient& gradient, const Variable& variable, Step& step) override;
};
class HOLDFAST_API AdadeltaOptimizer : public Declares<AdadeltaOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void make_slots(const std::vector<Variable>& variables) override;
  void update_step(const Gradient& gradient, const Variable& variable, Step& step) override;
};
class HOLDFAST_API AdafactorOptimizer : public Declares<AdafactorOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void make_slots(const std::vector<Variable>& variables) override;
  void update_step(const Gradient& gradient, const Variable& variable, Step& step) override;

 private:
  std::vector<Variable> rows_, columns_, squares_;  // means, in the order of `trained`
};
class HOLDFAST_API FtrlOptimizer : public Declares<FtrlOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void make_slots(const std::vector<Variable>& variables) override;
  void update_step(const Gradient& gradient, const Variable& variable, Step& step) override;

 private:
  void check() override;
};
class HOLDFAST_API LionOptimizer : public Declares<LionOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void make_slots(const std::vector<Variable>& variables) override;
  void update_step(const Gradient& gradient, const Variable& variable, Step& step) override;

 private:
  void check() override;
};

/// Along the gradient, with momentum if there is any.
using SGD = Held<SGDOptimizer>;
/// Along the gradient, over the root of the mean of its recent squares.
using RMSprop = Held<RMSpropOptimizer>;
/// Along the gradient, over the root of the sum of all its squares.
using Adagrad = Held<AdagradOptimizer>;
/// Steps as large as past steps, over gradients as large as past gradients.
using Adadelta = Held<AdadeltaOptimizer>;
/// As Adam, with the squares of a matrix kept by rows and by columns.
using Adafactor = Held<AdafactorOptimizer>;
/// Follows the regularised leader.
using Ftrl = Held<FtrlOptimizer>;
/// Along the sign of the mean of recent gradients.
using Lion = Held<LionOptimizer>;

}  // namespace holdfast::keras::optimizers
