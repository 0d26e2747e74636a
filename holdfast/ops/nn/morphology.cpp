// Dilation and erosion by a structuring element, images with channels last.
#include "holdfast/ops/morphology.h"

#include <cstring>
#include <limits>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn/cpu/pool_loops.h"
#include "holdfast/ops/nn/window.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::nn {
namespace {

struct DilationAttrs {
  Attr<Ints> strides;
  Attr<Ints> rates;
  Attr<std::string> padding;
};

Window window_of(const Infer* s, const Ints& strides, const Ints& rates, const std::string& padding,
                 const Shape& image, const Shape& filter) {
  static const std::string format = "NHWC";
  Extent size{1, filter.has_rank() ? filter[0] : kUnknown,
              filter.has_rank() ? filter[1] : kUnknown};
  spatial(s, "strides", strides, 2, false);
  return place_window(s, {strides, padding, format, rates, nullptr}, 2, image, size,
                      spatial(s, "rates", rates, 2, false));
}

Window checked(const Infer& s) {
  auto a = s.attrs<DilationAttrs>();
  s.need_rank(0, 4, 4);
  s.need_rank(1, 3, 3);
  const Shape &image = s.shape(0), &filter = s.shape(1);
  if (image.has_rank() && filter.has_rank() && image[3] >= 0 && filter[2] >= 0 &&
      image[3] != filter[2])
    s.bad_shape(1, cat("depth ", image[3], ", that of `input`"));
  if (a.padding() != "SAME" && a.padding() != "VALID")
    s.bad_value("padding", cat("'", a.padding(), "'"), "'SAME' or 'VALID'");
  return window_of(&s, a.strides(), a.rates(), a.padding(), image, filter);
}

void infer_dilation(Infer& s) {
  Window w = checked(s);
  s.output(s.dtype(), w.out_shape(w.channels));
}

// The gradients: input, filter, what arrives.
void infer_back(Infer& s, int like) {
  Window w = checked(s);
  if (Shape out = w.out_shape(w.channels); !out.compatible(s.shape(2)))
    s.bad_shape(2, cat("shape ", out.text(), ", that of the result"));
  s.output(s.dtype(), s.shape(like));
}

// Calls `f(image, position, channel, largest sum, cell of the image, cell of the filter)` for the
// outputs of image `b`. A window that lies wholly in the padding has no cell: -1.
template <class T, class F>
void largest(const Window& w, const T* x, const T* filter, int64_t b, F&& f) {
  using W = std::conditional_t<std::is_integral_v<T>, T, float_of<T>>;
  int64_t n = w.channels;
  for (int64_t oy = 0; oy < w.out[1]; ++oy)
    for (int64_t ox = 0; ox < w.out[2]; ++ox) {
      auto [y0, y1] = w.inside(1, oy);
      auto [x0, x1] = w.inside(2, ox);
      for (int64_t c = 0; c < n; ++c) {
        W best{};
        int64_t at = -1, tap = -1;
        for (int64_t i = y0; i < y1; ++i)
          for (int64_t j = x0; j < x1; ++j) {
            int64_t row = oy * w.stride[1] - w.before[1] + i * w.dilation[1],
                    col = ox * w.stride[2] - w.before[2] + j * w.dilation[2];
            int64_t cell = (row * w.in[2] + col) * n + c, part = (i * w.size[2] + j) * n + c;
            auto sum = static_cast<W>(static_cast<W>(x[b * w.in_positions() * n + cell]) +
                                      static_cast<W>(filter[part]));
            if (at < 0 || sum > best) {
              best = sum;
              at = cell;
              tap = part;
            }
          }
        f(oy * w.out[2] + ox, c, best, at, tap);
      }
    }
}

Window window_of(const Call& c) {
  auto a = c.attrs<DilationAttrs>();
  return window_of(nullptr, a.strides(), a.rates(), a.padding(), c.in(0).shape(), c.in(1).shape());
}

template <class T>
T least() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::lowest();
  else
    return static_cast<T>(-std::numeric_limits<float>::infinity());
}

Status run_dilation(Call& c) {
  Window w = window_of(c);
  Tensor& y = c.out();
  visit_reals(y.dtype(), [&]<class T>(T) {
    T* to = y.mutable_raw<T>();
    int64_t work = w.positions() * w.cells() * w.channels;
    parallel_for(w.batch, grain_for(work), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        largest(w, c.in(0).raw<T>(), c.in(1).raw<T>(), b,
                [&](int64_t p, int64_t ch, auto best, int64_t at, int64_t) {
                  to[(b * w.positions() + p) * w.channels + ch] =
                      at < 0 ? least<T>() : static_cast<T>(best);
                });
    });
  });
  return {};
}

