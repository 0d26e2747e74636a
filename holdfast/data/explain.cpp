// `explain`: the tree of stages, with what each took while a fresh iteration ran.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/dataset.h"
#include "holdfast/data/measure.h"

namespace holdfast::data {
namespace {

using Clock = std::chrono::steady_clock;

int64_t nanoseconds(Clock::duration d) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
}

/// What was measured of one stage, by any of the threads it ran on.
struct Counts {
  std::atomic<int64_t> elements{0}, own{0};  // own: nanoseconds, without the stages before it
  std::atomic<int64_t> ready{0}, looks{0};   // elements in its buffer, summed over all looks
  std::atomic<int64_t> threads{0}, most{0}, busy{0};
};

struct Measures final : RefCounted {
  explicit Measures(const DatasetObject& last) { add(last); }
  void add(const DatasetObject& stage) {
    stages.try_emplace(&stage);
    for (const auto& in : stage.inputs()) add(*in);
  }
  std::map<const DatasetObject*, Counts> stages;  // those of the tree, from the beginning on
};

thread_local Ref<Measures> t_measures;
thread_local int64_t t_inside = 0;  // nanoseconds of the stages that the one at work has called

struct Measuring {
  explicit Measuring(Ref<Measures> m) : before(std::exchange(t_measures, std::move(m))) {}
  ~Measuring() { t_measures = std::move(before); }
  Measuring(const Measuring&) = delete;
  Ref<Measures> before;
};

class Timed final : public Cursor {
 public:
  Timed(Ref<Measures> measures, Counts& counts, Owned<Cursor> cursor)
      : measures_(std::move(measures)), counts_(counts), cursor_(std::move(cursor)) {}
  bool next(Nested& out) override {
    return timed([&] { return cursor_->next(out); });
  }
  const Rows* rows() const override { return cursor_->rows(); }
  bool next_row(int64_t& row) override {
    return timed([&] { return cursor_->next_row(row); });
  }
  Load load() const override { return cursor_->load(); }
  void begin_ahead() override { cursor_->begin_ahead(); }
  void save(Saving& to) const override { cursor_->save(to); }
  void restore(Restoring& from) override { cursor_->restore(from); }

 private:
  template <class F>
  bool timed(const F& f) {
    Measuring here(measures_);  // stages that begin only now are measured too
    Load load = cursor_->load();
    if (load.most > 0) {
      counts_.ready += load.ready;
      ++counts_.looks;
      counts_.threads = load.threads;
      counts_.most = load.most;
      counts_.busy = load.busy;
    }
    int64_t outside = std::exchange(t_inside, 0);
    Clock::time_point begin = Clock::now();
    struct End {
      ~End() {
        int64_t all = nanoseconds(Clock::now() - begin);
        counts.own += all - t_inside;
        t_inside = outside + all;
      }
      Counts& counts;
      const Clock::time_point begin;
      const int64_t outside;
    } end{counts_, begin, outside};
    bool there = f();
    counts_.elements += there;
    return there;
  }
  const Ref<Measures> measures_;
  Counts& counts_;
  Owned<Cursor> cursor_;
};

std::string microseconds(int64_t ns, int64_t elements) {
  char text[32];
  double each = elements ? static_cast<double>(ns) / 1000 / static_cast<double>(elements) : 0;
  std::snprintf(text, sizeof text, each < 10 ? "%.2f us" : "%.0f us", each);
  return text;
}

// A stage that works on threads of its own spends its time there: what is measured of it is the
// time that others wait.
int64_t work(const Counts& c) { return c.most > 0 && c.threads > 0 ? c.busy.load() : c.own.load(); }
// The same as it counts for who waits at the end: threads share it.
int64_t share(const Counts& c) { return work(c) / std::max<int64_t>(1, c.threads); }

std::string line_of(const DatasetObject& stage) {
  Loc at = locate(stage.made());
  return at.line > 0 ? cat(" (", short_path(at.file), ":", at.line, ")") : "";
}

void describe(std::string& out, const DatasetObject& stage, const Measures& measures, int depth) {
  const Counts& c = measures.stages.at(&stage);
  out += cat(std::string(static_cast<size_t>(2 * depth), ' '), stage.name(), line_of(stage), ": ",
             stage.spec().text());
  if (work(c) > 0) out += cat(", ", microseconds(work(c), c.elements), " an element");
  if (c.threads > 0)
    out += cat(", ", c.threads.load(), c.threads == 1 ? " thread" : " threads", ", waited for ",
               microseconds(c.own, c.elements));
  if (c.looks > 0) {
    char fill[48];
    std::snprintf(fill, sizeof fill, ", %.1f of %lld ready",
                  static_cast<double>(c.ready) / static_cast<double>(c.looks),
                  static_cast<long long>(c.most));
    out += fill;
  }
  out += '\n';
  for (const auto& in : stage.inputs()) describe(out, *in, measures, depth + 1);
}

std::string advice(const DatasetObject& slowest, const Counts& c, const DatasetObject& last) {
  std::string_view name = slowest.name();
  if (name == "map" && c.threads == 0)
    return "let several threads run it (`num_parallel_calls`), or keep what it gives in a `cache` "
           "behind it";
  if (name == "map")
    return "keep what it gives in a `cache` behind it, or make its function cheaper";
  if (name == "interleave" || name == "flat_map")
    return "let several threads run an `interleave` (`num_parallel_calls`)";
  if (name == "from_generator")
    return "let the generator give less at a time, and do the work in a `map`";
  if (name == "shuffle") return "shuffle before elements grow large, or with a smaller buffer";
  if (std::string_view(last.name()) != "prefetch")
    return "end the pipeline with a `prefetch`, so that it works while the model does";
  return "a `cache` keeps what it gives for the next epoch";
}

}  // namespace

Owned<Cursor> measured(const DatasetObject& stage, Owned<Cursor> cursor) {
  if (!t_measures) return cursor;
  auto found = t_measures->stages.find(&stage);
  if (found == t_measures->stages.end()) return cursor;  // one that a function made
  return Owned<Cursor>(new Timed(t_measures, found->second, std::move(cursor)));
}

std::string Dataset::explain(double seconds) const {
  if (!(seconds > 0))
    fail(Code::E1103, cat("`seconds` of `explain` is ", seconds, ", expected more than 0"));
  auto measures = make_ref<Measures>(*object_);
  int64_t count = 0;
  Clock::time_point begin = Clock::now();
  {
    Measuring here(measures);
    IteratorObject over(object_);
    for (Nested one; Clock::now() - begin < std::chrono::duration<double>(seconds); ++count)
      if (!over.next(one)) break;
  }
  int64_t all = nanoseconds(Clock::now() - begin);
  std::string out;
  describe(out, *object_, *measures, 0);
  out += cat(count, count == 1 ? " element, " : " elements, ", microseconds(all, count), " each");
  const DatasetObject* slowest = nullptr;
  for (const auto& [stage, c] : measures->stages)
    if (!slowest || share(c) > share(measures->stages.at(slowest))) slowest = stage;
  const Counts& most = measures->stages.at(slowest);
  if (count > 0 && share(most) > 0)
    out += cat(". Most of it is `", slowest->name(), "`", line_of(*slowest), ", ",
               microseconds(share(most), count), ": ", advice(*slowest, most, *object_));
  return out + ".\n";
}

}  // namespace holdfast::data
