// Where elements come from: tensors, their rows, numbers, generators.
#include <limits>
#include <numeric>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/arguments.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/functions.h"
#include "holdfast/data/inner.h"
#include "holdfast/data/stages.h"
#include "holdfast/device/device.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/random.h"

namespace holdfast::data {
namespace {

bool symbolic(const Nested& n) {
  for (const Tensor& t : n.leaves())
    if (t.is_symbolic()) return true;
  return false;
}

Nested on_host(const Nested& given) {
  return given.map(
      [](const Tensor& t) { return t.is_symbolic() || dataset_in(t) ? t : copy_to(t, cpu()); });
}

class OneElement final : public DatasetObject, public MayBeOpen {
 public:
  explicit OneElement(const Nested& element)
      : DatasetObject(ElementSpec::of(element), {}), element_(element) {}
  const char* name() const override { return "from_tensors"; }
  void add_facts(Saving& to) const override {
    for (const Tensor& t : element_.leaves()) add_tensor(t, to);
  }
  int64_t cardinality() const override { return 1; }
  void add_open(std::vector<Tensor>& to) const override { to = element_.leaves(); }
  Owned<Cursor> start() const override { return started<OneElement, Once>(*this); }

 private:
  struct Once final : Cursor {
    explicit Once(const OneElement& s) : stage(&s), element(bound(s.element_, s.name())) {}
    bool next(Nested& out) override {
      if (std::exchange(done, true)) return false;
      out = element;
      return true;
    }
    void save(Saving& to) const override {
      to.number(done);
      save_kept_of(held_by(stage.get()), to);
    }
    void restore(Restoring& from) override {
      done = from.number() != 0;
      restore_kept_of(held_by(stage.get()), from);
    }
    const StageRef<OneElement> stage;
    const Nested element;
    bool done = false;
  };
  const Nested element_;
};

int64_t rows_in(const Nested& tensors, const char* of);

/// Rows one after the other.
struct InOrder final : Cursor {
  explicit InOrder(Ref<Rows> r) : all(std::move(r)), size(all->size()) {}
  bool next(Nested& out) override {
    if (at >= size) return false;
    out = all->row(at++);
    return true;
  }
  const Rows* rows() const override { return all.get(); }
  bool next_row(int64_t& row) override {
    if (at >= size) return false;
    row = at++;
    return true;
  }
  void save(Saving& to) const override { to.number(at); }
  void restore(Restoring& from) override {
    at = from.number();
    if (at < 0 || at > size) Restoring::refuse("it is behind the end of the data");
  }
  const Ref<Rows> all;
  const int64_t size;
  int64_t at = 0;
};

class Sliced final : public DatasetObject {
 public:
  Sliced(const Nested& tensors, int64_t count)
      : DatasetObject(ElementSpec::of_rows(tensors), {}),
        tensors_(tensors),
        rows_(rows_of(tensors, count)) {}
  const char* name() const override { return "from_tensor_slices"; }
  void add_facts(Saving& to) const override {
    for (const Tensor& t : tensors_.leaves()) add_tensor(t, to);
  }
  int64_t cardinality() const override { return rows_->size(); }
  Owned<Cursor> start() const override { return Owned<Cursor>(new InOrder(rows_)); }

 private:
  const Nested tensors_;
  const Ref<Rows> rows_;
};

/// The same of tensors of a graph, which each iteration has others of.
class OpenSliced final : public DatasetObject, public MayBeOpen {
 public:
  OpenSliced(const Nested& tensors, int64_t count)
      : DatasetObject(ElementSpec::of_rows(tensors), {}),
        tensors_(tensors),
        count_(count < 0 ? kUnknownCardinality : count) {}
  const char* name() const override { return "from_tensor_slices"; }
  int64_t cardinality() const override { return count_; }
  void add_open(std::vector<Tensor>& to) const override { to = tensors_.leaves(); }
  Owned<Cursor> start() const override {
    Nested values = on_host(bound(tensors_, name()));
    return Owned<Cursor>(new InOrder(rows_of(values, rows_in(values, name()))));
  }

 private:
  const Nested tensors_;
  const int64_t count_;
};

class Range final : public DatasetObject {
 public:
  Range(int64_t start, int64_t step, int64_t count, DType dtype, bool endless = false)
      : DatasetObject(ElementSpec(dtype), {}),
        rows_(rows_of_range(start, step, count, dtype)),
        endless_(endless) {}
  const char* name() const override { return endless_ ? "counter" : "range"; }
  void add_facts(Saving& to) const override {
    for (int64_t i = 0; i < std::min<int64_t>(2, rows_->size()); ++i)
      add_tensor(rows_->row(i).tensor(), to);
  }
  int64_t cardinality() const override { return endless_ ? kInfinite : rows_->size(); }
  Owned<Cursor> start() const override { return Owned<Cursor>(new InOrder(rows_)); }

