#include "holdfast/ops/nn/pool_raw.h"

#include "holdfast/ops/nn/conv_raw.h"
#include "holdfast/ops/nn/pool_shape.h"

namespace holdfast::nn {
namespace {

// The attributes in the order of WindowAttr.
Builder& pool_attrs(Builder& b, const char* format) {
  return b.attr("strides").attr("padding").attr("data_format", format).attr("ksize");
}

// A window that nothing else looks at is read before its gradient is written.
int image_unless_windows_overlap(const Attrs& attrs) {
  const Ints &strides = attrs[kStrides].ints(), &sizes = attrs[kLast].ints();
  for (size_t i = 0; i < sizes.size(); ++i)
    if (i >= strides.size() || strides[i] < sizes[i]) return -1;
  return 0;
}

}  // namespace

extern const Op max_pool_grad_op, max_pool_grad_grad_op, avg_pool_grad_op;
extern const Op max_pool3d_grad_op, max_pool3d_grad_grad_op, avg_pool3d_grad_op;

const Op max_pool_op =
    pool_attrs(
        RAW_OP(MaxPool).inputs("input").dtypes(kReals).doc("Largest element under each window."),
        "NHWC")
        .attr("explicit_paddings", Ints())
        .infer(infer_pool)
        .kernel("channels", run_max_pool)
        .gradient(+[](Grad& g) -> Tensors {
          return {max_pool_grad_op({g.x(), g.y(), g.dy()}, g.attrs())};
        })
        .keeps("input, output");
const Op max_pool_grad_op =
    pool_attrs(RAW_OP(MaxPoolGrad)
                   .inputs("orig_input, orig_output, grad")
                   .dtypes(kReals)
                   .doc("Gradient of MaxPool: it goes to the first of the largest elements."),
               "NHWC")
        .attr("explicit_paddings", Ints())
        .infer(infer_max_pool_grad)
        .kernel("channels", run_max_pool_grad)
        .overwrites(image_unless_windows_overlap)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), Tensor(), max_pool_grad_grad_op({g.x(0), g.x(1), g.dy()}, g.attrs())};
        })
        .keeps("orig_input, orig_output");
const Op max_pool_grad_grad_op =
    pool_attrs(RAW_OP(MaxPoolGradGrad)
                   .inputs("orig_input, orig_output, grad")
                   .dtypes(kReals)
                   .doc("Elements of `grad` from the places where "
                        "MaxPool found the largest of `orig_input`."),
               "NHWC")
        .attr("explicit_paddings", Ints())
        .infer(infer_max_pool_grad_grad)
        .kernel("channels", run_max_pool_grad_grad)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), Tensor(), max_pool_grad_op({g.x(0), g.x(1), g.dy()}, g.attrs())};
        })
        .keeps("orig_input, orig_output");

const Op max_pool3d_op =
    pool_attrs(
        RAW_OP(MaxPool3D).inputs("input").dtypes(kReals).doc("Largest element under each window."),
        "NDHWC")
        .infer(infer_pool)
        .kernel("channels", run_max_pool)
        .gradient(+[](Grad& g) -> Tensors {
          return {max_pool3d_grad_op({g.x(), g.y(), g.dy()}, g.attrs())};
        })
        .keeps("input, output");
const Op max_pool3d_grad_op =
    pool_attrs(RAW_OP(MaxPool3DGrad)
                   .inputs("orig_input, orig_output, grad")
                   .dtypes(kReals)
                   .doc("Gradient of MaxPool3D: it goes to the first of the largest elements."),
               "NDHWC")
        .infer(infer_max_pool_grad)
        .kernel("channels", run_max_pool_grad)
        .overwrites(image_unless_windows_overlap)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), Tensor(), max_pool3d_grad_grad_op({g.x(0), g.x(1), g.dy()}, g.attrs())};
        })
        .keeps("orig_input, orig_output");
const Op max_pool3d_grad_grad_op =
    pool_attrs(RAW_OP(MaxPool3DGradGrad)
                   .inputs("orig_input, orig_output, grad")
                   .dtypes(kReals)
                   .doc("Elements of `grad` from the places where MaxPool3D found the largest of "
                        "`orig_input`."),
               "NDHWC")
        .infer(infer_max_pool_grad_grad)
        .kernel("channels", run_max_pool_grad_grad)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), Tensor(), max_pool3d_grad_op({g.x(0), g.x(1), g.dy()}, g.attrs())};
        })
        .keeps("orig_input, orig_output");

const Op avg_pool_op = pool_attrs(RAW_OP(AvgPool).inputs("value").dtypes(kFloats).doc(
                                      "Mean of the elements under each window."),
                                  "NHWC")
                           .infer(infer_pool)
                           .kernel("channels", run_avg_pool)
                           .gradient(+[](Grad& g) -> Tensors {
                             return {avg_pool_grad_op({sizes_of(g.x()), g.dy()}, g.attrs())};
                           })
                           .keeps("");
const Op avg_pool_grad_op =
    pool_attrs(RAW_OP(AvgPoolGrad)
                   .inputs("orig_input_shape: Tidx!, grad")
                   .dtypes(kFloats)
                   .doc("Gradient of AvgPool."),
               "NHWC")
        .infer(infer_avg_pool_grad)
        .kernel("channels", run_avg_pool_grad)
        .gradient(+[](Grad& g) -> Tensors { return {Tensor(), avg_pool_op({g.dy()}, g.attrs())}; })
        .keeps("");
const Op avg_pool3d_op = pool_attrs(RAW_OP(AvgPool3D).inputs("input").dtypes(kFloats).doc(
                                        "Mean of the elements under each window."),
                                    "NDHWC")
                             .infer(infer_pool)
                             .kernel("channels", run_avg_pool)
                             .gradient(+[](Grad& g) -> Tensors {
                               return {avg_pool3d_grad_op({sizes_of(g.x()), g.dy()}, g.attrs())};
                             })
                             .keeps("");
const Op avg_pool3d_grad_op = pool_attrs(RAW_OP(AvgPool3DGrad)
                                             .inputs("orig_input_shape: Tidx!, grad")
                                             .dtypes(kFloats)
                                             .doc("Gradient of AvgPool3D."),
                                         "NDHWC")
                                  .infer(infer_avg_pool_grad)
                                  .kernel("channels", run_avg_pool_grad)
                                  .gradient(+[](Grad& g) -> Tensors {
                                    return {Tensor(), avg_pool3d_op({g.dy()}, g.attrs())};
                                  })
                                  .keeps("");

}  // namespace holdfast::nn
