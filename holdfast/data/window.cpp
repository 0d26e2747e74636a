// Stages that collect elements into datasets: windows, groups of one key, buckets of one length.
#include <algorithm>
#include <deque>
#include <exception>
#include <limits>
#include <map>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/arguments.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/functions.h"
#include "holdfast/data/inner.h"
#include "holdfast/data/stages.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/math.h"

namespace holdfast::data {
namespace {

class Window final : public DatasetObject {
 public:
  Window(const Ref<DatasetObject>& input, int64_t size, int64_t shift, int64_t stride, bool drop,
         const WindowParts* given)
      : DatasetObject(given ? given->gives : spec_of(input->spec()), {input}),
        widths_(given ? given->widths : std::vector<int64_t>()),
        size_(size),
        shift_(shift),
        stride_(stride),
        drop_(drop) {
    if (__builtin_mul_overflow(size - 1, stride, &span_) || span_ == kMost) span_ = kMost - 1;
    ++span_;
    for (const Nested& part : parts_of(input->spec().form()))
      parts_.push_back(ElementSpec::of(part));
  }
  const char* name() const override { return "window"; }
  void add_facts(Saving& to) const override {
    for (int64_t each : {size_, shift_, stride_, int64_t{drop_}}) to.number(each);
  }
  int64_t cardinality() const override {
    int64_t n = input().cardinality();
    if (n < 0) return n;
    if (drop_) return n < span_ ? 0 : (n - span_) / shift_ + 1;
    return n / shift_ + (n % shift_ != 0);
  }
  Owned<Cursor> start() const override { return started<Window, Sliding>(*this); }

 private:
  static constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  static ElementSpec spec_of(const ElementSpec& input) {
    return ElementSpec::of(input.form().map(
        [](const Tensor& t) { return component_of(promised(ElementSpec::of(t))); }));
  }

  // What each of the datasets is of: a tensor, or a tuple of those that make one value.
  std::vector<Nested> parts_of(const Nested& element) const {
    std::vector<Tensor> leaves = element.leaves();
    if (widths_.empty()) return {leaves.begin(), leaves.end()};
    std::vector<Nested> out;
    auto next = leaves.begin();
    for (int64_t width : widths_) {
      if (width == 0) {
        out.emplace_back(*next++);
        continue;
      }
      std::vector<Nested> tuple(next, next + width);
      out.push_back(Nested::tuple(std::move(tuple)));
      next += width;
    }
    return out;
  }

