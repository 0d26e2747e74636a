#include "holdfast/keras/layers/spatial/spatial.h"

#include <algorithm>
#include <atomic>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"

namespace holdfast::keras {
namespace {

constexpr const char *kLast = "channels_last", *kFirst = "channels_first";

std::atomic<bool>& first_by_default() {
  static std::atomic<bool> first = false;
  return first;
}

void need_format(const std::string& format, const std::string& of) {
  if (format == kLast || format == kFirst) return;
  fail(Code::E1104,
       cat(of, ": `data_format` is \"", format, "\", expected \"", kLast, "\" or \"", kFirst, "\""),
       "the format says which axis of the inputs holds the channels");
}

}  // namespace

std::string image_data_format() { return first_by_default() ? kFirst : kLast; }
void set_image_data_format(const std::string& format) {
  need_format(format, "set_image_data_format");
  first_by_default() = format == kFirst;
}

namespace layers {

void settle_format(DataFormat& format, const std::string& of) {
  if (!format) format = image_data_format();
  need_format(*format, of);
}

std::string op_format(int axes, const DataFormat& format) {
  std::string field = axes == 1 ? "W" : axes == 2 ? "HW" : "DHW";
  return channels_first(format) ? "NC" + field : "N" + field + "C";
}

void settle_sides(Sides& sides, int axes, int64_t least, const char* option,
                  const std::string& of) {
  sides.sizes = sides.over(static_cast<size_t>(axes), cat(of, ": `", option, "`"));
  sides.single = false;
  for (int64_t one : sides.sizes)
    if (one < least)
      fail(Code::E1103, cat(of, ": `", option, "` is ", OptionType<Sides>::get(sides).to_json(),
                            ", expected sizes of at least ", least));
}

void need_one_of(const Sides& strides, const Sides& dilations, const std::string& of) {
  auto more = [](const Sides& s) {
    return std::any_of(s.sizes.begin(), s.sizes.end(), [](int64_t one) { return one > 1; });
  };
  if (more(strides) && more(dilations))
    fail(Code::E1103, cat(of, ": `strides` is ", OptionType<Sides>::get(strides).to_json(),
                          " and `dilation_rate` ", OptionType<Sides>::get(dilations).to_json(),
                          ", expected one of them to be 1"));
}

void settle_padding(std::string& padding, const std::vector<std::string>& known,
                    const std::string& of) {
  std::transform(padding.begin(), padding.end(), padding.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::find(known.begin(), known.end(), padding) != known.end()) return;
  std::string all;
  for (const std::string& k : known)
    all += cat(all.empty() ? "" : &k == &known.back() ? " or " : ", ", "\"", k, "\"");
  fail(Code::E1104, cat(of, ": `padding` is \"", padding, "\", expected ", all));
}

int need_field(const Layer& layer, const Shape& inputs, int axes, const DataFormat& format) {
  std::string field = axes == 1 ? "steps" : axes == 2 ? "height, width" : "depth, height, width";
  need_axes(layer, inputs, axes + 2,
            channels_first(format) ? cat("[batch, channels, ", field, "]")
                                   : cat("[batch, ", field, ", channels]"));
  return channels_first(format) ? 1 : axes + 1;
}

InputSpec field_spec(int axes, const DataFormat& format, const Variable& kernel, int channels,
                     int64_t groups) {
  InputSpec out{.at_least = axes + 2};
  if (kernel.defined() && kernel.shape().rank() == axes + 2)
    out.sizes = {{channels_first(format) ? 1 : -1, kernel.shape()[channels] * groups}};
  return out;
}

void need_room(const Layer& layer, const Shape& inputs, const std::vector<int64_t>& window,
               const DataFormat& format, const char* what) {
  if (!inputs.has_rank()) return;
  for (size_t i = 0; i < window.size(); ++i) {
    int axis = first_axis(format) + static_cast<int>(i);
    if (inputs[axis] < 0 || inputs[axis] >= window[i]) continue;
    fail(Code::E1102,
         cat(layer.described(), ": `inputs` has the shape ", inputs.text(), ", expected at least ",
             window[i], " along axis ", axis),
         cat("expected at least ", window[i], " along axis ", axis, ": ", what,
             " covers so many, and nothing would be left"),
         {manual_fix("use a smaller window, larger inputs, or `padding=\"same\"`")});
  }
}

Tensor by_channel(const Tensor& vector, int axes, const DataFormat& format) {
  if (!channels_first(format)) return vector;
  std::vector<int64_t> dims(static_cast<size_t>(axes) + 1, 1);
  dims[0] = -1;
  return reshape(vector, dims);
}

}  // namespace layers
}  // namespace holdfast::keras
