// Stages that choose elements, or change their order: numbers of rows pass through them.
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/arguments.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/dataset.h"
#include "holdfast/data/draws.h"
#include "holdfast/data/stages.h"

namespace holdfast::data {
namespace {

/// A cursor over another one's elements: a stage says in `step` how it goes on, whichever form
/// elements have. `C::step(get)` calls `get()` for the next element of the input.
template <class C>
struct Passing : Cursor {
  explicit Passing(Owned<Cursor> in) : input(std::move(in)) {}
  bool next(Nested& out) override {
    return static_cast<C*>(this)->step([&] { return input->next(out); });
  }
  const Rows* rows() const override { return input->rows(); }
  bool next_row(int64_t& row) override {
    return static_cast<C*>(this)->step([&] { return input->next_row(row); });
  }
  Owned<Cursor> input;
};

class Take final : public DatasetObject {
 public:
  Take(const Ref<DatasetObject>& input, int64_t count)
      : DatasetObject(input->spec(), {input}), count_(count) {}
  const char* name() const override { return "take"; }
  int64_t cardinality() const override {
    int64_t n = input().cardinality();
    return count_ < 0                 ? n
           : n == kUnknownCardinality ? n
           : n == kInfinite           ? count_
                                      : std::min(n, count_);
  }
  void add_facts(Saving& to) const override { to.number(count_); }
  bool changes_nothing() const override { return count_ < 0; }
  Owned<Cursor> start() const override { return started<Take, First>(*this); }
  void draw_as_begun() const override {
    if (count_ != 0) input().draw_as_begun();
  }

 private:
  struct First final : Passing<First> {
    explicit First(const Take& s) : Passing(s.input().begin()), left(s.count_) {}
    template <class Get>
    bool step(Get get) {
      if (left == 0) return false;
      bool there = get();
      if (there && left > 0) --left;
      return there;
    }
    void save(Saving& to) const override {
      to.number(left);
      input->save(to);
    }
    void restore(Restoring& from) override {
      left = from.number();
      input->restore(from);
    }
    int64_t left;
  };
  const int64_t count_;
};

/// What options are given to, for the stages behind.
class WithOptions final : public DatasetObject {
 public:
  explicit WithOptions(const Ref<DatasetObject>& input) : DatasetObject(input->spec(), {input}) {}
  const char* name() const override { return "with_options"; }
  int64_t cardinality() const override { return input().cardinality(); }
  Owned<Cursor> start() const override { return input().begin(); }
};

class Skip final : public DatasetObject {
 public:
  Skip(const Ref<DatasetObject>& input, int64_t count)
      : DatasetObject(input->spec(), {input}), count_(count) {}
  const char* name() const override { return "skip"; }
  int64_t cardinality() const override {
    int64_t n = input().cardinality();
    if (count_ < 0) return n == kUnknownCardinality ? n : 0;
    return n < 0 ? n : std::max<int64_t>(0, n - count_);
  }
  void add_facts(Saving& to) const override { to.number(count_); }
  bool changes_nothing() const override { return count_ == 0; }
  Owned<Cursor> start() const override { return started<Skip, Rest>(*this); }
  void draw_as_begun() const override {
    if (count_ >= 0) input().draw_as_begun();
  }

 private:
  struct Rest final : Passing<Rest> {
    explicit Rest(const Skip& s) : Passing(s.input().begin()), left(s.count_) {}
    template <class Get>
    bool step(Get get) {
      if (left < 0) return false;
      for (; left > 0; --left) {
        check_stop();
        if (!get()) return false;
      }
      return get();
    }
    void save(Saving& to) const override {
      to.number(left);
      input->save(to);
    }
    void restore(Restoring& from) override {
      left = from.number();
      input->restore(from);
    }
    int64_t left;
  };
  const int64_t count_;
};

class Shard final : public DatasetObject {
 public:
  Shard(const Ref<DatasetObject>& input, int64_t shards, int64_t index)
      : DatasetObject(input->spec(), {input}), shards_(shards), index_(index) {}
  const char* name() const override { return "shard"; }
  int64_t cardinality() const override {
    int64_t n = input().cardinality();
    return n < 0 ? n : n / shards_ + (index_ < n % shards_);
  }
  void add_facts(Saving& to) const override {
    to.number(shards_);
    to.number(index_);
  }
  bool changes_nothing() const override { return shards_ == 1; }
  Owned<Cursor> start() const override { return started<Shard, Some>(*this); }

