#include "holdfast/data/parts.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/arguments.h"
#include "holdfast/data/collect.h"
#include "holdfast/data/stages.h"
#include "holdfast/device/device.h"
#include "holdfast/op/refuse.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::data {
namespace {

using Kind = PartRule::Kind;
using Numbers = std::vector<int64_t>;

Numbers numbers_of(const Tensor& t) {
  Tensor host = copy_to(t, cpu());
  if (host.dtype() == int32) {
    const auto* from = host.raw<int32_t>();
    return {from, from + host.size()};
  }
  const auto* from = host.raw<int64_t>();
  return {from, from + host.size()};
}

Tensor vector_of(const Numbers& numbers, DType dtype) {
  Tensor out = empty(dtype, Shape{static_cast<int64_t>(numbers.size())}, cpu());
  if (dtype == int32) {
    if (!numbers.empty() && numbers.back() > std::numeric_limits<int32_t>::max())
      fail(Code::E1103,
           cat("a batch of ragged elements has ", numbers.back(),
               " values, which row splits of int32 can't tell"),
           {}, {manual_fix("use row splits of int64")});
    std::copy(numbers.begin(), numbers.end(), out.mutable_raw<int32_t>());
  } else {
    std::copy(numbers.begin(), numbers.end(), out.mutable_raw<int64_t>());
  }
  return out;
}

// Rows `begin` to `end` of a tensor: a view of it.
Tensor rows_between(const Tensor& t, int64_t begin, int64_t end) {
  Dims dims(t.shape().begin(), t.shape().end());
  dims[0] = end - begin;
  int64_t row = t.dim(0) ? t.size() / t.dim(0) : 0;
  return view_of(t, Shape(std::move(dims)), begin * row * size_of(t.dtype()));
}

/// Tensors one after the other, along their first axis: all have the same other sizes.
Tensor joined_rows(std::span<const Tensor> parts) {
  Dims dims(parts[0].shape().begin(), parts[0].shape().end());
  dims[0] = 0;
  for (const Tensor& t : parts) dims[0] += t.dim(0);
  Tensor out = empty(parts[0].dtype(), Shape(std::move(dims)), cpu());
  visit_cells(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* to = out.mutable_raw<T>();
    for (const Tensor& t : parts) {
      Tensor host = copy_to(t, cpu());
      to = std::copy_n(host.raw<T>(), host.size(), to);
    }
  });
  return out;
}

/// Whether there is a place of so many numbers for each value.
bool belong_together(const Tensor& indices, const Tensor& values, size_t columns) {
  return indices.rank() == 2 && values.rank() == 1 && indices.dim(0) == values.dim(0) &&
         indices.dim(1) == static_cast<int64_t>(columns);
}

/// A ragged value of an element: its innermost values, and splits that were looked at.
struct Ragged {
  Tensor flat;
  std::vector<Numbers> splits;
  int64_t rows() const {
    return splits.empty() ? flat.dim(0) : static_cast<int64_t>(splits[0].size()) - 1;
  }
};

[[noreturn]] void refuse_splits(const DatasetObject& stage, int64_t element) {
  fail(Code::E1103, cat("`", stage.name(), "`: the ragged value of element ", element,
                        " has row splits that don't fit its values"));
}

Ragged ragged_of(const DatasetObject& stage, int64_t element, std::span<const Tensor> parts) {
  Ragged out{parts[0], {}};
  for (const Tensor& t : parts.subspan(1)) out.splits.push_back(numbers_of(t));
  if (out.flat.rank() < 1) refuse_splits(stage, element);
  for (size_t k = 0; k < out.splits.size(); ++k) {
    const Numbers& s = out.splits[k];
    bool last = k + 1 == out.splits.size();
    int64_t inside = last ? out.flat.dim(0) : static_cast<int64_t>(out.splits[k + 1].size()) - 1;
    if (s.empty() || s[0] != 0 || s.back() != inside || !std::is_sorted(s.begin(), s.end()))
      refuse_splits(stage, element);
  }
  return out;
}

