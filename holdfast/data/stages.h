// The stages that an iteration may come to, in one order.
#pragma once

#include <unordered_map>
#include <vector>

#include "holdfast/data/node.h"

namespace holdfast::data {

/// The stages of datasets, and of those that their functions and elements hold, each once. A
/// pipeline that is made in the same way has them in the same order.
class Stages {
 public:
  explicit Stages(const std::vector<Ref<DatasetObject>>& of);
  const std::vector<Ref<const DatasetObject>>& all() const { return all_; }
  /// The place of a stage among them; -1 where it is none of them.
  int64_t number_of(const DatasetObject& stage) const;

 private:
  class Walk;
  std::vector<Ref<const DatasetObject>> all_;
  std::unordered_map<const DatasetObject*, int64_t> numbers_;
};

/// Whether some stage is an input of several others, or several times of one.
bool shares_stages(const DatasetObject& dataset);

/// The datasets that a function holds, or something else that is no stage.
std::vector<Ref<DatasetObject>> held_by(const Object* holder);

/// A number that pipelines share whose stages have the same names, specs and facts.
uint64_t fingerprint_of(const DatasetObject& dataset);
/// Adds what a tensor is to the facts of a stage.
void add_tensor(const Tensor& t, Saving& to);

/// Write down and take over what the stages of these datasets keep (`DatasetObject::save_kept`).
void save_kept_of(const std::vector<Ref<DatasetObject>>& datasets, Saving& to);
void restore_kept_of(const std::vector<Ref<DatasetObject>>& datasets, Restoring& from);

}  // namespace holdfast::data