 private:
  struct Some final : Passing<Some> {
    explicit Some(const Shard& s) : Passing(s.input().begin()), shards(s.shards_), skip(s.index_) {}
    template <class Get>
    bool step(Get get) {
      for (; skip > 0; --skip) {
        check_stop();
        if (!get()) return false;
      }
      skip = shards - 1;
      return get();
    }
    void save(Saving& to) const override {
      to.number(skip);
      input->save(to);
    }
    void restore(Restoring& from) override {
      skip = from.number();
      input->restore(from);
    }
    const int64_t shards;
    int64_t skip;  // so many before the next
  };
  const int64_t shards_, index_;
};

class Repeat final : public DatasetObject {
 public:
  Repeat(const Ref<DatasetObject>& input, int64_t count)
      : DatasetObject(input->spec(), {input}), count_(count) {}
  const char* name() const override { return "repeat"; }
  int64_t cardinality() const override {
    int64_t n = input().cardinality();
    if (count_ == 0 || n == 0) return 0;
    if (count_ < 0) return kInfinite;
    if (n < 0) return n;
    int64_t all;
    return __builtin_mul_overflow(n, count_, &all) ? kUnknownCardinality : all;
  }
  void add_facts(Saving& to) const override { to.number(count_); }
  bool changes_nothing() const override { return count_ == 1; }
  Owned<Cursor> start() const override { return started<Repeat, Again>(*this); }
  void draw_as_begun() const override {
    if (count_ > 0 || (count_ < 0 && form() == Form::kShuffles)) input().draw_as_begun();
  }

 private:
  // As TensorFlow's, which draws the seeds of another turn behind the last one. In the pipeline
  // that is iterated, where no function or element holds it, it makes one stage of a `shuffle` and
  // this, which does not, and leaves out what changes nothing.
  enum class Form { kBeginsOnceMore, kShuffles, kLeftOut };

  struct Again final : Passing<Again> {
    explicit Again(const Repeat& s) : Passing(s.input().begin()), stage(&s), form(s.form()) {}
    template <class Get>
    bool step(Get get) {
      while (stage->count_ < 0 || turn < stage->count_) {
        check_stop();
        if (get()) {
          empty = false;
          return true;
        }
        // Without end, an input that gives nothing would be asked for ever. One stage with a
        // `shuffle` sees to that in its first turn alone.
        bool nothing = form == Form::kShuffles ? empty : std::exchange(empty, true);
        if (nothing && stage->count_ < 0) return false;
        ++turn;
        if (stage->count_ < 0 || turn < stage->count_)
          input = stage->input().begin();
        else if (form == Form::kBeginsOnceMore)
          stage->input().draw_as_begun();
      }
      return false;
    }
    void save(Saving& to) const override {
      to.number(turn);
      to.number(empty);
      input->save(to);
    }
    void restore(Restoring& from) override {
      turn = from.number();
      empty = from.number() != 0;
      input->restore(from);
    }
    const StageRef<Repeat> stage;
    const Form form;
    int64_t turn = 0;
    bool empty = true;  // the turn has given nothing yet
  };

  Form form() const {
    const Ref<Iteration>& now = Working::current();
    if (!now || !now->leads_to(*this)) return Form::kBeginsOnceMore;
    if (changes_nothing()) return Form::kLeftOut;
    const DatasetObject* before = &input();
    while (before->changes_nothing()) before = &before->input();
    return before->name() == std::string_view("shuffle") ? Form::kShuffles : Form::kBeginsOnceMore;
  }