/// A tensor as a ragged value whose rows are all as long.
Ragged ragged_of_tensor(const Tensor& t, int splits) {
  Ragged out;
  int64_t rows = t.dim(0);
  for (int axis = 1; axis <= splits; ++axis) {
    Numbers s(static_cast<size_t>(rows) + 1);
    for (size_t i = 0; i < s.size(); ++i) s[i] = static_cast<int64_t>(i) * t.dim(axis);
    out.splits.push_back(std::move(s));
    rows *= t.dim(axis);
  }
  Dims dims{rows};
  for (int axis = splits + 1; axis < t.rank(); ++axis) dims.push_back(t.dim(axis));
  out.flat = view_of(t, Shape(std::move(dims)), 0);
  return out;
}

class PartsBatch final : public DatasetObject {
 public:
  PartsBatch(const Ref<DatasetObject>& input, int64_t size, bool drop, std::vector<PartRule> rules,
             const ElementSpec& gives)
      : DatasetObject(gives, {input}), size_(size), drop_(drop), rules_(std::move(rules)) {}
  const char* name() const override { return "batch"; }
  void add_facts(Saving& to) const override {
    to.number(size_);
    to.number(drop_);
    for (const PartRule& rule : rules_)
      if (rule.kind == Kind::kElements) to.text(rule.row_shape.text());
  }
  int64_t cardinality() const override { return batches(input().cardinality(), size_, drop_); }
  Owned<Cursor> start() const override { return started<PartsBatch, Together>(*this); }

 private:
  // One value of all elements of a batch, `k` tensors into each of them.
  struct Column {
    int64_t first;
    size_t k;
    std::vector<std::vector<Tensor>> parts;  // of each element
  };

  void check_rows(const Column& c, const Tensor& a, size_t i, const Tensor& b) const {
    bool same = a.rank() == b.rank() && b.rank() > 0;
    for (int axis = 1; same && axis < a.rank(); ++axis) same = a.dim(axis) == b.dim(axis);
    if (!same) refuse_difference(*this, c.first, i, c.k, a, b);
  }

  std::vector<Tensor> together(const PartRule& rule, const Column& c) const {
    switch (rule.kind) {
      case Kind::kTensor: return {stacked_tensors(c)};
      case Kind::kRagged:
      case Kind::kRows: return ragged(rule, c);
      case Kind::kSparse: return sparse(c);
      case Kind::kElements: return elements(rule, c);
    }
    bug("a value of an element of no kind");
  }

  Tensor stacked_tensors(const Column& c) const {
    std::vector<Nested> all;
    for (size_t i = 0; i < c.parts.size(); ++i) {
      const Tensor &a = c.parts[0][0], &b = c.parts[i][0];
      if (!(a.shape() == b.shape())) refuse_difference(*this, c.first, i, c.k, a, b);
      all.emplace_back(b);
    }
    return stacked(all).tensor();
  }

  std::vector<Tensor> ragged(const PartRule& rule, const Column& c) const {
    auto depth = static_cast<size_t>(rule.splits);
    std::vector<Numbers> splits(depth + 1, Numbers{0});
    std::vector<Tensor> flat;
    for (size_t i = 0; i < c.parts.size(); ++i) {
      const Tensor& t = c.parts[i][0];
      if (rule.kind == Kind::kRows && t.rank() <= rule.splits)
        refuse_difference(*this, c.first, i, c.k, c.parts[0][0], t);
      Ragged one = rule.kind == Kind::kRows
                       ? ragged_of_tensor(copy_to(t, cpu()), rule.splits)
                       : ragged_of(*this, c.first + static_cast<int64_t>(i), c.parts[i]);
      splits[0].push_back(splits[0].back() + one.rows());
      for (size_t axis = 0; axis < depth; ++axis) {
        Numbers& all = splits[axis + 1];
        int64_t before = all.back();
        for (size_t r = 1; r < one.splits[axis].size(); ++r)
          all.push_back(before + one.splits[axis][r]);
      }
      flat.push_back(std::move(one.flat));
      check_rows(c, flat[0], i, flat.back());
    }
    std::vector<Tensor> out{joined_rows(flat)};
    for (const Numbers& s : splits) out.push_back(vector_of(s, rule.splits_dtype));
    return out;
  }

  // Where the elements of a batch are: each has the number of its row before its own places.
  static Tensor places(const std::vector<Numbers>& own, size_t columns) {
    int64_t count = 0;
    for (const Numbers& n : own) count += static_cast<int64_t>(n.size() / columns);
    auto wide = static_cast<int64_t>(columns) + 1;
    Tensor out = empty(int64, Shape{count, wide}, cpu());
    auto* to = out.mutable_raw<int64_t>();
    for (size_t row = 0; row < own.size(); ++row)
      for (size_t at = 0; at < own[row].size(); at += columns) {
        *to++ = static_cast<int64_t>(row);
        to = std::copy_n(own[row].begin() + static_cast<std::ptrdiff_t>(at), columns, to);
      }
    return out;
  }

