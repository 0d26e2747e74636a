// The raw op over two or three axes, as many as the filter has: Conv2D or Conv3D over a batch that
// may have several axes.
#include "holdfast/base/text.h"
#include "holdfast/op/kernel.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/nn/conv/raw.h"
#include "holdfast/ops/nn/conv/shape.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::nn {
namespace {

struct AnyConvAttrs {
  Attr<Ints> strides;
  Attr<std::string> padding;
  Attr<Ints> explicit_paddings;
  Attr<std::string> data_format;
  Attr<Ints> dilations;
  Attr<int64_t> batch_dims;
  Attr<int64_t> groups;
};

// A dilation for each axis.
Ints apart_of(const AnyConvAttrs& a, int axes) {
  return a.dilations().empty() ? Ints(static_cast<size_t>(axes) + 2, 1) : a.dilations();
}

// The attributes of Conv2D or Conv3D that say the same.
Attrs plain_attrs(const AnyConvAttrs& a, int axes) {
  Attrs out{a.strides(), a.padding(), format_name(axes, a.data_format() == "CHANNELS_FIRST"),
            apart_of(a, axes)};
  if (axes == 2) out.push_back(a.explicit_paddings());
  return out;
}

// A shape with its first axes as one.
Shape flat(const Shape& s, int64_t lead) {
  int64_t batch = 1;
  for (int i = 0; i < lead; ++i) batch = batch < 0 || s[i] < 0 ? kUnknown : batch * s[i];
  Dims d{batch};
  d.append(s.begin() + lead, s.end());
  return Shape(d);
}

void infer_any(Infer& s) {
  auto any = s.attrs<AnyConvAttrs>();
  s.need_rank(1, 4, 5);
  int64_t lead = any.batch_dims();
  if (lead < 1) s.bad_value("batch_dims", cat(lead), "1 or more");
  if (any.data_format() != "CHANNELS_LAST" && any.data_format() != "CHANNELS_FIRST")
    s.bad_value("data_format", cat("'", any.data_format(), "'"),
                "'CHANNELS_LAST' or 'CHANNELS_FIRST'");
  if (!s.shape(0).has_rank() || !s.shape(1).has_rank())
    return s.output(s.dtype(), Shape::unknown());
  int axes = s.shape(1).rank() - 2;
  s.need_rank(0, axes + 1 + static_cast<int>(lead), axes + 1 + static_cast<int>(lead));
  if (axes == 3 && any.padding() == "EXPLICIT")
    s.unsupported("padding 'EXPLICIT' over three axes", "'SAME' and 'VALID'");
  Ints apart = apart_of(any, axes);
  const std::string format = format_name(axes, any.data_format() == "CHANNELS_FIRST");
  spatial(&s, "strides", any.strides(), axes, any.data_format() == "CHANNELS_FIRST");
  ConvShape c = conv_shape(
      &s,
      {any.strides(), any.padding(), format, apart, axes == 2 ? &any.explicit_paddings() : nullptr},
      false, flat(s.shape(0), lead), s.shape(1));
  if (c.channels >= 0 && s.shape(1)[axes] >= 0 && c.groups != any.groups())
    s.bad_value("groups", cat(any.groups()),
                cat(c.groups, ", the input's channels over the filter's"));
  Shape one = c.out_shape(c.out_channels);
  Dims out(s.shape(0).begin(), s.shape(0).begin() + lead);
  out.append(one.begin() + 1, one.end());
  s.output(s.dtype(), Shape(out));
}

Status run_any(Call& c) {
  int axes = c.in(1).rank() - 2;
  auto any = c.attrs<AnyConvAttrs>();
  Tensor in[2] = {view_of(c.in(0), flat(c.in(0).shape(), any.batch_dims())), c.in(1)};
  Tensors out;
  const OpDef& plain = (axes == 3 ? kConv3D : kConv2D).forward->def();
  if (Status s = run_kernel(plain, in, plain_attrs(any, axes), c.device, out); !s.ok()) return s;
  c.set_out(0, view_of(out[0], c.out_shape()));
  return {};
}

Tensor flattened(const Tensor& t, int64_t lead) {
  if (lead == 1) return t;
  Tensor sizes = shape(t);
  Tensor rest = index(sizes, {{.kind = IndexItem::kSlice, .start = lead}});
  return reshape(t, Sizes(concat({Sizes({-1}).tensor(), rest}, 0)));
}

Tensors grad_any(Grad& g) {
  auto any = g.attrs<AnyConvAttrs>();
  int axes = g.x(1).rank() - 2;
  int64_t lead = any.batch_dims();
  const ConvOps& ops = axes == 3 ? kConv3D : kConv2D;
  Attrs attrs = plain_attrs(any, axes);
  Tensor x = flattened(g.x(0), lead), dy = flattened(g.dy(), lead), dx, dw;
  if (g.wants(0)) {
    dx = (*ops.input)({sizes_of(x), g.x(1), dy}, attrs);
    if (lead > 1) dx = reshape(dx, Sizes(shape(g.x(0))));
  }
  if (g.wants(1)) dw = (*ops.filter)({x, sizes_of(g.x(1)), dy}, attrs);
  return {dx, dw};
}

const Op any_op =
    RAW_OP(Conv)
        .inputs("input, filter")
        .dtypes(kFloats | DTypes{int32})
        .attr("strides")
        .attr("padding")
        .attr("explicit_paddings", Ints())
        .attr("data_format", "CHANNELS_LAST")
        .attr("dilations", Ints())
        .attr("batch_dims", 1)
        .attr("groups", 1)
        .attrs<&AnyConvAttrs::strides, &AnyConvAttrs::padding, &AnyConvAttrs::explicit_paddings,
               &AnyConvAttrs::data_format, &AnyConvAttrs::dilations, &AnyConvAttrs::batch_dims,
               &AnyConvAttrs::groups>()
        .doc("Convolution over two or three axes, as many as the filter has.")
        .infer(infer_any)
        .kernel("plain", run_any)
        .gradient(grad_any)
        .keeps("input, filter");

}  // namespace
}  // namespace holdfast::nn
