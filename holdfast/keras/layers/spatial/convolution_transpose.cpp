#include "holdfast/keras/layers/spatial/convolution_transpose.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/conv.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {
namespace {

using O = ConvTransposeOptions;
template <class L>
ClassDef& declare(const char* path, const char* alias, const char* doc) {
  return Declare<L>(path, doc, &Layer::def())
      .template required<&O::filters>("filters")
      .template required<&O::kernel_size>("kernel_size")
      .template option<&O::strides>("strides")
      .template option<&O::padding>("padding")
      .template option<&O::output_padding>("output_padding")
      .template option<&O::data_format>("data_format")
      .template option<&O::dilation_rate>("dilation_rate")
      .template option<&O::activation>("activation")
      .template option<&O::use_bias>("use_bias")
      .template option<&O::kernel_initializer>("kernel_initializer")
      .template option<&O::bias_initializer>("bias_initializer")
      .template option<&O::kernel_regularizer>("kernel_regularizer")
      .template option<&O::bias_regularizer>("bias_regularizer")
      .template option<&O::activity_regularizer>("activity_regularizer")
      .template option<&O::kernel_constraint>("kernel_constraint")
      .template option<&O::bias_constraint>("bias_constraint")
      .layer_options()
      .key_before("output_padding", "data_format")
      .template weight<&L::kernel>("kernel")
      .template weight<&L::bias>("bias")
      .alias(alias);
}

/// For volumes Keras has two of the options the other way round.
ClassDef& data_format_first(ClassDef& d) {
  std::swap(d.options[4], d.options[5]);
  return d;
}

ClassDef& transposed1d =
    declare<Conv1DTransposeLayer>("layers.Conv1DTranspose", "layers.Convolution1DTranspose",
                                  "Transposed convolution over steps of time.");
ClassDef& transposed2d =
    declare<Conv2DTransposeLayer>("layers.Conv2DTranspose", "layers.Convolution2DTranspose",
                                  "Transposed convolution over images.");
ClassDef& transposed3d = data_format_first(
    declare<Conv3DTransposeLayer>("layers.Conv3DTranspose", "layers.Convolution3DTranspose",
                                  "Transposed convolution over volumes."));

}  // namespace

const ClassDef& Conv1DTransposeLayer::definition() const { return transposed1d; }
const ClassDef& Conv2DTransposeLayer::definition() const { return transposed2d; }
const ClassDef& Conv3DTransposeLayer::definition() const { return transposed3d; }

ConvTransposeLayer::ConvTransposeLayer(int axes) : axes_(axes) {
  options_.strides.sizes.assign(static_cast<size_t>(axes), 1);
  options_.dilation_rate = options_.strides;
}

void ConvTransposeLayer::check() {
  O& o = options_;
  const std::string& of = definition().name;
  need_at_least(o.filters, 1, "filters", of);
  settle_sides(o.kernel_size, axes_, 1, "kernel_size", of);
  settle_sides(o.strides, axes_, 1, "strides", of);
  settle_sides(o.dilation_rate, axes_, 1, "dilation_rate", of);
  settle_format(o.data_format, of);
  settle_padding(o.padding, {"valid", "same"}, of);
  need_one_of(o.strides, o.dilation_rate, of);
  if (!o.output_padding) return;
  settle_sides(*o.output_padding, axes_, 0, "output_padding", of);
  for (size_t i = 0; i < o.strides.sizes.size(); ++i)
    if (o.output_padding->sizes[i] >= o.strides.sizes[i])
      fail(Code::E1103,
           cat(of, ": `output_padding` is ", OptionType<Sides>::get(*o.output_padding).to_json(),
               ", expected less than `strides`, ", OptionType<Sides>::get(o.strides).to_json()));
}

int ConvTransposeLayer::need_inputs(const Shape& inputs) const {
  int channels = need_field(*this, inputs, axes_, options_.data_format);
  if (kernel.defined() && kernel.shape().rank() == axes_ + 2)
    need_size(*this, inputs, channels, kernel.shape()[axes_ + 1],
              "the layer was built for so many channels, which its kernel mixes");
  return channels;
}

