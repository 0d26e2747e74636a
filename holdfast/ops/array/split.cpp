// Taking a tensor apart along an axis. Pieces along the first axis are views.
#include "holdfast/base/checked.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

struct SplitAttrs {
  Attr<int64_t> num_split;
};
struct UnpackAttrs {
  Attr<int64_t> num;
  Attr<int64_t> axis;
};

// More pieces than this no program holds; a wild number is refused before it allocates.
constexpr int64_t kMostPieces = 1 << 24;

// `input` where a piece of shape `piece` is a view of what is cut: of all of it, or along its first
// axis that is longer than 1.
int alias_of_piece(const Shape& whole, const Shape& piece, int input) {
  for (int i = 0, outer = 1; i < whole.rank(); ++i) {
    if (whole[i] != piece[i]) return outer == 1 ? input : kFresh;
    if (whole[i] != 1) outer = 0;
  }
  return input;
}

// Cuts input `from` along `axis` at the outputs' sizes.
void cut(Call& c, const Tensor& x, int axis) {
  Around a = around(x.shape(), axis);
  int64_t at = 0;
  for (int i = 0; i < c.outputs(); ++i) {
    int64_t run = a.outer ? c.out_shape(i).size() / a.outer : 0;
    if (a.outer == 1 || c.out_shape(i) == x.shape()) {
      c.set_out(i, view_of(x, c.out_shape(i), at * size_of(x.dtype())));
    } else {
      copy_strided(x.dtype(), {{a.outer, a.size * a.inner, run}, {run, 1, 1}},
                   element(x.raw(), x.dtype(), at), c.out(i).mutable_raw());
    }
    at += run;
  }
}

int axis_of(Call& c, int input, const Tensor& x) {
  int64_t a = c.ints(input)[0];
  return static_cast<int>(a < 0 ? a + x.rank() : a);
}

int split_axis(Infer& s, int axis_input, int value_input) {
  if (s.shape(axis_input).elements().value_or(1) != 1) s.bad_shape(axis_input, "one axis");
  auto given = s.ints(axis_input);
  if (!given || !s.shape(value_input).has_rank()) return -1;
  if (s.shape(value_input).rank() == 0) s.bad_shape(value_input, "rank 1 or more");
  return s.axis((*given)[0], value_input);
}

// Pieces along an axis that is not known yet.
Shape same_rank(const Shape& whole) {
  return whole.has_rank() ? Shape::of_rank(whole.rank()) : Shape::unknown();
}

void infer_split(Infer& s) {
  int64_t n = s.attrs<SplitAttrs>().num_split();
  if (n < 1 || n > kMostPieces)
    s.bad_value("num_or_size_splits", cat(n), cat("1 to ", kMostPieces, " pieces"));
  int axis = split_axis(s, 0, 1);
  Shape out = axis < 0 ? same_rank(s.shape(1)) : s.shape(1);
  if (axis >= 0 && out[axis] >= 0) {
    if (out[axis] % n)
      s.bad_value("num_or_size_splits", cat(n),
                  cat("a divisor of ", out[axis], ", the size of axis ", axis));
    out.dims()[static_cast<size_t>(axis)] /= n;
  }
  for (int64_t i = 0; i < n; ++i) s.output(s.dtype(1), out);
}

void infer_split_v(Infer& s) {
  s.need_rank(1, 1, 1);
  auto sizes = s.ints(1);
  int axis = split_axis(s, 2, 0);
  int64_t n = s.attrs<SplitAttrs>().num_split(), total = 0;
  if (sizes && n != static_cast<int64_t>(sizes->size()))
    s.bad_value("num_split", cat(n), cat(sizes->size(), ", the number of sizes"));
  if (n < 1 || n > kMostPieces)
    s.bad_value("size_splits", cat(n, " sizes"), cat("1 to ", kMostPieces));
  Shape out = axis < 0 ? same_rank(s.shape(0)) : s.shape(0);
  int64_t open = -1, have = axis < 0 ? kUnknown : out[axis];
  for (int64_t i = 0; sizes && i < n; ++i) {
    int64_t d = (*sizes)[static_cast<size_t>(i)];
    if (d < -1 || (d == -1 && open >= 0))
      s.bad_value("size_splits", sizes_text(*sizes), "sizes of 0 or more, and at most one -1");
    if (d == -1) {
      open = i;
      continue;
    }
    auto sum = checked_add(total, d);
    if (!sum) s.bad_value("size_splits", sizes_text(*sizes), "a sum that can be counted");
    total = *sum;
  }
  if (sizes && have >= 0 && (open < 0 ? total != have : total > have))
    s.bad_value("size_splits", sizes_text(*sizes),
                cat("a sum of ", open < 0 ? "" : "at most ", have, ", the size of axis ", axis));
  for (int64_t i = 0; i < n; ++i) {
    int64_t d = !sizes      ? kUnknown
                : i == open ? (have < 0 ? kUnknown : have - total)
                            : (*sizes)[static_cast<size_t>(i)];
    if (axis >= 0) out.dims()[static_cast<size_t>(axis)] = d;
    s.output(s.dtype(0), out);
  }
}

Tensors all_dy(Grad& g) {
  Tensors out;
  for (int i = 0; i < g.outputs(); ++i) out.push_back(g.dy(i));
  return out;
}

void infer_unpack(Infer& s) {
  auto a = s.attrs<UnpackAttrs>();
  int64_t n = a.num();
  if (n < 0 || n > kMostPieces) s.bad_value("num", cat(n), cat("0 to ", kMostPieces));
  Shape out = s.shape();
  if (out.has_rank()) {
    s.need_rank(0, 1);
    int axis = s.axis(a.axis(), 0);
    if (out[axis] >= 0 && out[axis] != n)
      s.bad_value("num", cat(n), cat(out[axis], ", the size of axis ", axis));
    out.dims().erase(static_cast<size_t>(axis));
  }
  for (int64_t i = 0; i < n; ++i) s.output(s.dtype(), out);
}

