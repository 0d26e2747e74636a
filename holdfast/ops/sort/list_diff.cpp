#include <unordered_set>
#include <vector>

#include "holdfast/op/op.h"
#include "holdfast/ops/sort.h"
#include "holdfast/ops/sort/same.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

// Attribute 0: out_idx.
void infer_diff(Infer& s) {
  s.need_rank(0, 1, 1);
  s.need_rank(1, 1, 1);
  DType out = s.attr(0).dtype();
  if (!kIndices.has(out)) s.bad_value("out_idx", name(out), "int32 or int64");
  s.output(s.dtype(), Shape{kUnknown});
  s.output(out, Shape{kUnknown});
}

template <class T>
void find_others(Call& c) {
  const Tensor &x = c.in(0), &y = c.in(1);
  const T *from = x.raw<T>(), *known = y.raw<T>();
  std::unordered_set<T, Hash<T>, Same<T>> there(known, known + y.size());
  std::vector<int64_t> kept;
  for (int64_t i = 0, n = x.size(); i < n; ++i)
    if (!there.contains(from[i])) kept.push_back(i);
  Shape shape{static_cast<int64_t>(kept.size())};
  T* out = c.out(0, shape).template mutable_raw<T>();
  for (size_t i = 0; i < kept.size(); ++i) out[i] = from[kept[i]];
  Tensor& idx = c.out(1, shape);
  visit_indices(idx.dtype(), [&]<class I>(I) {
    for (size_t i = 0; i < kept.size(); ++i) idx.mutable_raw<I>()[i] = static_cast<I>(kept[i]);
  });
}

Status run_diff(Call& c) {
  if (c.in().dtype() == DType::kString)
    find_others<std::string>(c);
  else
    visit_plain(c.in().dtype(), [&]<class T>(T) { find_others<T>(c); });
  return {};
}

}  // namespace

static const Op diff_op =
    OP(ListDiff, &setdiff1d)
        .args("x, y")
        .options<&SetDiffOptions::index_dtype>("index_dtype")
        .python("compat.v1.setdiff1d")
        .inputs("x, y")
        .attr("out_idx", int32)
        .outputs("out, idx")
        .returns("out, idx")
        .on_host()
        .no_gradient()
        .doc("The elements of `x` that are not in `y`, in their order, and where they stand.")
        .infer(infer_diff)
        .kernel("hash", run_diff)
        .samples("[1, 2, 3, 4, 5, 6], [1, 3, 5]", "ints(9, low=0, high=4), [1, 2]",
                 "strings(5), strings(1)")
        .reference(
            "(lambda k: (np.asarray(x)[k], k))(np.array([i for i, v in enumerate(x) if v "
            "not in list(y)], np.int64))");
std::tuple<Tensor, Tensor> setdiff1d(const In& x, const In& y, const SetDiffOptions& o) {
  Tensors out = diff_op.many({x, y}, {o.index_dtype});
  return {out[0], out[1]};
}

}  // namespace holdfast
