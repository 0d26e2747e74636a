#include "holdfast/data/node.h"

#include <algorithm>
#include <atomic>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/interrupt.h"
#include "holdfast/base/text.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/measure.h"
#include "holdfast/data/worker.h"

namespace holdfast::data {

const ObjectClass DatasetObject::kClass{"Dataset"};
const ObjectClass ElementFunction::kClass{"ElementFunction"};
const ObjectClass GeneratorSource::kClass{"GeneratorSource"};

namespace {

// Each stage calls the one before it: more of them would need more stack than a thread has.
constexpr int kDeepest = 4000;

std::atomic<AddNote> g_note{nullptr};
std::atomic<StopJudge> g_stops{nullptr};

}  // namespace

bool Cursor::next_row(int64_t&) { bug("a stage without rows was asked for one"); }

DatasetObject::DatasetObject(ElementSpec spec, std::vector<Ref<DatasetObject>> inputs)
    : spec_(std::move(spec)), inputs_(std::move(inputs)), made_(here()) {
  for (const Ref<DatasetObject>& in : inputs_) depth_ = std::max(depth_, in->depth_ + 1);
  if (depth_ > kDeepest)
    fail(Code::E1105, cat("a dataset of more than ", kDeepest, " stages one after the other"),
         "each stage asks the one before it, and a thread's stack ends",
         {manual_fix("`repeat`, `flat_map` or `interleave` say in one stage what a loop that adds "
                     "stages says in many")});
}

void DatasetObject::draw_as_begun() const {
  for (const Ref<DatasetObject>& in : inputs_) in->draw_as_begun();
}

Owned<Cursor> DatasetObject::begin() const { return measured(*this, start()); }

namespace {

/// What an input works on for itself.
class InBranch final : public Cursor {
 public:
  InBranch(const DatasetObject& input, Ref<Iteration> branch) : branch_(std::move(branch)) {
    Working on(branch_);
    input_ = input.begin();
  }
  bool next(Nested& out) override {
    Working on(branch_);
    return input_->next(out);
  }
  const Rows* rows() const override { return input_->rows(); }
  bool next_row(int64_t& row) override {
    Working on(branch_);
    return input_->next_row(row);
  }
  Load load() const override { return input_->load(); }
  void begin_ahead() override {
    Working on(branch_);
    input_->begin_ahead();
  }
  void save(Saving& to) const override {
    Working on(branch_);
    input_->save(to);
  }
  void restore(Restoring& from) override {
    Working on(branch_);
    input_->restore(from);
  }

 private:
  const Ref<Iteration> branch_;
  Owned<Cursor> input_;
};

}  // namespace

Owned<Cursor> DatasetObject::begin_input(size_t i) const {
  const Ref<Iteration>& now = Working::current();
  Ref<Iteration> branch = now ? now->branch(*this, i) : nullptr;
  if (!branch) return inputs_[i]->begin();
  return Owned<Cursor>(new InBranch(*inputs_[i], std::move(branch)));
}

std::string DatasetObject::chain() const {
  std::string out = name();
  if (inputs_.empty()) return out;
  out += '(';
  for (size_t i = 0; i < inputs_.size(); ++i) out += cat(i ? ", " : "", inputs_[i]->chain());
  return out + ')';
}

void check_stop() {
  if (!Worker::is_one()) return check_interrupt();
  if (Worker::stopping()) fail(Code::E1501, "nobody waits for this element any more");
}

void set_exception_note(AddNote add) { g_note = add; }

void set_stop_judge(StopJudge stops) { g_stops = stops; }

bool stops_the_program() {
  auto stops = g_stops.load();
  return stops && stops(std::current_exception());
}

void rethrow_from(const DatasetObject& stage, int64_t element) {
  Loc line = locate(stage.made());
  std::string which = cat("element ", element, " of this `", stage.name(), "` (the first is 0)");
  try {
    throw;
  } catch (Error& e) {
    if (e.code() != Code::E1501) {
      e.diagnostic().labels.push_back({Role::kFirstUse, line, which, false});
      e.refresh();
    }
    throw;
  } catch (...) {
    if (auto add = g_note.load())
      add(std::current_exception(),
          line.line > 0 ? cat(short_path(line.file), ":", line.line, ": ", which) : which);
    throw;
  }
}

}  // namespace holdfast::data
