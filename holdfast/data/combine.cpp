// Several datasets side by side.
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/dataset.h"

namespace holdfast::data {
namespace {

class Zip final : public DatasetObject {
 public:
  /// Keys make dicts; none make tuples.
  Zip(const std::vector<Ref<DatasetObject>>& inputs, std::vector<std::string> keys)
      : DatasetObject(spec_of(inputs, keys), inputs), keys_(std::move(keys)) {}
  const char* name() const override { return "zip"; }
  int64_t cardinality() const override {
    int64_t least = kInfinite;
    for (const auto& in : inputs_) {
      int64_t n = in->cardinality();
      if (n == kUnknownCardinality) return n;
      if (n != kInfinite) least = least == kInfinite ? n : std::min(least, n);
    }
    return least;
  }
  Owned<Cursor> start() const override { return started<Zip, Together>(*this); }

 private:
  static ElementSpec spec_of(const std::vector<Ref<DatasetObject>>& inputs,
                             const std::vector<std::string>& keys) {
    std::vector<ElementSpec> items;
    for (const auto& in : inputs) items.push_back(in->spec());
    if (keys.empty()) return ElementSpec::tuple(items);
    std::vector<std::pair<std::string, ElementSpec>> entries;
    for (size_t i = 0; i < keys.size(); ++i) entries.emplace_back(keys[i], items[i]);
    return ElementSpec::dict(entries);
  }

  struct Together final : Cursor {
    explicit Together(const Zip& s) : stage(&s) {
      for (size_t i = 0; i < s.inputs().size(); ++i) inputs.push_back(s.begin_input(i));
    }
    bool next(Nested& out) override {
      if (ended) return false;
      std::vector<Nested> items(inputs.size());
      std::exception_ptr error;
      for (size_t i = 0; i < inputs.size(); ++i) {  // also behind one that ends, as in TensorFlow
        try {
          if (!inputs[i]->next(items[i])) ended = true;
        } catch (...) {
          if (stops_the_program()) throw;
          if (!error) error = std::current_exception();  // the others go on with it, side by side
        }
      }
      if (error) std::rethrow_exception(error);
      if (ended) return false;
      out = together(std::move(items));
      return true;
    }
    Nested together(std::vector<Nested> items) const {
      const auto& keys = stage->keys_;
      if (keys.empty()) return Nested::tuple(std::move(items));
      std::vector<Nested::Entry> entries;
      for (size_t i = 0; i < keys.size(); ++i) entries.emplace_back(keys[i], std::move(items[i]));
      return Nested::dict(std::move(entries));
    }
    void save(Saving& to) const override {
      to.number(ended);
      for (const auto& in : inputs) in->save(to);
    }
    void restore(Restoring& from) override {
      ended = from.number() != 0;
      for (const auto& in : inputs) in->restore(from);
    }
    const StageRef<Zip> stage;
    std::vector<Owned<Cursor>> inputs;
    bool ended = false;
  };

  const std::vector<std::string> keys_;
};

class Enumerate final : public DatasetObject {
 public:
  Enumerate(const Ref<DatasetObject>& input, int64_t first)
      : DatasetObject(ElementSpec::tuple({ElementSpec(int64), input->spec()}), {input}),
        first_(first) {}
  const char* name() const override { return "enumerate"; }
  int64_t cardinality() const override { return input().cardinality(); }
  void add_facts(Saving& to) const override { to.number(first_); }
  Owned<Cursor> start() const override { return started<Enumerate, Counting>(*this); }

 private:
  struct Counting final : Cursor {
    explicit Counting(const Enumerate& s) : input(s.input().begin()), first(s.first_) {}
    bool next(Nested& out) override {
      Nested element;
      if (!input->next(element)) return false;
      int64_t index;
      if (__builtin_add_overflow(first, given++, &index))
        fail(Code::E1103, cat("`enumerate` began with ", first, " and has given ", given - 1,
                              " elements: the next index is no int64"));
      out = Nested::tuple({Tensor::scalar(index), std::move(element)});
      return true;
    }
    void save(Saving& to) const override {
      to.number(given);
      input->save(to);
    }
    void restore(Restoring& from) override {
      given = from.number();
      input->restore(from);
    }
    Owned<Cursor> input;
    const int64_t first;
    int64_t given = 0;
  };
  const int64_t first_;
};

}  // namespace

Dataset Dataset::zipped(const std::vector<Dataset>& datasets) {
  if (datasets.empty()) fail(Code::E1104, "`zip` needs a dataset, and was given none");
  std::vector<Ref<DatasetObject>> inputs;
  for (const Dataset& d : datasets) inputs.push_back(d.object());
  return Dataset(make_ref<Zip>(inputs, std::vector<std::string>{}));
}

Dataset Dataset::zipped(const std::vector<std::pair<std::string, Dataset>>& datasets) {
  if (datasets.empty()) fail(Code::E1104, "`zip` needs a dataset, and was given none");
  std::vector<Ref<DatasetObject>> inputs;
  std::vector<std::string> keys;
  for (const auto& [key, d] : datasets) {
    keys.push_back(key);
    inputs.push_back(d.object());
  }
  return Dataset(make_ref<Zip>(inputs, std::move(keys)));
}

Dataset Dataset::enumerated(int64_t start) const {
  return Dataset(make_ref<Enumerate>(object_, start));
}

}  // namespace holdfast::data