  struct Sliding final : Cursor {
    explicit Sliding(const Window& s) : stage(&s), input(s.input().begin()) {}
    bool next(Nested& out) override {
      fill();
      if (buffer.empty() || (stage->drop_ && !full())) return false;
      std::exception_ptr error;
      out = window(error);
      auto leave = std::min<int64_t>(stage->shift_, static_cast<int64_t>(buffer.size()));
      buffer.erase(buffer.begin(), buffer.begin() + leave);
      skip = stage->shift_ - leave;
      if (error) std::rethrow_exception(error);
      return true;
    }
    /// An element, or why there is none: which no window tells that steps over it.
    using Kept = MadeAhead;
    bool get(Kept& one) {
      try {
        return input->next(one.element);
      } catch (...) {
        if (stops_the_program()) throw;
        one.error = std::current_exception();
        return true;
      }
    }
    bool full() const { return static_cast<int64_t>(buffer.size()) >= stage->span_; }
    void fill() {
      while (!ended && !(skip == 0 && full())) {
        check_stop();
        Kept one;
        if (!get(one))
          ended = true;
        else if (skip > 0)
          --skip;
        else
          buffer.push_back(std::move(one));
      }
    }
    Nested window(std::exception_ptr& error) const {
      std::vector<std::vector<Nested>> columns(stage->parts_.size());
      auto n = static_cast<int64_t>(buffer.size());
      for (int64_t i = 0, row = 0; i < stage->size_ && row < n; ++i, row += stage->stride_) {
        const Kept& kept = buffer[static_cast<size_t>(row)];
        if ((error = kept.error)) return {};
        std::vector<Nested> parts = stage->parts_of(kept.element);
        for (size_t k = 0; k < columns.size(); ++k) columns[k].push_back(std::move(parts[k]));
      }
      std::vector<Tensor> parts;
      for (size_t k = 0; k < columns.size(); ++k)
        parts.push_back(component_of(of_elements(stage->parts_[k], std::move(columns[k]))));
      return stage->spec().form().with_leaves(parts);
    }
    void save(Saving& to) const override {
      to.number(skip);
      to.number(ended);
      to.number(static_cast<int64_t>(buffer.size()));
      for (const Kept& one : buffer) to.made(one.element, one.error);
      input->save(to);
    }
    void restore(Restoring& from) override {
      skip = from.number();
      ended = from.number() != 0;
      int64_t n = from.count();
      for (int64_t i = 0; i < n; ++i) buffer.push_back(restored_made(from, stage->input().spec()));
      input->restore(from);
    }
    const StageRef<Window> stage;
    Owned<Cursor> input;
    std::deque<Kept> buffer;
    int64_t skip = 0;  // so many elements lie between two windows
    bool ended = false;
  };
  const std::vector<int64_t> widths_;  // of values of several tensors; 0: a tensor
  const int64_t size_, shift_, stride_;
  int64_t span_ = 0;  // from the first element of a whole window to its last
  const bool drop_;
  std::vector<ElementSpec> parts_;  // of each value of an element
};

class GroupByWindow final : public DatasetObject, public HasPlace {
 public:
  GroupByWindow(const Ref<DatasetObject>& input, const ElementSpec& gives, Ref<ElementFunction> key,
                Dataset::Reducer reduce, GroupOptions options, Ref<Object> held)
      : DatasetObject(gives, {input}),
        key_(std::move(key)),
        reduce_(std::move(reduce)),
        options_(std::move(options)),
        held_(std::move(held)),
        place_(made_in_place()) {}
  const char* name() const override { return "group_by_window"; }
  const Place& place() const override { return *place_; }
  void add_facts(Saving& to) const override {
    to.number(options_.window_size);
    key_->add_facts(to);
    if (auto* code = dynamic_cast<const HoldsDatasets*>(held_.get())) code->add_code(to);
  }
  int64_t cardinality() const override {
    int64_t n = input().cardinality();
    return n == kInfinite ? n : kUnknownCardinality;
  }
  void visit(Visitor& see) const override {
    DatasetObject::visit(see);
    see.child(key_);
    see.child(held_);
  }
  void save_kept(Saving& to) const override {
    save_draws(*key_, to);
    save_draws(*place_, to);
    save_kept_of(held_by(held_.get()), to);
  }
  void restore_kept(Restoring& from) const override {
    restore_draws(*key_, from);
    restore_draws(*place_, from);
    restore_kept_of(held_by(held_.get()), from);
  }
  Owned<Cursor> start() const override { return started<GroupByWindow, Groups>(*this); }

 private:
  int64_t size_of_window(int64_t key) const {
    if (!options_.window_size_of) return options_.window_size;
    int64_t size = options_.window_size_of(key);
    if (size < 1)
      fail(Code::E1103, cat("the window size of key ", key, " is ", size, ", expected 1 or more"));
    return size;
  }

