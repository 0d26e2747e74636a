// Learning rates that change from step to step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "holdfast/keras/function.h"
#include "holdfast/keras/held.h"
#include "holdfast/op/in.h"

namespace holdfast::keras {

/// Base of schedules. A program derives from it and says the rate of a step.
class HOLDFAST_API Schedule : public Object, public Declared, public HasConfig {
 public:
  static constexpr const char* kFolder = "optimizers";
  static ClassDef& def();

  const ClassDef& definition() const override { return def(); }
  const ObjectClass& object_class() const override { return definition().kind; }
  void* option_place() override { return nullptr; }
  std::string text() const override;

  /// The rate of a step, as a float32 scalar; steps are counted from 0.
  Tensor operator()(const In& step) { return rate(step.tensor()); }
  virtual Tensor rate(const Tensor& step);
  virtual ConfigDict get_config() const;
  virtual std::string class_name() const;
  virtual std::string registered_name() const { return {}; }
  Config config() const override;
  static Ref<Schedule> from(const Ref<Object>& object, const std::string& what);
};

namespace schedules {

struct ExponentialDecayOptions {
  double initial_learning_rate = 0, decay_steps = 0, decay_rate = 0;
  bool staircase = false;
  std::string name = "ExponentialDecay";
};
struct PiecewiseConstantDecayOptions {
  std::vector<double> boundaries = {}, values = {};
  std::string name = "PiecewiseConstant";
};
struct PolynomialDecayOptions {
  double initial_learning_rate = 0, decay_steps = 0, end_learning_rate = 0.0001, power = 1;
  bool cycle = false;
  std::string name = "PolynomialDecay";
};
struct InverseTimeDecayOptions {
  double initial_learning_rate = 0, decay_steps = 0, decay_rate = 0;
  bool staircase = false;
  std::string name = "InverseTimeDecay";
};
struct CosineDecayOptions {
  double initial_learning_rate = 0, decay_steps = 0, alpha = 0;
  std::string name = "CosineDecay";
  std::optional<double> warmup_target = {};
  double warmup_steps = 0;
};
struct CosineDecayRestartsOptions {
  double initial_learning_rate = 0, first_decay_steps = 0, t_mul = 2, m_mul = 1, alpha = 0;
  std::string name = "SGDRDecay";
};

class HOLDFAST_API ExponentialDecaySchedule : public Declares<ExponentialDecayOptions, Schedule> {
 public:
  const ClassDef& definition() const override;
  Tensor rate(const Tensor& step) override;

 private:
  void check() override;
};
class HOLDFAST_API PiecewiseConstantDecaySchedule
    : public Declares<PiecewiseConstantDecayOptions, Schedule> {
 public:
  const ClassDef& definition() const override;
  Tensor rate(const Tensor& step) override;

 private:
  void check() override;
};
class HOLDFAST_API PolynomialDecaySchedule : public Declares<PolynomialDecayOptions, Schedule> {
 public:
  const ClassDef& definition() const override;
  Tensor rate(const Tensor& step) override;

 private:
  void check() override;
};
class HOLDFAST_API InverseTimeDecaySchedule : public Declares<InverseTimeDecayOptions, Schedule> {
 public:
  const ClassDef& definition() const override;
  Tensor rate(const Tensor& step) override;

 private:
  void check() override;
};
class HOLDFAST_API CosineDecaySchedule : public Declares<CosineDecayOptions, Schedule> {
 public:
  const ClassDef& definition() const override;
  Tensor rate(const Tensor& step) override;

 private:
  void check() override;
};
class HOLDFAST_API CosineDecayRestartsSchedule
    : public Declares<CosineDecayRestartsOptions, Schedule> {
 public:
  const ClassDef& definition() const override;
  Tensor rate(const Tensor& step) override;

 private:
  void check() override;
};

/// initial * decay_rate^(step / decay_steps); in steps if `staircase`.
using ExponentialDecay = Held<ExponentialDecaySchedule>;
/// values[i] up to and with boundaries[i], then the last.
using PiecewiseConstantDecay = Held<PiecewiseConstantDecaySchedule>;
/// From the initial rate to the end's along a power of what is left; again and again if `cycle`.
using PolynomialDecay = Held<PolynomialDecaySchedule>;
/// initial / (1 + decay_rate * step / decay_steps).
using InverseTimeDecay = Held<InverseTimeDecaySchedule>;
/// Half a cosine down to alpha * initial, after a line up to `warmup_target` if there is one.
using CosineDecay = Held<CosineDecaySchedule>;
/// Half a cosine down, again and again: each `t_mul` times as long, `m_mul` times as high.
using CosineDecayRestarts = Held<CosineDecayRestartsSchedule>;

}  // namespace schedules
/// As Python has them: `optimizers::schedules::CosineDecay`.
namespace optimizers {
namespace schedules = keras::schedules;
}
}  // namespace holdfast::keras
