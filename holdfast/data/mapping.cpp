// Stages that call a function with each element.
#include <algorithm>
#include <exception>
#include <mutex>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/ahead.h"
#include "holdfast/data/arguments.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/functions.h"
#include "holdfast/data/inner.h"
#include "holdfast/data/stages.h"
#include "holdfast/exec/init_scope.h"
#include "holdfast/op/refuse.h"

namespace holdfast::data {
namespace {

/// Rows of which a function is taken: of each by itself, or of a whole batch at once.
class MappedRows final : public Rows {
 public:
  MappedRows(const DatasetObject& stage, const Rows& from, Ref<ElementFunction> each,
             Ref<ElementFunction> batch)
      : stage_(&stage), from_(&from), each_(std::move(each)), batch_(std::move(batch)) {}
  int64_t size() const override { return from_->size(); }
  Nested row(int64_t i) const override {
    return at_stage(*stage_, i, [&] { return (*each_)(from_->row(i)); });
  }
  Nested gather(std::span<const int64_t> rows) const override {
    Nested batch = from_->gather(rows);
    try {
      return (*batch_)(batch);
    } catch (const Error&) {  // which of them it was, it says by itself
      std::vector<Nested> each;
      for (int64_t i : rows) each.push_back(row(i));
      return stacked(each);
    }
  }

 private:
  const StageRef<DatasetObject> stage_;
  const Ref<const Rows> from_;
  const Ref<ElementFunction> each_, batch_;
};

class Map final : public DatasetObject {
 public:
  Map(const Ref<DatasetObject>& input, Ref<ElementFunction> f, const ElementSpec& gives)
      : DatasetObject(gives, {input}), function_(std::move(f)) {}
  const char* name() const override { return "map"; }
  void add_facts(Saving& to) const override { function_->add_facts(to); }
  int64_t cardinality() const override { return input().cardinality(); }
  void visit(Visitor& see) const override {
    DatasetObject::visit(see);
    see.child(function_);
  }
  void save_kept(Saving& to) const override { save_draws(*function_, to); }
  void restore_kept(Restoring& from) const override { restore_draws(*function_, from); }
  Owned<Cursor> start() const override { return started<Map, Each>(*this); }

 private:
  struct Each final : Cursor {
    explicit Each(const Map& s) : stage(&s), input(s.input().begin()) {
      if (const Rows* from = input->rows(); from && s.elementwise_)
        mapped = make_ref<MappedRows>(s, *from, s.function_, s.for_batches());
    }
    const Rows* rows() const override { return mapped.get(); }
    bool next_row(int64_t& row) override {
      if (!input->next_row(row)) return false;
      ++at;
      return true;
    }
    bool next(Nested& out) override {
      Nested element;
      if (!input->next(element)) return false;
      int64_t number = at++;
      out = at_stage(*stage, number, [&] { return (*stage->function_)(element); });
      return true;
    }
    void save(Saving& to) const override {
      to.number(at);
      save_draws(*stage->function_, to);
      input->save(to);
    }
    void restore(Restoring& from) override {
      at = from.number();
      restore_draws(*stage->function_, from);
      input->restore(from);
    }
    const StageRef<Map> stage;
    Owned<Cursor> input;
    Ref<MappedRows> mapped;  // null: elements are made one by one
    int64_t at = 0;
  };
  // Made with the first iteration that has rows: many pipelines never have.
  Ref<ElementFunction> for_batches() const {
    std::lock_guard lock(mutex_);
    Lifted lifted;
    if (!batch_) batch_ = data::for_batches(*function_, input().spec());
    return batch_;
  }
  const Ref<ElementFunction> function_;
  const bool elementwise_ = is_elementwise(*function_);
  mutable std::mutex mutex_;
  mutable Ref<ElementFunction> batch_;
};

/// The elements that a function says yes to; or those before the first that it says no to.
class Filter final : public DatasetObject {
 public:
  Filter(const Ref<DatasetObject>& input, Ref<ElementFunction> f, bool until_first)
      : DatasetObject(input->spec(), {input}), function_(std::move(f)), until_(until_first) {}
  const char* name() const override { return until_ ? "take_while" : "filter"; }
  void add_facts(Saving& to) const override { function_->add_facts(to); }
  int64_t cardinality() const override { return kUnknownCardinality; }
  void visit(Visitor& see) const override {
    DatasetObject::visit(see);
    see.child(function_);
  }
  void save_kept(Saving& to) const override { save_draws(*function_, to); }
  void restore_kept(Restoring& from) const override { restore_draws(*function_, from); }
  Owned<Cursor> start() const override { return started<Filter, Chosen>(*this); }

