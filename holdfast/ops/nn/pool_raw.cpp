#include "holdfast/ops/nn/pool_raw.h"

#include "holdfast/ops/nn/conv/raw.h"
#include "holdfast/ops/nn/pool_shape.h"

namespace holdfast::nn {
namespace {

Builder& pool_attrs(Builder& b, const char* format) {
  return b.attr("strides").attr("padding").attr("data_format", format).attr("ksize");
}
Builder& plain_attrs(Builder& b, const char* format) {
  return pool_attrs(b, format)
      .attrs<&PoolAttrs::strides, &PoolAttrs::padding, &PoolAttrs::data_format,
             &PoolAttrs::ksize>();
}
Builder& padded_attrs(Builder& b) {
  using A = PaddedPoolAttrs;
  return pool_attrs(b, "NHWC")
      .attr("explicit_paddings", Ints())
      .attrs<&A::strides, &A::padding, &A::data_format, &A::ksize, &A::explicit_paddings>();
}

constexpr Images kPool{.inputs = 0b1, .gives = true};
constexpr Images kMaxPoolGrad{.inputs = 0b111, .gives = true};
constexpr Images kAvgPoolGrad{.inputs = 0b10, .sizes = 0b1, .gives = true};

// A window that nothing else looks at is read before its gradient is written.
int image_unless_windows_overlap(const OpDef& op, const Attrs& attrs) {
  WindowArgs a = window_args(op, attrs);
  for (size_t i = 0; i < a.last.size(); ++i)
    if (i >= a.strides.size() || a.strides[i] < a.last[i]) return -1;
  return 0;
}

}  // namespace

extern const Op max_pool_grad_op, max_pool_grad_grad_op, avg_pool_grad_op;
extern const Op max_pool3d_grad_op, max_pool3d_grad_grad_op, avg_pool3d_grad_op;

const Op max_pool_op = padded_attrs(RAW_OP(MaxPool).inputs("input").dtypes(kReals).doc(
                                        "Largest element under each window."))
                           .images(kPool)
                           .infer(infer_pool)
                           .kernel("channels", run_max_pool)
                           .gradient(+[](Grad& g) -> Tensors {
                             return {max_pool_grad_op({g.x(), g.y(), g.dy()}, g.attrs())};
                           })
                           .keeps("input, output");
const Op max_pool_grad_op =
    padded_attrs(RAW_OP(MaxPoolGrad)
                     .inputs("orig_input, orig_output, grad")
                     .dtypes(kReals)
                     .doc("Gradient of MaxPool: it goes to the first of the largest elements."))
        .images(kMaxPoolGrad)
        .infer(infer_max_pool_grad)
        .kernel("channels", run_max_pool_grad)
        .overwrites(image_unless_windows_overlap)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), Tensor(), max_pool_grad_grad_op({g.x(0), g.x(1), g.dy()}, g.attrs())};
        })
        .keeps("orig_input, orig_output");
const Op max_pool_grad_grad_op =
    padded_attrs(RAW_OP(MaxPoolGradGrad)
                     .inputs("orig_input, orig_output, grad")
                     .dtypes(kReals)
                     .doc("Elements of `grad` from the places where "
                          "MaxPool found the largest of `orig_input`."))
        .images(kMaxPoolGrad)
        .infer(infer_max_pool_grad_grad)
        .kernel("channels", run_max_pool_grad_grad)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), Tensor(), max_pool_grad_op({g.x(0), g.x(1), g.dy()}, g.attrs())};
        })
        .keeps("orig_input, orig_output");

const Op max_pool3d_op =
    plain_attrs(
        RAW_OP(MaxPool3D).inputs("input").dtypes(kReals).doc("Largest element under each window."),
        "NDHWC")
        .images(kPool)
        .infer(infer_pool)
        .kernel("channels", run_max_pool)
        .gradient(+[](Grad& g) -> Tensors {
          return {max_pool3d_grad_op({g.x(), g.y(), g.dy()}, g.attrs())};
        })
        .keeps("input, output");
const Op max_pool3d_grad_op =
    plain_attrs(RAW_OP(MaxPool3DGrad)
                    .inputs("orig_input, orig_output, grad")
                    .dtypes(kReals)
                    .doc("Gradient of MaxPool3D: it goes to the first of the largest elements."),
                "NDHWC")
        .images(kMaxPoolGrad)
        .infer(infer_max_pool_grad)
        .kernel("channels", run_max_pool_grad)
        .overwrites(image_unless_windows_overlap)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), Tensor(), max_pool3d_grad_grad_op({g.x(0), g.x(1), g.dy()}, g.attrs())};
        })
        .keeps("orig_input, orig_output");
const Op max_pool3d_grad_grad_op =
    plain_attrs(RAW_OP(MaxPool3DGradGrad)
                    .inputs("orig_input, orig_output, grad")
                    .dtypes(kReals)
                    .doc("Elements of `grad` from the places where MaxPool3D found the largest of "
                         "`orig_input`."),
                "NDHWC")
        .images(kMaxPoolGrad)
        .infer(infer_max_pool_grad_grad)
        .kernel("channels", run_max_pool_grad_grad)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), Tensor(), max_pool3d_grad_op({g.x(0), g.x(1), g.dy()}, g.attrs())};
        })
        .keeps("orig_input, orig_output");

const Op avg_pool_op = plain_attrs(RAW_OP(AvgPool).inputs("value").dtypes(kFloats).doc(
                                       "Mean of the elements under each window."),
                                   "NHWC")
                           .images(kPool)
                           .infer(infer_pool)
                           .kernel("channels", run_avg_pool)
                           .gradient(+[](Grad& g) -> Tensors {
                             return {avg_pool_grad_op({sizes_of(g.x()), g.dy()}, g.attrs())};
                           })
                           .keeps("");
const Op avg_pool_grad_op =
    plain_attrs(RAW_OP(AvgPoolGrad)
                    .inputs("orig_input_shape: Tidx!, grad")
                    .dtypes(kFloats)
                    .doc("Gradient of AvgPool."),
                "NHWC")
        .images(kAvgPoolGrad)
        .infer(infer_avg_pool_grad)
        .kernel("channels", run_avg_pool_grad)
        .gradient(+[](Grad& g) -> Tensors { return {Tensor(), avg_pool_op({g.dy()}, g.attrs())}; })
        .keeps("");
const Op avg_pool3d_op = plain_attrs(RAW_OP(AvgPool3D).inputs("input").dtypes(kFloats).doc(
                                         "Mean of the elements under each window."),
                                     "NDHWC")
                             .images(kPool)
                             .infer(infer_pool)
                             .kernel("channels", run_avg_pool)
                             .gradient(+[](Grad& g) -> Tensors {
                               return {avg_pool3d_grad_op({sizes_of(g.x()), g.dy()}, g.attrs())};
                             })
                             .keeps("");
const Op avg_pool3d_grad_op = plain_attrs(RAW_OP(AvgPool3DGrad)
                                              .inputs("orig_input_shape: Tidx!, grad")
                                              .dtypes(kFloats)
                                              .doc("Gradient of AvgPool3D."),
                                          "NDHWC")
                                  .images(kAvgPoolGrad)
                                  .infer(infer_avg_pool_grad)
                                  .kernel("channels", run_avg_pool_grad)
                                  .gradient(+[](Grad& g) -> Tensors {
                                    return {Tensor(), avg_pool3d_op({g.dy()}, g.attrs())};
                                  })
                                  .keeps("");

}  // namespace holdfast::nn
