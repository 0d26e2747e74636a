// Stages that carry something from element to element: a state, what came before, rows left over.
#include <algorithm>
#include <cstdio>
#include <set>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/arguments.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/collect.h"
#include "holdfast/data/functions.h"
#include "holdfast/data/inner.h"
#include "holdfast/data/open_batch.h"
#include "holdfast/data/stages.h"
#include "holdfast/device/device.h"
#include "holdfast/op/refuse.h"

namespace holdfast::data {
namespace {

class Scan final : public DatasetObject, public MayBeOpen {
 public:
  Scan(const Ref<DatasetObject>& input, const ElementSpec& gives, const Nested& initial,
       ElementSpec state, Ref<ElementFunction> f, const char* name)
      : DatasetObject(gives, {input}),
        initial_(initial),
        state_(std::move(state)),
        function_(std::move(f)),
        name_(name) {}
  const char* name() const override { return name_; }
  void add_facts(Saving& to) const override {
    for (const Tensor& t : initial_.leaves()) add_tensor(t, to);
    function_->add_facts(to);
  }
  int64_t cardinality() const override { return input().cardinality(); }
  void visit(Visitor& see) const override {
    DatasetObject::visit(see);
    see.child(function_);
  }
  void add_open(std::vector<Tensor>& to) const override { to = initial_.leaves(); }
  void save_kept(Saving& to) const override { save_draws(*function_, to); }
  void restore_kept(Restoring& from) const override { restore_draws(*function_, from); }
  Owned<Cursor> start() const override { return started<Scan, Running>(*this); }

 private:
  struct Running final : Cursor {
    explicit Running(const Scan& s)
        : stage(&s), input(s.input().begin()), state(bound(s.initial_, s.name())) {}
    bool next(Nested& out) override {
      Nested element;
      if (!input->next(element)) return false;
      int64_t number = at++;
      at_stage(*stage, number, [&] {
        Nested both = (*stage->function_)(Nested::tuple({state, std::move(element)}));
        if (auto wrong = stage->state_.mismatch(both[0]))
          fail(Code::E1401, cat("the next state of `", stage->name(), "`: ", *wrong));
        state = both[0];
        out = both[1];
      });
      return true;
    }
    void save(Saving& to) const override {
      to.number(at);
      to.element(state);
      save_draws(*stage->function_, to);
      input->save(to);
    }
    void restore(Restoring& from) override {
      at = from.number();
      state = from.element();
      if (auto wrong = stage->state_.mismatch(state)) Restoring::refuse("a state: " + *wrong);
      restore_draws(*stage->function_, from);
      input->restore(from);
    }
    const StageRef<Scan> stage;
    Owned<Cursor> input;
    Nested state;
    int64_t at = 0;
  };
  const Nested initial_;
  const ElementSpec state_;
  const Ref<ElementFunction> function_;
  const char* const name_;
};

class Unique final : public DatasetObject {
 public:
  explicit Unique(const Ref<DatasetObject>& input) : DatasetObject(input->spec(), {input}) {}
  const char* name() const override { return "unique"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  Owned<Cursor> start() const override { return started<Unique, New>(*this); }

 private:
  struct New final : Cursor {
    explicit New(const Unique& s) : input(s.input().begin()) {}
    bool next(Nested& out) override {
      while (input->next(out)) {
        check_stop();
        Saving bytes;
        bytes.element(out);
        if (seen.insert(bytes.take()).second) return true;
      }
      return false;
    }
    void save(Saving& to) const override {
      to.number(static_cast<int64_t>(seen.size()));
      for (const std::string& one : seen) to.text(one);
      input->save(to);
    }
    void restore(Restoring& from) override {
      for (int64_t n = from.count(); n > 0; --n) seen.insert(from.text());
      input->restore(from);
    }
    Owned<Cursor> input;
    std::set<std::string> seen;  // the bytes of elements
  };
};

class Rebatch final : public DatasetObject {
 public:
  Rebatch(const Ref<DatasetObject>& input, std::vector<int64_t> sizes, bool drop)
      : DatasetObject(spec_of(input->spec(), sizes, drop), {input}),
        sizes_(std::move(sizes)),
        drop_(drop) {}
  const char* name() const override { return "rebatch"; }
  void add_facts(Saving& to) const override {
    for (int64_t size : sizes_) to.number(size);
    to.number(drop_);
  }
  int64_t cardinality() const override { return kUnknownCardinality; }
  Owned<Cursor> start() const override { return started<Rebatch, Slices>(*this); }

