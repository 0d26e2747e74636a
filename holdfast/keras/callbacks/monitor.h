// What callbacks that watch a number of each epoch have in common.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "holdfast/keras/callback.h"

namespace holdfast::keras {

class ModelLayer;

/// A number that is to become small, or large.
class HOLDFAST_API Monitor {
 public:
  /// `mode` is "min", "max" or "auto": then the metric tells, see `decide`.
  void set(const std::string& name, const std::string& mode, double min_delta,
           const std::string& callback);
  /// Goes by the class of the metric of that name, else by the name itself; refuses to guess where
  /// neither tells. Once, when there are metrics.
  void decide(const ModelLayer& model);
  void forget() {
    best_ =
        rises_ ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }
  bool improves(double now, double than) const {
    return rises_ ? now - least_ > than : now + least_ < than;
  }
  /// Whether it is the best one yet; then it is remembered.
  bool best(double now) {
    if (!improves(now, best_)) return false;
    best_ = now;
    return true;
  }
  double best_yet() const { return best_; }
  /// Goes on from a value; from none, as at the beginning.
  void set_best(std::optional<double> v) {
    forget();
    if (v) best_ = *v;
  }
  const std::string& name() const { return name_; }
  /// Whether larger is better.
  bool rises() const { return rises_; }

 private:
  std::string name_, callback_;
  bool rises_ = false, decided_ = true;
  double least_ = 0, best_ = 0;
};

/// The number of a name among an epoch's; warns once where there is none.
HOLDFAST_API const double* monitored(const Logs& logs, const std::string& name,
                                     const std::string& callback, bool& warned);

}  // namespace holdfast::keras
