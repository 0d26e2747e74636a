// What belongs to one iteration, and no stage knows by itself. Among it are the values of tensors
// of a graph that a dataset is made of: known by their types while the graph is written, and bound
// when an iteration begins.
#pragma once

#include <mutex>
#include <unordered_set>
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

/// What a pipeline is made of, but for what functions and elements hold (`joins_of`).
struct Joins {
  std::unordered_set<const DatasetObject*> all;
  /// Where some stage is an input of several others, or several times of one: the stages that have
  /// several inputs, each of which has random numbers of its own; and whose numbers these are.
  /// Empty where no stage is shared.
  std::vector<const DatasetObject*> stages;
  std::unordered_set<const void*> functions;  // and places, of all stages
};

/// Which seeds stages take: drawn ones; those of their first iteration, which draws none; or the
/// very ones that they draw from. With these a shuffle has the one order that numbers of elements
/// mean: that of all elements, whatever its buffer holds.
enum class Order { kDrawn, kFirst, kOfNumbers };

/// What the stages of one iteration share, on whatever thread they work.
class HOLDFAST_API Iteration final : public RefCounted {
 public:
  /// Whoever makes this keeps what `joins` leads to.
  explicit Iteration(Ref<Bound> values, Joins joins = {}, Order order = Order::kDrawn);
  const Ref<Bound> bound;
  Order order() const { return common_->order; }
  /// Whether a stage is one of the pipeline, which no function or element holds.
  bool leads_to(const DatasetObject& stage) const { return common_->joins.all.contains(&stage); }

  /// Where some stage is an input of several others, each of them has random numbers of its own:
  /// what input `i` of a stage with several works on. Null where the stage is none of the joins:
  /// inputs of those that functions make go on with one another's numbers, and so do all branches
  /// with those of datasets that functions and elements hold.
  Ref<Iteration> branch(const DatasetObject& stage, size_t i);
  struct Branch {
    const DatasetObject* stage;
    size_t input;
    Ref<Iteration> of;
  };
  std::vector<Branch> branches() const;

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
  // What branches share with the iteration that they are of.
  struct Common final : RefCounted {
    mutable std::mutex mutex;
    Order order = Order::kDrawn;
    Joins joins;                    // stays as it is
    std::vector<Ref<Drawn>> drawn;  // of functions of no branch
    std::vector<const Generator*> generators;
    std::vector<const DatasetObject*> stages;
    std::vector<std::pair<uint64_t, Ref<DatasetObject>>> made;
  };
  Iteration(Ref<Bound> values, Ref<Common> common);
  bool is_shared(const Object& function) const;
  void visit_draws(Visitor& see) const;

  const Ref<Common> common_;
  mutable std::mutex mutex_;
  std::vector<Ref<Drawn>> drawn_;
  std::vector<Branch> branches_;
};

/// Where a function that makes datasets makes the functions of their stages: each time it is called
/// they are other ones in the same places, and go on with one another's random numbers.
class HOLDFAST_API Place final : public Object {
 public:
  explicit Place(const Place* within = nullptr) : whole_(within ? within->whole_ : this) {}
  /// The one that this is part of, and all that are part of the same: to compare with.
  const void* whole() const { return whole_; }
  const ObjectClass& object_class() const override { return ElementFunction::kClass; }
  /// The one of what it makes as its `i`-th.
  Ref<Place> part(size_t i) const;
  std::vector<Ref<Place>> parts() const;

 private:
  const void* const whole_;
  mutable std::mutex mutex_;
  mutable std::vector<Ref<Place>> parts_;
};
/// A stage whose function makes datasets.
class HasPlace {
 public:
  virtual const Place& place() const = 0;

 protected:
  ~HasPlace() = default;
};
/// Of a stage whose function makes datasets: the place it was made in itself, or one of its own.
HOLDFAST_API Ref<Place> made_in_place();
/// While a thread makes datasets for a stage. Stages that have no seeds get those that they would
/// have in a graph of the function: the same ones each time.
class HOLDFAST_API Making {
 public:
  explicit Making(const Place& in);
  ~Making();
  Making(const Making&) = delete;
  /// The place of what is made now; null where no stage makes it.
  static Ref<Place> next();

 private:
  Making* const before_;
  const Place& in_;
  size_t made_ = 0;
  random::GraphSeeds seeds_;
  random::GraphSeeds* const seeds_before_;
};

/// What holds datasets that are no inputs: a function, or elements.
class HOLDFAST_API HoldsDatasets {
 public:
  virtual void add_datasets(std::vector<Ref<DatasetObject>>& to) const = 0;
  /// What tells its code from other code, where that can be told.
  virtual void add_code(Saving&) const {}

 protected:
  ~HoldsDatasets() = default;
};

/// A function whose datasets can be made again of the same element: they are known by its number.
class HOLDFAST_API MakesDatasets {
 public:
  MakesDatasets();
  const uint64_t number;

 protected:
  ~MakesDatasets() = default;
};

/// A stage that is another dataset in each iteration: an argument of a function.
class StandsForDataset {
 public:
  /// Which one it is; null where that is not told.
  virtual const DatasetObject* stands_for(const Bound* values) const = 0;

 protected:
  ~StandsForDataset() = default;
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
HOLDFAST_API std::vector<Tensor> open_tensors(const DatasetObject& dataset);

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
  /// `nodes` are the random ones of the function, in their order.
  DrawingForIteration(const Object& function, const std::vector<RefCounted*>& nodes);
  ~DrawingForIteration();
  DrawingForIteration(const DrawingForIteration&) = delete;
  random::Philox reserve(random::NodeGenerator& node, const random::OpSeeds& seeds,
                         uint64_t blocks) override;

 private:
  const Object& function_;
  const std::vector<RefCounted*>& nodes_;
  Iteration* const iteration_;  // which the thread's `Working` holds: no count for each element
  random::StreamSource* const before_;
};

/// Write down and take over where the random ops of a function stand in this thread's iteration.
void save_draws(const ElementFunction& function, Saving& to);
void restore_draws(const ElementFunction& function, Restoring& from);
/// The same of all functions that are made in a place.
void save_draws(const Place& place, Saving& to);
void restore_draws(const Place& place, Restoring& from, int depth = 0);

/// The value that a tensor of a graph has in this thread's iteration; null where it has none.
const Tensor* found_bound(const Tensor& symbol);
/// `t`, or its value where it is a graph's; `stage` holds it, and is told of where there is none.
Tensor bound(const Tensor& t, const char* stage);
/// The same for all tensors of an element.
Nested bound(const Nested& element, const char* stage);
/// Throws: a dataset of a graph's tensors is iterated where the graph does not run.
[[noreturn]] void refuse_symbols(const char* stage);

}  // namespace holdfast::data
