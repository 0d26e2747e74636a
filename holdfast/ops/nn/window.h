// A window that slides over the spatial axes of a batch: the geometry that convolutions and pools
// share, worked out in one place for shape rules and kernels alike.
#pragma once

#include <algorithm>
#include <array>

#include "holdfast/op/function.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/padding.h"

namespace holdfast {

template <>
struct ParamType<nn::Padding> {
  static constexpr Kind kind = Kind::kPadding;
  static nn::Padding from(const Arg& a) {
    if (auto* amounts = std::get_if<Ints>(&a.value())) return nn::Padding(*amounts);
    return nn::Padding(a.s());
  }
  static Arg arg(const nn::Padding& v) { return Arg(v); }
  static void put(void* field, const Arg& a) { *static_cast<nn::Padding*>(field) = from(a); }
};

namespace nn {

/// One number for depth, height and width.
using Extent = std::array<int64_t, 3>;

/// Sizes that are not known yet are -1. Two-dimensional windows have a depth of 1.
struct Window {
  int axes = 2;  // spatial axes of the tensors
  bool channels_first = false;
  int64_t batch = kUnknown, channels = kUnknown;  // of the input
  Extent in{1, 1, 1}, out{1, 1, 1}, size{1, 1, 1};
  Extent stride{1, 1, 1}, dilation{1, 1, 1}, before{}, after{};

  /// The shape of an input, or output, with that many channels.
  Shape in_shape(int64_t of) const { return shape(in, of); }
  Shape out_shape(int64_t of) const { return shape(out, of); }
  int64_t positions() const { return out[0] * out[1] * out[2]; }
  int64_t in_positions() const { return in[0] * in[1] * in[2]; }
  int64_t taps() const { return size[0] * size[1] * size[2]; }
  /// Most cells of the input that a window holds: windows of pools may be larger than any tensor.
  int64_t cells() const {
    return std::min(size[0], in[0]) * std::min(size[1], in[1]) * std::min(size[2], in[2]);
  }
  /// The taps [first, last) along `axis` that fall inside the input for output `o`.
  std::pair<int64_t, int64_t> inside(int axis, int64_t o) const;

 private:
  Shape shape(const Extent&, int64_t channels) const;
};

/// The attributes of convolutions and of pools; those over two axes have paddings too.
struct ConvAttrs {
  Attr<Ints> strides;
  Attr<std::string> padding;
  Attr<std::string> data_format;
  Attr<Ints> dilations;
};
struct PaddedConvAttrs {
  Attr<Ints> strides;
  Attr<std::string> padding;
  Attr<std::string> data_format;
  Attr<Ints> dilations;
  Attr<Ints> explicit_paddings;
};
struct PoolAttrs {
  Attr<Ints> strides;
  Attr<std::string> padding;
  Attr<std::string> data_format;
  Attr<Ints> ksize;
};
struct PaddedPoolAttrs {
  Attr<Ints> strides;
  Attr<std::string> padding;
  Attr<std::string> data_format;
  Attr<Ints> ksize;
  Attr<Ints> explicit_paddings;
};

/// What they have in common: `last` is `dilations` of a convolution, `ksize` of a pool.
struct WindowArgs {
  const Ints& strides;
  const std::string& padding;
  const std::string& data_format;
  const Ints& last;
  const Ints* explicit_paddings;
};
HOLDFAST_API WindowArgs window_args(const OpDef& op, const Attrs& attrs);

/// Where the channels are, from a data format of `axes` spatial axes. A null `s` means that the
/// shape rule has accepted the arguments before.
bool channels_first(const Infer* s, const std::string& data_format, int axes);
/// The entries for the spatial axes of a list with one entry per axis; the others must be 1.
Extent spatial(const Infer* s, const char* argument, const Ints& list, int axes,
               bool channels_first);
/// How many spatial axes the op behind `s` has: its name says.
int window_axes(const Infer& s);
/// The arguments of the op behind `s`. Strides come from the caller: the number of axes is the
/// op's, and they must agree.
WindowArgs checked_window_args(const Infer& s);
/// Places a window of `size` over `input`.
Window place_window(const Infer* s, const WindowArgs&, int axes, const Shape& input,
                    const Extent& size, const Extent& dilation);

/// `given` as one number per axis of the input, as raw ops want it: from one number, one per
/// spatial axis, or one per axis.
Ints per_axis(const char* function, const char* argument, const Sizes& given, int axes,
              bool channels_first);
Ints per_axis(const char* function, const char* argument, const Axes& given, int axes,
              bool channels_first);
/// Whether `data_format`, if given, says that channels come second; refuses other words.
bool is_channels_first(const char* function, const std::optional<std::string>& data_format,
                       int axes);
/// "NHWC" and its like.
const char* format_name(int axes, bool channels_first);

}  // namespace nn
}  // namespace holdfast