  std::vector<Tensor> sparse(const Column& c) const {
    std::vector<Numbers> own;
    std::vector<Tensor> values;
    Numbers shape;
    for (size_t i = 0; i < c.parts.size(); ++i) {
      const std::vector<Tensor>& p = c.parts[i];
      Numbers sizes = numbers_of(p[2]);
      if (i == 0) shape = sizes;
      if (sizes.size() != shape.size() || sizes.empty())
        fail(Code::E1401, cat("`batch` got sparse elements of ", shape.size(), " and ",
                              sizes.size(), " axes, expected as many, and one at least"));
      if (!belong_together(p[0], p[1], sizes.size()))
        fail(Code::E1102, cat("`batch`: the sparse value of element ",
                              c.first + static_cast<int64_t>(i), " has indices ", type_text(p[0]),
                              " and values ", type_text(p[1]), ", which don't belong together"));
      for (size_t axis = 0; axis < sizes.size(); ++axis)
        shape[axis] = std::max(shape[axis], sizes[axis]);
      own.push_back(numbers_of(p[0]));
      values.push_back(p[1]);
    }
    size_t columns = shape.size();
    shape.insert(shape.begin(), static_cast<int64_t>(c.parts.size()));
    return {places(own, columns), joined_rows(values), vector_of(shape, int64)};
  }

  std::vector<Tensor> elements(const PartRule& rule, const Column& c) const {
    auto rank = static_cast<size_t>(rule.row_shape.rank());
    Numbers shape(rank, 0);
    std::vector<Numbers> own;
    std::vector<Tensor> values;
    for (size_t i = 0; i < c.parts.size(); ++i) {
      Tensor t = copy_to(c.parts[i][0], cpu());
      bool fits = t.rank() == rule.row_shape.rank();
      for (int axis = 0; fits && axis < t.rank(); ++axis)
        fits = rule.row_shape[axis] == kUnknown || t.dim(axis) <= rule.row_shape[axis];
      if (!fits)
        fail(Code::E1401, cat("`sparse_batch`: element ", c.first + static_cast<int64_t>(i), " is ",
                              type_text(t), ", and `row_shape` is ", rule.row_shape.text()));
      Numbers at(rank, 0), all;
      all.reserve(static_cast<size_t>(t.size()) * rank);
      for (int64_t n = t.size(); n > 0; --n) {
        all.insert(all.end(), at.begin(), at.end());
        for (size_t axis = rank; axis-- > 0;) {
          if (++at[axis] < t.dim(static_cast<int>(axis))) break;
          at[axis] = 0;
        }
      }
      for (size_t axis = 0; axis < rank; ++axis)
        shape[axis] = std::max(shape[axis], t.dim(static_cast<int>(axis)));
      own.push_back(std::move(all));
      values.push_back(view_of(t, Shape{t.size()}, 0));
    }
    for (size_t axis = 0; axis < rank; ++axis)
      if (int64_t d = rule.row_shape[static_cast<int>(axis)]; d != kUnknown) shape[axis] = d;
    shape.insert(shape.begin(), static_cast<int64_t>(c.parts.size()));
    return {places(own, rank), joined_rows(values), vector_of(shape, int64)};
  }

  struct Together final : Collector {
    explicit Together(const PartsBatch& s) : Collector(s.input(), s.size_, s.drop_), stage(&s) {}
    bool next(Nested& out) override {
      Column column{};
      std::vector<Nested> taken = collect(column.first);
      if (taken.empty()) return false;
      std::vector<std::vector<Tensor>> leaves;
      for (const Nested& e : taken) leaves.push_back(e.leaves());
      std::vector<Tensor> made;
      for (const PartRule& rule : stage->rules_) {
        column.parts.clear();
        auto begin = static_cast<std::ptrdiff_t>(column.k);
        auto end = begin + static_cast<std::ptrdiff_t>(rule.size());
        for (const auto& all : leaves)
          column.parts.emplace_back(all.begin() + begin, all.begin() + end);
        for (Tensor& t : stage->together(rule, column)) made.push_back(std::move(t));
        column.k += rule.size();
      }
      out = stage->spec().form().with_leaves(made);
      return true;
    }
    const StageRef<PartsBatch> stage;
  };
  const int64_t size_;
  const bool drop_;
  const std::vector<PartRule> rules_;
};

