// `map` on threads of its own: several elements at once, in a bounded buffer.
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/ahead.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/stages.h"
#include "holdfast/data/worker.h"
#include "holdfast/device/device.h"
#include "holdfast/exec/init_scope.h"

namespace holdfast::data {
namespace {

using Clock = std::chrono::steady_clock;

// What takes less than this for an element is not worth handing it to another thread and back.
constexpr std::chrono::microseconds kWorthAThread{20};
constexpr int64_t kMostThreads = 1024;
constexpr int64_t kTried = 8;  // elements by which "what suits" is found out

class ParallelMap final : public DatasetObject {
 public:
  ParallelMap(const Ref<DatasetObject>& input, Ref<ElementFunction> f, const ElementSpec& gives,
              const ParallelOptions& o)
      : DatasetObject(gives, {input}),
        function_(std::move(f)),
        threads_(threads_for(o.num_parallel_calls, "map")),
        tuned_(o.num_parallel_calls == kAutotune),
        deterministic_(o.deterministic) {}
  const char* name() const override { return "map"; }
  void add_facts(Saving& to) const override { function_->add_facts(to); }
  int64_t cardinality() const override { return input().cardinality(); }
  void visit(Visitor& see) const override {
    DatasetObject::visit(see);
    see.child(function_);
  }
  void save_kept(Saving& to) const override { save_draws(*function_, to); }
  void restore_kept(Restoring& from) const override { restore_draws(*function_, from); }
  Owned<Cursor> start() const override { return started<ParallelMap, Taking>(*this); }

 private:
  /// An element on its way.
  struct Slot final : RefCounted {
    enum class State { kReading, kWaiting, kRunning, kDone };
    State state = State::kReading;
    int64_t number = 0;
    Nested element;  // what the function takes, then what it gave
    std::exception_ptr error;
    bool of_function = false;  // the error: the element is still what the function takes
  };

  /// What the threads and who waits for them share.
  struct Shared final : RefCounted {
    explicit Shared(const ParallelMap& s) : stage(&s), input(s.input().begin()) {}

    // A slot to work on: one that waits for a thread, or a fresh one for the input's next element.
    Ref<Slot> claim() {
      for (const auto& slot : slots)
        if (slot->state == Slot::State::kWaiting) {
          slot->state = Slot::State::kRunning;
          return slot;
        }
      if (paused || ended || reading || static_cast<int64_t>(slots.size()) >= stage->most())
        return nullptr;
      auto slot = make_ref<Slot>();
      slot->number = at++;
      slots.push_back(slot);
      reading = true;
      return slot;
    }
    void run() {
      DeviceScope host(cpu());
      Lifted lifted;
      std::unique_lock lock(mutex);
      while (!stop) {
        Ref<Slot> slot = claim();
        if (!slot) {
          if (ended && slots.empty()) break;
          changed.wait(lock);
          continue;
        }
        ++working;
        bool there = true;
        if (slot->state == Slot::State::kReading) {
          lock.unlock();
          there = read(*slot);
          lock.lock();
          reading = false;
          if (!there) {
            ended = true;
            slots.pop_back();  // nobody read behind it
          } else if (!slot->error) {
            slot->state = Slot::State::kRunning;
          }
          changed.notify_all();
        }
        if (there) {
          lock.unlock();
          if (!slot->error) apply(*slot);
          lock.lock();
          slot->state = Slot::State::kDone;
        }
        --working;
        changed.notify_all();
      }
    }
    bool read(Slot& slot) {
      try {
        return input->next(slot.element);
      } catch (...) {
        slot.error = std::current_exception();
        return true;
      }
    }
    void apply(Slot& slot) {
      Clock::time_point begin = Clock::now();
      try {
        slot.element =
            at_stage(*stage, slot.number, [&] { return (*stage->function_)(slot.element); });
      } catch (...) {
        slot.error = std::current_exception();
        slot.of_function = true;
      }
      busy += std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
    }
    void wake() {
      std::lock_guard lock(mutex);
      stop = true;
      changed.notify_all();
    }
    void hold(bool out) { paused = out; }
    bool idle() const { return working == 0; }
    // The slot whose turn it is, if it is done.
    Ref<Slot> take() {
      for (auto it = slots.begin(); it != slots.end(); ++it) {
        if ((*it)->state == Slot::State::kDone) {
          Ref<Slot> out = *it;
          slots.erase(it);
          return out;
        }
        if (stage->deterministic_) return nullptr;
      }
      return nullptr;
    }

    const StageRef<ParallelMap> stage;
    Owned<Cursor> input;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Ref<Slot>> slots;  // in the order of the input
    int64_t at = 0;
    std::atomic<int64_t> busy{0};
    int working = 0;       // threads that have a slot
    bool reading = false;  // one of them is in the input
    bool paused = false, ended = false, stop = false;
  };
  int64_t most() const { return 2 * threads_; }

