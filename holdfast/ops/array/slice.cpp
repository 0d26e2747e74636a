// A box of elements by its corner and size.
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/one_run.h"
#include "holdfast/ops/array/slice_spec.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

void infer_slice(Infer& s) {
  s.need_rank(1, 1, 1);
  s.need_rank(2, 1, 1);
  auto begin = slice_numbers(s, 1), size = slice_numbers(s, 2);
  const Shape& in = s.shape();
  if (!in.has_rank()) {
    if (!size) return s.output(s.dtype(), Shape::unknown());
    Dims asked;  // as many axes, and where there are numbers, so long
    for (int64_t n : *size) asked.push_back(n >= 0 && n != kNotYet ? n : kUnknown);
    return s.output(s.dtype(), Shape(asked));
  }
  if ((begin && static_cast<int>(begin->size()) != in.rank()) ||
      (size && static_cast<int>(size->size()) != in.rank()))
    s.bad_value(begin && static_cast<int>(begin->size()) != in.rank() ? "begin" : "size",
                sizes_text(begin && static_cast<int>(begin->size()) != in.rank() ? *begin : *size),
                cat("one number for each axis of ", in.text()));
  Dims out;
  for (int i = 0; i < in.rank(); ++i) {
    auto at = static_cast<size_t>(i);
    int64_t d = in[i], n = size ? (*size)[at] : kNotYet;
    bool known = n != kNotYet;
    if (known && n < -1)
      s.bad_value(cat("size[", i, "]"), cat(n), "0 or more, or -1 for all the rest");
    if (begin && (*begin)[at] != kNotYet && d >= 0) {
      int64_t b = (*begin)[at];
      if (b < 0 || b > d) refuse_outside(s, cat("begin[", i, "]"), b, 0, d + 1);
      if (known && n == -1) n = d - b;
      if (known && n > d - b)
        refuse_outside(s, cat("size[", i, "]"), n, 0, d - b + 1,
                       cat(" on axis ", i, " of size ", d));
    }
    out.push_back(known ? n : kUnknown);
  }
  s.output(s.dtype(), Shape(out));
}

Status run_slice(Call& c) {
  const Tensor& x = c.in();
  Dims begin = c.ints(1);
  SliceSpec spec;
  for (int i = 0; i < x.rank(); ++i)
    spec.ranges.push_back({begin[static_cast<size_t>(i)], 1, c.out_shape()[i], i});
  int64_t offset = c.out_shape().size() ? spec.offset(x.shape()) : 0;
  if (spec.contiguous(x.shape())) {
    c.set_out(0, view_of(x, c.out_shape(), offset * size_of(x.dtype())));
    return {};
  }
  copy_strided(x.dtype(), spec.axes(x.shape()), element(x.raw(), x.dtype(), offset),
               c.out().mutable_raw());
  return {};
}

// What came before and after the box is padded again.
Tensors slice_back(Grad& g) {
  Tensor dy = g.dy();
  const Shape& in = g.x().shape();
  if (!in.is_full() || !dy.shape().is_full() || g.x(1).is_symbolic()) {
    Tensor begin = g.x(1), after = shape(g.x(), begin.dtype()) - shape(dy, begin.dtype()) - begin;
    return {pad(dy, stack({begin, after}, {1})), Tensor(), Tensor()};
  }
  Dims begin = g.ints(1), pads;
  for (int i = 0; i < in.rank(); ++i) {
    int64_t b = begin[static_cast<size_t>(i)];
    pads.push_back(b);
    pads.push_back(in[i] - dy.dim(i) - b);
  }
  return {pad(dy, host_ints(int64, pads, Shape{in.rank(), 2})), Tensor(), Tensor()};
}

}  // namespace

static const Op op =
    OP(Slice, &slice)
        .args("input_, begin, size")
        .doc("The box of `size` elements at `begin`; -1 means up to the end.")
        .inputs("input, begin: Index!, size: Index!")
        .infer(infer_slice)
        .kernel("strided", run_slice)
        .aliases(+[](const Types& t, int) { return alias_of_run(t.shape(), t.out_shape(), 0); })
        .gradient(slice_back)
        .keeps("begin")
        .rearranges()
        .samples("uniform(5, 4), [1, 0], [2, 3]", "uniform(5, 4), [3, 1], [-1, 2]",
                 "uniform(3, 4), [1, 0], [0, 4]", "strings(5), [2], [2]")
        .reference(
            "input_[tuple(slice(int(b), None if n < 0 else int(b) + int(n)) for "
            "b, n in zip(begin, size))]");
Tensor slice(const In& x, const Sizes& begin, const Sizes& size) {
  Tensor b = begin.tensor(), n = size.tensor();
  if (b.dtype() == int32 && n.dtype() == int64) b = cast(b, int64);
  if (b.dtype() == int64 && n.dtype() == int32) n = cast(n, int64);
  return op({x, b, n});
}

}  // namespace holdfast
