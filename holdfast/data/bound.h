// What belongs to one iteration, and no stage knows by itself. Among it are the values of tensors
// of a graph that a dataset is made of: known by their types while the graph is written, and bound
// when an iteration begins.
#pragma once

#include <mutex>
#include <vector>

#include "holdfast/data/node.h"
#include "holdfast/ops/random/own_streams.h"

namespace holdfast::data {

/// Values of such tensors, for one iteration: those of each run are its own.
struct Bound final : RefCounted {
  std::vector<Tensor> symbols, values;
};

/// Where random ops of one function stand in an iteration.
struct Drawn final : RefCounted {
  explicit Drawn(const Object& f) : function(&f) {}
  const Ref<const Object> function;
  random::OwnStreams streams;
};

/// What the stages of one iteration share, on whatever thread they work.
class HOLDFAST_API Iteration final : public RefCounted {
 public:
  explicit Iteration(Ref<Bound> values) : bound(std::move(values)) {}
  const Ref<Bound> bound;

  /// Where random ops in a function of its stages stand: each iteration begins them anew, as
  /// TensorFlow's does, and goes on with them where a stage begins again.
  Ref<Drawn> drawn_by(const Object& function);
  /// The same; null where none of them ran yet.
  Ref<Drawn> found_drawn(const Object& function) const;

  /// Generators that run for it, and stages that its cursors hold, once for each.
  void add(const Generator* running);
  void remove(const Generator* running);
  void add(const DatasetObject* stage);
  void remove(const DatasetObject* stage);
  void visit(Visitor& see) const;

  /// What a stage made of values that stay as they are while this lasts, by a number of its own: so
  /// that a shuffle in it goes on from one epoch to the next. Null where there is none yet.
  Ref<DatasetObject> made_by(uint64_t stage) const;
  void keep(uint64_t stage, Ref<DatasetObject> made);

 private:
  Ref<Drawn> drawn_so_far(const Object& function) const;  // under the lock

  mutable std::mutex mutex_;
  std::vector<const Generator*> generators_;
  std::vector<const DatasetObject*> stages_;
  std::vector<std::pair<uint64_t, Ref<DatasetObject>>> made_;
  std::vector<Ref<Drawn>> drawn_;
};

/// What holds tensors that may be a graph's.
class MayBeOpen {
 public:
  /// Adds those that are.
  virtual void add_open(std::vector<Tensor>& to) const = 0;

 protected:
  ~MayBeOpen() = default;
};

/// The tensors of a graph in the stages of a dataset, each once.
std::vector<Tensor> open_tensors(const DatasetObject& dataset);

/// Makes an iteration known to the thread while it works for it; a worker takes over that of who
/// made it.
class HOLDFAST_API Working {
 public:
  explicit Working(Ref<Iteration> on);
  ~Working();
  Working(const Working&) = delete;
  static const Ref<Iteration>& current();

 private:
  Ref<Iteration> before_;
};

/// Random ops of this thread draw for its iteration, while a function of a stage runs.
class DrawingForIteration final : public random::StreamSource {
 public:
  explicit DrawingForIteration(const Object& function);
  ~DrawingForIteration();
  DrawingForIteration(const DrawingForIteration&) = delete;
  random::Philox reserve(random::NodeGenerator& node, const random::OpSeeds& seeds,
                         uint64_t blocks) override;

 private:
  const Object& function_;
  Iteration* const iteration_;  // which the thread's `Working` holds: no count for each element
  random::StreamSource* const before_;
};

/// Write down and take over where the random ops of a function stand in this thread's iteration.
void save_draws(const ElementFunction& function, Saving& to);
void restore_draws(const ElementFunction& function, Restoring& from);

/// `t`, or its value where it is a graph's; `stage` holds it, and is told of where there is none.
Tensor bound(const Tensor& t, const char* stage);
/// The same for all tensors of an element.
Nested bound(const Nested& element, const char* stage);
/// Throws: a dataset of a graph's tensors is iterated where the graph does not run.
[[noreturn]] void refuse_symbols(const char* stage);

}  // namespace holdfast::data