 private:
  bool holds(const Nested& element) const {
    Tensor truth = (*function_)(element).tensor(cat("what the function of `", name(), "` gives"));
    if (truth.dtype() != boolean || truth.rank() != 0)
      fail(Code::E1101, cat("the function of `", name(), "` gave ", type_text(truth),
                            ", expected a bool scalar"));
    return truth.item<bool>();
  }
  struct Chosen final : Cursor {
    explicit Chosen(const Filter& s) : stage(&s), input(s.input().begin()) {}
    bool next(Nested& out) override {
      while (!ended) {
        check_stop();
        if (!input->next(out)) return false;
        int64_t number = at++;
        if (at_stage(*stage, number, [&] { return stage->holds(out); })) return true;
        ended = stage->until_;
      }
      return false;
    }
    void save(Saving& to) const override {
      to.number(at);
      to.number(ended);
      save_draws(*stage->function_, to);
      input->save(to);
    }
    void restore(Restoring& from) override {
      at = from.number();
      ended = from.number() != 0;
      restore_draws(*stage->function_, from);
      input->restore(from);
    }
    const StageRef<Filter> stage;
    Owned<Cursor> input;
    int64_t at = 0;
    bool ended = false;
  };
  const Ref<ElementFunction> function_;
  const bool until_;
};

/// Elements of datasets that a function makes, of several in turn.
class Interleave final : public DatasetObject, public HasPlace {
 public:
  Interleave(const Ref<DatasetObject>& input, const ElementSpec& gives, Dataset::Maker make,
             int64_t cycle, const InterleaveOptions& o, Ref<Object> held)
      : DatasetObject(gives, {input}),
        make_(std::move(make)),
        cycle_(cycle),
        block_(o.block_length),
        threads_(threads_for(o.num_parallel_calls, "interleave")),
        held_(std::move(held)),
        place_(made_in_place()) {}
  const char* name() const override { return cycle_ == 1 ? "flat_map" : "interleave"; }
  const Place& place() const override { return *place_; }
  void add_facts(Saving& to) const override {
    to.number(cycle_);
    to.number(block_);
    if (auto* code = dynamic_cast<const HoldsDatasets*>(held_.get())) code->add_code(to);
  }
  int64_t cardinality() const override {
    // As TensorFlow takes it to be, of an empty input, too.
    return input().cardinality() == kInfinite && threads_ > 0 ? kInfinite : kUnknownCardinality;
  }
  void visit(Visitor& see) const override {
    DatasetObject::visit(see);
    see.child(held_);
  }
  void save_kept(Saving& to) const override {
    save_draws(*place_, to);
    save_kept_of(held_by(held_.get()), to);
  }
  void restore_kept(Restoring& from) const override {
    restore_draws(*place_, from);
    restore_kept_of(held_by(held_.get()), from);
  }
  Owned<Cursor> start() const override { return started<Interleave, Turns>(*this); }

 private:
  struct Part {
    Nested of;  // the element that it was made of
    Owned<Cursor> cursor;
    int64_t given = 0;
    std::exception_ptr error;  // in place of a cursor, for the turn in which it would be made
  };
  static constexpr int64_t kEmpty = 0, kOpen = 1, kFailed = 2;  // what a part is, in a position
  struct Turns final : Cursor {
    explicit Turns(const Interleave& s)
        : stage(&s), input(s.input().begin()), parts(static_cast<size_t>(s.cycle_)) {}

