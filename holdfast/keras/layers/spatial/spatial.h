// What layers over images, lines and volumes have in common: where the channels are, sizes for each
// axis, the shapes they take.
#pragma once

#include <optional>
#include <string>

#include "holdfast/keras/layers/checks.h"

namespace holdfast::keras {

/// Where channels are if a layer does not say: "channels_last", unless a program sets another.
HOLDFAST_API std::string image_data_format();
HOLDFAST_API void set_image_data_format(const std::string& format);

namespace layers {

/// "channels_last" or "channels_first"; none stands for `image_data_format()`.
using DataFormat = std::optional<std::string>;

/// Settles which format it is and refuses any other; `of` is the class whose option it is.
void settle_format(DataFormat& format, const std::string& of);
inline bool channels_first(const DataFormat& format) { return format == "channels_first"; }
/// "NHWC" or "NCHW", for as many axes.
std::string op_format(int axes, const DataFormat& format);

/// Brings the sizes to one for each of `axes` axes and refuses those below `least`.
void settle_sides(Sides& sides, int axes, int64_t least, const char* option, const std::string& of);
/// Refuses strides and dilations that both are more than 1.
void need_one_of(const Sides& strides, const Sides& dilations, const std::string& of);
/// Brings a padding's name to lower case; one that is not among `known` is refused.
void settle_padding(std::string& padding, const std::vector<std::string>& known,
                    const std::string& of);

/// An input with a batch, channels, and `axes` axes between or behind them. Gives the axis of the
/// channels.
int need_field(const Layer& layer, const Shape& inputs, int axes, const DataFormat& format);
/// What it wants as a spec: with the size of the channels once the kernel is there, whose axis
/// `channels` has one for each of them, or of a group of them.
InputSpec field_spec(int axes, const DataFormat& format, const Variable& kernel, int channels,
                     int64_t groups = 1);
/// The first of the axes that a window moves over.
inline int first_axis(const DataFormat& format) { return channels_first(format) ? 2 : 1; }
/// Refuses inputs that are smaller than the window.
void need_room(const Layer& layer, const Shape& inputs, const std::vector<int64_t>& window,
               const DataFormat& format, const char* what);
/// A vector with one element for each channel, so that it broadcasts to an input.
Tensor by_channel(const Tensor& vector, int axes, const DataFormat& format);

}  // namespace layers
}  // namespace holdfast::keras
