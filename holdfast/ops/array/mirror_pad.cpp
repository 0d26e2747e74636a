// Padding by reflection, with the border element repeated (SYMMETRIC) or not (REFLECT).
#include "holdfast/ops/array/pad.h"
#include "holdfast/ops/array/scatter_loops.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct MirrorPadAttrs {
  Attr<std::string> mode;
};

int64_t repeated_border(const std::string& mode) { return mode == "REFLECT" ? 1 : 0; }

void need_mode(const Infer& s) {
  const std::string& mode = s.attrs<MirrorPadAttrs>().mode();
  if (mode != "REFLECT" && mode != "SYMMETRIC")
    s.bad_value("mode", cat("'", mode, "'"), "'REFLECT' or 'SYMMETRIC'");
}

void need_fit(const Infer& s, const Shape& small) {
  auto pads = s.ints(1);
  if (!pads || !small.has_rank()) return;
  for (int i = 0; i < small.rank(); ++i) {
    if (small[i] < 0) continue;
    int64_t most =
        std::max<int64_t>(0, small[i] - repeated_border(s.attrs<MirrorPadAttrs>().mode()));
    int64_t before = (*pads)[static_cast<size_t>(2 * i)],
            after = (*pads)[static_cast<size_t>(2 * i + 1)];
    if (before > most || after > most)
      s.bad_value(cat("paddings[", i, "]"), cat("[", before, ",", after, "]"),
                  cat("at most ", most, " on axis ", i, " of size ", small[i]));
  }
}

void infer_mirror(Infer& s) {
  need_mode(s);
  Shape out = padded_shape(s);
  need_fit(s, s.shape());
  s.output(s.dtype(), out);
}

void infer_mirror_grad(Infer& s) {
  need_mode(s);
  s.need_rank(1, 2, 2);
  auto pads = s.ints(1);
  if (!s.shape().has_rank() || !pads)
    return s.output(s.dtype(),
                    s.shape().has_rank() ? Shape::of_rank(s.shape().rank()) : Shape::unknown());
  if (s.shape(1)[1] != 2 || s.shape(1)[0] != s.shape().rank())
    s.bad_shape(1, cat("shape [", s.shape().rank(), ",2]"));
  Shape out = s.shape();
  for (int i = 0; i < out.rank(); ++i) {
    int64_t before = (*pads)[static_cast<size_t>(2 * i)],
            after = (*pads)[static_cast<size_t>(2 * i + 1)];
    if (before < 0 || after < 0 || (out[i] >= 0 && (before > out[i] || after > out[i] - before)))
      s.bad_value(cat("paddings[", i, "]"), cat("[", before, ",", after, "]"),
                  cat("sizes of 0 or more that fit axis ", i, " of ", s.shape().text()));
    if (out[i] >= 0) out.dims()[static_cast<size_t>(i)] -= before + after;
  }
  need_fit(s, out);
  s.output(s.dtype(), out);
}

// For each axis, where the elements of the padded tensor come from, in elements of the small one.
std::vector<std::vector<int64_t>> sources(const Shape& padded, const Shape& small, const Dims& pads,
                                          int64_t border) {
  Dims strides = strides_of(small);
  std::vector<std::vector<int64_t>> out;
  for (int i = 0; i < small.rank(); ++i) {
    std::vector<int64_t> axis(static_cast<size_t>(padded[i]));
    for (int64_t k = 0; k < padded[i]; ++k) {
      int64_t at = k - pads[static_cast<size_t>(2 * i)];
      if (at < 0)
        at = -at - 1 + border;
      else if (at >= small[i])
        at = 2 * small[i] - at - 1 - border;
      axis[static_cast<size_t>(k)] = at * strides[static_cast<size_t>(i)];
    }
    out.push_back(std::move(axis));
  }
  return out;
}

// Calls f(element of the padded tensor, element of the small one) for all, in order.
template <class F>
void walk(const std::vector<std::vector<int64_t>>& axes, F&& f) {
  if (axes.empty()) return f(int64_t{0}, int64_t{0});
  size_t last = axes.size() - 1;
  std::vector<size_t> at(axes.size(), 0);
  for (int64_t i = 0;;) {
    int64_t base = 0;
    for (size_t k = 0; k < last; ++k) base += axes[k][at[k]];
    for (int64_t off : axes[last]) f(i++, base + off);
    size_t k = last;
    while (k > 0 && ++at[k - 1] == axes[k - 1].size()) at[--k] = 0;
    if (k == 0) return;
  }
}

Status run_mirror(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  if (!y.size()) return {};
  auto axes =
      sources(y.shape(), x.shape(), c.ints(1), repeated_border(c.attrs<MirrorPadAttrs>().mode()));
  visit_cells(x.dtype(), [&]<class T>(T) {
    const T* from = x.raw<T>();
    T* to = y.mutable_raw<T>();
    walk(axes, [&](int64_t a, int64_t b) { to[a] = from[b]; });
  });
  return {};
}

Status run_mirror_grad(Call& c) {
  const Tensor& dy = c.in();
  Tensor& y = c.out();
  fill_zeros(y);
  if (!dy.size()) return {};
  auto axes =
      sources(dy.shape(), y.shape(), c.ints(1), repeated_border(c.attrs<MirrorPadAttrs>().mode()));
  visit_plain(dy.dtype(), [&]<class T>(T) {
    const T* from = dy.raw<T>();
    T* to = y.mutable_raw<T>();
    walk(axes, [&](int64_t a, int64_t b) { combine_run<T>(Combine::kAdd, to + b, from + a, 1); });
  });
  return {};
}

Tensors mirror_back(Grad& g);

}  // namespace

static const Op mirror_op = RAW_OP(MirrorPad)
                                .doc("Padded by reflection.")
                                .inputs("input, paddings: Tpaddings!")
                                .attr("mode")
                                .attrs<&MirrorPadAttrs::mode>()
                                .infer(infer_mirror)
                                .kernel("reference", run_mirror)
                                .gradient(mirror_back)
                                .keeps("paddings");

static const Op mirror_grad_op =
    RAW_OP(MirrorPadGrad)
        .doc("The elements that reflection repeated, summed: what flows back through a mirror pad.")
        .inputs("input, paddings: Tpaddings!")
        .attr("mode")
        .attrs<&MirrorPadAttrs::mode>()
        .dtypes(kNumbers)
        .infer(infer_mirror_grad)
        .kernel("reference", run_mirror_grad)
        .gradient(+[](Grad& g) -> Tensors {
          return {mirror_op({g.dy(), g.x(1)}, {g.attrs<MirrorPadAttrs>().mode.arg()}), Tensor()};
        })
        .keeps("paddings");

namespace {
Tensors mirror_back(Grad& g) {
  return {mirror_grad_op({g.dy(), g.x(1)}, {g.attrs<MirrorPadAttrs>().mode.arg()}), Tensor()};
}
}  // namespace

Tensor mirror_pad(const In& x, const In& paddings, const std::string& mode) {
  return mirror_op({x, paddings}, {mode});
}

}  // namespace holdfast
