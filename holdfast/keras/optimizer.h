// What every optimizer is: a rule that moves variables along their gradients, and what it keeps for
// each of them from step to step.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/autodiff/tape.h"
#include "holdfast/base/owned.h"
#include "holdfast/exec/module.h"
#include "holdfast/keras/schedule.h"

namespace holdfast::keras {

/// A number, a schedule, or a function of another language that is asked in each step.
struct HOLDFAST_API LearningRate {
  LearningRate() = default;
  LearningRate(double rate) : number(rate) {}
  template <DerivesFrom<Schedule> S>
  LearningRate(const Held<S>& held) : schedule(held.ref()) {}
  LearningRate(Ref<Schedule> of) : schedule(std::move(of)) {}

  bool is_number() const { return !schedule && !function; }

  double number = 0;
  Ref<Schedule> schedule = {};
  Ref<ForeignFunction> function = {};
};
template <>
struct HOLDFAST_API OptionType<LearningRate> {
  static Config get(const LearningRate& v);
  static void set(LearningRate& v, const Config& c, const std::string& what);
};

/// What every optimizer may be told.
struct OptimizerOptions {
  LearningRate learning_rate = 0.001;
  std::optional<double> weight_decay = {};  // taken off in each step, times the rate
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};  // one of them
  bool use_ema = false;  // keep a moving average of each variable
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};  // made from the class's, if not given
};

/// Base of optimizers. A program derives from it and says how one variable moves:
///
///   struct Descent : keras::Optimizer {
///     void update_step(const Gradient& g, const Variable& v, Step& step) override {
///       v.assign_sub(step.rate(v.dtype()) * dense(g, v));
///     }
///   };
///
/// What is kept for a variable is made when the optimizer first sees it, also inside a function
/// that is traced.
class HOLDFAST_API Optimizer : public ModuleObject, public Declared, public HasConfig {
 public:
  using Options = OptimizerOptions;
  using Pair = std::pair<Gradient, Variable>;
  static constexpr const char* kFolder = "optimizers";
  static ClassDef& def();

  /// Numbers that all updates of one step share; each is computed once, when it is asked for.
  class HOLDFAST_API Step {
   public:
    Step(Tensor learning_rate, Tensor done)
        : rate_(std::move(learning_rate)), done_(std::move(done)) {}
    Tensor rate(DType dtype);
    /// The number of the step, from 1.
    Tensor number(DType dtype);
    /// `base` to the power of `number`.
    Tensor power(double base, DType dtype);

   private:
    struct Known {
      int kind;
      double base;
      DType dtype;
      Tensor value;
    };
    template <class F>
    Tensor once(int kind, double base, DType dtype, F make);

    Tensor rate_, done_;
    std::vector<Known> known_;
  };

  Optimizer();
  ~Optimizer() override;
  const ClassDef& definition() const override { return def(); }
  const ObjectClass& object_class() const override { return definition().kind; }
  void* option_place() override { return &common_; }
  void configured() override { take_options(common_); }
  void configure(const OptimizerOptions& o) { take_options(o); }
  std::string text() const override { return described(); }
  void visit(Visitor&) const override;
  void clear() override;

  /// One step. Gradients that are None are left out; none at all is refused.
  void apply_gradients(const std::vector<Pair>& gradients);
  template <std::same_as<Tensor> T = Tensor>
  void apply_gradients(const std::vector<std::pair<T, Variable>>& gradients) {
    std::vector<Pair> pairs;
    for (const auto& [gradient, variable] : gradients) pairs.push_back({{gradient}, variable});
    apply_gradients(pairs);
  }
  /// The same with what `tape.gradient(loss, variables)` gives.
  void apply_gradients(const std::vector<Tensor>& gradients,
                       const std::vector<Variable>& variables);
  virtual void apply(const std::vector<Gradient>& gradients,
                     const std::vector<Variable>& variables);
  /// Makes what is kept for these variables, as far as it is not there.
  void build(const std::vector<Variable>& variables);
  bool built() const { return built_; }
  /// The variables it has seen, in their order.
  const std::vector<Variable>& trained() const { return trained_; }

  /// How one variable moves.
  virtual void update_step(const Gradient& gradient, const Variable& variable, Step& step);
  /// Makes what is kept for new variables: calls `add_slots`.
  virtual void make_slots(const std::vector<Variable>& variables);
  /// Comes before the updates of a step.
  virtual void begin_step(Step&) {}
  virtual ConfigDict get_config() const;
  virtual std::string class_name() const;
  virtual std::string registered_name() const { return {}; }
  Config config() const override;
  /// What is kept: the counter, the rate where it is a number, then what `build` made.
  std::vector<Variable> variables() const override;
  std::vector<Variable> trainable_variables() const override { return {}; }
  std::vector<Variable> non_trainable_variables() const override { return variables(); }

