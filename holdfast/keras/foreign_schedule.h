// Schedules whose class is of another language.
#pragma once

#include "holdfast/keras/schedule.h"

namespace holdfast::keras {

/// How the other language is asked. Each gives false where the object's class does not override the
/// method. The binding sets them, once.
struct ScheduleHooks {
  bool (*rate)(Schedule&, const Tensor& step, Tensor& out);
  bool (*config)(const Schedule&, ConfigDict& out);
  bool (*class_name)(const Schedule&, std::string& out);
  bool (*registered_name)(const Schedule&, std::string& out);
};
HOLDFAST_API ScheduleHooks& schedule_hooks();

/// C++'s own answers for an object whose class may have others: what `super()` reaches.
class HOLDFAST_API ForeignBornSchedule {
 public:
  virtual Tensor own_rate(const Tensor& step) = 0;
  virtual ConfigDict own_config() const = 0;

 protected:
  ~ForeignBornSchedule() = default;
};

template <class S>
class ForeignSchedule final : public S, public ForeignBornSchedule {
 public:
  Tensor rate(const Tensor& step) override {
    Tensor out;
    return schedule_hooks().rate(*this, step, out) ? out : S::rate(step);
  }
  ConfigDict get_config() const override {
    ConfigDict out;
    return schedule_hooks().config(*this, out) ? out : S::get_config();
  }
  std::string class_name() const override {
    std::string out;
    return schedule_hooks().class_name(*this, out) ? out : S::class_name();
  }
  std::string registered_name() const override {
    std::string out;
    return schedule_hooks().registered_name(*this, out) ? out : S::registered_name();
  }

  Tensor own_rate(const Tensor& step) override { return S::rate(step); }
  ConfigDict own_config() const override { return S::get_config(); }
};

namespace detail {
template <DerivesFrom<Schedule> S>
struct ForeignOf<S> {
  using type = ForeignSchedule<S>;
};
}  // namespace detail

}  // namespace holdfast::keras
