// Sorting slices into several tensors by number, and joining them again.
#include "holdfast/op/deferred.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/scatter_loops.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

struct PartitionAttrs {
  Attr<int64_t> num_partitions;
};

constexpr int64_t kMostPartitions = 1 << 20;

void infer_partition(Infer& s) {
  int64_t n = s.attrs<PartitionAttrs>().num_partitions();
  if (n < 1 || n > kMostPartitions)
    s.bad_value("num_partitions", cat(n), cat("1 to ", kMostPartitions));
  const Shape &data = s.shape(0), &ids = s.shape(1);
  Shape out = Shape::unknown();
  if (data.has_rank() && ids.has_rank()) {
    if (ids.rank() > data.rank())
      s.bad_shape(1, cat("a shape that `data`'s ", data.text(), " begins with"));
    for (int i = 0; i < ids.rank(); ++i)
      if (ids[i] >= 0 && data[i] >= 0 && ids[i] != data[i])
        s.bad_shape(1, cat("a shape that `data`'s ", data.text(), " begins with"));
    Dims d{kUnknown};
    d.append(data.begin() + ids.rank(), data.end());
    out = Shape(d);
  }
  for (int64_t i = 0; i < n; ++i) s.output(s.dtype(), out);
}

Status run_partition(Call& c) {
  const Tensor &data = c.in(0), &ids = c.in(1);
  int64_t parts = c.attrs<PartitionAttrs>().num_partitions(), n = ids.size(),
          inner = n ? data.size() / n : 0;
  if (Status s = check_indices("DynamicPartition", ids, parts, "partitions"); !s.ok()) return s;
  std::vector<int64_t> counts(static_cast<size_t>(parts), 0);
  const int32_t* p = ids.raw<int32_t>();
  for (int64_t i = 0; i < n; ++i) ++counts[static_cast<size_t>(p[i])];
  for (int64_t k = 0; k < parts; ++k) {
    Shape s = c.out_shape(static_cast<int>(k));
    s.dims()[0] = counts[static_cast<size_t>(k)];
    c.out(static_cast<int>(k), s);
  }
  std::fill(counts.begin(), counts.end(), 0);
  visit_cells(data.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < n; ++i) {
      int64_t& at = counts[static_cast<size_t>(p[i])];
      std::copy_n(data.raw<T>() + i * inner, inner,
                  c.out(p[i]).template mutable_raw<T>() + at++ * inner);
    }
  });
  return {};
}

int64_t rows_named(const Dims& ids) {
  int64_t rows = 0;
  for (int64_t i : ids) rows = std::max(rows, i + 1);
  return rows;
}

// The result has one slice more than the largest index.
void infer_stitch(Infer& s) {
  s.need_rank(0, 1, 1);
  s.need_rank(1, 1);
  if (!s.shape(1).has_rank()) return s.output(s.dtype(1), Shape::unknown());
  Shape out = s.shape(1);
  int64_t count = s.shape(0).has_rank() ? s.shape(0)[0] : kUnknown;
  if (count >= 0 && out[0] >= 0 && out[0] != count)
    s.bad_shape(1, cat("a first axis of ", count, ", one slice for each index"));
  auto ids = s.ints(0);
  out.dims()[0] = ids ? rows_named(*ids) : kUnknown;
  s.output(s.dtype(1), out);
}

Status run_stitch(Call& c) {
  const Tensor &ids = c.in(0), &data = c.in(1);
  const int32_t* p = ids.raw<int32_t>();
  int64_t n = ids.size(), rows = 0;
  for (int64_t i = 0; i < n; ++i) rows = std::max(rows, static_cast<int64_t>(p[i]) + 1);
  if (Status s = check_indices("DynamicStitch", ids, rows); !s.ok()) return s;
  Shape shape = data.shape();
  shape.dims()[0] = rows;
  Tensor& y = c.out(0, shape);
  int64_t inner = n ? data.size() / n : 0;
  fill_zeros(y);  // rows that nobody names
  visit_cells(data.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < n; ++i)
      std::copy_n(data.raw<T>() + i * inner, inner, y.mutable_raw<T>() + p[i] * inner);
  });
  return {};
}

// Whether the pieces can be made flat with at most one size left open.
bool stitched_now(const Tensors& ids, const Tensors& values) {
  if (!ranks_known(ids) || !ranks_known(values)) return false;
  for (size_t i = 0; i < ids.size(); ++i) {
    int open = !ids[i].shape().is_full();
    for (int k = ids[i].rank(); k < values[i].rank(); ++k) open += values[i].dim(k) < 0;
    if (open > 1) return false;
  }
  return true;
}