 private:
  static ElementSpec spec_of(const ElementSpec& input, const std::vector<int64_t>& sizes,
                             bool drop) {
    bool same = std::all_of(sizes.begin(), sizes.end(), [&](int64_t n) { return n == sizes[0]; });
    std::vector<ElementType> all = input.leaves();
    // Without a remainder where each batch of the input goes up in whole ones.
    bool even = same && std::all_of(all.begin(), all.end(), [&](const ElementType& t) {
                  int64_t rows = t.shape.has_rank() ? t.shape[0] : kUnknown;
                  return rows != kUnknown && sizes[0] > 0 && rows % sizes[0] == 0;
                });
    return input.unbatched().batched(same && (drop || even) ? sizes[0] : kUnknown);
  }

  struct Slices final : Cursor {
    explicit Slices(const Rebatch& s) : stage(&s), input(s.input().begin()), open(s) {}
    bool next(Nested& out) override {
      if (ended) return false;
      int64_t size = stage->sizes_[turn];
      if (size == 0) {  // nothing is read for it, so that it also stands behind the last row
        turn = (turn + 1) % stage->sizes_.size();
        out = stage->no_rows();
        return true;
      }
      std::vector<Nested> taken;
      for (Nested row; static_cast<int64_t>(taken.size()) < size && open.next(*input, row);)
        taken.push_back(std::move(row));
      auto n = static_cast<int64_t>(taken.size());
      ended = n < size;
      if (n == 0 || (ended && stage->drop_)) return false;
      turn = (turn + 1) % stage->sizes_.size();
      out = stacked_by(*stage, at, taken);
      at += n;
      return true;
    }
    void save(Saving& to) const override {
      to.number(static_cast<int64_t>(turn));
      to.number(ended);
      to.number(at);
      open.save(to);
      input->save(to);
    }
    void restore(Restoring& from) override {
      turn = static_cast<size_t>(from.number());
      if (turn >= stage->sizes_.size()) Restoring::refuse("it is at a size that there is not");
      ended = from.number() != 0;
      at = from.number();
      open.restore(from);
      input->restore(from);
    }
    const StageRef<Rebatch> stage;
    Owned<Cursor> input;
    OpenBatch open;
    size_t turn = 0;
    bool ended = false;
    int64_t at = 0;  // the number of the next row
  };
  /// A batch of none; sizes that are not known are 0 there.
  Nested no_rows() const {
    return spec().form().map([](const Tensor& t) {
      std::vector<int64_t> dims(t.shape().begin(), t.shape().end());
      for (int64_t& n : dims) n = std::max<int64_t>(n, 0);
      dims[0] = 0;
      return empty(t.dtype(), Shape(dims), cpu());
    });
  }
  const std::vector<int64_t> sizes_;
  const bool drop_;
};

class IgnoreErrors final : public DatasetObject {
 public:
  IgnoreErrors(const Ref<DatasetObject>& input, bool log)
      : DatasetObject(input->spec(), {input}), log_(log) {}
  const char* name() const override { return "ignore_errors"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  Owned<Cursor> start() const override { return started<IgnoreErrors, Good>(*this); }

 private:
  struct Good final : Cursor {
    explicit Good(const IgnoreErrors& s) : stage(&s), input(s.input().begin()) {}
    bool next(Nested& out) override {
      while (true) {
        check_stop();
        try {
          return input->next(out);
        } catch (const Error& e) {
          // Neither a stop nor a mistake of ours is a bad element.
          if (e.code() == Code::E1501 || e.code() == Code::E1599) throw;
          tell(e);
        } catch (const std::exception& e) {
          if (stops_the_program()) throw;
          tell(e);
        }
      }
    }
    void tell(const std::exception& e) const {
      if (stage->log_) std::fprintf(stderr, "ignore_errors leaves out an element: %s\n", e.what());
    }
    void save(Saving& to) const override { input->save(to); }
    void restore(Restoring& from) override { input->restore(from); }
    const StageRef<IgnoreErrors> stage;
    Owned<Cursor> input;
  };
  const bool log_;
};

class AssertCardinality final : public DatasetObject {
 public:
  AssertCardinality(const Ref<DatasetObject>& input, int64_t expected)
      : DatasetObject(input->spec(), {input}), expected_(expected) {}
  const char* name() const override { return "assert_cardinality"; }
  int64_t cardinality() const override { return expected_; }
  Owned<Cursor> start() const override { return started<AssertCardinality, Counted>(*this); }

