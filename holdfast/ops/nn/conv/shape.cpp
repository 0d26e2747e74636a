#include "holdfast/ops/nn/conv/shape.h"

#include "holdfast/base/checked.h"
#include "holdfast/base/text.h"

namespace holdfast::nn {
namespace {

[[noreturn]] void refuse_filter(const Infer* s, const Shape& filter, std::string expected) {
  if (!s) bug("a filter that does not fit reached a kernel");
  bool second = !s->op().inputs[1].host;
  if (second) s->bad_shape(1, std::move(expected));
  s->bad_value("filter_sizes", filter.text(), std::move(expected));
}

}  // namespace

ConvShape conv_shape(const Infer* s, const WindowArgs& a, bool depthwise, const Shape& image,
                     const Shape& filter) {
  int axes = static_cast<int>(a.strides.size()) - 2;
  Extent size{1, 1, 1};
  int64_t depth = kUnknown, last = kUnknown;
  if (filter.has_rank()) {
    for (int64_t d : filter.dims())
      if (d == 0) refuse_filter(s, filter, "no size of 0");
    for (int i = 0; i < axes; ++i) size[static_cast<size_t>(3 - axes + i)] = filter[i];
    depth = filter[axes];
    last = filter[axes + 1];
  } else {
    for (int i = 0; i < axes; ++i) size[static_cast<size_t>(3 - axes + i)] = kUnknown;
  }
  bool first = channels_first(s, a.data_format, axes);
  ConvShape c;
  static_cast<Window&>(c) =
      place_window(s, a, axes, image, size, spatial(s, "dilations", a.last, axes, first));
  if (depthwise) {
    if (depth >= 0 && c.channels >= 0 && depth != c.channels)
      refuse_filter(s, filter,
                    cat(c.channels, " channels along axis ", axes, ", as many as the input has"));
    if (c.channels < 0) c.channels = depth;
    c.groups = c.channels;
    if (depth >= 0 && last >= 0) {
      auto product = checked_mul(depth, last);
      if (!product) refuse_filter(s, filter, "fewer channels");
      c.out_channels = *product;
    }
    return c;
  }
  c.out_channels = last;
  if (depth < 0 || c.channels < 0) return c;
  if (c.channels % depth || !c.channels)
    refuse_filter(
        s, filter,
        cat("a number of channels along axis ", axes, " that divides the input's ", c.channels));
  c.groups = c.channels / depth;
  if (last >= 0 && last % c.groups)
    refuse_filter(s, filter,
                  cat("a multiple of ", c.groups, ", the number of groups, along axis ", axes + 1));
  return c;
}

ConvShape conv_shape(const Types& t, Pass pass, bool depthwise) {
  return conv_shape(nullptr, window_args(t.op, t.attrs()), depthwise,
                    pass == Pass::kInput ? t.out_shape() : t.shape(0),
                    pass == Pass::kFilter ? t.out_shape() : t.shape(1));
}

ConvCall::ConvCall(Call& c, Pass p, const ConvShape& s)
    : pass(p),
      shape(s),
      dtype(c.out_dtype()),
      image(p == Pass::kInput ? c.out() : c.in(0)),
      filter(p == Pass::kFilter ? c.out() : c.in(1)),
      maps(p == Pass::kForward ? c.out() : c.in(2)) {}

}  // namespace holdfast::nn
