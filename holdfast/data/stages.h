// The stages that an iteration may come to, in one order.
#pragma once

#include <exception>
#include <unordered_map>
#include <vector>

#include "holdfast/data/node.h"

namespace holdfast::data {

class Iteration;
struct Bound;
struct Joins;

/// The stages of datasets, and of those that their functions and elements hold, each once. A
/// pipeline that is made in the same way has them in the same order.
class Stages {
 public:
  explicit Stages(const std::vector<Ref<DatasetObject>>& of);
  const std::vector<Ref<const DatasetObject>>& all() const { return all_; }
  /// The place of a stage among them; -1 where it is none of them.
  int64_t number_of(const DatasetObject& stage) const;
  /// The functions that make datasets for them, in the same order; -1 where a number is none's.
  int64_t maker_of(uint64_t number) const;
  ElementFunction* maker_at(int64_t place) const;

  /// Datasets of such functions that one position holds, each once: in the order of their ends.
  std::vector<Tensor> made;
  int64_t number_of_made(const DatasetObject& dataset) const;

 private:
  class Walk;
  std::vector<Ref<const DatasetObject>> all_;
  std::unordered_map<const DatasetObject*, int64_t> numbers_;
  std::vector<std::pair<uint64_t, Ref<ElementFunction>>> makers_;
};

/// The stages of a pipeline, and which are shared (`bound.h`). `bound` tells which datasets
/// arguments are.
Joins joins_of(const DatasetObject& dataset, const Bound* bound);

/// The datasets that a function holds, or something else that is no stage.
std::vector<Ref<DatasetObject>> held_by(const Object* holder);

/// A number that pipelines share whose stages have the same names, specs and facts.
uint64_t fingerprint_of(const DatasetObject& dataset);
/// An element of a saved position, of a stage whose elements are of a spec; others are refused.
Nested restored(Restoring& from, const ElementSpec& spec);
/// What `Saving::made` wrote.
struct MadeAhead {
  Nested element;
  std::exception_ptr error;
};
MadeAhead restored_made(Restoring& from, const ElementSpec& spec);
/// Adds what a tensor is to the facts of a stage.
void add_tensor(const Tensor& t, Saving& to);

/// Write down and take over what the stages of these datasets keep (`DatasetObject::save_kept`).
void save_kept_of(const std::vector<Ref<DatasetObject>>& datasets, Saving& to);
void restore_kept_of(const std::vector<Ref<DatasetObject>>& datasets, Restoring& from);

/// The same of one that a function made, also while they are written down: it is none of them.
void save_kept_of_made(const Ref<DatasetObject>& dataset, Saving& to);
void restore_kept_of_made(const Ref<DatasetObject>& dataset, Restoring& from);

/// The same of a whole pipeline, with the random ops of each of its branches.
void save_kept_in(const Ref<Iteration>& iteration, const Ref<DatasetObject>& pipeline, Saving& to);
void restore_kept_in(const Ref<Iteration>& iteration, const Ref<DatasetObject>& pipeline,
                     Restoring& from);

}  // namespace holdfast::data