 private:
  struct Counted final : Cursor {
    explicit Counted(const AssertCardinality& s) : stage(&s), input(s.input().begin()) {}
    bool next(Nested& out) override {
      bool there = input->next(out);
      count += there;
      int64_t want = stage->expected_;
      if (want == kUnknownCardinality) return there;
      if (there && want != kInfinite && count > want)
        refuse(cat("more than ", want), cat(want, " elements"));
      if (!there && (want == kInfinite || count < want))
        refuse(cat(count), want == kInfinite ? "elements without end" : cat(want, " elements"));
      return there;
    }
    [[noreturn]] void refuse(const std::string& found, const std::string& wanted) const {
      fail(Code::E1103, cat("the dataset has ", found, " elements, expected ", wanted),
           "`assert_cardinality` promised it");
    }
    void save(Saving& to) const override {
      to.number(count);
      input->save(to);
    }
    void restore(Restoring& from) override {
      count = from.number();
      input->restore(from);
    }
    const StageRef<AssertCardinality> stage;
    Owned<Cursor> input;
    int64_t count = 0;
  };
  const int64_t expected_;
};

}  // namespace

Dataset Dataset::scanned(const Nested& initial_state, detail::ElementCode f,
                         const char* name) const {
  if (!f) fail(Code::E1104, cat("`", name, "` was given no function"));
  ElementSpec takes = ElementSpec::tuple({ElementSpec::of(initial_state), element_spec()});
  if (probing()) {
    ElementSpec both =
        spec_of_made([&](const Nested& in) { return ElementSpec::of(f(in)); }, takes, name);
    return promised(ElementSpec::of(both.form()[1]));
  }
  return scanned(initial_state, traced_function(std::move(f), takes, name), name);
}

Nested Dataset::reduced(const Nested& initial_state, detail::ElementCode f) const {
  if (!f) fail(Code::E1104, "`reduce` was given no function");
  auto twice = [code = std::move(f)](const Nested& both) {
    Nested state = code(both);
    return Nested::tuple({state, state});
  };
  IteratorObject states(scanned(initial_state, twice, "reduce").object());
  Nested last = initial_state;
  for (Nested one; states.next(one);) {
    check_stop();
    last = std::move(one);
  }
  return last;
}

Dataset Dataset::scanned(const Nested& initial_state, Ref<ElementFunction> f,
                         const char* name) const {
  std::optional<ElementSpec> gives = f->gives();
  if (!gives) bug("a function of elements that does not say what it gives");
  const Nested& form = gives->form();
  if (!form.is_sequence() || form.size() != 2)
    fail(Code::E1104, cat("the function of `", name, "` gives ", gives->text(),
                          ", expected a pair: the next state, and an element"));
  ElementSpec next = ElementSpec::of(form[0]);
  std::optional<ElementSpec> state = next.joined(ElementSpec::of(initial_state));
  if (!state)
    fail(Code::E1101,
         cat("the state of `", name, "` begins as ", ElementSpec::of(initial_state).text(),
             ", and its function gives ", next.text()));
  return Dataset(make_ref<Scan>(object_, ElementSpec::of(form[1]), initial_state, std::move(*state),
                                std::move(f), name));
}

Dataset Dataset::made_unique() const {
  refuse_datasets(element_spec(), "unique");
  return Dataset(make_ref<Unique>(object_));
}

Dataset Dataset::rebatched(const std::vector<int64_t>& sizes, const BatchOptions& o) const {
  if (sizes.empty()) fail(Code::E1103, "`rebatch` was given no batch size");
  for (int64_t size : sizes)
    if (size != 0) need_one(size, "batch_size", "rebatch");
  need_one(*std::max_element(sizes.begin(), sizes.end()), "batch_size", "rebatch");
  std::vector<ElementType> types = element_spec().leaves();
  if (types.empty()) fail(Code::E1104, "`rebatch` takes elements with tensors, and there are none");
  bool empty_ones = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  for (size_t i = 0; i < types.size(); ++i)
    if (!types[i].shape.has_rank() && empty_ones)
      fail(Code::E1102,
           cat("`rebatch` to a size of 0 needs to know how many axes component ", i,
               " of an element has, and it is ", type_text(types[i].dtype, types[i].shape)));
    else if (types[i].shape.has_rank() && types[i].shape.rank() == 0)
      fail(Code::E1102, cat("`rebatch` takes batches, and component ", i, " of an element is ",
                            type_text(types[i].dtype, types[i].shape)));
  return Dataset(make_ref<Rebatch>(object_, sizes, o.drop_remainder));
}

Dataset Dataset::without_errors(bool log_warning) const {
  return Dataset(make_ref<IgnoreErrors>(object_, log_warning));
}

Dataset Dataset::with_cardinality(int64_t expected) const {
  if (expected < kUnknownCardinality)
    fail(Code::E1103, cat("`expected_cardinality` is ", expected,
                          ", expected 0 or more, -1 (without end) or -2 (unknown)"));
  return Dataset(make_ref<AssertCardinality>(object_, expected));
}

}  // namespace holdfast::data
