#include <algorithm>
#include <string_view>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/expr/expr.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"
#include "holdfast/ops/nn/cpu/row_table.h"
#include "holdfast/ops/nn/last_axis.h"
#include "holdfast/ops/nn/softmax_code.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

void infer_softmax(Infer& s) {
  s.need_rank(0, 1);
  s.output(s.dtype(), s.shape());
}

template <bool kLog>
Status run_softmax(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  if (x.size() == 0) return {};
  int64_t n = x.dim(-1), cell = size_of(x.dtype());
  auto* from = static_cast<const char*>(x.raw());
  auto* to = static_cast<char*>(y.mutable_raw());
  auto loop = row_loops().rows[static_cast<int>(x.dtype())].softmax;
  parallel_for(x.size() / n, std::max<int64_t>(1, 16384 / n), [&](int64_t begin, int64_t end) {
    loop(from + begin * n * cell, to + begin * n * cell, end - begin, n, kLog);
  });
  return {};
}

// Inputs: dy, and what the forward op gave.
void infer_gradient(Infer& s) {
  s.need_rank(0, 1);
  auto both = s.shape(0).merged(s.shape(1));
  if (!both) s.bad_shape(0, cat("the shape of `output`, ", s.shape(1).text()));
  s.output(s.dtype(), *both);
}

template <bool kLog>
Status run_gradient(Call& c) {
  const Tensor &dy = c.in(0), &y = c.in(1);
  Tensor& dx = c.out();
  if (dx.size() == 0) return {};
  int64_t n = dx.dim(-1), cell = size_of(dx.dtype());
  auto at = [&](const Tensor& t, int64_t row) {
    return static_cast<char*>(t.mutable_raw()) + row * n * cell;
  };
  auto loop = row_loops().rows[static_cast<int>(dx.dtype())].softmax_gradient;
  parallel_for(dx.size() / n, std::max<int64_t>(1, 16384 / n), [&](int64_t begin, int64_t end) {
    loop(at(dy, begin), at(y, begin), at(dx, begin), end - begin, n, kLog);
  });
  return {};
}

Tensor row_sum(const Tensor& t) { return reduce_sum(t, {.axis = Sizes(-1), .keepdims = true}); }

struct Chosen {
  RowTable table;
  Chosen() {
    HOLDFAST_BEST_ISA(add_softmax_loops(table));
    HOLDFAST_BEST_ISA(add_norm_loops(table));
  }
};

const Composition softmax_later(
    "softmax", 1,
    +[](std::span<const Tensor> in, int64_t axis) { return nn::softmax(in[0], {.axis = axis}); });
const Composition log_softmax_later(
    "log_softmax", 1, +[](std::span<const Tensor> in, int64_t axis) {
      return nn::log_softmax(in[0], {.axis = axis});
    });

// Softmax along any axis: the op works on the last one.
template <class Later>
Tensor along(const Op& op, const In& logits, int64_t axis, const Later& later) {
  Tensor x = logits;
  if (axis == -1 || (x.rank() > 0 && axis == x.rank() - 1)) return op({x});
  if (!x.shape().has_rank()) return later({x}, x.dtype(), x.shape(), axis);
  LastAxis last(op.def().name.c_str(), x, axis);
  return last.back(op({last.there(x)}));
}

}  // namespace

const RowTable& row_loops() {
  static const Chosen chosen;
  return chosen.table;
}

LastAxis::LastAxis(const char* op, const Tensor& like, int64_t axis) {
  int64_t rank = like.rank();
  if (axis < -rank || axis >= rank) outside(cat(op, ": `axis` is"), axis, -rank, rank).check();
  if (axis < 0) axis += rank;
  moves_ = axis != rank - 1;
  for (int64_t i = 0; i < rank; ++i)
    swap_.push_back(i == axis ? rank - 1 : i == rank - 1 ? axis : i);
}
Tensor LastAxis::there(const Tensor& t) const {
  return moves_ ? transpose(t, {.perm = Sizes(swap_)}) : t;
}

Dims with_last(int64_t rank, int64_t axis) {
  Dims order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis) order.push_back(i);
  order.push_back(axis);
  return order;
}

static const Op softmax_gradient_op =
    RAW_OP(SoftmaxGrad)
        .inputs("dy, output")
        .outputs("dx")
        .dtypes(kFloats)
        .doc("(dy - sum(dy * output)) * output along the last axis.")
        .infer(infer_gradient)
        .kernel("code", prepare_softmax_gradient_code, run_softmax_code, {float32, float64})
        .kernel("rows", run_gradient<false>)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor u = g.dy(), dy = g.x(0), y = g.x(1);
          return {g.wants(0) ? (u - row_sum(u * y)) * y : Tensor(),
                  g.wants(1) ? u * (dy - row_sum(dy * y)) - dy * row_sum(u * y) : Tensor()};
        })
        .keeps("dy, output");

static const Op softmax_op =
    OP(Softmax, &nn::softmax)
        .outputs("softmax")
        .args("logits")
        .options<&nn::SoftmaxOptions::axis>("axis")
        .inputs("logits")
        .dtypes(kFloats)
        .python("nn.softmax, math.softmax")
        .doc("exp(x) over its sum along an axis.")
        .infer(infer_softmax)
        .kernel("code", prepare_softmax_code, run_softmax_code, {float32, float64})
        .kernel("rows", run_softmax<false>)
        .gradient(+[](Grad& g) -> Tensors { return {softmax_gradient_op(g.dy(), g.y())}; })
        .keeps("softmax")
        .samples("uniform(3, 4)", "uniform(5)", "uniform(2, 3, 4), axis=1")
        .reference("scipy.special.softmax(logits, axis=-1 if axis is None else axis)");
Tensor nn::softmax(const In& x, const SoftmaxOptions& o) {
  return along(softmax_op, x, o.axis.value_or(-1), softmax_later);
}

static const Op log_softmax_gradient_op =
    RAW_OP(LogSoftmaxGrad)
        .inputs("dy, output")
        .outputs("dx")
        .dtypes(kFloats)
        .doc("dy - sum(dy) * exp(output) along the last axis.")
        .infer(infer_gradient)
        .kernel("rows", run_gradient<true>)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor u = g.dy(), soft = exp(g.x(1));
          return {g.wants(0) ? u - row_sum(u * soft) : Tensor(),
                  g.wants(1) ? -(u * soft * row_sum(g.x(0))) : Tensor()};
        })
        .keeps("dy, output");

static const Op log_softmax_op =
    OP(LogSoftmax, &nn::log_softmax)
        .outputs("logsoftmax")
        .args("logits")
        .options<&nn::SoftmaxOptions::axis>("axis")
        .inputs("logits")
        .dtypes(kFloats)
        .python("nn.log_softmax, math.log_softmax")
        .doc("log(softmax(x)) along an axis, without underflow.")
        .infer(infer_softmax)
        .kernel("rows", run_softmax<true>)
        .gradient(+[](Grad& g) -> Tensors { return {log_softmax_gradient_op(g.dy(), g.y())}; })
        .keeps("logsoftmax")
        .samples("uniform(3, 4)", "uniform(5)", "uniform(2, 3, 4), axis=1")
        .reference("scipy.special.log_softmax(logits, axis=-1 if axis is None else axis)");
Tensor nn::log_softmax(const In& x, const SoftmaxOptions& o) {
  return along(log_softmax_op, x, o.axis.value_or(-1), log_softmax_later);
}

}  // namespace holdfast