  const int64_t count_;
};

class Shuffle final : public DatasetObject, public MayBeOpen {
 public:
  Shuffle(const Ref<DatasetObject>& input, int64_t size, const ShuffleOptions& o)
      : DatasetObject(input->spec(), {input}),
        size_(size),
        seeds_(o.seed, o.reshuffle_each_iteration) {}
  const char* name() const override { return "shuffle"; }
  int64_t cardinality() const override { return input().cardinality(); }
  void add_facts(Saving& to) const override { to.number(size_); }
  void add_open(std::vector<Tensor>& to) const override { seeds_.add_open(to); }
  void save_kept(Saving& to) const override { to.number(seeds_.drawn()); }
  void restore_kept(Restoring& from) const override {
    from.later(
        [of = Ref<const Shuffle>(this), drawn = from.number()] { of->seeds_.set_drawn(drawn); });
  }
  Owned<Cursor> start() const override {
    Owned<Cursor> in = input().begin();
    if (in->rows()) return Owned<Cursor>(new Mixed<int64_t>(*this, std::move(in)));
    return Owned<Cursor>(new Mixed<Nested>(*this, std::move(in)));
  }
  // Its input begins with the first element.
  void draw_as_begun() const override { seeds_.next(); }

 private:
  // The buffer is a ring: `begin` and `end` count the elements that left and came.
  template <class T>
  struct Mixed final : Cursor {
    Mixed(const Shuffle& s, Owned<Cursor> in)
        : stage(&s), size(s.held()), input(std::move(in)), seeds(s.seeds_.next()), draw(seeds) {}

    bool next(Nested& out) override {
      T got;
      if (!take(got)) return false;
      if constexpr (std::is_same_v<T, Nested>)
        out = std::move(got);
      else
        out = input->rows()->row(got);
      return true;
    }
    const Rows* rows() const override { return input->rows(); }
    bool next_row(int64_t& row) override {
      if constexpr (std::is_same_v<T, Nested>)
        return Cursor::next_row(row);
      else
        return take(row);
    }

    Load load() const override {
      return {.ready = end - begin, .most = static_cast<int64_t>(buffer.size())};
    }
    bool get(T& out) {
      if constexpr (std::is_same_v<T, Nested>)
        return input->next(out);
      else
        return input->next_row(out);
    }
    bool take(T& out) {
      while (!ended && (size < 0 || end - begin < size)) {
        check_stop();
        T got;
        if (!get(got)) {
          ended = true;
          break;
        }
        if (static_cast<int64_t>(buffer.size()) < (size < 0 ? end + 1 : size))
          buffer.push_back(std::move(got));
        else
          buffer[index(end)] = std::move(got);
        ++end;
      }
      if (begin == end) return false;
      T& chosen = buffer[index(begin + static_cast<int64_t>(draw() % (end - begin)))];
      T& first = buffer[index(begin)];
      out = std::move(chosen);
      if (&chosen != &first) chosen = std::move(first);
      ++begin;
      return true;
    }
    size_t index(int64_t i) const { return static_cast<size_t>(size < 0 ? i : i % size); }

    void save(Saving& to) const override {
      stage->save_kept(to);
      to.number(seeds.first);
      to.number(seeds.second);
      to.number(draw.count);
      to.number(ended);
      to.number(end - begin);
      for (int64_t i = begin; i < end; ++i)
        if constexpr (std::is_same_v<T, Nested>)
          to.element(buffer[index(i)]);
        else
          to.number(buffer[index(i)]);
      input->save(to);
    }
    void restore(Restoring& from) override {
      stage->restore_kept(from);
      seeds.first = from.number();
      seeds.second = from.number();
      draw = Draws(seeds);
      int64_t so_far = from.number();
      if (so_far < 0) Restoring::refuse("it has drawn a negative number of times");
      draw.skip(so_far);
      ended = from.number() != 0;
      int64_t n = from.count();
      if (size >= 0 && n > size) Restoring::refuse("its buffer is larger");
      buffer.clear();
      begin = 0, end = n;
      for (int64_t i = 0; i < n; ++i)
        if constexpr (std::is_same_v<T, Nested>)
          buffer.push_back(restored(from, stage->spec()));
        else
          buffer.push_back(checked_row(from.number()));
      input->restore(from);
    }
    int64_t checked_row(int64_t row) const {
      if (row < 0 || row >= input->rows()->size()) Restoring::refuse("it leads out of the data");
      return row;
    }