  struct Taking final : Cursor {
    explicit Taking(const ParallelMap& s) : stage(&s), shared(make_ref<Shared>(s)) {}
    ~Taking() override {
      for (auto& worker : workers) worker->tell();  // all of them, before any is waited for
    }
    bool next(Nested& out) override {
      if (workers.empty() && stage->tuned_ && !worth_threads()) return at_once(out);
      begin_ahead();
      if (workers[0]->elsewhere()) refuse_forked("map");
      Ref<Slot> slot;
      {
        std::unique_lock lock(shared->mutex);
        wait_patiently(lock, shared->changed, [&] {
          return (slot = shared->take()) || (shared->ended && shared->slots.empty()) ||
                 shared->stop;
        });
        if (slot) shared->changed.notify_all();
        if (!slot && !shared->ended) refuse_at_the_end();
      }
      if (!slot) return false;
      if (slot->error) std::rethrow_exception(slot->error);
      out = std::move(slot->element);
      return true;
    }
    // A position that was restored may have elements on their way: those are the threads' work.
    bool worth_threads() const {
      return !shared->slots.empty() || (tried >= kTried && spent / tried > kWorthAThread);
    }
    bool at_once(Nested& out) {
      Nested element;
      if (!shared->input->next(element)) return false;
      int64_t number = shared->at++;
      auto begin = tried < kTried ? Clock::now() : Clock::time_point();
      out = at_stage(*stage, number, [&] { return (*stage->function_)(element); });
      if (tried < kTried) {
        ++tried;
        spent += Clock::now() - begin;
      }
      return true;
    }
    void begin_ahead() override {
      while (static_cast<int64_t>(workers.size()) < stage->threads_)
        workers.push_back(
            make_owned<Worker>([s = shared] { s->run(); }, [s = shared] { s->wake(); }));
    }
    Load load() const override {
      std::lock_guard lock(shared->mutex);
      int64_t ready = 0;
      for (const auto& slot : shared->slots) ready += slot->state == Slot::State::kDone;
      return {.threads = static_cast<int64_t>(workers.size()),
              .ready = ready,
              .most = workers.empty() ? 0 : stage->most(),
              .busy = shared->busy};
    }
    void save(Saving& to) const override {
      if (!workers.empty() && workers[0]->elsewhere()) refuse_forked("map");
      Pause pause(*shared);
      to.number(shared->at);
      to.number(shared->ended);
      to.number(static_cast<int64_t>(shared->slots.size()));
      for (const auto& slot : shared->slots) {
        to.number(slot->number);
        to.number(slot->state == Slot::State::kDone && !slot->of_function);
        to.made(slot->element, slot->of_function ? nullptr : slot->error);
      }
      save_draws(*stage->function_, to);
      shared->input->save(to);
    }
    void restore(Restoring& from) override {
      shared->at = from.number();
      shared->ended = from.number() != 0;
      int64_t n = from.count();
      for (int64_t i = 0; i < n; ++i) {
        auto slot = make_ref<Slot>();
        slot->number = from.number();
        slot->state = from.number() ? Slot::State::kDone : Slot::State::kWaiting;
        bool done = slot->state == Slot::State::kDone;
        MadeAhead one = restored_made(from, done ? stage->spec() : stage->input().spec());
        slot->element = std::move(one.element);
        slot->error = std::move(one.error);
        shared->slots.push_back(std::move(slot));
      }
      restore_draws(*stage->function_, from);
      shared->input->restore(from);
    }
    const StageRef<ParallelMap> stage;
    const Ref<Shared> shared;
    std::vector<Owned<Worker>> workers;
    int64_t tried = 0;
    Clock::duration spent{};
  };

  const Ref<ElementFunction> function_;
  const int64_t threads_;
  const bool tuned_, deterministic_;
};

}  // namespace

int64_t threads_for(int64_t num_parallel_calls, const char* stage) {
  if (num_parallel_calls < kAutotune || num_parallel_calls > kMostThreads)
    fail(Code::E1103, cat("`num_parallel_calls` of `", stage, "` is ", num_parallel_calls,
                          ", expected 1 to ", kMostThreads, ", or -1 for what suits"));
  if (num_parallel_calls != kAutotune) return num_parallel_calls;
  return std::max<int64_t>(2, std::thread::hardware_concurrency());
}

Dataset parallel_map(const Dataset& input, Ref<ElementFunction> f, const ElementSpec& gives,
                     const ParallelOptions& o) {
  return Dataset(make_ref<ParallelMap>(input.object(), std::move(f), gives, o));
}

}  // namespace holdfast::data
