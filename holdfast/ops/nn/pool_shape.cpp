#include "holdfast/ops/nn/pool_shape.h"

#include "holdfast/base/text.h"

namespace holdfast::nn {
namespace {

void same_shape(const Infer& s, int input, const Shape& want, const char* of) {
  if (!s.shape(input).compatible(want))
    s.bad_shape(input, cat("shape ", want.text(), ", that of ", of));
}

}  // namespace

Window pool_shape(const Infer* s, const WindowArgs& a, const Shape& image) {
  int axes = static_cast<int>(a.strides.size()) - 2;
  bool first = channels_first(s, a.data_format, axes);
  Window w =
      place_window(s, a, axes, image, spatial(s, "ksize", a.last, axes, first), Extent{1, 1, 1});
  if (!s || a.padding != "EXPLICIT") return w;
  // Every window must hold a cell of the image: there is no largest of none.
  for (size_t i = 0; i < 3; ++i) {
    if (w.before[i] >= w.size[i] || w.after[i] >= w.size[i])
      s->bad_value("explicit_paddings", Arg(*a.explicit_paddings).text(),
                   "less than the window's size on every side");
    if (w.in[i] == 0) s->bad_shape(0, "no spatial size of 0 where padding is explicit");
  }
  return w;
}

Window argmax_pool_shape(const Infer* s, const Ints& ksize, const Ints& strides,
                         const std::string& padding, const Shape& image) {
  const std::string format = "NHWC";
  spatial(s, "strides", strides, 2, false);
  return pool_shape(s, {strides, padding, format, ksize, nullptr}, image);
}

void infer_pool(Infer& s) {
  int rank = window_axes(s) + 2;
  s.need_rank(0, rank, rank);
  Window w = pool_shape(&s, checked_window_args(s), s.shape());
  s.output(s.dtype(), w.out_shape(w.channels));
}

void infer_max_pool_grad(Infer& s) {
  int rank = window_axes(s) + 2;
  for (int i = 0; i < 3; ++i) s.need_rank(i, rank, rank);
  Window w = pool_shape(&s, checked_window_args(s), s.shape());
  same_shape(s, 1, w.out_shape(w.channels), "the pool's result");
  same_shape(s, 2, w.out_shape(w.channels), "the pool's result");
  s.output(s.dtype(2), s.shape());
}

void infer_max_pool_grad_grad(Infer& s) {
  int rank = window_axes(s) + 2;
  for (int i = 0; i < 3; ++i) s.need_rank(i, rank, rank);
  Window w = pool_shape(&s, checked_window_args(s), s.shape());
  same_shape(s, 1, w.out_shape(w.channels), "the pool's result");
  same_shape(s, 2, w.in_shape(w.channels), "the pool's input");
  s.output(s.dtype(2), w.out_shape(w.channels));
}

void infer_avg_pool_grad(Infer& s) {
  int rank = window_axes(s) + 2;
  s.need_rank(0, 1, 1);
  s.need_rank(1, rank, rank);
  WindowArgs a = checked_window_args(s);
  auto sizes = s.ints(0);
  if (!sizes) {
    auto part = s.sizes(0);
    return s.output(s.dtype(1), part && part->size() == static_cast<size_t>(rank)
                                    ? Shape(*part)
                                    : Shape::of_rank(rank));
  }
  if (sizes->size() != static_cast<size_t>(rank))
    s.bad_value("orig_input_shape", Shape(*sizes).text(), cat(rank, " sizes"));
  for (int64_t d : *sizes)
    if (d < 0) s.bad_value("orig_input_shape", Shape(*sizes).text(), "sizes of 0 or more");
  Window w = pool_shape(&s, a, Shape(*sizes));
  same_shape(s, 1, w.out_shape(w.channels), "the pool's result");
  s.output(s.dtype(1), Shape(*sizes));
}

}  // namespace holdfast::nn
