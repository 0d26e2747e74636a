#include "holdfast/data/dataset.h"

#include <mutex>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/patient_lock.h"
#include "holdfast/base/text.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/loop.h"
#include "holdfast/data/stages.h"
#include "holdfast/device/device.h"
#include "holdfast/exec/init_scope.h"
#include "holdfast/ops/random/own_streams.h"

namespace holdfast::data {

const ObjectClass IteratorObject::kClass{"DatasetIterator"};

namespace {
constexpr std::string_view kHead = "holdfast data 6";  // of a saved position
}  // namespace

Dataset::Dataset(Ref<DatasetObject> object) : object_(std::move(object)) {
  if (!object_) fail(Code::E1104, "a Dataset is made of nothing");
}

Iterator::Iterator(Ref<IteratorObject> object) : object_(std::move(object)) {
  if (!object_) fail(Code::E1104, "an Iterator is made of nothing");
}

Nested Iterator::get_next(const Line& at) {
  mark_caller(at);
  Nested out;
  if (object_->next(out)) return out;
  Diagnostic d;
  d.code = Code::E1402;
  d.headline = kEndOfSequence;
  d.labels.push_back({Role::kUsed, locate(here()), "asked for here", true});
  d.fixes.push_back(manual_fix("end the loop where `next` gives none, or `repeat` the dataset"));
  raise(std::move(d));
}

// What runs while an element is made may want the language's lock that somebody who waits here has:
// the lock is a patient one.
struct IteratorObject::Position {
  mutable std::recursive_mutex mutex;
  mutable bool busy = false;
  Owned<Cursor> cursor;  // made when the first element is asked for
  bool ended = false;

  Ref<Iteration> iteration() const {
    std::lock_guard lock(of_iteration_);
    return iteration_;
  }
  void set_iteration(Ref<Iteration> now) {
    std::lock_guard lock(of_iteration_);
    std::swap(iteration_, now);
  }

 private:
  mutable std::mutex of_iteration_;  // a collector looks at it, whoever has the position
  Ref<Iteration> iteration_;
};

/// The position, for one who has it alone.
class IteratorObject::Using {
 public:
  explicit Using(const Position& p, const char* what) : lock_(p.mutex), position_(p) {
    if (p.busy)
      fail(Code::E1105, cat("an iterator is ", what, " by a function of its own pipeline"),
           "it is making an element just now",
           {manual_fix("let the function take what it needs from the element")});
    p.busy = true;
  }
  ~Using() { position_.busy = false; }
  Using(const Using&) = delete;

 private:
  PatientLock<std::recursive_mutex> lock_;
  const Position& position_;
};

IteratorObject::IteratorObject(Ref<DatasetObject> dataset)
    : IteratorObject(std::move(dataset), nullptr) {}

IteratorObject::IteratorObject(Ref<DatasetObject> dataset, Ref<Bound> bound)
    : dataset_(std::move(dataset)), position_(make_owned<Position>()) {
  auto joins = joins_of(*dataset_, bound.get());
  position_->set_iteration(make_ref<Iteration>(std::move(bound), std::move(joins)));
  Working on(position_->iteration());
  position_->cursor = dataset_->begin();
}

IteratorObject::~IteratorObject() = default;

void IteratorObject::visit(Visitor& see) const {
  see.child(dataset_);
  position_->iteration()->visit(see);
}

void IteratorObject::clear() {
  std::lock_guard lock(position_->mutex);
  position_->cursor = {};
  position_->ended = true;
}

bool IteratorObject::next(Nested& out) {
  Using alone(*position_, "asked for an element");
  if (position_->ended) return false;
  // Data is made on the host and at once, whatever is traced or watched around it.
  Lifted lifted;
  DeviceScope host(cpu());
  Working on(position_->iteration());
  random::WithoutSource own;  // a stage of another iteration may be what asks
  if (position_->cursor->next(out)) return true;
  position_->ended = true;
  position_->cursor = {};  // threads and buffers go now
  return false;
}

uint64_t Dataset::fingerprint() const { return fingerprint_of(*object_); }

Nested at(const Dataset& dataset, int64_t index) {
  if (index >= 0) {
    Lifted lifted;
    DeviceScope host(cpu());
    Dataset from = dataset.skip(index);
    Joins joins = joins_of(*from.object(), nullptr);
    Working on(make_ref<Iteration>(nullptr, std::move(joins), Order::kOfNumbers));
    random::WithoutSource own;
    Owned<Cursor> cursor = from.object()->begin();
    if (Nested out; cursor->next(out)) return out;
  }
  fail(Code::E1402, cat("the dataset has no element ", index),
       dataset.cardinality() < 0 ? "" : cat("it has ", dataset.cardinality()));
}

std::string IteratorObject::save() const {
  Using alone(*position_, "saved");
  Working on(position_->iteration());
  // Of stages that have ended, and of all at the end: the next iteration goes on with their seeds.
  // Threads wait only while their cursors are written. They may have drawn before or after that: it
  // is done again then, until they have come as far as they go without somebody who takes.
  for (;;) {
    Saving to(*dataset_), again(*dataset_);
    to.text(kHead);
    to.text(dataset_->chain());
    to.text(dataset_->spec().text());
    size_t head = to.size();
    save_kept_in(position_->iteration(), dataset_, to);
    size_t kept = to.size() - head;
    to.number(position_->ended);
    if (!position_->ended) position_->cursor->save(to);
    save_kept_in(position_->iteration(), dataset_, again);
    std::string all = to.take();
    if (std::string_view(all).substr(head, kept) == again.take()) return all;
  }
}

void IteratorObject::restore(std::string_view bytes) {
  Using alone(*position_, "restored");
  Restoring from(bytes, *dataset_);
  if (from.text() != kHead) Restoring::refuse("it is of another kind");
  if (std::string chain = from.text(); chain != dataset_->chain())
    Restoring::refuse(
        cat("it was saved from the stages ", chain, ", these are ", dataset_->chain()));
  if (std::string spec = from.text(); spec != dataset_->spec().text())
    Restoring::refuse(cat("its elements are ", spec, ", these are ", dataset_->spec().text()));
  // Threads of the cursor before may still draw numbers: they are another iteration's.
  Ref<Bound> bound = position_->iteration()->bound;
  auto iteration = make_ref<Iteration>(bound, joins_of(*dataset_, bound.get()));
  restore_kept_in(iteration, dataset_, from);
  bool ended = from.number() != 0;
  Owned<Cursor> cursor;
  if (!ended) {
    Lifted lifted;
    DeviceScope host(cpu());
    Working on(iteration);
    cursor = dataset_->begin();
    cursor->restore(from);
  }
  if (!from.done()) Restoring::refuse("there is more in it than belongs there");
  std::swap(position_->cursor, cursor);
  position_->ended = ended;
  position_->set_iteration(std::move(iteration));
  cursor = {};  // the one before, and its threads
  from.finish();
}

}  // namespace holdfast::data
