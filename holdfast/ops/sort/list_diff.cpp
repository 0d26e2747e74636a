#include <unordered_set>
#include <vector>

#include "holdfast/op/op.h"
#include "holdfast/ops/sort.h"
#include "holdfast/ops/sort/same.h"

namespace holdfast {
namespace {

struct ListDiffAttrs {
  Attr<DType> out_idx;
};

// Attribute 0: out_idx.
void infer_diff(Infer& s) {
  s.need_rank(0, 1, 1);
  s.need_rank(1, 1, 1);
  DType out = s.attrs<ListDiffAttrs>().out_idx();
  if (!kIndices.has(out)) s.bad_value("out_idx", name(out), "int32 or int64");
  s.output(s.dtype(), Shape{kUnknown});
  s.output(out, Shape{kUnknown});
}

// Elements of both vectors by number: those of the second from 0 on, those of the first from -1
// down.
struct Both {
  const char *x, *y;
  ElementRules rules;

  const void* at(int64_t i) const { return i < 0 ? x + ~i * rules.size : y + i * rules.size; }
  size_t operator()(int64_t i) const { return rules.hash(at(i), 1, 0); }
  bool operator()(int64_t a, int64_t b) const { return rules.same(at(a), at(b), 1); }
};

Status run_diff(Call& c) {
  const Tensor &x = c.in(0), &y = c.in(1);
  Both both{static_cast<const char*>(x.raw()), static_cast<const char*>(y.raw()),
            element_rules(x.dtype())};
  std::unordered_set<int64_t, Both, Both> there(16, both, both);
  for (int64_t i = 0, n = y.size(); i < n; ++i) there.insert(i);
  std::vector<int64_t> kept;
  for (int64_t i = 0, n = x.size(); i < n; ++i)
    if (!there.contains(~i)) kept.push_back(i);
  Shape shape{static_cast<int64_t>(kept.size())};
  auto* out = static_cast<char*>(c.out(0, shape).mutable_raw());
  for (size_t i = 0; i < kept.size(); ++i)
    both.rules.copy(both.at(~kept[i]), 1, out + static_cast<int64_t>(i) * both.rules.size);
  put_indices(kept, c.out(1, shape));
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
        .attrs<&ListDiffAttrs::out_idx>()
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
