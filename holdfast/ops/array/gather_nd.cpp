// Slices at positions.
#include "holdfast/base/parallel.h"
#include "holdfast/op/deferred.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/scatter_loops.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/scatter.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

struct GatherNdAttrs {
  Attr<std::string> bad_indices_policy;
};

void infer_gather_nd(Infer& s) {
  need_policy(s, s.attrs<GatherNdAttrs>().bad_indices_policy.arg());
  need_nd_indices(s, 1, s.shape(0), "`params`");
  if (!s.shape(0).has_rank() || !s.shape(1).has_rank() || s.shape(1)[-1] < 0)
    return s.output(s.dtype(), Shape::unknown());
  Dims out(s.shape(1).begin(), s.shape(1).end() - 1);
  for (auto i = static_cast<int>(s.shape(1)[-1]); i < s.shape(0).rank(); ++i)
    out.push_back(s.shape(0)[i]);
  s.output(s.dtype(), Shape(out));
}

Status run_gather_nd(Call& c) {
  const Tensor &params = c.in(0), &indices = c.in(1);
  bool ignore = ignores_bad(c.attrs<GatherNdAttrs>().bad_indices_policy.arg());
  if (!ignore)
    if (Status s = check_nd_indices(c.op.name.c_str(), indices, params.shape()); !s.ok()) return s;
  Tensor& y = c.out();
  if (!y.size()) return {};
  if (!params.size() && ignore) return fill_zeros(y), Status();
  if (!params.size())
    return {Code::E1103, cat("GatherNd: `params` is empty, ", params.shape().text(), ", and ",
                             y.size(), " elements are asked of it")};
  NdLayout n(indices.shape(), params.shape());
  visit_cells(params.dtype(), [&]<class T>(T) {
    visit_indices(indices.dtype(), [&]<class I>(I) {
      const I* p = indices.raw<I>();
      parallel_for(n.count, std::max<int64_t>(1, 16384 / n.inner), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          T* to = y.mutable_raw<T>() + i * n.inner;
          if (int64_t at = n.run_of(p, i); at >= 0)
            std::copy_n(params.raw<T>() + at, n.inner, to);
          else
            std::fill_n(to, n.inner, T{});
        }
      });
    });
  });
  return {};
}

Tensors gather_nd_back(Grad& g) {
  auto a = g.attrs<GatherNdAttrs>();
  Tensor params = g.x(0), indices = g.x(1);
  if (indices.rank() == 2 && indices.dim(1) == 1 && !ignores_bad(a.bad_indices_policy.arg())) {
    g.sparse(0, {g.dy(), squeeze(indices, {.axis = Sizes(-1)}), shape_of(params).tensor()});
    return {Tensor(), Tensor()};
  }
  Tensor where_to = params.shape().is_full()
                        ? host_ints(indices.dtype(), params.shape().dims(), Shape{params.rank()})
                        : shape(params, indices.dtype());
  return {scatter_nd(indices, g.dy(), Sizes(where_to), {a.bad_indices_policy()}), Tensor()};
}

// Coordinates of the batch axes in front of those that were given.
Tensor with_batch(const Tensor& indices, int64_t batch_dims) {
  std::vector<Tensor> list;
  Dims lead(indices.shape().begin(), indices.shape().end());
  lead.back() = 1;
  for (int64_t b = 0; b < batch_dims; ++b) {
    Dims along(lead.size(), 1);
    along[static_cast<size_t>(b)] = lead[static_cast<size_t>(b)];
    Tensor count =
        range(0, Tensor::scalar(lead[static_cast<size_t>(b)], indices.dtype()), 1, indices.dtype());
    list.push_back(broadcast_to(reshape(count, along), lead));
  }
  list.push_back(indices);
  return concat(list, -1);
}

}  // namespace

static const Op op =
    OP(GatherNd, &gather_nd)
        .args("params, indices: I")
        .options<&GatherNdOptions::batch_dims, &GatherNdOptions::bad_indices_policy>(
            "batch_dims, bad_indices_policy")
        .doc("Slices of `params` at positions: the last axis of `indices` holds coordinates.")
        .inputs("params: Tparams, indices: I")
        .attr("bad_indices_policy", "")
        .attrs<&GatherNdAttrs::bad_indices_policy>()
        .dtypes(kAll, "Tparams")
        .dtypes(kIndices, "I")
        .infer(infer_gather_nd)
        .kernel("rows", run_gather_nd)
        .gradient(gather_nd_back)
        .keeps("indices")
        .samples("uniform(3, 4), [[0, 1], [2, 3]]", "uniform(3, 4), [[2], [0], [2]]",
                 "strings(3, 2), [[0, 1]]", "uniform(2, 3), [[[1, 2]], [[0, 0]]]")
        .reference("np.asarray(params)[tuple(np.moveaxis(np.asarray(indices), -1, 0))]");
static const Composition later(
    "gather_nd", 2, +[](std::span<const Tensor> in, int64_t batch_dims, const std::string& policy) {
      return gather_nd(in[0], in[1], {.batch_dims = batch_dims, .bad_indices_policy = policy});
    });
Tensor gather_nd(const In& params, const In& indices, const GatherNdOptions& o) {
  Tensor ids = indices, p = params;
  if (ids.dtype() == int16) ids = cast(ids, int32);
  Attrs policy{Arg(o.bad_indices_policy)};
  if (o.batch_dims == 0) return op({p, ids}, policy);
  if (!ranks_known({p, ids}) || !sizes_known({ids}))
    return later({p, ids}, p.dtype(), Shape::unknown(), o.batch_dims, o.bad_indices_policy);
  if (o.batch_dims < 0 || o.batch_dims >= ids.rank() || o.batch_dims > p.rank())
    fail(Code::E1103, cat("gather_nd: `batch_dims` is ", o.batch_dims,
                          ", expected less than the rank of `indices`, ", ids.rank(),
                          ", and at most that of `params`, ", p.rank()));
  for (int i = 0; i < o.batch_dims; ++i)
    if (p.dim(i) >= 0 && ids.dim(i) >= 0 && p.dim(i) != ids.dim(i))
      fail(Code::E1102, cat("gather_nd: `params` ", p.shape().text(), " and `indices` ",
                            ids.shape().text(), " differ on batch axis ", i));
  return op({p, with_batch(ids, o.batch_dims)}, policy);
}

}  // namespace holdfast
