#include <algorithm>
#include <limits>
#include <unordered_map>
#include <vector>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/sort.h"
#include "holdfast/ops/sort/same.h"

namespace holdfast {
namespace {

struct UniqueAttrs {
  Attr<DType> out_idx;
};

// The axis along which slices are compared, where the op has an input that says it; -1: a vector's
// only one.
int64_t axis_of(const Infer& s) {
  if (s.inputs() < 2) return 0;
  s.need_rank(1, 1, 1);
  auto given = s.ints(1);
  if (!given || !s.shape().has_rank()) return kUnknown;
  if (given->size() > 1) s.bad_value("axis", Shape(*given).text(), "one axis or none");
  if (given->empty()) s.need_rank(0, 1, 1);
  return given->empty() ? 0 : s.axis((*given)[0], 0);
}

// Attribute 0: out_idx. Outputs: y, idx, and count where there is a third.
void infer_unique(Infer& s) {
  if (s.inputs() < 2) s.need_rank(0, 1, 1);
  DType out = s.attrs<UniqueAttrs>().out_idx();
  if (!kIndices.has(out)) s.bad_value("out_idx", name(out), "int32 or int64");
  Shape y = s.shape();
  int64_t axis = axis_of(s), n = kUnknown;
  if (y.has_rank() && axis >= 0) {
    n = y[static_cast<int>(axis)];
    y.dims()[static_cast<size_t>(axis)] = kUnknown;
  } else if (y.has_rank()) {
    y = Shape::of_rank(y.rank());
  }
  if (out == int32 && n > std::numeric_limits<int32_t>::max())
    s.bad_value("out_idx", "int32", cat("int64, to count to ", n));
  s.output(s.dtype(), s.inputs() < 2 ? Shape{kUnknown} : y);
  s.output(out, Shape{n});
  if (s.op().outputs.size() == 3) s.output(out, Shape{kUnknown});
}

// Slices along an axis, compared element by element: a vector's are its elements.
struct Slices {
  const char* data;
  ElementRules rules;
  int64_t outer = 1, count = 1, inner = 1;

  Slices(const Tensor& x, int64_t axis)
      : data(static_cast<const char*>(x.raw())), rules(element_rules(x.dtype())) {
    for (int i = 0; i < x.rank(); ++i) (i < axis ? outer : i == axis ? count : inner) *= x.dim(i);
  }
  const void* run(int64_t o, int64_t slice) const {
    return data + (o * count + slice) * inner * rules.size;
  }
  size_t operator()(int64_t slice) const {
    size_t h = 0;
    for (int64_t o = 0; o < outer; ++o) h = rules.hash(run(o, slice), inner, h);
    return h;
  }
  bool operator()(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < outer; ++o)
      if (!rules.same(run(o, a), run(o, b), inner)) return false;
    return true;
  }
};

Status run_unique(Call& c) {
  const Tensor& x = c.in();
  Dims given = c.inputs() > 1 ? c.ints(1) : Dims();
  int64_t axis = given.empty() ? 0 : given[0] < 0 ? given[0] + x.rank() : given[0];
  Slices slices(x, axis);
  std::unordered_map<int64_t, int64_t, Slices, Slices> seen(16, slices, slices);
  std::vector<int64_t> first, count, which;
  for (int64_t i = 0; i < slices.count; ++i) {
    auto [at, fresh] = seen.try_emplace(i, static_cast<int64_t>(first.size()));
    if (fresh) {
      first.push_back(i);
      count.push_back(0);
    }
    ++count[static_cast<size_t>(at->second)];
    which.push_back(at->second);
  }
  put_indices(which, c.out(1));
  auto distinct = static_cast<int64_t>(first.size());
  Shape shape = x.shape();
  shape.dims()[static_cast<size_t>(axis)] = distinct;
  auto* y = static_cast<char*>(c.out(0, shape).mutable_raw());
  for (int64_t o = 0; o < slices.outer; ++o)
    for (int64_t i = 0; i < distinct; ++i)
      slices.rules.copy(slices.run(o, first[static_cast<size_t>(i)]), slices.inner,
                        y + (o * distinct + i) * slices.inner * slices.rules.size);
  if (c.outputs() == 3) put_indices(count, c.out(2, Shape{distinct}));
  return {};
}

}  // namespace

static const Op unique_op = OP(Unique, &unique)
                                .args("x")
                                .options<&UniqueOptions::out_idx>("out_idx")
                                .inputs("x")
                                .attr("out_idx", int32)
                                .attrs<&UniqueAttrs::out_idx>()
                                .outputs("y, idx")
                                .returns("y, idx")
                                .dtypes(kAll)
                                .on_host()
                                .no_gradient()
                                .doc(
                                    "The distinct elements of a vector in order of appearance, and "
                                    "for each element which of them it is.")
                                .infer(infer_unique)
                                .kernel("hash", run_unique)
                                .samples("[1, 1, 2, 4, 4, 1]", "ints(9, low=0, high=3)")
                                .reference(
                                    "(lambda u: (u, np.array([list(u).index(v) for v in "
                                    "x])))(np.array(list(dict.fromkeys(np.asarray(x).tolist()))))");
std::tuple<Tensor, Tensor> unique(const In& x, const UniqueOptions& o) {
  Tensors out = unique_op.many({x}, {o.out_idx});
  return {out[0], out[1]};
}

static const Op counts_op = OP(UniqueWithCounts, &unique_with_counts)
                                .args("x")
                                .options<&UniqueOptions::out_idx>("out_idx")
                                .inputs("x")
                                .attr("out_idx", int32)
                                .attrs<&UniqueAttrs::out_idx>()
                                .outputs("y, idx, count")
                                .returns("y, idx, count")
                                .dtypes(kAll)
                                .on_host()
                                .no_gradient()
                                .doc(
                                    "The distinct elements of a vector in order of appearance, for "
                                    "each element which of them it is, and how often each occurs.")
                                .infer(infer_unique)
                                .kernel("hash", run_unique)
                                .samples("[1, 1, 2, 4, 4, 1]", "ints(9, low=0, high=3)")
                                .reference(
                                    "(lambda l: (lambda u: (np.array(u), np.array([u.index(v) for "
                                    "v in l]), np.array([l.count(v) for v in u])))"
                                    "(list(dict.fromkeys(l))))(np.asarray(x).tolist())");
std::tuple<Tensor, Tensor, Tensor> unique_with_counts(const In& x, const UniqueOptions& o) {
  Tensors out = counts_op.many({x}, {o.out_idx});
  return {out[0], out[1], out[2]};
}

static const Op along_op = RAW_OP(UniqueV2)
                               .inputs("x, axis: Taxis!")
                               .attr("out_idx", int32)
                               .attrs<&UniqueAttrs::out_idx>()
                               .outputs("y, idx")
                               .on_host()
                               .no_gradient()
                               .doc("Unique of slices along an axis.")
                               .infer(infer_unique)
                               .kernel("hash", run_unique);

static const Op counts_along_op = RAW_OP(UniqueWithCountsV2)
                                      .inputs("x, axis: Taxis!")
                                      .attr("out_idx", int32)
                                      .attrs<&UniqueAttrs::out_idx>()
                                      .outputs("y, idx, count")
                                      .on_host()
                                      .no_gradient()
                                      .doc("UniqueWithCounts of slices along an axis.")
                                      .infer(infer_unique)
                                      .kernel("hash", run_unique);

}  // namespace holdfast