/// The rows of one value of a batch.
class PartRows {
 public:
  PartRows(const DatasetObject& stage, const PartRule& rule, std::span<const Tensor> parts)
      : rule_(rule) {
    for (const Tensor& t : parts) parts_.push_back(copy_to(t, cpu()));
    if (rule.kind == Kind::kRagged) {
      ragged_ = ragged_of(stage, 0, parts_);
      count_ = ragged_.rows();
    } else if (rule.kind == Kind::kSparse) {
      sort_sparse(stage);
    } else {
      if (parts_[0].rank() < 1)
        fail(Code::E1102, cat("`unbatch` takes rows, and got ", type_text(parts_[0])));
      count_ = parts_[0].dim(0);
    }
  }
  int64_t count() const { return count_; }

  void row(int64_t i, std::vector<Tensor>& out) const {
    if (rule_.kind == Kind::kSparse) return sparse_row(i, out);
    if (rule_.kind == Kind::kTensor || ragged_.splits.empty())
      return out.push_back(row_of(parts_[0], i));
    auto at = static_cast<size_t>(i);
    int64_t begin = ragged_.splits[0][at], end = ragged_.splits[0][at + 1];
    std::vector<Tensor> splits;
    for (size_t axis = 1; axis < ragged_.splits.size(); ++axis) {
      auto all = ragged_.splits[axis].begin();
      Numbers own(all + begin, all + end + 1);
      begin = own.front();
      end = own.back();
      for (int64_t& n : own) n -= begin;
      splits.push_back(vector_of(own, rule_.splits_dtype));
    }
    out.push_back(rows_between(parts_[0], begin, end));
    for (Tensor& s : splits) out.push_back(std::move(s));
  }

 private:
  // Elements by their rows, in the order in which they stand.
  void sort_sparse(const DatasetObject& stage) {
    Numbers shape = numbers_of(parts_[2]);
    indices_ = numbers_of(parts_[0]);
    columns_ = shape.size();
    bool fits = columns_ >= 1 && belong_together(parts_[0], parts_[1], columns_);
    auto entries = static_cast<size_t>(parts_[1].size());
    for (size_t e = 0; fits && e < entries; ++e)
      fits = indices_[e * columns_] >= 0 && indices_[e * columns_] < shape[0];
    if (!fits)
      fail(Code::E1103, cat("`", stage.name(),
                            "` got a sparse value with places outside of its dense shape, or of "
                            "another number of axes"));
    count_ = shape[0];
    shape_.assign(shape.begin() + 1, shape.end());
    order_.resize(entries);
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      return indices_[a * columns_] < indices_[b * columns_];
    });
  }

  void sparse_row(int64_t i, std::vector<Tensor>& out) const {
    auto row_at = [&](size_t e) { return indices_[e * columns_]; };
    auto begin =
        std::partition_point(order_.begin(), order_.end(), [&](size_t e) { return row_at(e) < i; });
    auto end = std::partition_point(begin, order_.end(), [&](size_t e) { return row_at(e) == i; });
    auto count = static_cast<int64_t>(end - begin);
    Tensor indices = empty(int64, Shape{count, static_cast<int64_t>(columns_) - 1}, cpu());
    Tensor values = empty(parts_[1].dtype(), Shape{count}, cpu());
    auto* to = indices.mutable_raw<int64_t>();
    for (auto e = begin; e != end; ++e)
      to = std::copy_n(indices_.begin() + static_cast<std::ptrdiff_t>(*e * columns_ + 1),
                       columns_ - 1, to);
    visit_cells(values.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* place = values.mutable_raw<T>();
      for (auto e = begin; e != end; ++e) *place++ = parts_[1].raw<T>()[*e];
    });
    out.push_back(std::move(indices));
    out.push_back(std::move(values));
    out.push_back(vector_of(shape_, int64));
  }

  PartRule rule_;
  std::vector<Tensor> parts_;
  Ragged ragged_;
  Numbers indices_, shape_;
  std::vector<size_t> order_;
  size_t columns_ = 0;
  int64_t count_ = 0;
};

