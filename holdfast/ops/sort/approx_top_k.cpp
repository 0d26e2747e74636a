// The largest or smallest along an axis, for programs that would take nearly all of them.
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nearest.h"
#include "holdfast/ops/nn/last_axis.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/sort/order.h"

namespace holdfast {
namespace {

struct ApproxAttrs {
  Attr<int64_t> k;
  Attr<int64_t> reduction_dimension;
  Attr<double> recall_target;
  Attr<bool> is_max_k;
  Attr<int64_t> reduction_input_size_override;
  Attr<bool> aggregate_to_topk;
};

// On accelerators the search may miss some, and `aggregate_to_topk` says whether candidates that
// are too many are sorted out. Here none is missed and none is too many: both are checked and met.
void infer_approx(Infer& s) {
  auto a = s.attrs<ApproxAttrs>();
  s.need_rank(0, 1);
  if (a.k() < 0) s.bad_value("k", cat(a.k()), "0 or more");
  if (!(a.recall_target() > 0 && a.recall_target() <= 1))
    s.bad_value("recall_target", cat(a.recall_target()), "more than 0, and at most 1");
  if (a.reduction_input_size_override() < -1)
    s.bad_value("reduction_input_size_override", cat(a.reduction_input_size_override()),
                "-1, or a size");
  Shape out = s.shape();
  if (out.has_rank()) {
    int axis = s.axis(a.reduction_dimension(), 0, "reduction_dimension");
    int64_t n = out[axis];
    if (n >= 0 && a.k() > n)
      s.bad_value("k", cat(a.k()), cat("at most ", n, ", the size of axis ", axis));
    if (n > std::numeric_limits<int32_t>::max())
      s.bad_shape(0, cat("at most 2^31 - 1 elements along axis ", axis));
    out.dims()[static_cast<size_t>(axis)] = a.k();
  }
  s.output(s.dtype(), out);
  s.output(int32, out);
}

Status run_approx(Call& c) {
  auto a = c.attrs<ApproxAttrs>();
  const Tensor& x = c.in();
  Tensor &values = c.out(0), &indices = c.out(1);
  if (values.size() == 0) return {};
  int axis = static_cast<int>(a.reduction_dimension());
  if (axis < 0) axis += x.rank();
  int64_t n = x.dim(axis), k = a.k(), inner = 1;
  for (int i = axis + 1; i < x.rank(); ++i) inner *= x.dim(i);
  bool largest = a.is_max_k();
  visit_floats(x.dtype(), [&]<class T>(T) {
    parallel_for(x.size() / n, std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
      std::vector<int32_t> order(static_cast<size_t>(n));
      for (int64_t r = begin; r < end; ++r) {
        const T* from = x.raw<T>() + r / inner * n * inner + r % inner;
        int64_t to = r / inner * k * inner + r % inner;
        std::iota(order.begin(), order.end(), 0);
        auto better = [&](int32_t i, int32_t j) {
          const T &p = from[i * inner], &q = from[j * inner];
          bool first = largest ? before<T>(q, p) : before<T>(p, q);
          bool second = largest ? before<T>(p, q) : before<T>(q, p);
          return first || (!second && i < j);
        };
        std::partial_sort(order.begin(), order.begin() + k, order.end(), better);
        for (int64_t i = 0; i < k; ++i) {
          int32_t at = order[static_cast<size_t>(i)];
          values.mutable_raw<T>()[to + i * inner] = from[at * inner];
          indices.mutable_raw<int32_t>()[to + i * inner] = at;
        }
      }
    });
  });
  return {};
}

// What was taken gives its gradient back to the place it was taken from.
Tensors approx_gradient(Grad& g) {
  LastAxis last("ApproxTopK", g.x(), g.attrs<ApproxAttrs>().reduction_dimension());
  Tensor like = last.moves() ? last.there(zeros_like(g.x())) : g.x();  // its shape alone is kept
  Tensor places = flat_positions(last.there(g.y(1)), like);
  Tensor flat = unsorted_segment_sum(reshape(last.there(g.dy(0)), {-1}), reshape(places, {-1}),
                                     Sizes(reshape(size(like), Shape{})));
  return {last.back(reshape(flat, shape_of(like)))};
}

const Op approx_op =
    RAW_OP(ApproxTopK)
        .doc(
            "Values and positions of the k largest along an axis, or of the smallest; the search "
            "is exact, and meets every `recall_target`.")
        .inputs("input")
        .attr("k")
        .attr("reduction_dimension", -1)
        .attr("recall_target", 0.95)
        .attr("is_max_k", true)
        .attr("reduction_input_size_override", -1)
        .attr("aggregate_to_topk", true)
        .attrs<&ApproxAttrs::k, &ApproxAttrs::reduction_dimension, &ApproxAttrs::recall_target,
               &ApproxAttrs::is_max_k, &ApproxAttrs::reduction_input_size_override,
               &ApproxAttrs::aggregate_to_topk>()
        .outputs("values, indices")
        .dtypes(kFloats)
        .infer(infer_approx)
        .kernel("exact", run_approx)
        .gradient(approx_gradient)
        .keeps("indices");

std::tuple<Tensor, Tensor> found(const In& operand, int64_t k, bool largest,
                                 const ApproxKOptions& o) {
  Tensors out = approx_op.many({operand}, {k, o.reduction_dimension, o.recall_target, largest,
                                           o.reduction_input_size_override, o.aggregate_to_topk});
  return {out[0], out[1]};
}

}  // namespace

