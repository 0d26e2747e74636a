// Max pools that tell where each largest element was, and the ops that follow those indices.
#include <cstring>
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/nn/cpu/pool_loops.h"
#include "holdfast/ops/nn/pool_shape.h"
#include "holdfast/ops/nn/window.h"
#include "holdfast/ops/pooling.h"

namespace holdfast::nn {
namespace {

struct FollowAttrs {
  Attr<Ints> ksize;
  Attr<Ints> strides;
  Attr<std::string> padding;
  Attr<bool> include_batch_in_index;
};

// The shape of the result.
Shape checked_shape(const Infer& s) {
  auto a = s.attrs<SmallWindowAttrs>();
  s.need_rank(0, 4, 4);
  static const std::string format = "NHWC";
  const Ints &ksize = a.ksize(), &strides = a.strides();
  Window w = argmax_pool_shape(&s, ksize, strides, a.padding(), s.shape());
  return pooled_shape({strides, a.padding(), format, ksize, nullptr}, w, s.shape());
}

void infer_argmax(Infer& s) {
  Shape small = checked_shape(s);
  DType index = s.attrs<ArgmaxPoolAttrs>().Targmax();
  if (!kIndices.has(index)) s.bad_value("Targmax", name(index), "int32 or int64");
  auto n = s.shape().elements();
  if (index == int32 && n && *n > std::numeric_limits<int32_t>::max())
    s.bad_value("Targmax", "int32", "int64 for so many elements");
  s.output(s.dtype(), small);
  s.output(index, small);
}

// input, grad, argmax; the attributes are as above without the index dtype.
void infer_follow(Infer& s, bool to_image) {
  Shape small = checked_shape(s), large = s.shape();
  if (!s.shape(1).compatible(to_image ? small : large))
    s.bad_shape(1, cat("shape ", (to_image ? small : large).text()));
  if (!s.shape(2).compatible(small))
    s.bad_shape(2, cat("shape ", small.text(), ", that of the pool's result"));
  s.output(s.dtype(1), to_image ? large : small);
}

// Calls `f(output, element of the image)` for all outputs; says so where an index leaves its image.
template <class F>
Status follow(const Call& c, F&& f) {
  const Tensor &image = c.in(0), &where = c.in(2);
  bool batch = c.attrs<FollowAttrs>().include_batch_in_index();
  int64_t n = where.size(), images = image.dim(0), entry = images ? image.size() / images : 0,
          each = images ? n / images : 0;
  Status status;
  visit_indices(where.dtype(), [&]<class I>(I) {
    const I* at = where.raw<I>();
    for (int64_t i = 0; i < n && status.ok(); ++i) {
      int64_t index = static_cast<int64_t>(at[i]), most = batch ? image.size() : entry;
      if (index < 0 || index >= most)
        status = outside(cat(c.op.name, ": `argmax[", i, "]` is"), index, 0, most);
      else
        f(i, index + (batch ? 0 : i / each * entry));
    }
  });
  return status;
}

Status run_to_image(Call& c) {
  Tensor& dx = c.out();
  std::memset(dx.mutable_raw(), 0, static_cast<size_t>(dx.bytes()));
  Status status;
  visit_reals(dx.dtype(), [&]<class T>(T) {
    const T* up = c.in(1).raw<T>();
    T* to = dx.mutable_raw<T>();
    using W = std::conditional_t<std::is_integral_v<T>, uint64_t, float_of<T>>;
    status = follow(c, [&](int64_t i, int64_t at) {
      to[at] = static_cast<T>(static_cast<W>(to[at]) + static_cast<W>(up[i]));
    });
  });
  return status;
}

Status run_from_image(Call& c) {
  Tensor& y = c.out();
  Status status;
  visit_reals(y.dtype(), [&]<class T>(T) {
    const T* from = c.in(1).raw<T>();
    T* to = y.mutable_raw<T>();
    status = follow(c, [&](int64_t i, int64_t at) { to[i] = from[at]; });
  });
  return status;
}

Builder& follow_attrs(Builder& b) {
  return b.inputs("input, grad, argmax: Targmax")
      .dtypes(kReals)
      .dtypes(kIndices, "Targmax")
      .attr("ksize")
      .attr("strides")
      .attr("padding")
      .attr("include_batch_in_index", false)
      .attrs<&SmallWindowAttrs::ksize, &SmallWindowAttrs::strides, &SmallWindowAttrs::padding>()
      .attrs<&FollowAttrs::ksize, &FollowAttrs::strides, &FollowAttrs::padding,
             &FollowAttrs::include_batch_in_index>();
}

}  // namespace

extern const Op to_image_op, from_image_op;
const Op to_image_op =
    follow_attrs(RAW_OP(MaxPoolGradWithArgmax).doc("Gradient of MaxPoolWithArgmax."))
        .infer(+[](Infer& s) { infer_follow(s, true); })
        .kernel("reference", run_to_image)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), from_image_op({g.x(0), g.dy(), g.x(2)}, g.attrs()), Tensor()};
        })
        .keeps("input, argmax");
