#include "holdfast/ops/sort.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/ops/sort/order.h"

namespace holdfast {
namespace {

struct SortAttrs {
  Attr<int64_t> axis;
  Attr<std::string> direction;
};

// Attributes: axis, direction. Outputs: the elements, and where they were along the axis.
void infer_sort(Infer& s) {
  auto a = s.attrs<SortAttrs>();
  const std::string& direction = a.direction();
  if (direction != "ASCENDING" && direction != "DESCENDING")
    s.bad_value("direction", cat("'", direction, "'"), "'ASCENDING' or 'DESCENDING'");
  if (s.shape().has_rank()) {
    int axis = s.axis(a.axis(), 0);
    if (s.shape()[axis] > std::numeric_limits<int32_t>::max())
      s.bad_shape(0, cat("at most 2^31 - 1 elements along axis ", axis));
  }
  s.output(s.dtype(), s.shape());
  s.output(int32, s.shape());
}

template <class T>
void sort_row(const T* x, int64_t n, int64_t stride, bool down, T* values, int32_t* indices,
              std::vector<int32_t>& order) {
  std::iota(order.begin(), order.end(), 0);
  auto at = [&](int32_t i) -> const T& { return x[i * stride]; };
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return down ? before<T>(at(b), at(a)) : before<T>(at(a), at(b));
  });
  for (int64_t i = 0; i < n; ++i) {
    values[i * stride] = at(order[static_cast<size_t>(i)]);
    indices[i * stride] = order[static_cast<size_t>(i)];
  }
}

Status run_sort(Call& c) {
  auto a = c.attrs<SortAttrs>();
  const Tensor& x = c.in();
  Tensor &values = c.out(0), &indices = c.out(1);
  if (x.size() == 0) return {};
  int axis = static_cast<int>(a.axis());
  if (axis < 0) axis += x.rank();
  int64_t n = x.dim(axis), inner = 1;
  for (int i = axis + 1; i < x.rank(); ++i) inner *= x.dim(i);
  bool down = a.direction() == "DESCENDING";
  visit_plain(x.dtype(), [&]<class T>(T) {
    if constexpr (!is_complex_v<T>) {
      parallel_for(x.size() / n, std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
        std::vector<int32_t> order(static_cast<size_t>(n));
        for (int64_t r = begin; r < end; ++r) {
          int64_t at = r / inner * n * inner + r % inner;
          sort_row(x.raw<T>() + at, n, inner, down, values.mutable_raw<T>() + at,
                   indices.mutable_raw<int32_t>() + at, order);
        }
      });
    }
  });
  return {};
}

// Every element goes back to where it came from.
Tensors sort_gradient(Grad& g) {
  int rank = g.x().rank();
  int axis = static_cast<int>(g.attrs<SortAttrs>().axis());
  if (axis < 0) axis += rank;
  Tensor dy = g.dy(0), indices = g.y(1);
  Dims swap;
  for (int i = 0; i < rank; ++i) swap.push_back(i == axis ? rank - 1 : i == rank - 1 ? axis : i);
  bool moves = axis != rank - 1;
  if (moves) {
    dy = transpose(dy, {.perm = Sizes(swap)});
    indices = transpose(indices, {.perm = Sizes(swap)});
  }
  Tensor flat = unsorted_segment_sum(reshape(dy, {-1}), reshape(flat_positions(indices, dy), {-1}),
                                     Sizes(reshape(size(dy), Shape{})));
  Tensor dx = reshape(flat, shape_of(dy));
  return {moves ? transpose(dx, {.perm = Sizes(swap)}) : dx};
}

}  // namespace

Tensor flat_positions(const Tensor& within, const Tensor& like) {
  // Row r starts at r * n: one offset per row, broadcast over the last axis.
  DType d = int64;
  if (like.shape().is_full()) {
    int64_t n = like.dim(-1), rows = n ? like.size() / n : 0;
    if (!n) return cast(within, d);
    Shape starts = like.shape();
    starts.dims().back() = 1;
    Tensor offsets = range(Tensor::scalar(int64_t{0}), Tensor::scalar(rows)) * Tensor::scalar(n);
    return cast(within, d) + reshape(offsets, starts);
  }
  Tensor n = cast(gather(shape(like), -1 + like.rank()), d);
  Tensor flat = reshape(
      within,
      Sizes(stack({In(Tensor::scalar(-1)), In(gather(shape(within), -1 + within.rank()))})));
  Tensor rows = cast(gather(shape(flat), 0), d);
  Tensor offsets = expand_dims(range(Tensor::scalar(int64_t{0}), rows) * n, 1);
  return reshape(cast(flat, d) + offsets, shape_of(within));
}

static const Op sort_op =
    OP(Sort, &sort)
        .args("values")
        .options<&SortOptions::axis, &SortOptions::direction>("axis, direction")
        .inputs("values")
        .attr("axis", -1)
        .attr("direction", "ASCENDING")
        .attrs<&SortAttrs::axis, &SortAttrs::direction>()
        .outputs("output, indices")
        .dtypes(kReals | kBools)
        .python("sort")
        .doc("Sorted along an axis; a NaN counts as larger than every number.")
        .infer(infer_sort)
        .kernel("merge", run_sort)
        .gradient(sort_gradient)
        .keeps("indices")
        .samples("permutation(7)", "uniform(3, 4)", "uniform(3, 4), axis=0, direction='DESCENDING'")
        .reference(
            "np.sort(values, axis=axis) if direction == 'ASCENDING' else np.flip(np.sort(values, "
            "axis=axis), axis)");
Tensor sort(const In& values, const SortOptions& o) {
  return sort_op({values}, {o.axis, o.direction});
}

REGISTER(FUNCTION(&argsort)
             .args("values")
             .options<&ArgsortOptions::axis, &ArgsortOptions::direction, &ArgsortOptions::stable>(
                 "axis, direction, stable")
             .python("argsort")
             .doc("Positions of the elements in sorted order along an axis; equal elements keep "
                  "their order.")
             .samples("permutation(7)", "uniform(3, 4)",
                      "uniform(3, 4), axis=0, direction='DESCENDING'", "[3, 1, 3, 1]")
             .reference("np.argsort(values if direction == 'ASCENDING' else -np.asarray(values), "
                        "axis=axis, kind='stable')"));
Tensor argsort(const In& values, const ArgsortOptions& o) {
  return sort_op.many({values}, {o.axis, o.direction})[1];
}

}  // namespace holdfast
