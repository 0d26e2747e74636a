// Stages of a pipeline, and where an iteration of them stands: what sources and transformations are
// made of. Programs that use datasets need none of it.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/base/object.h"
#include "holdfast/base/owned.h"
#include "holdfast/data/rows.h"
#include "holdfast/data/spec.h"
#include "holdfast/data/state.h"

namespace holdfast::data {

/// How many elements there are, where that is no number.
inline constexpr int64_t kInfinite = -1, kUnknownCardinality = -2;

/// How busy a stage is that works ahead or keeps elements, for who asks how a pipeline runs.
struct Load {
  int64_t threads = 0;
  int64_t ready = 0, most = 0;  // elements in its buffer, and how many it holds
  int64_t busy = 0;             // nanoseconds for which its threads called a function
};

/// Where one iteration of a node stands. One thread at a time uses it.
class HOLDFAST_API Cursor {
 public:
  Cursor() = default;
  Cursor(const Cursor&) = delete;
  virtual ~Cursor() = default;
  /// The next element; false at the end, and from then on. After an error it goes on with the
  /// element behind.
  virtual bool next(Nested& out) = 0;
  /// What numbers of rows lead to, where this cursor gives such; else null.
  virtual const Rows* rows() const { return nullptr; }
  /// The number of the next element, in place of the element itself.
  virtual bool next_row(int64_t& row);
  virtual Load load() const { return {}; }
  /// Begins to work, where it has a thread that otherwise waits until the first element is wanted.
  virtual void begin_ahead() {}
  virtual void save(Saving& to) const = 0;
  /// Takes the position that was saved. This cursor is fresh.
  virtual void restore(Restoring& from) = 0;
};

/// One stage: what a program wrote, with the stages before it.
class HOLDFAST_API DatasetObject : public Object {
 public:
  static const ObjectClass kClass;
  DatasetObject(ElementSpec spec, std::vector<Ref<DatasetObject>> inputs);

  const ObjectClass& object_class() const override { return kClass; }
  void visit(Visitor& see) const override { see.children(inputs_); }
  std::string text() const override { return "a dataset"; }
  /// What the program calls the stage: "shuffle".
  virtual const char* name() const = 0;
  /// How many elements an iteration gives.
  virtual int64_t cardinality() const = 0;
  virtual Owned<Cursor> start() const = 0;
  /// Draws the seeds of an iteration that begins and is asked for nothing.
  virtual void draw_as_begun() const;
  /// How stages begin an iteration of those before them: `start`, measured where somebody asked.
  Owned<Cursor> begin() const;
  /// The same for an input of a stage that has several.
  Owned<Cursor> begin_input(size_t i) const;
  /// What tells it from other stages of its name, but for seeds: its numbers, tensors and graphs.
  virtual void add_facts(Saving&) const {}
  /// Whether it hands on the elements of its one input as they are, all of them in their order.
  virtual bool changes_nothing() const { return false; }
  /// What the stage keeps from one iteration to the next, or from one of its turns in an iteration:
  /// where its seeds and the random ops of its function stand.
  virtual void save_kept(Saving&) const {}
  virtual void restore_kept(Restoring&) const {}

  const ElementSpec& spec() const { return spec_; }
  const std::vector<Ref<DatasetObject>>& inputs() const { return inputs_; }
  const DatasetObject& input() const { return *inputs_[0]; }
  /// The line that made it.
  Where made() const { return made_; }
  /// The stages by name, as saved positions tell pipelines apart: "batch(shuffle(slices))".
  std::string chain() const;

 protected:
  const ElementSpec spec_;
  const std::vector<Ref<DatasetObject>> inputs_;

 private:
  const Where made_;
  int depth_ = 1;
};

/// A stage that hands on its input, where a program gives options.
HOLDFAST_API Ref<DatasetObject> with_options(const Ref<DatasetObject>& input);

/// A function of elements: a program's own, or a traced one.
class HOLDFAST_API ElementFunction : public Object {
 public:
  static const ObjectClass kClass;
  const ObjectClass& object_class() const override { return kClass; }
  /// May be called by several threads at once.
  virtual Nested operator()(const Nested& element) = 0;
  /// What it gives, where that is known.
  virtual std::optional<ElementSpec> gives() const { return std::nullopt; }
  virtual void add_facts(Saving&) const {}
  /// Whose random numbers it draws: its own, or those of the function that it calls.
  virtual const Object& draws_as() const { return *this; }
};

/// What a generator's iteration gives one after the other.
class HOLDFAST_API Generator : public RefCounted {
 public:
  virtual bool next(Nested& out) = 0;
  /// What it holds of the other language.
  virtual void visit(Visitor&) const {}
};
/// Begins such iterations.
class HOLDFAST_API GeneratorSource : public Object {
 public:
  static const ObjectClass kClass;
  const ObjectClass& object_class() const override { return kClass; }
  virtual Ref<Generator> begin() = 0;
};

/// Called in loops that may give nothing for long: throws to stop them, where Ctrl-C was pressed or
/// nobody waits for what they would give any more.
HOLDFAST_API void check_stop();

/// How a language adds a note to an exception of its own. It is handed over: a library of another
/// C++ runtime than ours does not see what we handle.
using AddNote = void (*)(const std::exception_ptr& to, const std::string& note);
HOLDFAST_API void set_exception_note(AddNote add);

/// How a language tells whether an exception of its own is to stop the program (Ctrl-C), and is no
/// mistake of an element. It is handed over likewise.
using StopJudge = bool (*)(const std::exception_ptr& e);
HOLDFAST_API void set_stop_judge(StopJudge stops);
/// Asks that of the exception that is being handled.
bool stops_the_program();

/// The stages that are at work, for errors: adds to what `f` throws which element of which stage it
/// was, and the line that made the stage.
[[noreturn]] void rethrow_from(const DatasetObject& stage, int64_t element);
template <class F>
auto at_stage(const DatasetObject& stage, int64_t element, F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (...) {
    rethrow_from(stage, element);
  }
}

/// What a cursor holds of its stage. The iteration knows of it: a collector of another language
/// that finds a cycle through an iterator has to see each reference.
class HOLDFAST_API StageHold {
 public:
  explicit StageHold(const DatasetObject* stage);
  ~StageHold();
  StageHold(const StageHold&) = delete;

 protected:
  const Ref<const DatasetObject> stage_;

 private:
  const Ref<RefCounted> iteration_;
};
template <class Stage>
class StageRef final : public StageHold {
 public:
  explicit StageRef(const Stage* stage) : StageHold(stage) {}
  const Stage* get() const { return static_cast<const Stage*>(stage_.get()); }
  const Stage* operator->() const { return get(); }
  const Stage& operator*() const { return *get(); }
};

/// The common case of a stage: a class of its own for the cursor, which is made with the stage.
template <class Stage, class C>
Owned<Cursor> started(const Stage& stage) {
  return Owned<Cursor>(new C(stage));
}

}  // namespace holdfast::data