const Op from_image_op =
    follow_attrs(RAW_OP(MaxPoolGradGradWithArgmax)
                     .doc("Elements of `grad` at the places that `argmax` names."))
        .infer(+[](Infer& s) { infer_follow(s, false); })
        .kernel("reference", run_from_image)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), to_image_op({g.x(0), g.dy(), g.x(2)}, g.attrs()), Tensor()};
        })
        .keeps("input, argmax");

static const Op argmax_op =
    RAW_OP(MaxPoolWithArgmax)
        .inputs("input")
        .dtypes(kReals)
        .outputs("output, argmax")
        .attr("ksize")
        .attr("strides")
        .attr("padding")
        .attr("Targmax", int64)
        .attr("include_batch_in_index", false)
        .attrs<&SmallWindowAttrs::ksize, &SmallWindowAttrs::strides, &SmallWindowAttrs::padding>()
        .attrs<&ArgmaxPoolAttrs::ksize, &ArgmaxPoolAttrs::strides, &ArgmaxPoolAttrs::padding,
               &ArgmaxPoolAttrs::Targmax, &ArgmaxPoolAttrs::include_batch_in_index>()
        .doc("Largest element under each window, and its index.")
        .infer(infer_argmax)
        .kernel("channels", run_max_pool_with_argmax)
        .gradient(+[](Grad& g) -> Tensors {
          return {to_image_op(
              {g.x(), g.dy(0), g.y(1)},
              {g.attrs<ArgmaxPoolAttrs>().ksize.arg(), g.attrs<ArgmaxPoolAttrs>().strides.arg(),
               g.attrs<ArgmaxPoolAttrs>().padding.arg(),
               g.attrs<ArgmaxPoolAttrs>().include_batch_in_index.arg()})};
        })
        .keeps("input, argmax");

REGISTER(FUNCTION(&max_pool_with_argmax)
             .args("input, ksize, strides, padding")
             .options<&ArgmaxPoolOptions::data_format, &ArgmaxPoolOptions::output_dtype,
                      &ArgmaxPoolOptions::include_batch_in_index>(
                 "data_format, output_dtype, include_batch_in_index")
             .python("nn.max_pool_with_argmax")
             .returns("output, argmax")
             .doc("max_pool2d, and where in its image each largest element was: the index (y * "
                  "width + x) * channels + channel.")
             .samples("uniform(2, 4, 5, 3), 2, 2, 'SAME'",
                      "uniform(2, 4, 5, 3), 2, 1, 'VALID', include_batch_in_index=True"));
std::tuple<Tensor, Tensor> max_pool_with_argmax(const In& input, const Sizes& ksize,
                                                const Sizes& strides, const Padding& padding,
                                                const ArgmaxPoolOptions& o) {
  const char* fn = "max_pool_with_argmax";
  if (o.data_format != "NHWC")
    fail(Code::E1105, cat(fn, ": data_format '", o.data_format, "' is not supported"),
         "supported: 'NHWC', in which its indices count");
  Tensors out = argmax_op.many(
      {input}, {per_axis(fn, "ksize", ksize, 2, false), per_axis(fn, "strides", strides, 2, false),
                padding.mode(), o.output_dtype, o.include_batch_in_index});
  return {out[0], out[1]};
}

}  // namespace holdfast::nn
