// Where something is true, and what is there.
#include <algorithm>

#include "holdfast/op/deferred.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/linalg/extent.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

void infer_where(Infer& s) {
  if (!s.shape().has_rank()) return s.output(int64, Shape{kUnknown, kUnknown});
  s.output(int64, Shape{kUnknown, s.shape().rank()});
}

Status run_where(Call& c) {
  const Tensor& x = c.in();
  int rank = x.rank();
  visit_plain(x.dtype(), [&]<class T>(T) {
    const T* p = x.raw<T>();
    int64_t n = x.size(), count = 0;
    auto there = [&](int64_t i) {
      if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat>)
        return static_cast<float>(p[i]) != 0;
      else
        return p[i] != T{};
    };
    for (int64_t i = 0; i < n; ++i) count += there(i);
    int64_t* out = c.out(0, Shape{count, rank}).template mutable_raw<int64_t>();
    // A position is written before it is known whether it stays: no branch to guess wrong.
    Dims at(static_cast<size_t>(rank), 0);
    for (int64_t i = 0, found = 0; rank > 0 && found < count;) {
      for (int64_t j = 0, inner = x.dim(-1); j < inner && found < count; ++j, ++i) {
        int64_t* row = out + found * rank;
        for (int k = 0; k < rank - 1; ++k) row[k] = at[static_cast<size_t>(k)];
        row[rank - 1] = j;
        found += there(i);
      }
      for (int k = rank - 2; k >= 0; --k) {
        auto axis = static_cast<size_t>(k);
        if (++at[axis] < x.dim(k)) break;
        at[axis] = 0;
      }
    }
  });
  return {};
}

}  // namespace

static const Op op =
    OP(Where, &where)
        .outputs("index")
        .args("condition: bool, x, y")
        .inputs("condition")
        .dtypes(kPlain)
        .doc(
            "The positions of non-zero elements, one a row; with x and y, x where true and y "
            "elsewhere.")
        .no_gradient()
        .infer(infer_where)
        .kernel("reference", run_where)
        .samples("bools(3, 4)", "bools(5)", "bools(3, 4), uniform(3, 4), uniform(4)")
        .reference("np.argwhere(condition) if x is None else np.where(condition, x, y)");
Tensor where(const In& condition, const MaybeIn& x, const MaybeIn& y) {
  if (x.has_value() != y.has_value())
    fail(Code::E1104, cat("where: `", x ? "y" : "x", "` is missing"),
         "x and y are given both or not at all");
  return x ? select(condition, *x, *y) : op({condition});
}

REGISTER(
    FUNCTION(&select_rows)
        .args("condition: bool, t, e")
        .python("raw_ops.Select")
        .doc("`t` where `condition` is true, `e` elsewhere: all of one shape, or one condition "
             "for each row of the first axis, or one for everything.")
        .samples("bools(3, 4), uniform(3, 4), uniform(3, 4)",
                 "bools(3), uniform(3, 4), uniform(3, 4)", "True, uniform(3), uniform(3)")
        .reference("np.where(np.reshape(condition, np.shape(condition) + (1,) * (t.ndim - 1)) "
                   "if np.ndim(condition) == 1 else condition, t, e)"));
static const Composition select_later(
    "Select", 3, +[](std::span<const Tensor> in) { return select_rows(in[0], in[1], in[2]); });
Tensor select_rows(const In& condition, const In& t, const In& e) {
  Tensor c = condition, x = t.tensor(e.dtype()), y = e.tensor(x.dtype());
  if (!ranks_known({c, x})) return select_later({c, x, y}, x.dtype(), x.shape());
  if (!x.shape().compatible(y.shape()))
    fail(Code::E1102, cat("Select: `e` is ", y.shape().text(), ", expected the shape of `t`, ",
                          x.shape().text()));
  bool rows = c.rank() == 1 && x.rank() > 1;
  bool fits = c.rank() == 0 || c.shape().compatible(x.shape()) ||
              (rows && (c.dim(0) < 0 || x.dim(0) < 0 || c.dim(0) == x.dim(0)));
  if (!fits)
    fail(Code::E1102,
         cat("Select: `condition` is ", c.shape().text(), ", expected the shape of `t`, ",
             x.shape().text(), ", one condition for each row of it, or a scalar"));
  if (rows) {
    Dims sizes(static_cast<size_t>(x.rank()), 1);
    sizes[0] = -1;
    c = reshape(c, sizes);
  }
  return select(c, x, y);
}