    const StageRef<Shuffle> stage;
    const int64_t size;
    Owned<Cursor> input;
    SeedPair seeds;
    Draws draw;
    std::vector<T> buffer;
    int64_t begin = 0, end = 0;
    bool ended = false;
  };

  int64_t held() const {
    const Ref<Iteration>& now = Working::current();
    return now && now->order() == Order::kOfNumbers ? -1 : size_;
  }

  const int64_t size_;  // negative: all of it
  const SeedsOfStage seeds_;
};

class Concatenated final : public DatasetObject {
 public:
  Concatenated(ElementSpec spec, const Ref<DatasetObject>& a, const Ref<DatasetObject>& b)
      : DatasetObject(std::move(spec), {a, b}) {}
  const char* name() const override { return "concatenate"; }
  int64_t cardinality() const override {
    int64_t a = inputs_[0]->cardinality(), b = inputs_[1]->cardinality(), both;
    if (a == kInfinite || b == kInfinite) return kInfinite;
    if (a < 0 || b < 0 || __builtin_add_overflow(a, b, &both)) return kUnknownCardinality;
    return both;
  }
  Owned<Cursor> start() const override { return started<Concatenated, Both>(*this); }
  void draw_as_begun() const override { input().draw_as_begun(); }

 private:
  struct Both final : Cursor {
    explicit Both(const Concatenated& s) : stage(&s), input(s.begin_input(0)) {}
    bool next(Nested& out) override {
      if (input->next(out)) return true;
      if (at == 1) return false;
      at = 1;
      input = stage->begin_input(1);
      return input->next(out);
    }
    void save(Saving& to) const override {
      to.number(at);
      input->save(to);
    }
    void restore(Restoring& from) override {
      at = from.number();
      if (at < 0 || at > 1) Restoring::refuse("it is in a part that there is not");
      if (at == 1) input = stage->begin_input(1);
      input->restore(from);
    }
    const StageRef<Concatenated> stage;
    Owned<Cursor> input;
    int64_t at = 0;
  };
};

}  // namespace

Ref<DatasetObject> with_options(const Ref<DatasetObject>& input) {
  return make_ref<WithOptions>(input);
}

Dataset Dataset::taken(int64_t count) const { return Dataset(make_ref<Take>(object_, count)); }
Dataset Dataset::skipped(int64_t count) const { return Dataset(make_ref<Skip>(object_, count)); }
Dataset Dataset::repeated(int64_t count) const { return Dataset(make_ref<Repeat>(object_, count)); }

Dataset Dataset::sharded(int64_t num_shards, int64_t index) const {
  need_one(num_shards, "num_shards", "shard");
  if (index < 0 || index >= num_shards)
    fail(Code::E1103,
         cat("`index` of `shard` is ", index, ", expected one of 0 to ", num_shards - 1));
  return Dataset(make_ref<Shard>(object_, num_shards, index));
}

Dataset Dataset::shuffled(int64_t buffer_size, const ShuffleOptions& o) const {
  if (buffer_size != kUnknownCardinality)
    need_one(buffer_size, "buffer_size", "shuffle",
             "each element is drawn from a buffer of that many");
  return Dataset(make_ref<Shuffle>(object_, buffer_size < 0 ? -1 : buffer_size, o));
}

Dataset Dataset::concatenated(const Dataset& other) const {
  std::optional<ElementSpec> both = element_spec().joined(other.element_spec());
  if (!both)
    fail(Code::E1101, cat("`concatenate` got elements ", element_spec().text(), " and ",
                          other.element_spec().text(), ", expected the same form and dtypes"));
  return Dataset(make_ref<Concatenated>(std::move(*both), object_, other.object()));
}

}  // namespace holdfast::data
