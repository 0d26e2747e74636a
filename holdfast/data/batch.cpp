// Stages that put elements side by side, and take them apart again.
#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/arguments.h"
#include "holdfast/data/collect.h"
#include "holdfast/data/dataset.h"
#include "holdfast/data/open_batch.h"
#include "holdfast/data/stages.h"
#include "holdfast/device/device.h"
#include "holdfast/op/refuse.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::data {
int64_t batches(int64_t elements, int64_t size, bool drop) {
  return elements < 0 ? elements : elements / size + (elements % size != 0 && !drop);
}

int64_t all_rows(int64_t batches, int64_t rows) {
  int64_t all;
  return __builtin_mul_overflow(batches, rows, &all) ? kUnknownCardinality : all;
}

void refuse_difference(const DatasetObject& stage, int64_t first, size_t i, size_t component,
                       const Tensor& a, const Tensor& b) {
  Diagnostic d;
  d.code = Code::E1401;
  d.op = stage.name();
  d.headline = cat("`", stage.name(),
                   "` can't put elements of different shapes side by side: ", a.shape().text(),
                   " and ", b.shape().text());
  d.labels.push_back({Role::kUsed, locate(stage.made()), "batched here", true});
  d.why = cat("component ", component, " of element ", first, " is ", type_text(a),
              ", that of element ", first + static_cast<int64_t>(i), " is ", type_text(b));
  d.fixes.push_back(manual_fix("pad them: `padded_batch` in place of `batch`"));
  d.fixes.push_back(manual_fix("or give them one shape in a `map` before it"));
  raise(std::move(d));
}

Nested stacked_by(const DatasetObject& stage, int64_t first, std::span<const Nested> elements) {
  std::vector<Tensor> want = elements[0].leaves();
  for (size_t i = 1; i < elements.size(); ++i) {
    std::vector<Tensor> got = elements[i].leaves();
    for (size_t k = 0; k < got.size() && k < want.size(); ++k)
      if (!(got[k].shape() == want[k].shape()))
        refuse_difference(stage, first, i, k, want[k], got[k]);
  }
  return stacked(elements);
}

namespace {

class Batch final : public DatasetObject {
 public:
  Batch(const Ref<DatasetObject>& input, int64_t size, bool drop)
      : DatasetObject(input->spec().batched(drop ? size : kUnknown), {input}),
        size_(size),
        drop_(drop) {}
  const char* name() const override { return "batch"; }
  void add_facts(Saving& to) const override {
    to.number(size_);
    to.number(drop_);
  }
  int64_t cardinality() const override { return batches(input().cardinality(), size_, drop_); }
  Owned<Cursor> start() const override { return started<Batch, Together>(*this); }

 private:
  struct Together final : Collector {
    explicit Together(const Batch& s) : Collector(s.input(), s.size_, s.drop_), stage(&s) {}
    bool next(Nested& out) override { return input().rows() ? gathered(out) : collected(out); }
    bool gathered(Nested& out) {
      take([this](int64_t& row) { return input().next_row(row); }, numbers);
      if (numbers.empty()) return false;
      out = input().rows()->gather(numbers);
      return true;
    }
    bool collected(Nested& out) {
      int64_t first;
      std::vector<Nested> elements = collect(first);
      if (elements.empty()) return false;
      out = stacked_by(*stage, first, elements);
      return true;
    }
    const StageRef<Batch> stage;
    std::vector<int64_t> numbers;
  };
  const int64_t size_;
  const bool drop_;
};

/// Elements are padded to one shape, and put side by side.
class PaddedBatch final : public DatasetObject {
 public:
  PaddedBatch(const Ref<DatasetObject>& input, int64_t size, bool drop, std::vector<Shape> shapes,
              std::vector<Tensor> values)
      : DatasetObject(padded_spec(input->spec(), shapes).batched(drop ? size : kUnknown), {input}),
        size_(size),
        drop_(drop),
        shapes_(std::move(shapes)),
        values_(std::move(values)) {}
  const char* name() const override { return "padded_batch"; }
  void add_facts(Saving& to) const override {
    to.number(size_);
    to.number(drop_);
    for (const Shape& shape : shapes_) to.text(shape.text());
    for (const Tensor& value : values_)
      if (value.defined()) add_tensor(value, to);
  }
  int64_t cardinality() const override { return batches(input().cardinality(), size_, drop_); }
  Owned<Cursor> start() const override { return started<PaddedBatch, Together>(*this); }