    bool next(Nested& out) override {
      if (at == 0) open_ahead();
      for (size_t idle = 0; idle <= parts.size();) {
        check_stop();
        Part& part = parts[turn];
        if (part.error) std::rethrow_exception(std::exchange(part.error, nullptr));
        if (!part.cursor && !ended) open(part);
        if (!part.cursor) {  // nothing is left for this place
          ++idle;
          move_on();
          continue;
        }
        if (part.cursor->next(out)) {
          ++part.given;
          if (++in_block == stage->block_) move_on();
          return true;
        }
        part = {};
        idle = 0;
        move_on();
      }
      return false;
    }
    void move_on() {
      in_block = 0;
      turn = (turn + 1) % parts.size();
    }
    // Those that have threads work from the beginning on.
    void open_ahead() {
      for (size_t i = 0; i < std::min(parts.size(), stage->threads()) && !ended; ++i) try {
          open(parts[i]);
        } catch (...) {
          parts[i].error = std::current_exception();
          return;  // the next element is for this place again
        }
    }
    void open(Part& part) {
      Nested element;
      if (!input->next(element)) {
        ended = true;
        return;
      }
      int64_t number = at++;
      part.cursor = at_stage(*stage, number, [&] { return made(element, part); });
      part.of = std::move(element);
      part.cursor->begin_ahead();
    }
    Owned<Cursor> made(const Nested& element, const Part& place) const {
      Making in(*stage->place_);
      Dataset d = stage->make_(element);
      if (!stage->spec().joined(d.element_spec()))
        fail(Code::E1101, cat("the function of `", stage->name(), "` made a dataset of ",
                              d.element_spec().text(), ", expected ", stage->spec().text()));
      Owned<Cursor> cursor = d.object()->begin();
      if (static_cast<size_t>(&place - parts.data()) >= stage->threads()) return cursor;
      return run_ahead(std::move(cursor), std::max<int64_t>(2, stage->block_), stage->spec());
    }
    void save(Saving& to) const override {
      to.number(at);
      to.number(ended);
      to.number(static_cast<int64_t>(turn));
      to.number(in_block);
      for (const Part& part : parts) {
        to.number(part.error ? kFailed : part.cursor ? kOpen : kEmpty);
        if (part.error) to.error(part.error);
        if (part.error || !part.cursor) continue;
        to.element(part.of);
        to.number(part.given);
        // A dataset that is saved by what it gives is another one then: it has no such position.
        bool same = to.keeps(part.of);
        to.number(same);
        if (same) part.cursor->save(to);
      }
      stage->save_kept(to);
      input->save(to);
    }
    void restore(Restoring& from) override {
      at = from.number();
      ended = from.number() != 0;
      turn = static_cast<size_t>(from.number());
      in_block = from.number();
      if (turn >= parts.size()) Restoring::refuse("it is at a part that there is not");
      for (Part& part : parts) {
        int64_t holds = from.number();
        if (holds == kFailed) part.error = from.error();
        if (holds != kOpen) continue;
        part.of = restored(from, stage->input().spec());
        part.cursor = made(part.of, part);
        int64_t given = from.number();
        if (from.number()) {
          part.cursor->restore(from);
          part.given = given;
        }
        for (Nested skipped; part.given < given; ++part.given)
          if (!part.cursor->next(skipped))
            Restoring::refuse("a dataset gives fewer elements than before");
      }
      stage->restore_kept(from);
      input->restore(from);
    }
    const StageRef<Interleave> stage;
    Owned<Cursor> input;
    std::vector<Part> parts;
    size_t turn = 0;
    int64_t in_block = 0, at = 0;
    bool ended = false;
  };
  size_t threads() const { return static_cast<size_t>(threads_); }
  const Dataset::Maker make_;
  const int64_t cycle_, block_, threads_;
  const Ref<Object> held_;
  const Ref<Place> place_;
};

// Elementwise work on so little is done before a thread has heard of it.
bool is_small(const ElementSpec& spec) {
  constexpr int64_t kSmall = 1024;
  int64_t all = 0;
  for (const ElementType& t : spec.leaves()) all += t.shape.elements().value_or(kSmall + 1);
  return all <= kSmall;
}

Dataset with_function(const Dataset& input, Ref<ElementFunction> f, const ElementSpec& gives,
                      const ParallelOptions& o) {
  int64_t threads = threads_for(o.num_parallel_calls, "map");
  if (threads == 0 || (is_elementwise(*f) && is_small(input.element_spec())))
    return Dataset(make_ref<Map>(input.object(), std::move(f), gives));
  return parallel_map(input, std::move(f), gives, o);
}

Ref<ElementFunction> function_of(detail::ElementCode f, const MapOptions& o,
                                 const ElementSpec& takes, const char* name) {
  if (!f) fail(Code::E1104, cat("`", name, "` was given no function"));
  return o.traced ? traced_function(std::move(f), takes, name) : plain_function(std::move(f));
}

}  // namespace

Dataset Dataset::mapped(detail::ElementCode f, const MapOptions& o) const {
  if (o.traced && !probing())
    return mapped(function_of(std::move(f), o, element_spec(), "map"), o.parallel());
  // Plain code tells what it gives by what it does with an element of the right kind.
  detail::ElementCode code = f;
  ElementSpec gives = spec_of_made(
      [&](const Nested& element) { return ElementSpec::of(code(element)); }, element_spec(), "map");
  if (probing()) return promised(gives);
  return with_function(*this, plain_function(std::move(f)), gives, o.parallel());
}

Dataset Dataset::mapped(Ref<ElementFunction> f, const ParallelOptions& o) const {
  std::optional<ElementSpec> gives = f->gives();
  if (!gives) bug("a function of elements that does not say what it gives");
  return with_function(*this, std::move(f), *gives, o);
}

Dataset Dataset::filtered(detail::ElementCode f, const MapOptions& o, bool until_first) const {
  if (probing()) return promised(element_spec());
  const char* name = until_first ? "take_while" : "filter";
  return filtered(function_of(std::move(f), o, element_spec(), name), until_first);
}

Dataset Dataset::filtered(Ref<ElementFunction> f, bool until_first) const {
  auto out = make_ref<Filter>(object_, f, until_first);
  if (auto gives = f->gives()) {
    std::vector<ElementType> leaves = gives->leaves();
    if (!gives->form().is_tensor() || leaves[0].dtype != boolean ||
        !leaves[0].shape.compatible(Shape{}))
      fail(Code::E1101, cat("the function of `", out->name(), "` gives ", gives->text(),
                            ", expected a bool scalar"));
  }
  return Dataset(std::move(out));
}

Dataset Dataset::interleaved(Maker f, const InterleaveOptions& o, Ref<Object> held,
                             const ElementSpec* gives) const {
  if (!f) fail(Code::E1104, "`interleave` was given no function");
  constexpr int64_t kMost = 1 << 16;
  int64_t cycle = o.cycle_length;
  bool chosen = cycle == kAutotune;
  if (chosen) cycle = o.num_parallel_calls > 0 ? o.num_parallel_calls : 10;
  if (cycle < 1 || cycle > kMost)
    fail(Code::E1103, cat("`", chosen ? "num_parallel_calls" : "cycle_length",
                          "` of `interleave` is ", cycle, ", expected 1 to ", kMost));
  need_one(o.block_length, "block_length", "interleave");
  ElementSpec spec =
      gives ? *gives
            : spec_of_made([&](const Nested& element) { return f(element).element_spec(); },
                           element_spec(), cycle == 1 ? "flat_map" : "interleave");
  return Dataset(make_ref<Interleave>(object_, spec, std::move(f), cycle, o, std::move(held)));
}

}  // namespace holdfast::data
