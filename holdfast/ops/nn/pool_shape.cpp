#include "holdfast/ops/nn/pool_shape.h"

#include "holdfast/base/text.h"

namespace holdfast::nn {
namespace {

void same_shape(const Infer& s, int input, const Shape& want, const char* of) {
  if (!s.shape(input).compatible(want))
    s.bad_shape(input, cat("shape ", want.text(), ", that of ", of));
}

Window channels_window(const Infer* s, const WindowArgs& a, const Shape& image) {
  int64_t size = a.last[3], depth = image.has_rank() ? image[3] : kUnknown;
  if (s) {
    std::string said =
        cat("`ksize` ", Arg(a.last).text(), " with `strides` ", Arg(a.strides).text());
    if (!s->op().name.starts_with("MaxPool"))
      s->unsupported(said, "1 along the batch and the channels");
    if (a.last != Ints{1, 1, 1, size} || a.strides != Ints{1, 1, 1, size} || size < 1)
      s->unsupported(said,
                     "windows over the image alone, or over the channels alone, side by side");
    if (depth >= 0 && depth % size)
      s->bad_value("ksize", Arg(a.last).text(), cat("a divisor of ", depth, ", the channels"));
  }
  Window w;
  w.channels = 1;
  w.batch = 1;
  for (int i = 0; i < 3; ++i) {
    int64_t d = image.has_rank() ? image[i] : kUnknown;
    w.batch = w.batch < 0 || d < 0 ? kUnknown : w.batch * d;
  }
  w.in = {1, 1, depth};
  w.out = {1, 1, depth < 0 ? kUnknown : depth / size};
  w.size = w.stride = {1, 1, size};
  return w;
}

}  // namespace

bool pools_channels(const WindowArgs& a) {
  return a.data_format == "NHWC" && a.last.size() == 4 && a.strides.size() == 4 &&
         (a.last[3] != 1 || a.strides[3] != 1);
}

Shape pooled_shape(const WindowArgs& a, const Window& w, const Shape& image) {
  if (!pools_channels(a)) return w.out_shape(w.channels);
  return image.has_rank() ? Shape{image[0], image[1], image[2], w.out[2]} : Shape::of_rank(4);
}

Window pool_shape(const Infer* s, const WindowArgs& a, const Shape& image) {
  if (pools_channels(a)) return channels_window(s, a, image);
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
  WindowArgs a{strides, padding, format, ksize, nullptr};
  if (!pools_channels(a)) spatial(s, "strides", strides, 2, false);
  return pool_shape(s, a, image);
}

namespace {

// The arguments of a pool; where it goes over channels, its window is checked with the image.
WindowArgs pool_args(const Infer& s) {
  WindowArgs a = window_args(s.op(), s.attrs());
  return window_axes(s) == 2 && pools_channels(a) ? a : checked_window_args(s);
}

}  // namespace

void infer_pool(Infer& s) {
  int rank = window_axes(s) + 2;
  s.need_rank(0, rank, rank);
  WindowArgs a = pool_args(s);
  s.output(s.dtype(), pooled_shape(a, pool_shape(&s, a, s.shape()), s.shape()));
}

void infer_max_pool_grad(Infer& s) {
  int rank = window_axes(s) + 2;
  for (int i = 0; i < 3; ++i) s.need_rank(i, rank, rank);
  WindowArgs a = pool_args(s);
  Shape small = pooled_shape(a, pool_shape(&s, a, s.shape()), s.shape());
  same_shape(s, 1, small, "the pool's result");
  same_shape(s, 2, small, "the pool's result");
  s.output(s.dtype(2), s.shape());
}

void infer_max_pool_grad_grad(Infer& s) {
  int rank = window_axes(s) + 2;
  for (int i = 0; i < 3; ++i) s.need_rank(i, rank, rank);
  WindowArgs a = pool_args(s);
  Shape small = pooled_shape(a, pool_shape(&s, a, s.shape()), s.shape());
  same_shape(s, 1, small, "the pool's result");
  same_shape(s, 2, s.shape(), "the pool's input");
  s.output(s.dtype(2), small);
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