class PartsUnbatch final : public DatasetObject {
 public:
  PartsUnbatch(const Ref<DatasetObject>& input, std::vector<PartRule> rules,
               const ElementSpec& gives)
      : DatasetObject(gives, {input}), rules_(std::move(rules)) {}
  const char* name() const override { return "unbatch"; }
  int64_t cardinality() const override {
    int64_t n = input().cardinality();
    if (n < 0) return n;
    std::vector<ElementType> types = input().spec().leaves();
    size_t k = 0;
    for (const PartRule& rule : rules_) {
      bool splits = rule.kind == Kind::kRagged && rule.splits > 0;
      const Shape& rows = types[k + (splits ? 1 : 0)].shape;
      if (rule.kind != Kind::kSparse && rows.has_rank() && rows.rank() > 0 && rows[0] >= 0)
        return all_rows(n, rows[0] - (splits ? 1 : 0));
      k += rule.size();
    }
    return kUnknownCardinality;
  }
  Owned<Cursor> start() const override { return started<PartsUnbatch, Apart>(*this); }

 private:
  struct Apart final : Cursor {
    explicit Apart(const PartsUnbatch& s) : stage(&s), input(s.input().begin()) {}
    bool next(Nested& out) override {
      while (at == size) {
        check_stop();
        if (!input->next(batch)) return false;
        begin();
      }
      std::vector<Tensor> leaves;
      for (const PartRows& each : values) each.row(at, leaves);
      ++at;
      out = stage->spec().form().with_leaves(leaves);
      return true;
    }
    void begin() {
      std::vector<Tensor> leaves = batch.leaves();
      std::vector<PartRows> found;
      size_t k = 0;
      for (const PartRule& rule : stage->rules_) {
        found.emplace_back(*stage, rule, std::span(leaves).subspan(k, rule.size()));
        k += rule.size();
        if (found.back().count() != found[0].count())
          fail(Code::E1102,
               cat("`unbatch` takes elements whose values have as many rows each; value ",
                   found.size() - 1, " has ", found.back().count(), ", value 0 has ",
                   found[0].count()));
      }
      values = std::move(found);
      at = 0;
      size = values[0].count();
    }
    void save(Saving& to) const override {
      to.number(at < size);
      if (at < size) {
        to.number(at);
        to.element(batch);
      }
      input->save(to);
    }
    void restore(Restoring& from) override {
      if (from.number()) {
        int64_t there = from.number();
        batch = restored(from, stage->input().spec());
        begin();
        if (there < 0 || there > size) Restoring::refuse("it is behind the end of a batch");
        at = there;
      }
      input->restore(from);
    }
    const StageRef<PartsUnbatch> stage;
    Owned<Cursor> input;
    Nested batch;
    std::vector<PartRows> values;
    int64_t at = 0, size = 0;
  };
  const std::vector<PartRule> rules_;
};

// Rules are made by who knows the values; here they only have to add up.
void check_rules(const Dataset& input, const std::vector<PartRule>& rules, const char* stage) {
  size_t tensors = 0;
  for (const PartRule& rule : rules) tensors += rule.size();
  size_t there = input.element_spec().leaves().size();
  if (tensors != there || rules.empty())
    fail(Code::E1103, cat("`", stage, "` is told of ", tensors,
                          " tensors in an element, and there are ", there));
}

}  // namespace

Dataset batch_parts(const Dataset& input, int64_t batch_size, bool drop_remainder,
                    std::vector<PartRule> rules, const ElementSpec& gives) {
  need_one(batch_size, "batch_size", "batch");
  check_rules(input, rules, "batch");
  for (const PartRule& rule : rules)
    if (rule.kind == Kind::kElements && rule.row_shape.rank() < 1)
      fail(Code::E1102, cat("`row_shape` of `sparse_batch` is ", rule.row_shape.text(),
                            ", expected one axis or more"));
  return Dataset(
      make_ref<PartsBatch>(input.object(), batch_size, drop_remainder, std::move(rules), gives));
}

Dataset unbatch_parts(const Dataset& input, std::vector<PartRule> rules, const ElementSpec& gives) {
  check_rules(input, rules, "unbatch");
  return Dataset(make_ref<PartsUnbatch>(input.object(), std::move(rules), gives));
}

}  // namespace holdfast::data