int alias_of_unpack(const Types& t, int) {
  int64_t axis = t.attrs<UnpackAttrs>().axis();
  axis += axis < 0 ? t.shape().rank() : 0;
  return around(t.shape(), static_cast<int>(axis)).outer == 1 ? 0 : kFresh;
}

}  // namespace

static const Op split_op =
    RAW_OP(Split)
        .doc("Equal pieces along an axis.")
        .inputs("axis: D!, value")
        .attr("num_split")
        .attrs<&SplitAttrs::num_split>()
        .rearranges()
        .infer(infer_split)
        .aliases(
            +[](const Types& t, int i) { return alias_of_piece(t.shape(1), t.out_shape(i), 1); })
        .kernel(
            "runs",
            +[](Call& c) -> Status {
              cut(c, c.in(1), axis_of(c, 0, c.in(1)));
              return {};
            })
        .gradient(+[](Grad& g) -> Tensors { return {Tensor(), concat(all_dy(g), g.x(0))}; })
        .keeps("axis");

static const Op split_v_op =
    OP(SplitV, &split)
        .args("value, num_or_size_splits")
        .options<&SplitOptions::axis, &SplitOptions::num>("axis, num")
        .doc("Pieces along `axis`: so many equal ones, or of the given sizes (one may be -1).")
        .inputs("value, size_splits: Tlen!, axis: D!")
        .attr("num_split")
        .attrs<&SplitAttrs::num_split>()
        .rearranges()
        .infer(infer_split_v)
        .aliases(
            +[](const Types& t, int i) { return alias_of_piece(t.shape(0), t.out_shape(i), 0); })
        .kernel(
            "runs",
            +[](Call& c) -> Status {
              cut(c, c.in(0), axis_of(c, 2, c.in(0)));
              return {};
            })
        .gradient(
            +[](Grad& g) -> Tensors { return {concat(all_dy(g), g.x(2)), Tensor(), Tensor()}; })
        .keeps("axis")
        .samples("uniform(4, 3), 2", "uniform(2, 6), [1, 2, 3], axis=1",
                 "uniform(2, 6), [1, -1], axis=-1", "strings(4), 2")
        .reference(
            "np.split(value, num_or_size_splits if np.ndim(num_or_size_splits) == 0 else "
            "np.cumsum([(np.shape(value)[axis] - "
            "sum(x for x in num_or_size_splits if x >= 0)) if x < 0 else x for x in "
            "num_or_size_splits])[:-1], axis)");
Tensors split(const In& value, const Sizes& pieces, const SplitOptions& o) {
  bool count = pieces.is_tensor() ? pieces.tensor().rank() == 0 : pieces.single();
  if (count)
    return split_op.many({o.axis.tensor(), value},
                         {only(known_numbers(pieces, "split", "num_or_size_splits"))});
  Tensor sizes = pieces.tensor();
  int64_t n = sizes.rank() == 1 && sizes.dim(0) >= 0 ? sizes.dim(0) : o.num.value_or(-1);
  if (n < 0)
    fail(Code::E1105, "split: the length of `num_or_size_splits` must be known while tracing",
         "it says how many results there are", {manual_fix("give it as `num`")});
  if (o.num && *o.num != n)
    fail(Code::E1103, cat("split: `num` is ", *o.num, " but there are ", n, " sizes"));
  return split_v_op.many({value, sizes, o.axis.tensor()}, {n});
}

static const Op unpack_op =
    OP(Unpack, &unstack)
        .args("value")
        .options<&UnstackOptions::num, &UnstackOptions::axis>("num, axis")
        .doc("The slices along `axis`, each without it.")
        .inputs("value")
        .attr("num")
        .attr("axis", 0)
        .attrs<&UnpackAttrs::num, &UnpackAttrs::axis>()
        .rearranges()
        .infer(infer_unpack)
        .aliases(alias_of_unpack)
        .kernel(
            "runs",
            +[](Call& c) -> Status {
              int64_t axis = c.attrs<UnpackAttrs>().axis();
              cut(c, c.in(), static_cast<int>(axis < 0 ? axis + c.in().rank() : axis));
              return {};
            })
        .gradient(
            +[](Grad& g) -> Tensors { return {stack(all_dy(g), {g.attrs<UnpackAttrs>().axis()})}; })
        .keeps("")
        .samples("uniform(3, 4)", "uniform(3, 4), axis=-1", "uniform(3)", "strings(2, 3), axis=1")
        .reference("[np.take(value, i, axis) for i in range(np.shape(value)[axis])]");
Tensors unstack(const In& value, const UnstackOptions& o) {
  Tensor t = value;
  const Shape& s = t.shape();
  bool known =
      s.has_rank() && o.axis >= -s.rank() && o.axis < s.rank() && s[static_cast<int>(o.axis)] >= 0;
  if (s.has_rank() && s.rank() > 0 && (o.axis < -s.rank() || o.axis >= s.rank()))
    outside("unstack: `axis` is", o.axis, -s.rank(), s.rank()).check();
  if (!known && !o.num && s.rank() != 0)
    fail(Code::E1103, "unstack: the size of the axis is not known yet, so `num` is needed");
  return unpack_op.list(Tensors{t},
                        {o.num.value_or(known ? s[static_cast<int>(o.axis)] : 0), o.axis});
}

}  // namespace holdfast