 private:
  static ElementSpec padded_spec(const ElementSpec& input, const std::vector<Shape>& shapes) {
    std::vector<ElementType> types = input.leaves();
    for (size_t i = 0; i < types.size(); ++i) types[i].shape = shapes[i];
    return input.with_leaves(types);
  }

  // The shape that all have: what was asked for, or the largest of each size.
  Shape shape_of(std::span<const Nested> elements, size_t k, int64_t first) const {
    Shape out = shapes_[k];
    for (size_t i = 0; i < elements.size(); ++i) {
      Tensor t = elements[i].leaves()[k];
      if (t.rank() != out.rank()) refuse_difference(*this, first, i, k, elements[0].leaves()[k], t);
      for (int axis = 0; axis < out.rank(); ++axis) {
        int64_t& d = out.dims()[static_cast<size_t>(axis)];
        if (shapes_[k][axis] == kUnknown)
          d = std::max(d, t.dim(axis));
        else if (t.dim(axis) > d)
          fail(Code::E1401,
               cat("`padded_batch` pads to ", shapes_[k].text(), ", and component ", k,
                   " of element ", first + static_cast<int64_t>(i), " is larger: ", type_text(t)));
      }
    }
    return out;
  }

  Tensor padded(std::span<const Nested> elements, size_t k, int64_t first) const {
    Shape shape = shape_of(elements, k, first);
    std::vector<Tensor> rows;
    for (const Nested& e : elements) rows.push_back(with_padding(e.leaves()[k], shape, values_[k]));
    std::vector<Nested> wrapped(rows.begin(), rows.end());
    return stacked(wrapped).tensor();
  }

  static Tensor with_padding(const Tensor& t, const Shape& shape, const Tensor& value) {
    if (t.shape() == shape) return t;
    Tensor out = empty(t.dtype(), shape, cpu());
    Tensor in = copy_to(t, cpu());
    visit_cells(t.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* to = out.mutable_raw<T>();
      std::fill_n(to, out.size(), *value.raw<T>());
      if (in.size() == 0) return;
      // Rows of the innermost axis are copied whole.
      int rank = shape.rank();
      int64_t row = rank ? in.dim(-1) : 1;
      Dims at(static_cast<size_t>(rank), 0), strides = strides_of(shape);
      for (const T *from = in.raw<T>(), *end = from + in.size(); from != end; from += row) {
        int64_t offset = 0;
        for (int axis = 0; axis + 1 < rank; ++axis)
          offset += at[static_cast<size_t>(axis)] * strides[static_cast<size_t>(axis)];
        std::copy_n(from, row, to + offset);
        for (int axis = rank - 2; axis >= 0; --axis) {
          if (++at[static_cast<size_t>(axis)] < in.dim(axis)) break;
          at[static_cast<size_t>(axis)] = 0;
        }
      }
    });
    return out;
  }

  struct Together final : Collector {
    explicit Together(const PaddedBatch& s) : Collector(s.input(), s.size_, s.drop_), stage(&s) {}
    bool next(Nested& out) override {
      int64_t first;
      std::vector<Nested> elements = collect(first);
      if (elements.empty()) return false;
      std::vector<Tensor> leaves;
      for (size_t k = 0; k < stage->shapes_.size(); ++k)
        leaves.push_back(stage->padded(elements, k, first));
      out = elements[0].with_leaves(leaves);
      return true;
    }
    const StageRef<PaddedBatch> stage;
  };
  const int64_t size_;
  const bool drop_;
  const std::vector<Shape> shapes_;
  const std::vector<Tensor> values_;
};

