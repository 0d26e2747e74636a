// Max pools whose window comes as tensors, so that a step can choose it. Each is the plain op once
// the numbers are there.
#include "holdfast/base/text.h"
#include "holdfast/op/kernel.h"
#include "holdfast/ops/nn/pool_raw.h"
#include "holdfast/ops/nn/pool_shape.h"

namespace holdfast::nn {

extern const Op max_pool_op, max_pool_grad_op, max_pool_grad_grad_op;

namespace {

struct PoolV2Attrs {
  Attr<std::string> padding;
  Attr<std::string> data_format;
};

// The result of the pool as far as it is known: nothing of the image's sizes, if the window is not.
// Inputs: images first, then ksize and strides.
Shape pooled(const Infer& s, int images) {
  auto attrs = s.attrs<PoolV2Attrs>();
  for (int i = 0; i < images; ++i) s.need_rank(i, 4, 4);
  Ints lists[2];
  for (int i = 0; i < 2; ++i) {
    const std::string& argument = s.op().inputs[static_cast<size_t>(images + i)].name;
    s.need_rank(images + i, 1, 1);
    auto numbers = s.ints(images + i);
    Dims four = numbers ? *numbers : Dims{1, 1, 1, 1};
    if (four.size() != 4)
      s.bad_value(argument, cat(four.size(), " numbers"), "four, one for each axis");
    lists[i].assign(four.begin(), four.end());
  }
  bool known = s.ints(images) && s.ints(images + 1);
  if (!known) lists[0] = lists[1] = {1, 1, 1, 1};
  WindowArgs a{lists[1], attrs.padding(), attrs.data_format(), lists[0], nullptr};
  Window w = pool_shape(&s, a, s.shape());
  if (known) return pooled_shape(a, w, s.shape());
  return s.shape().has_rank() ? Shape{w.batch, kUnknown, kUnknown, kUnknown} : Shape::of_rank(4);
}

void need(const Infer& s, int input, const Shape& want) {
  if (!s.shape(input).compatible(want)) s.bad_shape(input, cat("shape ", want.text()));
}

Status run_as(const Op& op, Call& c, int images) {
  auto a = c.attrs<PoolV2Attrs>();
  Dims ksize = c.ints(images), strides = c.ints(images + 1);
  Tensors in, out;
  for (int i = 0; i < images; ++i) in.push_back(c.in(i));
  Attrs attrs{Ints(strides.begin(), strides.end()), a.padding.arg(), a.data_format.arg(),
              Ints(ksize.begin(), ksize.end()), Ints()};
  if (Status s = run_kernel(op.def(), in, attrs, c.device, out); !s.ok()) return s;
  c.set_out(0, out[0]);
  return {};
}

Builder& described(Builder& b, const char* inputs) {
  return b.inputs(inputs)
      .dtypes(kReals)
      .attr("padding")
      .attr("data_format", "NHWC")
      .attrs<&PoolV2Attrs::padding, &PoolV2Attrs::data_format>();
}

extern const Op grad2_op, grad_grad2_op;

const Op pool2_op =
    described(RAW_OP(MaxPoolV2).doc("MaxPool whose window comes as tensors."),
              "input, ksize: K!, strides: K!")
        .infer(+[](Infer& s) { s.output(s.dtype(), pooled(s, 1)); })
        .kernel(
            "plain", +[](Call& c) { return run_as(max_pool_op, c, 1); })
        .gradient(+[](Grad& g) -> Tensors {
          return {grad2_op({g.x(0), g.y(), g.dy(), g.x(1), g.x(2)}, g.attrs()), Tensor(), Tensor()};
        })
        .keeps("input, ksize, strides, output");

const Op grad2_op =
    described(RAW_OP(MaxPoolGradV2).doc("MaxPoolGrad whose window comes as tensors."),
              "orig_input, orig_output, grad, ksize: K!, strides: K!")
        .infer(+[](Infer& s) {
          Shape small = pooled(s, 3);
          need(s, 1, small);
          need(s, 2, small);
          s.output(s.dtype(), s.shape());
        })
        .kernel(
            "plain", +[](Call& c) { return run_as(max_pool_grad_op, c, 3); })
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), Tensor(),
                  grad_grad2_op({g.x(0), g.x(1), g.dy(), g.x(3), g.x(4)}, g.attrs()), Tensor(),
                  Tensor()};
        })
        .keeps("orig_input, orig_output, ksize, strides");

const Op grad_grad2_op =
    described(RAW_OP(MaxPoolGradGradV2).doc("MaxPoolGradGrad whose window comes as tensors."),
              "orig_input, orig_output, grad, ksize: K!, strides: K!")
        .infer(+[](Infer& s) {
          Shape small = pooled(s, 3);
          need(s, 1, small);
          need(s, 2, s.shape());
          s.output(s.dtype(), small);
        })
        .kernel(
            "plain", +[](Call& c) { return run_as(max_pool_grad_grad_op, c, 3); })
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), Tensor(), grad2_op({g.x(0), g.x(1), g.dy(), g.x(3), g.x(4)}, g.attrs()),
                  Tensor(), Tensor()};
        })
        .keeps("orig_input, orig_output, ksize, strides");

}  // namespace
}  // namespace holdfast::nn
