// Sums of several tensors of one shape.
#include <algorithm>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"

namespace holdfast {
namespace {

void infer_add_n(Infer& s) {
  if (s.inputs() == 0) s.bad_value("inputs", "no tensor", "one or more");
  Shape shape = s.shape(0);
  for (int i = 1; i < s.inputs(); ++i) {
    auto both = shape.merged(s.shape(i));
    if (!both) s.bad_shape(i, cat("the shape of the first, ", s.shape(0).text()));
    shape = *std::move(both);
  }
  s.output(s.dtype(0), std::move(shape));
}

Status run_add_n(Call& c) {
  if (c.inputs() == 1) {
    c.set_out(0, view_of(c.in(), c.out_shape()));
    return {};
  }
  Tensor& y = c.out();
  Loop loop = loop_for(Scalar::kAdd, y.dtype());
  int64_t cell = size_of(y.dtype());
  // All inputs a block at a time: the running sum stays in the first cache.
  constexpr int64_t kBlock = 2048;
  parallel_for(y.size(), 16 * kBlock, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; b += kBlock) {
      int64_t n = std::min(kBlock, end - b);
      auto block = [&](const Tensor& t) { return static_cast<char*>(t.mutable_raw()) + b * cell; };
      const void* operands[2] = {block(c.in(0)), block(c.in(1))};
      loop(operands, block(y), n);
      operands[0] = block(y);
      for (int i = 2; i < c.inputs(); ++i) {
        operands[1] = block(c.in(i));
        loop(operands, block(y), n);
      }
    }
  });
  return {};
}

}  // namespace

static const Op add_n_op =
    OP(AddN, &add_n)
        .outputs("sum")
        .args("inputs")
        .python("add_n, math.add_n")
        .dtypes(kNumbers)
        .doc("Sum of tensors of one shape.")
        .infer(infer_add_n)
        .kernel("blocks", run_add_n)
        .aliases(+[](const Types& t, int) { return t.inputs() == 1 ? 0 : kFresh; })
        .gradient(+[](Grad& g) -> Tensors {
          Tensors out;
          for (int i = 0; i < g.inputs(); ++i) out.push_back(g.dy());
          return out;
        })
        .keeps("")
        .samples("[uniform(3, 4), uniform(3, 4), uniform(3, 4)]", "[ints(5)]")
        .reference("sum(inputs)");
Tensor add_n(const Ins& inputs) { return add_n_op.list(inputs.tensors())[0]; }

REGISTER(
    FUNCTION(&accumulate_n)
        .args("inputs")
        .options<&AccumulateOptions::shape, &AccumulateOptions::tensor_dtype>("shape, tensor_dtype")
        .python("math.accumulate_n")
        .doc("`add_n`, with the shape and dtype that the inputs must have.")
        .samples("[uniform(3, 4), uniform(3, 4)]")
        .reference("sum(inputs)"));
Tensor accumulate_n(const Ins& inputs, const AccumulateOptions& o) {
  Tensors in = inputs.tensors();
  for (const Tensor& t : in) {
    if (!t.defined()) continue;
    if (o.tensor_dtype && t.dtype() != *o.tensor_dtype)
      fail(Code::E1101, cat("accumulate_n: an input is ", name(t.dtype()), ", expected ",
                            name(*o.tensor_dtype)));
    if (o.shape && !t.shape().compatible(Shape(o.shape->ints())))
      fail(Code::E1102, cat("accumulate_n: an input has shape ", t.shape().text(), ", expected ",
                            Shape(o.shape->ints()).text()));
  }
  return add_n_op.list(in)[0];
}

}  // namespace holdfast
