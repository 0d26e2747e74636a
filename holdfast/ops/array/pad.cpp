// Padding with a constant.
#include "holdfast/ops/array/pad.h"

#include "holdfast/base/checked.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {

Shape padded_shape(const Infer& s) {
  s.need_rank(1, 2, 2);
  const Shape &in = s.shape(0), &table = s.shape(1);
  if (table.has_rank() && table[1] >= 0 && table[1] != 2)
    s.bad_shape(1, "shape [n,2]: before and after for each axis");
  if (!in.has_rank())
    return table.has_rank() && table[0] >= 0 && table[0] <= kMaxRank
               ? Shape::of_rank(static_cast<int>(table[0]))
               : Shape::unknown();
  if (table.has_rank() && table[0] >= 0 && table[0] != in.rank())
    s.bad_shape(1, cat("shape [", in.rank(), ",2], a row for each axis of ", in.text()));
  auto pads = s.sizes(1);
  if (!pads) return Shape::of_rank(in.rank());
  bool all = s.ints(1).has_value();
  Shape out = in;
  for (int i = 0; i < in.rank(); ++i) {
    int64_t before = (*pads)[static_cast<size_t>(2 * i)],
            after = (*pads)[static_cast<size_t>(2 * i + 1)];
    if (!all && (before < 0 || after < 0)) {
      out.dims()[static_cast<size_t>(i)] = kUnknown;
      continue;
    }
    if (before < 0 || after < 0)
      s.bad_value(cat("paddings[", i, "]"), cat("[", before, ",", after, "]"),
                  "sizes of 0 or more");
    if (in[i] < 0) continue;
    auto sum = checked_add(in[i], before);
    sum = sum ? checked_add(*sum, after) : sum;
    if (!sum)
      s.bad_value(cat("paddings[", i, "]"), cat("[", before, ",", after, "]"),
                  "a size that can be counted");
    out.dims()[static_cast<size_t>(i)] = *sum;
  }
  return out;
}

namespace {

void infer_pad(Infer& s) {
  if (s.has(2)) s.need_rank(2, 0, 0);
  s.output(s.dtype(), padded_shape(s));
}

Status run_pad(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  if (c.has(2))
    fill_run(y.dtype(), y.size(), c.in(2).raw(), y.mutable_raw());
  else
    fill_zeros(y);
  if (!x.size()) return {};
  Dims pads = c.ints(1), from = strides_of(x.shape()), to = strides_of(y.shape());
  CopyAxes axes;
  int64_t offset = 0;
  for (int i = 0; i < x.rank(); ++i) {
    auto at = static_cast<size_t>(i);
    axes.push_back({x.dim(i), from[at], to[at]});
    offset += pads[2 * at] * to[at];
  }
  copy_strided(y.dtype(), axes, x.raw(), element(y.mutable_raw(), y.dtype(), offset));
  return {};
}

// The padded part is cut off again; a constant that was padded with gets the sum of what it became.
Tensors pad_back(Grad& g) {
  Tensor dy = g.dy(), pads = g.x(1);
  Tensor begin =
      pads.is_symbolic() ? index(pads, {{}, {.kind = IndexItem::kInt, .start = 0}}) : Tensor();
  if (!begin.defined()) {
    Dims all = g.ints(1), first;
    for (size_t i = 0; i < all.size(); i += 2) first.push_back(all[i]);
    begin = Sizes(first).tensor();
  }
  Tensor dx = slice(dy, Sizes(begin), shape_of(g.x()));
  Tensors out{dx, Tensor()};
  if (g.inputs() > 2) out.push_back(g.wants(2) ? reduce_sum(dy) - reduce_sum(dx) : Tensor());
  return out;
}

}  // namespace

static const Op pad_op =
    OP(Pad, &pad)
        .args("tensor, paddings: P")
        .options<&PadOptions::mode, &PadOptions::constant_values>("mode, constant_values")
        .doc(
            "Padded by paddings[i] = [before, after] along axis i, with a constant or by "
            "reflection.")
        .inputs("input, paddings: Tpaddings!")
        .infer(infer_pad)
        .kernel("strided", run_pad)
        .gradient(pad_back)
        .keeps("paddings")
        .samples("uniform(3, 4), [[1, 2], [0, 1]]", "uniform(3), [[2, 1]], mode='REFLECT'",
                 "uniform(3, 2), [[3, 1], [1, 2]], mode='SYMMETRIC'",
                 "uniform(3), [[1, 1]], constant_values=2.5")
        .reference(
            "np.pad(tensor, np.asarray(paddings), mode.lower(), **({'constant_values': "
            "constant_values} if constant_values is not None else {}))");

static const Op pad_v2_op = RAW_OP(PadV2)
                                .doc("Padded with `constant_values`.")
                                .inputs("input, paddings: Tpaddings!, constant_values")
                                .infer(infer_pad)
                                .kernel("strided", run_pad)
                                .gradient(pad_back)
                                .keeps("paddings");

Tensor pad(const In& tensor, const In& paddings, const PadOptions& o) {
  std::string mode = o.mode;
  for (char& ch : mode) ch = static_cast<char>(ch >= 'a' && ch <= 'z' ? ch - 'a' + 'A' : ch);
  if (mode == "REFLECT" || mode == "SYMMETRIC") return mirror_pad(tensor, paddings, mode);
  if (mode != "CONSTANT")
    fail(Code::E1103,
         cat("pad: `mode` is '", o.mode, "', expected 'CONSTANT', 'REFLECT' or 'SYMMETRIC'"));
  return o.constant_values ? pad_v2_op({tensor, paddings, *o.constant_values})
                           : pad_op({tensor, paddings});
}

}  // namespace holdfast
