// The public convolutions, over one, two and three axes.
#include <string_view>

#include "holdfast/base/checked.h"
#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/conv.h"
#include "holdfast/ops/nn/conv/call.h"
#include "holdfast/ops/nn/conv/raw.h"
#include "holdfast/ops/nn/numpy_reference.h"

namespace holdfast::nn {
namespace {

// The shape of `x` with its first `lead` axes as one.
Dims flattened(const char* function, const Tensor& x, size_t lead) {
  Dims flat{1};
  for (size_t i = 0; i < static_cast<size_t>(x.rank()); ++i) {
    int64_t d = x.shape().dims()[i];
    if (i >= lead) {
      flat.push_back(d);
      continue;
    }
    auto product = d < 0 || flat[0] < 0 ? std::optional(kUnknown) : checked_mul(flat[0], d);
    if (!product)
      fail(Code::E1102,
           cat(function, ": `input` is ", type_text(x), ", too large a batch to count"));
    flat[0] = *product;
  }
  return flat;
}

Tensor forward(const char* function, int axes, bool first, Tensor x, Tensor w, const Attrs& attrs) {
  need_rank(function, "input", x, axes + 2);
  need_rank(function, "filters", w, axes + 2, axes + 2);
  // Leading axes beyond the batch are part of it.
  Dims lead(x.shape().begin(), x.shape().end() - (axes + 1));
  bool many = lead.size() > 1;
  if (many) x = reshape(x, flattened(function, x, lead.size()));
  if (axes == 1) {
    x = insert_axis(x, first ? 2 : 1);
    w = insert_axis(w, 0);
  }
  Tensor y = (*(axes == 3 ? kConv3D : kConv2D).forward)({x, w}, attrs);
  if (axes == 1) y = remove_axis(y, first ? 2 : 1);
  if (many) {
    Dims full = lead;
    full.append(y.shape().begin() + 1, y.shape().end());
    y = reshape(y, full);
  }
  return y;
}

Tensor run(const char* function, int axes, const In& input, const In& filters, const Axes& strides,
           const Padding& padding, const std::optional<std::string>& data_format,
           const Axes& dilations);
const Composition run_later(
    "conv", 2,
    +[](std::span<const Tensor> in, const std::string& function, int64_t axes, const Axes& strides,
        const Padding& padding, const std::optional<std::string>& data_format,
        const Axes& dilations) {
      return run(function.c_str(), static_cast<int>(axes), in[0], in[1], strides, padding,
                 data_format, dilations);
    });

Tensor run(const char* function, int axes, const In& input, const In& filters, const Axes& strides,
           const Padding& padding, const std::optional<std::string>& data_format,
           const Axes& dilations) {
  Tensor x = input, w = filters.tensor(x.dtype());
  bool first = is_channels_first(function, data_format, axes);
  const char* steps = std::string_view(function) == "conv1d" ? "stride" : "strides";
  Attrs attrs = conv_attrs(function, axes, first, per_axis(function, steps, strides, axes, first),
                           padding, per_axis(function, "dilations", dilations, axes, first));
  need_rank(function, "input", x, axes + 2);
  need_rank(function, "filters", w, axes + 2, axes + 2);
  Shape result = x.shape().has_rank() ? Shape::of_rank(x.rank()) : Shape::unknown();
  if (!ranks_known({x, w}) || (x.rank() > axes + 2 && !sizes_known({x})))
    return run_later({x, w}, x.dtype(), result, function, axes, strides, padding, data_format,
                     dilations);
  return forward(function, axes, first, x, w, attrs);
}

Tensor run_transpose(const char* function, int axes, const In& input, const In& filters,
                     const Sizes& output_shape, const Sizes& strides, const Padding& padding,
                     const std::optional<std::string>& data_format, const Axes& dilations) {
  Tensor x = input, w = filters.tensor(x.dtype());
  bool first = is_channels_first(function, data_format, axes);
  Attrs attrs =
      conv_attrs(function, axes, first, per_axis(function, "strides", strides, axes, first),
                 padding, per_axis(function, "dilations", dilations, axes, first));
  need_rank(function, "input", x, axes + 2, axes + 2);
  need_rank(function, "filters", w, axes + 2, axes + 2);
  if (axes != 1)
    return (*(axes == 3 ? kConv3D : kConv2D).input)({output_shape.tensor(), w, x},
                                                    std::move(attrs));
  Dims sizes = known_numbers(output_shape, function, "output_shape");
  if (sizes.size() != 3 && sizes.size() != 1)
    fail(Code::E1103, cat(function, ": `output_shape` holds ", sizes.size(), " sizes, expected 3"));
  sizes.insert(sizes.size() == 1 ? 0 : first ? 2 : 1, 1);
  Tensor y = (*kConv2D.input)(
      {Sizes(sizes).tensor(), insert_axis(w, 0), insert_axis(x, first ? 2 : 1)}, std::move(attrs));
  return remove_axis(y, first ? 2 : 1);
}

}  // namespace

REGISTER(
    FUNCTION(&conv1d)
        .args("input, filters, stride, padding")
        .options<&Conv1DOptions::data_format, &Conv1DOptions::dilations>("data_format, dilations")
        .python("nn.conv1d")
        .doc("Convolution over one axis: input [..., width, channels], filters [width, channels, "
             "out].")
        .samples("uniform(2, 9, 3), uniform(3, 3, 4), 1, 'SAME'",
                 "uniform(2, 9, 3), uniform(4, 3, 2), 2, 'VALID'",
                 "uniform(2, 3, 9), uniform(3, 3, 4), 1, 'SAME', 'NCW', 2",
                 "uniform(2, 3, 9, 2), uniform(3, 2, 2), [1, 2, 1], 'SAME'")
        .reference(numpy_conv("input", "filters", "stride", "data_format", "dilations").c_str()));
Tensor conv1d(const In& input, const In& filters, const Sizes& stride, const Padding& padding,
              const Conv1DOptions& o) {
  return run("conv1d", 1, input, filters, stride, padding, o.data_format, o.dilations);
}

REGISTER(
    FUNCTION(&conv2d)
        .args("input, filters, strides, padding")
        .options<&Conv2DOptions::data_format, &Conv2DOptions::dilations>("data_format, dilations")
        .python("nn.conv2d")
        .doc("Convolution over two axes: input [..., height, width, channels], filters [height, "
             "width, channels, out].")
        .samples(
            "uniform(2, 6, 7, 3), uniform(3, 3, 3, 4), 1, 'SAME'",
            "uniform(2, 6, 7, 3), uniform(2, 3, 3, 4), [2, 1], 'VALID'",
            "uniform(1, 6, 7, 4), uniform(3, 3, 2, 4), 1, [[0, 0], [1, 0], [2, 1], [0, 0]]",
            "uniform(1, 3, 6, 7), uniform(3, 2, 3, 2), [1, 1, 2, 1], 'SAME', 'NCHW', [1, 1, 1, 2]")
        .reference(numpy_conv("input", "filters", "strides", "data_format", "dilations").c_str()));
Tensor conv2d(const In& input, const In& filters, const Sizes& strides, const Padding& padding,
              const Conv2DOptions& o) {
  return run("conv2d", 2, input, filters, strides, padding, o.data_format, o.dilations);
}

REGISTER(
    FUNCTION(&conv3d)
        .args("input, filters, strides, padding")
        .options<&Conv3DOptions::data_format, &Conv3DOptions::dilations>("data_format, dilations")
        .python("nn.conv3d")
        .doc("Convolution over three axes: input [batch, depth, height, width, channels].")
        .samples(
            "uniform(1, 4, 5, 4, 2), uniform(2, 3, 2, 2, 3), [1, 1, 1, 1, 1], 'SAME'",
            "uniform(1, 2, 4, 5, 4), uniform(2, 3, 2, 2, 3), [1, 1, 2, 1, 2], 'VALID', 'NCDHW'")
        .reference(numpy_conv("input", "filters", "strides", "data_format", "dilations").c_str()));
Tensor conv3d(const In& input, const In& filters, const Sizes& strides, const Padding& padding,
              const Conv3DOptions& o) {
  return run("conv3d", 3, input, filters, strides, padding, o.data_format, o.dilations);
}

REGISTER(
    FUNCTION(&convolution)
        .args("input, filters")
        .options<&ConvolutionOptions::strides, &ConvolutionOptions::padding,
                 &ConvolutionOptions::data_format, &ConvolutionOptions::dilations>(
            "strides, padding, data_format, dilations")
        .python("nn.convolution")
        .doc("Convolution over one, two or three axes, as many as the filters have.")
        .samples("uniform(2, 6, 7, 3), uniform(3, 3, 3, 4)",
                 "uniform(2, 9, 3), uniform(3, 3, 4), 2, 'SAME'",
                 "uniform(1, 4, 5, 4, 2), uniform(2, 3, 2, 2, 3), padding='SAME', dilations=2")
        .reference(numpy_conv("input", "filters", "strides", "data_format", "dilations").c_str()));
static const Composition convolution_later(
    "convolution", 2,
    +[](std::span<const Tensor> in, const Axes& strides, const Padding& padding,
        const std::optional<std::string>& data_format, const Axes& dilations) {
      return convolution(in[0], in[1],
                         {.strides = strides,
                          .padding = padding,
                          .data_format = data_format,
                          .dilations = dilations});
    });
Tensor convolution(const In& input, const In& filters, const ConvolutionOptions& o) {
  Tensor x = input, w = filters.tensor(x.dtype());
  if (!w.shape().has_rank())
    return convolution_later({x, w}, x.dtype(), Shape::unknown(), o.strides, o.padding,
                             o.data_format, o.dilations);
  need_rank("convolution", "filters", w, 3, 5);
  return run("convolution", w.rank() - 2, x, w, o.strides, o.padding, o.data_format, o.dilations);
}

REGISTER(FUNCTION(&conv1d_transpose)
             .args("input, filters, output_shape, strides")
             .options<&ConvTransposeOptions1D::padding, &ConvTransposeOptions1D::data_format,
                      &ConvTransposeOptions1D::dilations>("padding, data_format, dilations")
             .python("nn.conv1d_transpose")
             .doc("What conv1d's gradient computes, as a layer of its own: filters [width, out, "
                  "channels].")
             .samples("uniform(2, 5, 3), uniform(3, 4, 3), [2, 10, 4], 2"));
Tensor conv1d_transpose(const In& input, const In& filters, const Sizes& shape,
                        const Sizes& strides, const ConvTransposeOptions1D& o) {
  return run_transpose("conv1d_transpose", 1, input, filters, shape, strides, o.padding,
                       o.data_format, o.dilations);
}

REGISTER(FUNCTION(&conv2d_transpose)
             .args("input, filters, output_shape, strides")
             .options<&ConvTransposeOptions2D::padding, &ConvTransposeOptions2D::data_format,
                      &ConvTransposeOptions2D::dilations>("padding, data_format, dilations")
             .python("nn.conv2d_transpose")
             .doc("What conv2d's gradient computes, as a layer of its own: filters [height, width, "
                  "out, channels].")
             .samples("uniform(1, 3, 4, 3), uniform(3, 3, 2, 3), [1, 6, 8, 2], 2",
                      "uniform(1, 4, 4, 3), uniform(2, 3, 2, 3), [1, 5, 6, 2], 1, 'VALID'"));
Tensor conv2d_transpose(const In& input, const In& filters, const Sizes& shape,
                        const Sizes& strides, const ConvTransposeOptions2D& o) {
  return run_transpose("conv2d_transpose", 2, input, filters, shape, strides, o.padding,
                       o.data_format, o.dilations);
}

REGISTER(FUNCTION(&conv3d_transpose)
             .args("input, filters, output_shape, strides")
             .options<&ConvTransposeOptions3D::padding, &ConvTransposeOptions3D::data_format,
                      &ConvTransposeOptions3D::dilations>("padding, data_format, dilations")
             .python("nn.conv3d_transpose")
             .doc("What conv3d's gradient computes, as a layer of its own: filters [depth, height, "
                  "width, out, channels].")
             .samples("uniform(1, 2, 3, 2, 3), uniform(2, 3, 2, 2, 3), [1, 4, 6, 4, 2], 2"));
Tensor conv3d_transpose(const In& input, const In& filters, const Sizes& shape,
                        const Sizes& strides, const ConvTransposeOptions3D& o) {
  return run_transpose("conv3d_transpose", 3, input, filters, shape, strides, o.padding,
                       o.data_format, o.dilations);
}

REGISTER(FUNCTION(&conv_transpose)
             .args("input, filters, output_shape, strides")
             .options<&ConvTransposeOptions::padding, &ConvTransposeOptions::data_format,
                      &ConvTransposeOptions::dilations>("padding, data_format, dilations")
             .python("nn.conv_transpose")
             .doc("The transposed convolution over as many axes as the filters have.")
             .samples("uniform(1, 3, 4, 3), uniform(3, 3, 2, 3), [1, 6, 8, 2], 2",
                      "uniform(2, 5, 3), uniform(3, 4, 3), [2, 10, 4], 2"));
static const Composition transpose_later(
    "conv_transpose", 4,
    +[](std::span<const Tensor> in, const Padding& padding,
        const std::optional<std::string>& data_format, const Axes& dilations) {
      return conv_transpose(
          in[0], in[1], Sizes(in[2]), Sizes(in[3]),
          {.padding = padding, .data_format = data_format, .dilations = dilations});
    });
Tensor conv_transpose(const In& input, const In& filters, const Sizes& shape, const Sizes& strides,
                      const ConvTransposeOptions& o) {
  Tensor x = input, w = filters.tensor(x.dtype());
  if (!w.shape().has_rank())
    return transpose_later({x, w, shape.tensor(), strides.tensor()}, x.dtype(), Shape::unknown(),
                           o.padding, o.data_format, o.dilations);
  need_rank("conv_transpose", "filters", w, 3, 5);
  return run_transpose("conv_transpose", w.rank() - 2, x, w, shape, strides, o.padding,
                       o.data_format, o.dilations);
}

REGISTER(FUNCTION(&atrous_conv2d)
             .args("value, filters, rate, padding")
             .python("nn.atrous_conv2d")
             .doc("conv2d whose filter has `rate` - 1 holes between its rows and columns.")
             .samples("uniform(1, 7, 8, 2), uniform(3, 3, 2, 3), 2, 'SAME'",
                      "uniform(1, 7, 8, 2), uniform(3, 3, 2, 3), 2, 'VALID'")
             .reference(numpy_conv("value", "filters", "1", "None", "rate").c_str()));
Tensor atrous_conv2d(const In& value, const In& filters, int64_t rate, const Padding& padding) {
  return run("atrous_conv2d", 2, value, filters, Sizes(1), padding, std::nullopt, Sizes(rate));
}

REGISTER(FUNCTION(&atrous_conv2d_transpose)
             .args("value, filters, output_shape, rate, padding")
             .python("nn.atrous_conv2d_transpose")
             .doc("The transposed convolution whose filter has `rate` - 1 holes between its rows "
                  "and columns.")
             .samples("uniform(1, 6, 6, 3), uniform(3, 3, 2, 3), [1, 6, 6, 2], 2, 'SAME'"));
Tensor atrous_conv2d_transpose(const In& value, const In& filters, const Sizes& shape, int64_t rate,
                               const Padding& padding) {
  return run_transpose("atrous_conv2d_transpose", 2, value, filters, shape, Sizes(1), padding,
                       std::nullopt, Sizes(rate));
}

}  // namespace holdfast::nn