std::optional<InputSpec> ConvTransposeLayer::input_spec() const {
  return field_spec(axes_, options_.data_format, kernel, axes_ + 1);
}

void ConvTransposeLayer::build(const Shape& inputs) {
  const O& o = options_;
  int64_t channels =
      known_size(*this, inputs, need_inputs(inputs), "the kernel has weights for each channel");
  std::vector<int64_t> dims = o.kernel_size.sizes;
  dims.insert(dims.end(), {o.filters, channels});
  kernel = add_weight({.name = "kernel",
                       .shape = dims,
                       .initializer = o.kernel_initializer,
                       .regularizer = o.kernel_regularizer,
                       .constraint = o.kernel_constraint});
  if (o.use_bias)
    bias = add_weight({.name = "bias",
                       .shape = {o.filters},
                       .initializer = o.bias_initializer,
                       .regularizer = o.bias_regularizer,
                       .constraint = o.bias_constraint});
}

template <class N>
N ConvTransposeLayer::grown(const N& n, size_t axis) const {
  const O& o = options_;
  int64_t stride = o.strides.sizes[axis];
  int64_t window = (o.kernel_size.sizes[axis] - 1) * o.dilation_rate.sizes[axis] + 1;
  if (o.padding == "same" && !o.output_padding) return n * stride;
  int64_t more =
      o.output_padding ? o.output_padding->sizes[axis] : std::max(window, stride) - window;
  return (n - 1) * stride + (o.padding == "same" ? window % 2 : window) + more;
}

Tensor ConvTransposeLayer::call(const Tensor& inputs, const CallOptions&) {
  const O& o = options_;
  need_built(*this, kernel, "kernel");
  int channels = need_inputs(inputs.shape());
  Shape whole = inputs.shape().has_rank() ? inputs.shape() : Shape::of_rank(axes_ + 2);
  whole.dims()[static_cast<size_t>(channels)] = o.filters;
  int first = first_axis(o.data_format);
  for (int i = 0; i < axes_; ++i) {
    int64_t& d = whole.dims()[static_cast<size_t>(first + i)];
    if (d >= 0) d = grown(d, static_cast<size_t>(i));
  }
  Sizes sizes = whole;
  if (!whole.is_full()) {
    Tensor have = shape(inputs);
    std::vector<Tensor> each;
    for (int i = 0; i < whole.rank(); ++i) {
      bool field = i >= first && i < first + axes_;
      if (whole[i] >= 0)
        each.push_back(Tensor::scalar(static_cast<int32_t>(whole[i])));
      else
        each.push_back(field ? grown<Tensor>(at(have, i), static_cast<size_t>(i - first))
                             : Tensor(at(have, i)));
    }
    sizes = stack(each);
  }
  std::string padding = o.padding == "same" ? "SAME" : "VALID";
  Tensor x = as_input(inputs), y;
  if (axes_ > 1) {
    y = nn::conv_transpose(x, read(kernel), sizes, o.strides.sizes,
                           {.padding = padding,
                            .data_format = op_format(axes_, o.data_format),
                            .dilations = o.dilation_rate.sizes});
  } else {  // an image of one row, whose size may be open
    Tensor as_image = sizes.tensor(), one = ones({1}, as_image.dtype());
    y = nn::conv2d_transpose(
        expand_dims(x, first), expand_dims(read(kernel), 0),
        concat({at(as_image, slice(0, first)), one, at(as_image, slice(first, 3))}, 0),
        {1, o.strides.sizes[0]},
        {.padding = padding,
         .data_format = op_format(2, o.data_format),
         .dilations = {1, o.dilation_rate.sizes[0]}});
    y = squeeze(y, {.axis = {first}});
  }
  if (!(y.shape() == whole)) y = ensure_shape(y, whole);  // what is known stays known
  if (bias.defined()) y = y + by_channel(read(bias), axes_, o.data_format);
  return o.activation ? (*o.activation)(y) : y;
}

}  // namespace holdfast::keras::layers