  /// How many steps were made.
  virtual Variable iterations() const;
  /// How often variables were moved: once in `gradient_accumulation_steps` steps.
  Tensor updates_done();
  /// Whether it has a learning rate of its own; of several optimizers in one, each has.
  virtual bool has_rate() const { return true; }
  /// The rate of the next step.
  virtual Tensor learning_rate();
  /// The variable that holds the rate; empty where a schedule or a function says it.
  virtual Variable rate_variable();
  virtual void set_learning_rate(const LearningRate&);
  const LearningRate& rate_source() const { return common_.learning_rate; }
  /// The loss times what keeps small gradients from vanishing.
  virtual Tensor scale_loss(const Tensor& loss);
  /// Puts the moving averages into the variables, at the end of training.
  virtual void finalize_variable_values(const std::vector<Variable>& variables);
  /// The moving averages of variables, in the order of `trained`.
  const std::vector<Variable>& averages() const { return averages_; }
  /// Variables that weight decay leaves alone: these, and those in whose names one of `patterns` is
  /// found.
  void exclude_from_weight_decay(const std::vector<Variable>& variables,
                                 const std::vector<std::string>& patterns = {});

  const OptimizerOptions& common() const { return common_; }
  /// "optimizer `adam` (Adam)", for messages.
  std::string described() const;
  /// A new variable that is kept from step to step.
  Variable add_kept(const std::string& name, const Tensor& first);
  /// One like another, filled with a number.
  Variable add_variable_from_reference(const Variable& like, const std::string& name,
                                       double first = 0);
  /// Where a variable stands among those it has seen; an unknown one is refused.
  size_t index_of(const Variable&) const;
  void name_it();

  template <class O>
    requires requires(const O& o) { o.ema_momentum; }
  void take_options(const O& o) {
    set_options({.learning_rate = o.learning_rate,
                 .weight_decay = o.weight_decay,
                 .clipnorm = o.clipnorm,
                 .clipvalue = o.clipvalue,
                 .global_clipnorm = o.global_clipnorm,
                 .use_ema = o.use_ema,
                 .ema_momentum = o.ema_momentum,
                 .ema_overwrite_frequency = o.ema_overwrite_frequency,
                 .loss_scale_factor = o.loss_scale_factor,
                 .gradient_accumulation_steps = o.gradient_accumulation_steps,
                 .name = o.name});
  }
  static Ref<Optimizer> from(const Ref<Object>& object, const std::string& what);

 protected:
  Variable make_variable(const std::string& name, const Tensor& first);
  /// "dense_kernel" for "dense/kernel".
  static std::string plain_name(const Variable& v);
  /// Slots of a role for each of the variables, all roles of one variable together.
  void add_slots(const std::vector<Variable>& variables, const std::vector<std::string>& roles,
                 const std::vector<double>& first = {});
  /// A slot of a variable, by the number of its role: in the order of `add_slots`.
  const Variable& slot(size_t role, const Variable& variable) const {
    return slots_[role][index_of(variable)];
  }
  /// A gradient in the dtype of its variable, as one tensor.
  static Tensor dense(const Gradient& gradient, const Variable& variable);
  void set_options(OptimizerOptions);
  /// Makes the counter and the rate, once.
  void begin();
  bool decays(const Variable&) const;
  virtual void decay_weights(const std::vector<Variable>& variables, Step& step);

 private:
  void move(std::vector<Gradient> gradients, const std::vector<Variable>& variables);
  void update_all(std::vector<Gradient> gradients, const std::vector<Variable>& variables);
  std::vector<Gradient> clipped(std::vector<Gradient> gradients) const;
  void average();

  OptimizerOptions common_;
  bool named_ = false, begun_ = false, built_ = false;
  RecursiveMutex building_;
  Variable counter_, rate_;
  std::vector<Variable> trained_, averages_, accumulated_;
  struct Tables;  // where each variable stands, and patterns of names: large to read
  Owned<Tables> tables_;
  std::vector<std::vector<Variable>> slots_;  // of each role, in the order of `trained_`
  size_t next_role_ = 0;
  std::vector<Variable> kept_;  // all that `variables` shows after the first two
  std::vector<VariableState*> undecayed_;
};

using OptimizerOption = Choice<Optimizer>;
/// Any optimizer.
using AnyOptimizer = Held<Optimizer>;

/// The optimizer of a name ("adam") or of a config.
HOLDFAST_API Ref<Optimizer> optimizer(const Config& described);

}  // namespace holdfast::keras
