// The bias of each channel, added and summed back.
#include <algorithm>
#include <vector>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/expr/fused.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/conv.h"
#include "holdfast/ops/math/fold.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::nn {
namespace {

struct BiasAttrs {
  Attr<std::string> data_format;
};

// The axis of the channels of a tensor of known rank.
int channel_axis(const Infer* s, const std::string& format, int rank) {
  if (format == "NHWC") return rank - 1;
  if (format == "NCHW") return 1;
  if (!s) bug("a data format that no shape rule accepts reached a kernel");
  s->bad_value("data_format", cat("'", format, "'"), "'NHWC' or 'NCHW'");
}

void infer_add(Infer& s) {
  s.need_rank(0, 2);
  s.need_rank(1, 1, 1);
  int axis = channel_axis(&s, s.attrs<BiasAttrs>().data_format(), std::max(s.shape().rank(), 2));
  if (s.shape().has_rank() && s.shape(1).has_rank()) {
    int64_t channels = s.shape()[axis], have = s.shape(1)[0];
    if (channels >= 0 && have >= 0 && channels != have)
      s.bad_shape(1, cat(channels, " elements, one for each channel"));
  }
  s.output(s.dtype(), s.shape());
}

Status run_add(Call& c) {
  const Tensor &x = c.in(0), &bias = c.in(1);
  // Channels second: the bias as [channels, 1, 1, ...] broadcasts to where it belongs.
  Dims dims(static_cast<size_t>(
                x.rank() - channel_axis(nullptr, c.attrs<BiasAttrs>().data_format(), x.rank())),
            1);
  dims[0] = bias.dim(0);
  Tensor in[2] = {x, view_of(bias, Shape(dims))};
  run_broadcast(loop_for(Scalar::kAdd, x.dtype()), in, c.out());
  return {};
}

// Channels that are last broadcast as any operand does.
bool fuse_add(const OpDef& op, const Attrs& attrs, std::span<const DType>, DType, FusedForm& form,
              const char*& why) {
  if (attrs_of<BiasAttrs>(op, attrs).data_format() != "NHWC") {
    why = "channels are not last";
    return false;
  }
  form.does = Does::kScalar;
  form.scalar = Scalar::kAdd;
  return true;
}

void infer_sum(Infer& s) {
  s.need_rank(0, 2);
  int axis = channel_axis(&s, s.attrs<BiasAttrs>().data_format(), std::max(s.shape().rank(), 2));
  s.output(s.dtype(), Shape{s.shape().has_rank() ? s.shape()[axis] : kUnknown});
}

// The tensor is [outer, channels, inner]. Blocks of `outer` are summed side by side and then in
// order, so that the result is the same for any number of threads.
template <class T>
void sum_channels(const T* x, int64_t outer, int64_t channels, int64_t inner, T* out) {
  using W = std::conditional_t<std::is_integral_v<T>, uint64_t, float_of<T>>;
  int64_t block = std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(channels * inner, 1));
  int64_t blocks = (outer + block - 1) / block;
  std::vector<W> sums(static_cast<size_t>(blocks * channels), W(0));
  parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      W* sum = sums.data() + b * channels;
      for (int64_t o = b * block; o < std::min(outer, (b + 1) * block); ++o) {
        const T* row = x + o * channels * inner;
        if (inner == 1) {
          for (int64_t c = 0; c < channels; ++c) sum[c] += static_cast<W>(row[c]);
          continue;
        }
        for (int64_t c = 0; c < channels; ++c) {
          W total(0);
          for (int64_t i = 0; i < inner; ++i) total += static_cast<W>(row[c * inner + i]);
          sum[c] += total;
        }
      }
    }
  });
  for (int64_t c = 0; c < channels; ++c) {
    W total(0);
    for (int64_t b = 0; b < blocks; ++b) total += sums[static_cast<size_t>(b * channels + c)];
    out[c] = static_cast<T>(total);
  }
}

Status run_sum(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  int axis = channel_axis(nullptr, c.attrs<BiasAttrs>().data_format(), x.rank());
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) (i < axis ? outer : inner) *= x.dim(i);
  if (inner == 1 && !is_complex(x.dtype()) && outer > 0) {  // columns side by side
    int64_t first = 0;
    fold(Fold::kSum, view_of(x, Shape{outer, y.size()}), {&first, 1}, y);
    return {};
  }
  visit_plain(x.dtype(), [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>)
      sum_channels(x.raw<T>(), outer, y.size(), inner, y.mutable_raw<T>());
  });
  return {};
}

extern const Op add_op, sum_op;

const Op add_op = RAW_OP(BiasAdd)
                      .inputs("value, bias")
                      .attr("data_format", "NHWC")
                      .attrs<&BiasAttrs::data_format>()
                      .dtypes(kNumbers)
                      .doc("A bias for each channel, added to all its positions.")
                      .images({.inputs = 0b1, .gives = true})
                      .fuses(fuse_add)
                      .infer(infer_add)
                      .kernel("broadcast", run_add)
                      .gradient(+[](Grad& g) -> Tensors {
                        return {g.dy(), g.wants(1) ? sum_op({g.dy()}, g.attrs()) : Tensor()};
                      })
                      .keeps("");
const Op sum_op =
    RAW_OP(BiasAddGrad)
        .inputs("out_backprop")
        .attr("data_format", "NHWC")
        .attrs<&BiasAttrs::data_format>()
        .dtypes(kNumbers)
        .doc(
            "Gradient of BiasAdd with respect to the bias: the sum over all axes but the channels.")
        .images({.inputs = 0b1})
        .infer(infer_sum)
        .kernel("blocks", run_sum)
        .gradient(
            +[](Grad& g) -> Tensors { return {add_op({zeros_like(g.x()), g.dy()}, g.attrs())}; })
        .keeps("");

}  // namespace

REGISTER(FUNCTION(&bias_add)
             .args("value, bias")
             .options<&BiasAddOptions::data_format>("data_format")
             .python("nn.bias_add")
             .doc("`bias` added to every position of its channel; channels are the last axis, or "
                  "the second ('NC...').")
             .samples("uniform(2, 3, 4), uniform(4)", "uniform(2, 3, 4), uniform(3), 'NCW'",
                      "ints(2, 3), ints(3)", "uniform(2, 4, 3, 2), uniform(4), 'NCHW'")
             .reference("value + bias.reshape([-1] + [1] * (value.ndim - 2 if data_format and "
                        "data_format.startswith('NC') else 0))"));
Tensor bias_add(const In& value, const In& bias, const BiasAddOptions& o) {
  bool second = o.data_format && o.data_format->starts_with("NC");
  if (o.data_format && !second &&
      !(o.data_format->starts_with("N") && o.data_format->ends_with("C")))
    fail(Code::E1103,
         cat("bias_add: `data_format` is '", *o.data_format, "', expected 'N...C' or 'NC...'"));
  return add_op({value, bias}, {second ? "NCHW" : "NHWC"});
}

}  // namespace holdfast::nn