REGISTER(
    FUNCTION(&boolean_mask)
        .args("tensor, mask: M")
        .options<&BooleanMaskOptions::axis>("axis")
        .doc("The elements (or slices, where the mask has fewer axes) at which `mask` is true.")
        .samples("uniform(3, 4), [True, False, True]",
                 "uniform(2, 2), [[True, False], [True, True]]",
                 "uniform(3, 2), [True, False], axis=1")
        .reference("np.asarray(tensor)[(slice(None),) * (axis or 0) + (np.asarray(mask),)]"));
static const Composition mask_later(
    "boolean_mask", 2, +[](std::span<const Tensor> in, std::optional<int64_t> axis) {
      return boolean_mask(in[0], in[1], BooleanMaskOptions{.axis = axis});
    });
Tensor boolean_mask(const In& tensor, const In& mask, const BooleanMaskOptions& o) {
  Tensor t = tensor, m = mask;
  if (!is_bool(m.dtype()))
    fail(Code::E1101, cat("boolean_mask: `mask` is ", name(m.dtype()), ", expected bool"));
  if (!ranks_known({t, m})) return mask_later({t, m}, t.dtype(), Shape::unknown(), o.axis);
  if (m.rank() < 1)
    fail(Code::E1102,
         cat("boolean_mask: `mask` has shape ", m.shape().text(), ", expected rank 1 or more"));
  int64_t axis = o.axis.value_or(0), rank = t.rank();
  if (axis < -rank || axis >= std::max<int64_t>(rank, 1))
    outside("boolean_mask: `axis` is", axis, -rank, rank).check();
  if (axis < 0) axis += rank;
  if (axis + m.rank() > rank)
    fail(Code::E1102,
         cat("boolean_mask: `mask` has shape ", m.shape().text(), ", expected that of `tensor` ",
             t.shape().text(), " from axis ", axis, " on"));
  std::vector<linalg::Meeting> open;
  for (int i = 0; i < m.rank(); ++i) {
    int masked = static_cast<int>(axis) + i;
    int64_t here = m.dim(i), there = t.dim(masked);
    if (here >= 0 && here == there) continue;
    auto names = linalg::names_of({"boolean_mask", "tensor", "mask"}, {t, m});
    linalg::Meeting each{
        "boolean_mask", "a masked axis", {names[1], names[0]}, {m, t}, {i, masked}};
    if (here >= 0 && there >= 0) linalg::refuse_sizes(each);
    open.push_back(std::move(each));
  }
  if (!open.empty()) m = linalg::met(open);
  Tensor flat = t;
  if (t.shape().is_full()) {
    // The masked axes become one; what is taken from it is dense, so its gradient is too.
    Dims dims(t.shape().begin(), t.shape().begin() + axis);
    dims.push_back(m.shape().elements().value_or(-1));
    dims.append(t.shape().begin() + axis + m.rank(), t.shape().end());
    flat = reshape(t, dims);
  } else {
    Tensor s = shape(t);
    IndexItem before, after;
    before.stop = axis;
    after.start = axis + m.rank();
    flat = reshape(
        t, Sizes(concat({index(s, {before}), reshape(size(m), {1}), index(s, {after})}, 0)));
  }
  return gather(flat, squeeze(where(reshape(m, {-1})), {.axis = Sizes(1)}), {.axis = Sizes(axis)});
}

}  // namespace holdfast
