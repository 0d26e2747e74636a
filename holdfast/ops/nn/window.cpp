#include "holdfast/ops/nn/window.h"

#include <algorithm>
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/ops/array/view.h"

namespace holdfast::nn {
namespace {

// Every size, stride and dilation stays below this, so that no product of two can overflow.
constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

[[noreturn]] void refuse(const Infer* s, const char* argument, std::string got,
                         std::string expected) {
  if (!s) bug(cat("a kernel met `", argument, "` = ", got, ", which its shape rule let through"));
  s->bad_value(argument, std::move(got), std::move(expected));
}

void place_axis(const Infer* s, const WindowArgs& a, Window& w, size_t i, const Ints& amounts,
                size_t axis) {
  int64_t in = w.in[i], reach = w.size[i] < 0 ? kUnknown : (w.size[i] - 1) * w.dilation[i] + 1,
          step = w.stride[i];
  w.out[i] = kUnknown;
  if (a.padding == "SAME") {
    if (in < 0) return;
    w.out[i] = (in + step - 1) / step;
    if (reach < 0 || in == 0) return;
    int64_t total = std::max<int64_t>((w.out[i] - 1) * step + reach - in, 0);
    w.before[i] = total / 2;
    w.after[i] = total - total / 2;
    return;
  }
  if (a.padding == "EXPLICIT") {
    w.before[i] = amounts[2 * axis];
    w.after[i] = amounts[2 * axis + 1];
  }
  if (in < 0 || reach < 0) return;
  int64_t room = in + w.before[i] + w.after[i];
  if (room < reach) {
    std::string expected =
        cat("at least ", reach - w.before[i] - w.after[i], " along axis ", axis,
            ": the window reaches over ", reach,
            w.before[i] || w.after[i] ? cat(" and padding adds ", w.before[i] + w.after[i]) : "",
            "; take a smaller window or padding 'SAME'");
    // The input itself, or (in a gradient) the list of its sizes.
    if (s && !s->op().inputs[0].host) s->bad_shape(0, std::move(expected));
    refuse(s, "input_sizes", cat(in), std::move(expected));
  }
  w.out[i] = (room - reach) / step + 1;
}

}  // namespace

Shape Window::shape(const Extent& e, int64_t c) const {
  Dims d{batch};
  if (channels_first) d.push_back(c);
  for (int i = 3 - axes; i < 3; ++i) d.push_back(e[static_cast<size_t>(i)]);
  if (!channels_first) d.push_back(c);
  return Shape(d);
}

std::pair<int64_t, int64_t> Window::inside(int axis, int64_t o) const {
  auto i = static_cast<size_t>(axis);
  int64_t start = o * stride[i] - before[i], step = dilation[i];
  int64_t first = start < 0 ? (-start + step - 1) / step : 0;
  int64_t last = in[i] > start ? std::min(size[i], (in[i] - start + step - 1) / step) : 0;
  return {std::min(first, last), last};
}

bool channels_first(const Infer* s, const std::string& format, int axes) {
  for (bool first : {false, true})
    if (format == format_name(axes, first)) return first;
  refuse(s, "data_format", cat("'", format, "'"),
         cat("'", format_name(axes, false), "' or '", format_name(axes, true), "'"));
}

Extent spatial(const Infer* s, const char* argument, const Ints& list, int axes, bool first) {
  Extent e{1, 1, 1};
  if (list.size() != static_cast<size_t>(axes) + 2)
    refuse(s, argument, Arg(list).text(), cat(axes + 2, " numbers, one per axis of the input"));
  for (int i = 0; i < axes + 2; ++i) {
    int64_t v = list[static_cast<size_t>(i)];
    if (v < 1 || v > kMost)
      refuse(s, argument, Arg(list).text(), "numbers of 1 or more that an int32 holds");
    bool outer = i == 0 || i == (first ? 1 : axes + 1);
    if (outer && v != 1 && s)
      s->unsupported(cat("`", argument, "` ", Arg(list).text()),
                     cat("1 along the batch and the channels"));
    if (!outer) e[static_cast<size_t>(3 - axes + i - (first ? 2 : 1))] = v;
  }
  return e;
}

Window place_window(const Infer* s, const WindowArgs& a, int axes, const Shape& input,
                    const Extent& size, const Extent& dilation) {
  Window w;
  w.axes = axes;
  w.channels_first = channels_first(s, a.data_format, axes);
  w.stride = spatial(s, "strides", a.strides, axes, w.channels_first);
  w.size = size;
  w.dilation = dilation;
  const Ints none;
  const Ints& amounts = a.explicit_paddings ? *a.explicit_paddings : none;
  if (a.padding != "SAME" && a.padding != "VALID" &&
      (a.padding != "EXPLICIT" || !a.explicit_paddings))
    refuse(s, "padding", cat("'", a.padding, "'"),
           a.explicit_paddings ? "'SAME', 'VALID' or 'EXPLICIT'" : "'SAME' or 'VALID'");
  if (a.padding == "EXPLICIT") {
    if (amounts.size() != static_cast<size_t>(2 * (axes + 2)))
      refuse(s, "explicit_paddings", Arg(amounts).text(),
             cat(2 * (axes + 2), " numbers, two per axis of the input"));
    for (int64_t v : amounts)
      if (v < 0 || v > kMost)
        refuse(s, "explicit_paddings", Arg(amounts).text(),
               "numbers of 0 or more that an int32 holds");
    size_t c = w.channels_first ? 1 : static_cast<size_t>(axes) + 1;
    if (amounts[0] || amounts[1] || amounts[2 * c] || amounts[2 * c + 1])
      refuse(s, "explicit_paddings", Arg(amounts).text(), "0 for the batch and the channels");
  } else if (!amounts.empty()) {
    refuse(s, "explicit_paddings", Arg(amounts).text(),
           cat("none, as padding is '", a.padding, "'"));
  }
  bool known = input.has_rank();
  if (known) {
    w.batch = input[0];
    w.channels = input[w.channels_first ? 1 : axes + 1];
  }
  for (int k = 0; k < axes; ++k) {
    auto i = static_cast<size_t>(3 - axes + k);
    int axis = k + (w.channels_first ? 2 : 1);
    w.in[i] = known ? input[axis] : kUnknown;
    if (w.in[i] > kMost || w.size[i] > kMost)
      refuse(s, "input", input.text(), "spatial sizes that an int32 holds");
    place_axis(s, a, w, i, amounts, static_cast<size_t>(axis));
  }
  return w;
}

const char* format_name(int axes, bool first) {
  if (axes == 1) return first ? "NCW" : "NWC";
  if (axes == 2) return first ? "NCHW" : "NHWC";
  return first ? "NCDHW" : "NDHWC";
}

bool is_channels_first(const char* function, const std::optional<std::string>& format, int axes) {
  if (!format) return false;
  for (bool first : {false, true})
    if (*format == format_name(axes, first)) return first;
  fail(Code::E1103, cat(function, ": `data_format` is '", *format, "', expected '",
                        format_name(axes, false), "' or '", format_name(axes, true), "'"));
}

Ints per_axis(const char* function, const char* argument, const Sizes& given, int axes,
              bool first) {
  Dims v = known_numbers(given, function, argument);
  auto n = static_cast<size_t>(axes);
  if (v.size() == n + 2) return Ints(v.begin(), v.end());
  if (v.size() != 1 && v.size() != n)
    fail(Code::E1103, cat(function, ": `", argument, "` holds ", v.size(), " numbers, expected 1, ",
                          axes, " or ", axes + 2));
  Ints out(n + 2, 1);
  for (size_t i = 0; i < n; ++i) out[i + (first ? 2 : 1)] = v[v.size() == 1 ? 0 : i];
  return out;
}

Ints per_axis(const char* function, const char* argument, const Axes& given, int axes, bool first) {
  return per_axis(function, argument, given ? *given : Sizes(1), axes, first);
}

int window_axes(const Infer& s) { return s.op().name.find("3D") == std::string::npos ? 2 : 3; }

WindowArgs window_args(const OpDef& op, const Attrs& attrs) {
  auto args = [](const auto& a, const Ints& last, const Ints* paddings) -> WindowArgs {
    return {a.strides(), a.padding(), a.data_format(), last, paddings};
  };
  if (has_attrs<PaddedConvAttrs>(op)) {
    auto a = attrs_of<PaddedConvAttrs>(op, attrs);
    return args(a, a.dilations(), &a.explicit_paddings());
  }
  if (has_attrs<ConvAttrs>(op)) {
    auto a = attrs_of<ConvAttrs>(op, attrs);
    return args(a, a.dilations(), nullptr);
  }
  if (has_attrs<PaddedPoolAttrs>(op)) {
    auto a = attrs_of<PaddedPoolAttrs>(op, attrs);
    return args(a, a.ksize(), &a.explicit_paddings());
  }
  auto a = attrs_of<PoolAttrs>(op, attrs);
  return args(a, a.ksize(), nullptr);
}

WindowArgs checked_window_args(const Infer& s) {
  WindowArgs a = window_args(s.op(), s.attrs());
  int axes = window_axes(s);
  spatial(&s, "strides", a.strides, axes, channels_first(&s, a.data_format, axes));
  return a;
}

}  // namespace holdfast::nn