// What is known of the result: the axes of a slice, where both ranks of a piece are known.
Shape stitched_shape(const Tensors& ids, const Tensors& values) {
  for (size_t i = 0; i < ids.size(); ++i) {
    const Shape &a = ids[i].shape(), &b = values[i].shape();
    if (!a.has_rank() || !b.has_rank() || a.rank() > b.rank()) continue;
    Dims out{kUnknown};
    out.append(b.begin() + a.rank(), b.end());
    return Shape(out);
  }
  return Shape::unknown();
}

}  // namespace

static const Op partition_op =
    OP(DynamicPartition, &dynamic_partition)
        .args("data, partitions: P, num_partitions")
        .doc("Rows of `data` by partition: output i holds those whose entry in `partitions` is i.")
        .dtypes(kAll)
        .dtypes({int32}, "P")
        .attrs<&PartitionAttrs::num_partitions>()
        .infer(infer_partition)
        .kernel("reference", run_partition)
        .gradient(+[](Grad& g) -> Tensors {
          // The numbers of all slices go the way the slices went, and lead them back.
          Tensor numbers = reshape(range(size(g.x(1))), shape_of(g.x(1)));
          Tensors dy;
          for (int i = 0; i < g.outputs(); ++i) dy.push_back(g.dy(i));
          Tensor flat = dynamic_stitch(
              dynamic_partition(numbers, g.x(1), g.attrs<PartitionAttrs>().num_partitions()), dy);
          return {reshape(flat, shape_of(g.x(0))), Tensor()};
        })
        .keeps("partitions")
        .samples("uniform(5, 2), [0, 1, 0, 2, 1], 3", "uniform(2, 2), [[0, 1], [1, 0]], 2",
                 "strings(3), [1, 1, 0], 2")
        .reference(
            "[np.asarray(data)[np.asarray(partitions) == i] for i in range(num_partitions)]");
Tensors dynamic_partition(const In& data, const In& partitions, int64_t n) {
  return partition_op.many({data, partitions}, {n});
}

static const Op stitch_op =
    OP(DynamicStitch, &dynamic_stitch)
        .args("indices: I, data")
        .python("dynamic_stitch, raw_ops.DynamicStitch, raw_ops.ParallelDynamicStitch")
        .doc("Joins slices by number: merged[indices[m][i...]] = data[m][i...].")
        .inputs("indices: I, data")
        .dtypes({int32}, "I")
        .infer(infer_stitch)
        .kernel("reference", run_stitch)
        .gradient(+[](Grad& g) -> Tensors { return {Tensor(), gather(identity(g.dy()), g.x(0))}; })
        .keeps("indices")
        .samples("[[0, 2], [1, 3]], [uniform(2, 3), uniform(2, 3)]",
                 "[1, [0, 2]], [uniform(2), uniform(2, 2)]")
        .reference(
            "(lambda i, d: d[[max(k for k in range(len(i)) if i[k] == r) for r in range(i.max() + "
            "1)]])("
            "np.concatenate([np.ravel(x) for x in indices]), np.concatenate([np.reshape(d, (-1,) + "
            "np.shape(d)[np.ndim(x):]) "
            "for x, d in zip(indices, data)]))");

// The raw op of TensorFlow takes two lists; ours takes each list joined to one tensor.
static const Composition stitch_later(
    "dynamic_stitch", 1, +[](std::span<const Tensor> in) {
      size_t n = in.size() / 2;
      return dynamic_stitch(Tensors(in.first(n)), Tensors(in.subspan(n)));
    });
Tensor dynamic_stitch(const Ins& indices, const Ins& data) {
  if (!indices.size() || indices.size() != data.size())
    fail(Code::E1103, cat("dynamic_stitch: got ", indices.size(), " tensors of indices and ",
                          data.size(), " of data, expected as many of each"));
  Tensors ids = indices.tensors(), values = data.tensors();
  if (!stitched_now(ids, values)) {
    Tensors all = ids;
    for (const Tensor& t : values) all.push_back(t);
    return stitch_later(all, values[0].dtype(), stitched_shape(ids, values));
  }
  std::vector<Tensor> flat_ids, flat;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Shape &a = ids[i].shape(), &b = values[i].shape();
    bool begins = a.has_rank() && b.has_rank() && a.rank() <= b.rank();
    for (int k = 0; begins && k < a.rank(); ++k) begins = a[k] < 0 || b[k] < 0 || a[k] == b[k];
    if (!begins)
      fail(Code::E1102,
           cat("dynamic_stitch: data[", i, "] has shape ", b.text(),
               ", expected one that begins with that of indices[", i, "], ", a.text()));
    Dims rows{a.elements().value_or(-1)};
    rows.append(b.begin() + a.rank(), b.end());
    flat_ids.push_back(reshape(ids[i], {-1}));
    flat.push_back(reshape(values[i], rows));
  }
  return stitch_op({concat(flat_ids, 0), concat(flat, 0)});
}

}  // namespace holdfast
