// What a convolution and both of its gradients have in common: three tensors and how they meet.
#pragma once

#include <functional>

#include "holdfast/ops/nn/window.h"

namespace holdfast::nn {

/// Which of image, filter and maps (the convolution's result) is computed from the other two.
enum class Pass : uint8_t { kForward, kInput, kFilter };

/// A depthwise convolution is one with as many groups as channels: its filter [h, w, channels,
/// multiplier] lies in memory as [h, w, 1, channels * multiplier].
struct ConvShape : Window {
  int64_t out_channels = kUnknown, groups = 1;

  int64_t group_in() const { return channels / groups; }
  int64_t group_out() const { return out_channels / groups; }
  /// Multiplications of one output position.
  int64_t work() const { return taps() * group_in() * out_channels; }
};

/// The geometry from the shapes of image and filter.
ConvShape conv_shape(const Infer* s, const WindowArgs&, bool depthwise, const Shape& image,
                     const Shape& filter);

/// The geometry of a call whose shape rule has run.
ConvShape conv_shape(const Types& t, Pass pass, bool depthwise);

/// A call with its operands named; which one is the result depends on the pass.
struct ConvCall {
  ConvCall(Call& c, Pass pass, const ConvShape& shape);
  Pass pass;
  ConvShape shape;
  DType dtype;
  Tensor image, filter, maps;
};

// -- kernels, best first

Preparation prepare_onednn(const Types&, Pass, bool depthwise);
Status run_onednn(Call&, const Prepared&, bool depthwise);
/// The same in pieces of `images` images, which divide the batch. `then(i)` is called once image
/// `i` and those of its piece are there, by the thread that computed them. A call may come with
/// another number than was prepared for, if `onednn_takes_pieces` says so.
Preparation prepare_onednn_pieces(const Types&, Pass, bool depthwise, int64_t images);
bool onednn_takes_pieces(const Prepared&, int64_t images);
Status run_onednn_pieces(Call&, const Prepared&, int64_t images,
                         const std::function<void(int64_t)>& then);
/// Gradient of the image where it has few channels, which libraries are slow at.
const char* refuse_few_channels(const Types&, Pass, bool depthwise);
Status run_few_channels(Call&, Pass, bool depthwise);
/// Convolutions of 3x3, and gradients of their images, by Winograd's algorithm. `then(i)` as above;
/// without it nothing is called.
const char* refuse_winograd(const Types&, Pass, bool depthwise);
Status run_winograd(Call&, const ConvCall&, int64_t images,
                    const std::function<void(int64_t)>& then);
const char* refuse_winograd_filter(const Types&, bool depthwise);
Status run_winograd_filter(Call&, bool depthwise);
/// Gradient of the filter as a product of lines, for channels last.
const char* refuse_filter_product(const Types&, bool depthwise);
Status run_filter_product(Call&, bool depthwise);
Status run_reference(Call&, Pass, bool depthwise);
/// The same for some positions of maps, or of a gradient of images: float32, channels last.
void run_reference_at(const ConvCall&, int64_t begin, int64_t end);

/// Adds the kernels of one pass to an op. They look at the dtype themselves: input 0 of a gradient
/// may be a list of sizes.
template <Pass P, bool Depthwise>
Builder& conv_kernels(Builder& b) {
  if constexpr (P == Pass::kInput)
    b.kernel(
        "few_channels", +[](Call& c) { return run_few_channels(c, P, Depthwise); }, kAll,
        +[](const Types& t) { return refuse_few_channels(t, P, Depthwise); });
  if constexpr (P == Pass::kFilter && !Depthwise)
    b.kernel(
        "winograd", +[](Call& c) { return run_winograd_filter(c, Depthwise); }, kAll,
        +[](const Types& t) { return refuse_winograd_filter(t, Depthwise); });
  if constexpr (P == Pass::kFilter)
    b.kernel(
        "lines", +[](Call& c) { return run_filter_product(c, Depthwise); }, kAll,
        +[](const Types& t) { return refuse_filter_product(t, Depthwise); });
  if constexpr (P != Pass::kFilter && !Depthwise)
    b.kernel(
        "winograd",
        +[](Call& c) {
          return run_winograd(c, ConvCall(c, P, conv_shape(c.types(), P, Depthwise)), 1, {});
        },
        kAll, +[](const Types& t) { return refuse_winograd(t, P, Depthwise); });
  b.kernel(
      "onednn", +[](const Types& t) { return prepare_onednn(t, P, Depthwise); },
      +[](Call& c, const Prepared& p) { return run_onednn(c, p, Depthwise); });
  return b.kernel("reference", +[](Call& c) { return run_reference(c, P, Depthwise); });
}

}  // namespace holdfast::nn