REGISTER(FUNCTION(&approx_max_k)
             .args("operand, k")
             .options<&ApproxKOptions::reduction_dimension, &ApproxKOptions::recall_target,
                      &ApproxKOptions::reduction_input_size_override,
                      &ApproxKOptions::aggregate_to_topk>(
                 "reduction_dimension, recall_target, reduction_input_size_override, "
                 "aggregate_to_topk")
             .returns("values, indices")
             .python("math.approx_max_k, nn.approx_max_k")
             .doc("Values and positions of k elements along an axis of which at least "
                  "`recall_target` are among the k largest. The search is exact, so all are.")
             .samples("uniform(9), 3", "uniform(3, 5), 2",
                      "uniform(2, 4, 3), 2, reduction_dimension=1")
             .reference("(lambda at: (np.take_along_axis(operand, at, reduction_dimension), at))"
                        "(np.take(np.argsort(-operand, reduction_dimension, kind='stable'), "
                        "range(k), reduction_dimension).astype(np.int32))"));
std::tuple<Tensor, Tensor> approx_max_k(const In& operand, int64_t k, const ApproxKOptions& o) {
  return found(operand, k, true, o);
}

REGISTER(FUNCTION(&approx_min_k)
             .args("operand, k")
             .options<&ApproxKOptions::reduction_dimension, &ApproxKOptions::recall_target,
                      &ApproxKOptions::reduction_input_size_override,
                      &ApproxKOptions::aggregate_to_topk>(
                 "reduction_dimension, recall_target, reduction_input_size_override, "
                 "aggregate_to_topk")
             .returns("values, indices")
             .python("math.approx_min_k, nn.approx_min_k")
             .doc("Values and positions of k elements along an axis of which at least "
                  "`recall_target` are among the k smallest. The search is exact, so all are.")
             .samples("uniform(9), 3", "uniform(3, 5), 2",
                      "uniform(2, 4, 3), 2, reduction_dimension=1")
             .reference("(lambda at: (np.take_along_axis(operand, at, reduction_dimension), at))"
                        "(np.take(np.argsort(operand, reduction_dimension, kind='stable'), "
                        "range(k), reduction_dimension).astype(np.int32))"));
std::tuple<Tensor, Tensor> approx_min_k(const In& operand, int64_t k, const ApproxKOptions& o) {
  return found(operand, k, false, o);
}

}  // namespace holdfast