// Gives what arrives to the cell that made each sum, of the image or of the filter.
template <bool to_filter>
Status run_back(Call& c) {
  Window w = window_of(c);
  Tensor& out = c.out();
  visit_reals(out.dtype(), [&]<class T>(T) {
    using W = std::conditional_t<std::is_integral_v<T>, uint64_t, float_of<T>>;
    const T* dy = c.in(2).raw<T>();
    T* to = out.mutable_raw<T>();
    std::vector<W> sums(static_cast<size_t>(out.size()), W(0));
    // Images share the filter, so they come one after the other.
    for (int64_t b = 0; b < w.batch; ++b)
      largest(w, c.in(0).raw<T>(), c.in(1).raw<T>(), b,
              [&](int64_t p, int64_t ch, auto, int64_t at, int64_t tap) {
                if (at < 0) return;
                int64_t cell = to_filter ? tap : b * w.in_positions() * w.channels + at;
                sums[static_cast<size_t>(cell)] +=
                    static_cast<W>(dy[(b * w.positions() + p) * w.channels + ch]);
              });
    for (int64_t i = 0; i < out.size(); ++i) to[i] = static_cast<T>(sums[static_cast<size_t>(i)]);
  });
  return {};
}

Builder& described(Builder& b, const char* inputs) {
  return b.inputs(inputs)
      .dtypes(kReals)
      .attr("strides")
      .attr("rates")
      .attr("padding")
      .attrs<&DilationAttrs::strides, &DilationAttrs::rates, &DilationAttrs::padding>();
}

Tensors no_second_gradient(Grad&) {
  fail(Code::E1105, "the gradient of Dilation2D has no gradient of its own",
       "it goes to the cell that made each sum, and nothing here takes what arrives there back");
}

const Op input_op =
    described(
        RAW_OP(Dilation2DBackpropInput).doc("Gradient of Dilation2D with respect to its input."),
        "input, filter, out_backprop")
        .infer(+[](Infer& s) { infer_back(s, 0); })
        .outputs("in_backprop")
        .kernel("reference", run_back<false>)
        .gradient(&no_second_gradient);
const Op filter_op =
    described(
        RAW_OP(Dilation2DBackpropFilter).doc("Gradient of Dilation2D with respect to its filter."),
        "input, filter, out_backprop")
        .infer(+[](Infer& s) { infer_back(s, 1); })
        .outputs("filter_backprop")
        .kernel("reference", run_back<true>)
        .gradient(&no_second_gradient);
const Op dilation_op =
    described(
        RAW_OP(Dilation2D).doc("Largest sum of a window of the image and a structuring element."),
        "input, filter")
        .infer(infer_dilation)
        .kernel("reference", run_dilation)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.wants(0) ? input_op({g.x(0), g.x(1), g.dy()}, g.attrs()) : Tensor(),
                  g.wants(1) ? filter_op({g.x(0), g.x(1), g.dy()}, g.attrs()) : Tensor()};
        })
        .keeps("input, filter");

void need_nhwc(const char* function, const std::string& data_format) {
  if (data_format != "NHWC")
    fail(Code::E1105, cat(function, ": data_format '", data_format, "' is not supported"),
         "supported: 'NHWC'");
}

}  // namespace

REGISTER(FUNCTION(&dilation2d)
             .args("input, filters, strides, padding, data_format, dilations")
             .python("nn.dilation2d")
             .doc("Largest sum of a window of the image and a structuring element [height, width, "
                  "channels].")
             .samples("uniform(1, 4, 5, 2), uniform(2, 3, 2), [1, 1, 1, 1], 'SAME', 'NHWC', "
                      "[1, 1, 1, 1]",
                      "uniform(2, 5, 5, 1), uniform(2, 2, 1), [1, 2, 1, 1], 'VALID', 'NHWC', "
                      "[1, 2, 2, 1]")
             .checks({.gradient = false}));
Tensor dilation2d(const In& input, const In& filters, const Sizes& strides,
                  const std::string& padding, const std::string& data_format,
                  const Sizes& dilations) {
  need_nhwc("dilation2d", data_format);
  return dilation_op({input, filters},
                     {per_axis("dilation2d", "strides", strides, 2, false),
                      per_axis("dilation2d", "dilations", dilations, 2, false), padding});
}

REGISTER(FUNCTION(&erosion2d)
             .args("value, filters, strides, padding, data_format, dilations")
             .python("nn.erosion2d")
             .doc("Least difference of a window of the image and a structuring element.")
             .samples("uniform(1, 4, 5, 2), uniform(2, 3, 2), [1, 1, 1, 1], 'SAME', 'NHWC', "
                      "[1, 1, 1, 1]")
             .checks({.gradient = false}));
Tensor erosion2d(const In& value, const In& filters, const Sizes& strides,
                 const std::string& padding, const std::string& data_format,
                 const Sizes& dilations) {
  need_nhwc("erosion2d", data_format);
  return negative(dilation2d(negative(value), reverse(filters, {0, 1}), strides, padding,
                             data_format, dilations));
}

}  // namespace holdfast::nn