  struct Group {
    int64_t size = 0;  // of a whole window
    std::vector<Nested> elements;
  };
  struct Groups final : Cursor {
    explicit Groups(const GroupByWindow& s) : stage(&s), input(s.input().begin()) {}
    bool next(Nested& out) override {
      while (true) {
        check_stop();
        if (current) {
          if (current->next(out)) {
            ++given;
            return true;
          }
          current = {};
          window.clear();
        }
        if (!ended)
          collect();
        else if (!flush())
          return false;
      }
    }
    // Takes elements until one makes a window whole, or there are no more.
    void collect() {
      Nested element;
      if (!input->next(element)) {
        ended = true;
        return;
      }
      int64_t number = at++;
      at_stage(*stage, number, [&] {
        int64_t of = integer_in((*stage->key_)(element), "the key of `group_by_window`");
        Group& group = groups[of];
        if (group.size == 0) group.size = stage->size_of_window(of);
        group.elements.push_back(std::move(element));
        if (static_cast<int64_t>(group.elements.size()) >= group.size) open(of, group);
      });
    }
    // What is left when there are no more elements, by key.
    bool flush() {
      for (auto& [of, group] : groups) {
        if (group.elements.empty()) continue;
        open(of, group);
        return true;
      }
      return false;
    }
    void open(int64_t of, Group& group) {
      key = of;
      window = std::move(group.elements);
      group.elements.clear();
      given = 0;
      current = made();
    }
    Owned<Cursor> made() const {
      Dataset whole = of_elements(stage->input().spec(), window);
      Making in(*stage->place_);
      Dataset d = stage->reduce_(Tensor::scalar(key), whole);
      if (!stage->spec().joined(d.element_spec()))
        fail(Code::E1101, cat("the function of `group_by_window` made a dataset of ",
                              d.element_spec().text(), ", expected ", stage->spec().text()));
      return d.object()->begin();
    }
    void save(Saving& to) const override {
      to.number(at);
      to.number(ended);
      to.number(static_cast<int64_t>(groups.size()));
      for (const auto& [of, group] : groups) {
        to.number(of);
        to.number(group.size);
        save_all(to, group.elements);
      }
      to.number(static_cast<bool>(current));
      if (current) {
        to.number(key);
        to.number(given);
        save_all(to, window);
        // Elements that hold datasets may come back as others, of which there is no such position.
        bool same = true;
        for (const Nested& one : window) same = same && to.keeps(one);
        to.number(same);
        if (same) current->save(to);
      }
      stage->save_kept(to);
      input->save(to);
    }
    void restore(Restoring& from) override {
      at = from.number();
      ended = from.number() != 0;
      int64_t n = from.count();
      for (int64_t i = 0; i < n; ++i) {
        Group& group = groups[from.number()];
        group.size = from.number();
        group.elements = restore_all(from);
      }
      if (from.number()) {
        key = from.number();
        int64_t there = from.number();
        window = restore_all(from);
        current = made();
        given = 0;
        if (from.number()) {
          current->restore(from);
          given = there;
        }
        for (Nested skipped; given < there; ++given)
          if (!current->next(skipped))
            Restoring::refuse("a window gives fewer elements than before");
      }
      stage->restore_kept(from);
      input->restore(from);
    }
    static void save_all(Saving& to, const std::vector<Nested>& elements) {
      to.number(static_cast<int64_t>(elements.size()));
      for (const Nested& one : elements) to.element(one);
    }
    std::vector<Nested> restore_all(Restoring& from) const {
      std::vector<Nested> out;
      for (int64_t n = from.count(); n > 0; --n)
        out.push_back(restored(from, stage->input().spec()));
      return out;
    }
    const StageRef<GroupByWindow> stage;
    Owned<Cursor> input;
    std::map<int64_t, Group> groups;
    Owned<Cursor> current;  // of the dataset that was made of a whole window
    std::vector<Nested> window;
    int64_t key = 0, given = 0, at = 0;
    bool ended = false;
  };
  const Ref<ElementFunction> key_;
  const Dataset::Reducer reduce_;
  const GroupOptions options_;
  const Ref<Object> held_;
  const Ref<Place> place_;
};

}  // namespace

Dataset Dataset::windowed(int64_t size, const WindowOptions& o, const WindowParts* parts) const {
  need_one(size, "size", "window");
  int64_t shift = o.shift == 0 ? size : o.shift;
  need_one(shift, "shift", "window");
  need_one(o.stride, "stride", "window");
  if (element_spec().form().leaves().empty())
    fail(Code::E1104, "`window` takes elements with tensors, and there are none");
  if (parts) {
    size_t all = 0, wanted = element_spec().leaves().size();
    for (int64_t width : parts->widths) {
      if (width < 0 || all > wanted)
        fail(Code::E1103, cat("a value of `window` has ", width, " tensors"));
      all += static_cast<size_t>(std::max<int64_t>(width, 1));
    }
    if (all != wanted || parts->gives.leaves().size() != parts->widths.size())
      fail(Code::E1103, cat("values of `window` have ", all, " tensors, expected ", wanted));
  }
  return Dataset(make_ref<Window>(object_, size, shift, o.stride, o.drop_remainder, parts));
}

Ref<ElementFunction> Dataset::key_function(detail::ElementCode f, const char* stage) const {
  if (!f) fail(Code::E1104, cat("`", stage, "` was given no function"));
  if (probing()) return plain_function(std::move(f));
  return traced_function(std::move(f), element_spec(), stage);
}

Dataset Dataset::grouped(Ref<ElementFunction> key, Reducer reduce, const GroupOptions& o,
                         Ref<Object> held, const ElementSpec* gives) const {
  if (!key || !reduce) fail(Code::E1104, "`group_by_window` was given no function");
  if (!o.window_size_of) need_one(o.window_size, "window_size", "group_by_window");
  if (auto keys = key->gives();
      keys && (!keys->form().is_tensor() || !is_integer(keys->leaves()[0].dtype) ||
               !keys->leaves()[0].shape.compatible(Shape{})))
    fail(Code::E1101,
         cat("the key of `group_by_window` is ", keys->text(), ", expected an integer scalar"));
  ElementSpec spec =
      gives ? *gives
            : spec_of_made(
                  [&](const Nested& of) {
                    return reduce(of.tensor(), promised(element_spec())).element_spec();
                  },
                  ElementSpec(int64), "group_by_window");
  if (probing()) return promised(spec);
  return Dataset(make_ref<GroupByWindow>(object_, spec, std::move(key), std::move(reduce), o,
                                         std::move(held)));
}

Dataset Dataset::bucketed(Ref<ElementFunction> length, const BucketOptions& o) const {
  const char* stage = "bucket_by_sequence_length";
  const auto& at = o.boundaries;
  if (o.batch_sizes.size() != at.size() + 1)
    fail(Code::E1103, cat("`batch_sizes` of `", stage, "` has ", o.batch_sizes.size(),
                          " entries, expected one more than `boundaries`, which has ", at.size()));
  for (size_t i = 1; i < at.size(); ++i)
    if (at[i] <= at[i - 1])
      fail(Code::E1103, cat("`boundaries` of `", stage, "` do not rise: ", at[i - 1], ", ", at[i]));
  for (int64_t size : o.batch_sizes) need_one(size, "batch_sizes", stage);
  // Who calls it holds the function, where a collector sees that.
  auto bucket = [of = length.get(), at](const Nested& element) -> Nested {
    int64_t n = integer_in((*of)(element), "the length of an element");
    return Tensor::scalar(
        static_cast<int64_t>(std::upper_bound(at.begin(), at.end(), n) - at.begin()));
  };
  auto batched = [o, at](const Tensor& key, const Dataset& window) {
    // What is a symbol stands for any of the buckets.
    size_t i = key.is_symbolic() ? 0 : static_cast<size_t>(key.item<int64_t>());
    const auto& sizes = o.batch_sizes;
    bool one_size = std::all_of(sizes.begin(), sizes.end(), [&](auto n) { return n == sizes[0]; });
    bool drop = o.padding.drop_remainder && (!key.is_symbolic() || one_size);
    if (o.no_padding) return window.batch(sizes[i], {.drop_remainder = drop});
    PaddedBatchOptions padding = o.padding;
    padding.drop_remainder = drop;
    if (o.pad_to_bucket_boundary && !key.is_symbolic()) {
      if (i == at.size())
        fail(Code::E1103,
             cat("an element is not shorter than the last of `boundaries`, ",
                 at.empty() ? 0 : at.back(), ", with `pad_to_bucket_boundary`"),
             "the last bucket has no boundary to pad to");
      std::vector<Shape> shapes;
      if (padding.padded_shapes)
        shapes = *padding.padded_shapes;
      else
        for (const ElementType& t : window.element_spec().leaves()) shapes.push_back(t.shape);
      for (Shape& shape : shapes)
        for (int axis = 0; axis < shape.rank(); ++axis)
          if (shape[axis] == kUnknown) shape.dims()[static_cast<size_t>(axis)] = at[i] - 1;
      padding.padded_shapes = std::move(shapes);
    }
    return window.padded_batch(sizes[i], padding);
  };
  Saving facts;
  length->add_facts(facts);
  for (const auto* numbers : {&o.boundaries, &o.batch_sizes}) {
    facts.number(static_cast<int64_t>(numbers->size()));
    for (int64_t each : *numbers) facts.number(each);
  }
  for (bool each : {o.padding.drop_remainder, o.pad_to_bucket_boundary, o.no_padding})
    facts.number(each);
  if (o.padding.padded_shapes)
    for (const Shape& shape : *o.padding.padded_shapes) facts.text(shape.text());
  for (const Tensor& value : o.padding.padding_values)
    if (value.defined()) add_tensor(value, facts);
  return grouped(plain_function(bucket, std::move(length), facts.take()), batched,
                 {.window_size_of = [sizes = o.batch_sizes](int64_t key) {
                   return sizes[static_cast<size_t>(key)];
                 }});
}

}  // namespace holdfast::data
