// Shape rules and gradients of convolutions. Each gradient op is linear in both of its operands, so
// its own gradients are the other two ops of the family.
#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/nn/conv/raw.h"
#include "holdfast/ops/nn/conv/shape.h"

namespace holdfast::nn {
namespace {

// Refuses `out_backprop` unless it has the shape that the forward pass would give.
void check_maps(const Infer& s, const ConvShape& c) {
  Shape want = c.out_shape(c.out_channels);
  if (!s.shape(2).compatible(want))
    s.bad_shape(2, cat("shape ", want.text(), ", that of the convolution's result"));
}

// The sizes in input `i` as far as they are known, where they are one for each axis.
Shape partly_known(const Infer& s, int i, int rank) {
  auto part = s.sizes(i);
  return part && part->size() == static_cast<size_t>(rank) ? Shape(*part) : Shape::of_rank(rank);
}

}  // namespace

void infer_conv(Infer& s, bool depthwise) {
  int rank = window_axes(s) + 2;
  s.need_rank(0, rank, rank);
  s.need_rank(1, rank, rank);
  ConvShape c = conv_shape(&s, checked_window_args(s), depthwise, s.shape(0), s.shape(1));
  s.output(s.dtype(), c.out_shape(c.out_channels));
}

void infer_conv_input(Infer& s, bool depthwise) {
  int axes = window_axes(s), rank = axes + 2;
  s.need_rank(0, 1, 1);
  s.need_rank(1, rank, rank);
  s.need_rank(2, rank, rank);
  WindowArgs a = checked_window_args(s);
  auto sizes = s.ints(0);
  if (!sizes) return s.output(s.dtype(1), partly_known(s, 0, rank));
  // Spatial sizes alone say enough, and a batch of -1 means that of `out_backprop`.
  bool first = channels_first(&s, a.data_format, axes);
  int64_t batch = s.shape(2).has_rank() ? s.shape(2)[0] : kUnknown;
  if (sizes->size() == static_cast<size_t>(axes)) {
    int64_t depth = s.shape(1).has_rank() ? s.shape(1)[axes] : kUnknown;
    sizes->insert(first ? 0 : sizes->size(), depth);
    sizes->insert(0, batch);
  }
  if (sizes->size() != static_cast<size_t>(rank))
    s.bad_value("input_sizes", Shape(*sizes).text(),
                cat(rank, " sizes, or the ", axes, " spatial ones"));
  if ((*sizes)[0] == -1) (*sizes)[0] = batch;
  for (size_t i = 1; i < sizes->size(); ++i)
    if ((*sizes)[i] < 0)
      s.bad_value("input_sizes", Shape(*sizes).text(),
                  "sizes of 0 or more; only the batch may be -1");
  if ((*sizes)[0] < -1) s.bad_value("input_sizes", Shape(*sizes).text(), "a batch of -1 or more");
  ConvShape c = conv_shape(&s, a, depthwise, Shape(*sizes), s.shape(1));
  check_maps(s, c);
  s.output(s.dtype(1), Shape(*sizes));
}

void infer_conv_filter(Infer& s, bool depthwise) {
  int rank = window_axes(s) + 2;
  s.need_rank(0, rank, rank);
  s.need_rank(1, 1, 1);
  s.need_rank(2, rank, rank);
  WindowArgs a = checked_window_args(s);
  auto sizes = s.ints(1);
  if (!sizes) return s.output(s.dtype(), partly_known(s, 1, rank));
  if (sizes->size() != static_cast<size_t>(rank))
    s.bad_value("filter_sizes", Shape(*sizes).text(), cat(rank, " sizes"));
  for (int64_t d : *sizes)
    if (d < 0) s.bad_value("filter_sizes", Shape(*sizes).text(), "sizes of 0 or more");
  ConvShape c = conv_shape(&s, a, depthwise, s.shape(0), Shape(*sizes));
  check_maps(s, c);
  s.output(s.dtype(), Shape(*sizes));
}

Tensor sizes_of(const Tensor& t) {
  return t.shape().is_full() ? Sizes(t.shape()).tensor() : shape(t);
}

Tensors grad_conv(Grad& g, const ConvOps& f) {
  Tensor dy = g.dy();
  return {g.wants(0) ? (*f.input)({sizes_of(g.x(0)), g.x(1), dy}, g.attrs()) : Tensor(),
          g.wants(1) ? (*f.filter)({g.x(0), sizes_of(g.x(1)), dy}, g.attrs()) : Tensor()};
}

Tensors grad_conv_input(Grad& g, const ConvOps& f) {
  Tensor dy = g.dy();
  return {Tensor(), g.wants(1) ? (*f.filter)({dy, sizes_of(g.x(1)), g.x(2)}, g.attrs()) : Tensor(),
          g.wants(2) ? (*f.forward)({dy, g.x(1)}, g.attrs()) : Tensor()};
}

Tensors grad_conv_filter(Grad& g, const ConvOps& f) {
  Tensor dy = g.dy();
  return {g.wants(0) ? (*f.input)({sizes_of(g.x(0)), dy, g.x(2)}, g.attrs()) : Tensor(), Tensor(),
          g.wants(2) ? (*f.forward)({g.x(0), dy}, g.attrs()) : Tensor()};
}

}  // namespace holdfast::nn