class Unbatch final : public DatasetObject {
 public:
  explicit Unbatch(const Ref<DatasetObject>& input)
      : DatasetObject(input->spec().unbatched(), {input}) {}
  const char* name() const override { return "unbatch"; }
  int64_t cardinality() const override {
    int64_t n = input().cardinality();
    if (n < 0) return n;
    for (const ElementType& t : input().spec().leaves())
      if (t.shape.has_rank() && t.shape[0] >= 0) return all_rows(n, t.shape[0]);
    return kUnknownCardinality;
  }
  Owned<Cursor> start() const override { return started<Unbatch, Apart>(*this); }

 private:
  struct Apart final : Cursor {
    explicit Apart(const Unbatch& s) : stage(&s), input(s.input().begin()), open(s) {}
    bool next(Nested& out) override { return open.next(*input, out); }
    void save(Saving& to) const override {
      open.save(to);
      input->save(to);
    }
    void restore(Restoring& from) override {
      open.restore(from);
      input->restore(from);
    }
    const StageRef<Unbatch> stage;
    Owned<Cursor> input;
    OpenBatch open;
  };
};

Tensor zero_of(DType dtype) {
  return dtype == DType::kString ? empty(dtype, Shape{}, cpu()) : Tensor::scalar(0, dtype);
}

}  // namespace

Dataset Dataset::padded(int64_t batch_size, const PaddedBatchOptions& o) const {
  need_one(batch_size, "batch_size", "padded_batch");
  std::vector<ElementType> types = element_spec().leaves();
  auto need = [&](size_t n, const char* what) {
    if (n != types.size())
      fail(Code::E1103,
           cat("`", what, "` of `padded_batch` has ", n, " entries, and elements have ",
               types.size(), " tensors: ", element_spec().text()));
  };
  if (o.padded_shapes) need(o.padded_shapes->size(), "padded_shapes");
  if (!o.padding_values.empty()) need(o.padding_values.size(), "padding_values");
  std::vector<Shape> shapes;
  std::vector<Tensor> values;
  for (size_t i = 0; i < types.size(); ++i) {
    Shape shape = o.padded_shapes ? (*o.padded_shapes)[i] : types[i].shape;
    if (!shape.has_rank())
      fail(Code::E1102, cat("`padded_batch` needs the rank of component ", i, ": ",
                            type_text(types[i].dtype, types[i].shape)));
    if (types[i].shape.has_rank() && types[i].shape.rank() != shape.rank())
      fail(Code::E1102, cat("`padded_batch` is to pad component ", i, ", ",
                            type_text(types[i].dtype, types[i].shape), ", to ", shape.text(),
                            ", which has another rank"));
    Tensor value = o.padding_values.empty() ? Tensor() : o.padding_values[i];
    if (!value.defined()) value = zero_of(types[i].dtype);
    if (value.dtype() != types[i].dtype || value.rank() != 0)
      fail(Code::E1101, cat("`padding_values` of component ", i, " is ", type_text(value),
                            ", expected ", type_text(types[i].dtype, Shape{})));
    shapes.push_back(std::move(shape));
    values.push_back(copy_to(value, cpu()));
  }
  return Dataset(make_ref<PaddedBatch>(object_, batch_size, o.drop_remainder, std::move(shapes),
                                       std::move(values)));
}

Dataset Dataset::unbatched() const {
  std::vector<ElementType> types = element_spec().leaves();
  if (types.empty()) fail(Code::E1104, "`unbatch` takes elements with tensors, and there are none");
  for (size_t i = 0; i < types.size(); ++i)
    if (types[i].shape.has_rank() && types[i].shape.rank() == 0)
      fail(Code::E1102, cat("`unbatch` takes rows, and component ", i, " of an element is ",
                            type_text(types[i].dtype, types[i].shape)));
  return Dataset(make_ref<Unbatch>(object_));
}

Dataset Dataset::batched(int64_t batch_size, const BatchOptions& o) const {
  need_one(batch_size, "batch_size", "batch");
  return Dataset(make_ref<Batch>(object_, batch_size, o.drop_remainder));
}

}  // namespace holdfast::data