 private:
  const Ref<Rows> rows_;
  const bool endless_;
};

/// A dataset of which only the spec is known.
class Promised final : public DatasetObject {
 public:
  explicit Promised(const ElementSpec& spec) : DatasetObject(spec, {}) {}
  const char* name() const override { return "dataset"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  Owned<Cursor> start() const override { refuse_symbols(name()); }
};

class Generated final : public DatasetObject {
 public:
  Generated(const ElementSpec& spec, Ref<GeneratorSource> source)
      : DatasetObject(spec, {}), source_(std::move(source)) {}
  const char* name() const override { return "from_generator"; }
  void add_facts(Saving& to) const override {
    if (auto* code = dynamic_cast<const HoldsDatasets*>(source_.get())) code->add_code(to);
  }
  int64_t cardinality() const override { return kUnknownCardinality; }
  void visit(Visitor& see) const override { see.child(source_); }
  Owned<Cursor> start() const override { return started<Generated, Turn>(*this); }

 private:
  // A position is how many elements there were: a generator that gives the same ones again is back
  // there after as many.
  struct Turn final : Cursor {
    explicit Turn(const Generated& s) : stage(&s), iteration(Working::current()) {}
    ~Turn() override { end(); }
    void begin() {
      running = stage->source_->begin();
      if (iteration) iteration->add(running.get());
    }
    void end() {
      if (iteration && running) iteration->remove(running.get());
      running = nullptr;
    }
    bool next(Nested& out) override {
      if (ended) return false;
      return at_stage(*stage, at, [&] {
        if (!running) begin();
        if (!running->next(out)) {
          ended = true;
          end();
          return false;
        }
        ++at;
        if (auto wrong = stage->spec().mismatch(out))
          fail(Code::E1401, cat("a generator's element: ", *wrong),
               "every element of a dataset has the form, dtypes and shapes of its spec",
               {manual_fix("give what the spec says, or leave sizes open that differ")});
        return true;
      });
    }
    void save(Saving& to) const override {
      to.number(at);
      to.number(ended);
    }
    void restore(Restoring& from) override {
      int64_t there = from.number();
      ended = from.number() != 0;
      if (ended) return;
      Nested skipped;
      while (at < there) {
        check_stop();
        if (!next(skipped)) Restoring::refuse("the generator gives fewer elements than before");
      }
    }
    const StageRef<Generated> stage;
    const Ref<Iteration> iteration;
    Ref<Generator> running;
    int64_t at = 0;
    bool ended = false;
  };
  const Ref<GeneratorSource> source_;
};

/// How many rows tensors have; they all have as many.
int64_t rows_in(const Nested& tensors, const char* of) {
  std::vector<Tensor> all = tensors.leaves();
  if (all.empty()) fail(Code::E1104, cat("`", of, "` needs a tensor, and was given none"));
  int64_t count = kUnknown;
  for (size_t i = 0; i < all.size(); ++i) {
    const Shape& shape = all[i].shape();
    std::string which = all.size() > 1 ? cat("component ", i) : "the tensor";
    if (shape.has_rank() && shape.rank() == 0)
      fail(Code::E1102, cat("`", of, "` takes rows, and ", which, " is a scalar"), "",
           {manual_fix("`from_tensors` makes a dataset of one element")});
    int64_t n = shape.has_rank() ? shape[0] : kUnknown;
    if (n == kUnknown) continue;
    if (count != kUnknown && n != count)
      fail(Code::E1102, cat("`", of, "`: ", which, " has ", n, " rows, those before it ", count),
           "element i holds row i of every tensor, so they have as many rows",
           {manual_fix(
               "give tensors of one length; `zip` of their datasets ends with the shortest")});
    count = n;
  }
  return count;
}

void need_steps(int64_t step, DType dtype, const char* of) {
  if (step == 0) fail(Code::E1103, cat("`", of, "` goes by steps of 0, expected another number"));
  bool number = is_integer(dtype) || is_floating(dtype);
  if (!number) fail(Code::E1101, cat("`", of, "` gives numbers, not ", holdfast::name(dtype)));
}

}  // namespace

Dataset promised(const ElementSpec& spec) { return Dataset(make_ref<Promised>(spec)); }

Dataset Dataset::of_element(const Nested& element) {
  return Dataset(make_ref<OneElement>(on_host(element)));
}

Dataset Dataset::of_slices(const Nested& tensors) {
  int64_t count = rows_in(tensors, "from_tensor_slices");
  if (symbolic(tensors)) return Dataset(make_ref<OpenSliced>(tensors, count));
  return Dataset(make_ref<Sliced>(on_host(tensors), count));
}

Dataset Dataset::of_range(int64_t start, int64_t stop, int64_t step, const RangeOptions& o) {
  need_steps(step, o.dtype, "range");
  auto a = static_cast<uint64_t>(start), b = static_cast<uint64_t>(stop);
  uint64_t count = 0, by = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  if (step > 0 && start < stop) count = (b - a - 1) / by + 1;
  if (step < 0 && start > stop) count = (a - b - 1) / by + 1;
  if (count > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    fail(Code::E1103, cat("`range` from ", start, " to ", stop, " has more numbers than int64"));
  return Dataset(make_ref<Range>(start, step, static_cast<int64_t>(count), o.dtype));
}

Dataset Dataset::counted(int64_t start, int64_t step, const RangeOptions& o) {
  need_steps(step, o.dtype, "counter");
  // As many as int64 counts: nobody comes to their end.
  int64_t count = std::numeric_limits<int64_t>::max();
  return Dataset(make_ref<Range>(start, step, count, o.dtype, true));
}

Dataset Dataset::generated(const ElementSpec& spec, Ref<GeneratorSource> source) {
  if (!source) fail(Code::E1104, "`from_generator` was given no function");
  return Dataset(make_ref<Generated>(spec, std::move(source)));
}

// -- batches of arrays

namespace {

Tensor numbers_to(int64_t n) {
  Tensor out = empty(int64, Shape{n}, cpu());
  std::iota(out.mutable_raw<int64_t>(), out.mutable_raw<int64_t>() + n, int64_t{0});
  return out;
}

class Arrays final : public DatasetObject {
 public:
  Arrays(const Nested& tensors, int64_t count, const ArraysOptions& o)
      : DatasetObject(
            ElementSpec::of_rows(tensors).batched(o.drop_remainder ? o.batch_size
                                                  : count <= o.batch_size && count > 0 ? count
                                                                                       : kUnknown),
            {}),
        rows_(rows_of(tensors, count)),
        options_(o) {}
  const char* name() const override { return "arrays"; }
  int64_t cardinality() const override {
    int64_t n = rows_->size(), size = options_.batch_size;
    return n / size + (n % size != 0 && !options_.drop_remainder);
  }
  Owned<Cursor> start() const override { return started<Arrays, Batches>(*this); }

 private:
  // The order of a fresh iteration; undefined: as they lie.
  Tensor order() const {
    int64_t n = rows_->size();
    if (!options_.order && !options_.shuffle) return {};
    Tensor numbers =
        options_.order ? options_.order() : random::shuffle(numbers_to(n), {.seed = options_.seed});
    numbers = copy_to(numbers, cpu());
    if (numbers.dtype() != int64 || numbers.rank() != 1)
      fail(Code::E1101, cat("the order of rows is ", type_text(numbers), ", expected int64[?]"));
    for (int64_t row : numbers.span<int64_t>())
      if (row < 0 || row >= n)
        fail(Code::E1103, cat("the order of rows has the number ", row, ", and there are ", n));
    return numbers;
  }

  struct Batches final : Cursor {
    explicit Batches(const Arrays& s) : stage(&s) {}
    bool next(Nested& out) override {
      if (!begun) begin(stage->order());
      auto size = std::min(stage->options_.batch_size, total - at);
      if (size <= 0 || (size < stage->options_.batch_size && stage->options_.drop_remainder))
        return false;
      numbers.resize(static_cast<size_t>(size));
      for (int64_t i = 0; i < size; ++i)
        numbers[static_cast<size_t>(i)] = order.defined() ? order.raw<int64_t>()[at + i] : at + i;
      out = stage->rows_->gather(numbers);
      at += size;
      return true;
    }
    void begin(Tensor by) {
      begun = true;
      order = std::move(by);
      total = order.defined() ? order.size() : stage->rows_->size();
    }
    void save(Saving& to) const override {
      to.number(begun);
      to.number(at);
      to.number(order.defined());
      if (order.defined()) to.tensor(order);
    }
    void restore(Restoring& from) override {
      bool was_begun = from.number() != 0;
      int64_t there = from.number();
      Tensor by = from.number() ? from.tensor() : Tensor();
      if (!was_begun) return;
      begin(std::move(by));
      int64_t n = stage->rows_->size();
      if (there < 0 || there > total) Restoring::refuse("it is behind the end of the data");
      if (order.defined()) {
        if (order.dtype() != int64 || order.rank() != 1) Restoring::refuse("its order is none");
        for (int64_t row : order.span<int64_t>())
          if (row < 0 || row >= n) Restoring::refuse("its order leads out of the data");
      }
      at = there;
    }
    const StageRef<Arrays> stage;
    bool begun = false;
    Tensor order;
    int64_t at = 0, total = 0;
    std::vector<int64_t> numbers;
  };

  const Ref<Rows> rows_;
  const ArraysOptions options_;
};

}  // namespace

Dataset detail::of_arrays(const Nested& tensors, const ArraysOptions& o) {
  need_one(o.batch_size, "batch_size", "arrays");
  int64_t count = rows_in(tensors, "arrays");
  return Dataset(make_ref<Arrays>(on_host(tensors), count, o));
}

}  // namespace holdfast::data
