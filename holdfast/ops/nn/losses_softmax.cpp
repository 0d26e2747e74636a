// Cross entropy over softmax. Both ops compute the loss and the gradient of the logits in one pass.
#include <algorithm>
#include <vector>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/losses.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"
#include "holdfast/ops/nn/cpu/row_table.h"
#include "holdfast/ops/nn/last_axis.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

constexpr int64_t kWork = 16384;

void infer_dense(Infer& s) {
  s.need_rank(0, 2, 2);
  s.need_rank(1, 2, 2);
  auto both = broadcast(s.shape(0), s.shape(1));
  if (!both) s.bad_shape(1, cat("a shape that broadcasts with `features` ", s.shape(0).text()));
  Shape rows = both->has_rank() ? Shape{(*both)[0]} : Shape{kUnknown};
  s.output(s.dtype(), rows);
  s.output(s.dtype(), *both);
}

Status run_dense(Call& c) {
  const Tensor &x = c.in(0), &labels = c.in(1);
  Tensor &loss = c.out(0), &back = c.out(1);
  int64_t rows = back.dim(0), n = back.dim(1), cell = size_of(x.dtype());
  if (n == 0 || rows == 0) {
    if (rows) std::fill_n(loss.mutable_raw<char>(), loss.bytes(), char{0});
    return {};
  }
  auto step = [](const Tensor& t, int axis, int64_t stride) {
    return t.dim(axis) == 1 ? 0 : stride;
  };
  int64_t x_row = step(x, 0, x.dim(1)), x_step = n == 1 ? 1 : step(x, 1, 1);
  int64_t l_row = step(labels, 0, labels.dim(1)), l_step = n == 1 ? 1 : step(labels, 1, 1);
  auto at = [&](const Tensor& t, int64_t i) {
    return static_cast<char*>(t.mutable_raw()) + i * cell;
  };
  auto loop = row_loops().rows[static_cast<int>(x.dtype())].cross_entropy;
  parallel_for(rows, std::max<int64_t>(1, kWork / n), [&](int64_t begin, int64_t end) {
    loop(at(x, begin * x_row), x_row, x_step, at(labels, begin * l_row), l_row, l_step, end - begin,
         n, at(loss, begin), at(back, begin * n));
  });
  return {};
}

Tensor column(const Tensor& v) { return expand_dims(v, -1); }

// loss = -sum(labels * log_softmax(features)); backprop = softmax(features) - labels.
Tensor features_gradient(const Grad& g) {
  Tensor dx = column(g.dy(0)) * g.y(1);
  if (!g.has_dy(1)) return dx;
  Tensor soft = nn::softmax(g.x(0)), up = g.dy(1);
  return dx + (up - reduce_sum(up * soft, {.axis = Sizes(-1), .keepdims = true})) * soft;
}

Tensors dense_gradient(Grad& g) {
  Tensor dx, dl;
  if (g.wants(0)) dx = sum_to(features_gradient(g), g.x(0));
  if (g.wants(1)) {
    dl = column(g.dy(0)) * -nn::log_softmax(g.x(0));
    if (g.has_dy(1)) dl = dl - g.dy(1);
    dl = sum_to(dl, g.x(1));
  }
  return {dx, dl};
}

void infer_sparse(Infer& s) {
  s.need_rank(0, 2, 2);
  s.need_rank(1, 1, 1);
  const Shape &x = s.shape(0), &labels = s.shape(1);
  if (x.has_rank() && labels.has_rank() && x[0] >= 0 && labels[0] >= 0 && x[0] != labels[0])
    s.bad_shape(1, cat("one label for each of the ", x[0], " rows of `features`"));
  if (x.has_rank() && x[1] == 0 && x[0] != 0) s.bad_shape(0, "one class or more");
  s.output(s.dtype(), labels.has_rank() ? labels : Shape{kUnknown});
  s.output(s.dtype(), x);
}

Status run_sparse(Call& c) {
  const Tensor &x = c.in(0), &labels = c.in(1);
  Tensor &loss = c.out(0), &back = c.out(1);
  int64_t rows = x.dim(0), n = x.dim(1), cell = size_of(x.dtype());
  if (rows == 0) return {};
  std::vector<int64_t> label(static_cast<size_t>(rows));
  visit_indices(labels.dtype(),
                [&]<class I>(I) { std::copy_n(labels.raw<I>(), rows, label.begin()); });
  for (size_t r = 0; r < label.size(); ++r)
    if (label[r] < 0 || label[r] >= n)
      return {Code::E1103, cat(c.op.name, ": `labels` holds ", label[r], " at position ", r,
                               ", expected a class in [0, ", n, ")")};
  auto at = [&](const Tensor& t, int64_t i) {
    return static_cast<char*>(t.mutable_raw()) + i * cell;
  };
  auto loop = row_loops().rows[static_cast<int>(x.dtype())].sparse_cross_entropy;
  parallel_for(rows, std::max<int64_t>(1, kWork / n), [&](int64_t begin, int64_t end) {
    loop(at(x, begin * n), label.data() + begin, end - begin, n, at(loss, begin),
         at(back, begin * n));
  });
  return {};
}

// Cross entropy of 16-bit floats is computed in float32, as the losses of training should be.
Tensor precise(const Tensor& x) {
  return x.dtype() == float16 || x.dtype() == bfloat16 ? cast(x, float32) : x;
}

// All axes but the last as one.
Tensor as_rows(const Tensor& t) {
  if (t.rank() == 2) return t;
  if (t.shape().is_full()) {
    int64_t rows = 1;
    for (int i = 0; i + 1 < t.rank(); ++i) rows *= t.dim(i);
    return reshape(t, {rows, t.dim(-1)});
  }
  if (t.dim(-1) >= 0) return reshape(t, {-1, t.dim(-1)});
  return reshape(t, Sizes(stack({In(Tensor::scalar(-1)), In(gather(shape(t), t.rank() - 1))})));
}

Sizes without_last(const Tensor& t) {
  if (!t.shape().is_full()) return Sizes(slice(shape(t), {0}, {t.rank() - 1}));
  Dims d = t.shape().dims();
  d.pop_back();
  return Sizes(d);
}

}  // namespace

static const Op dense_op = RAW_OP(SoftmaxCrossEntropyWithLogits)
                               .inputs("features, labels")
                               .outputs("loss, backprop")
                               .dtypes(kFloats)
                               .doc(
                                   "Per row -sum(labels * log_softmax(features)), and its gradient "
                                   "softmax(features) - labels.")
                               .infer(infer_dense)
                               .kernel("rows", run_dense)
                               .gradient(dense_gradient)
                               .keeps("features, backprop");

REGISTER(FUNCTION(&nn::softmax_cross_entropy_with_logits)
             .args("labels: L, logits")
             .options<&nn::CrossEntropyOptions::axis>("axis")
             .python("nn.softmax_cross_entropy_with_logits")
             .doc("-sum(labels * log_softmax(logits)) along `axis`; each row of labels is a "
                  "probability distribution.")
             .samples("[[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]], uniform(2, 3)",
                      "[0.25, 0.75], uniform(2)", "[[0.2, 1.0], [0.8, 0.0]], uniform(2, 2), axis=0")
             .reference("-np.sum(np.asarray(labels) * scipy.special.log_softmax(logits, "
                        "axis=axis), axis=axis)"));
static const Composition dense_late(
    "softmax_cross_entropy_with_logits", 2, +[](std::span<const Tensor> in, int64_t axis) {
      return nn::softmax_cross_entropy_with_logits(in[0], in[1], {.axis = axis});
    });
Tensor nn::softmax_cross_entropy_with_logits(const In& labels, const In& logits,
                                             const CrossEntropyOptions& o) {
  Tensor x = logits, l = labels.tensor(x.dtype());
  if (!ranks_known({x, l})) return dense_late({l, x}, x.dtype(), Shape::unknown(), o.axis);
  if (x.rank() == 0)
    fail(Code::E1102,
         "softmax_cross_entropy_with_logits: `logits` is a scalar, expected rank 1 or more");
  if (l.rank() != x.rank())
    fail(Code::E1102, cat("softmax_cross_entropy_with_logits: `labels` ", l.shape().text(),
                          " and `logits` ", x.shape().text(), " differ in rank"));
  Tensor fine = precise(x);
  LastAxis last("softmax_cross_entropy_with_logits", x, o.axis);
  Tensor moved = last.there(fine),
         target = last.there(l.dtype() == fine.dtype() ? l : cast(l, fine.dtype()));
  if (moved.shape().is_full() && !(broadcast(moved.shape(), target.shape()) == moved.shape()))
    fail(Code::E1102, cat("softmax_cross_entropy_with_logits: `labels` ", l.shape().text(),
                          " do not broadcast to `logits` ", x.shape().text()));
  if (!(target.shape() == moved.shape()) && moved.rank() != 2)
    target = broadcast_to(target, shape_of(moved));
  // The axis of classes goes, the others keep their order.
  Tensor loss = reshape(dense_op.many({as_rows(moved), as_rows(target)})[0], without_last(moved));
  int64_t axis = o.axis < 0 ? o.axis + x.rank() : o.axis, rank = x.rank();
  if (axis != rank - 1 && rank > 2) {  // the swap put the old last axis at `axis`
    loss = transpose(loss, {.perm = Sizes(with_last(rank - 1, axis))});
  }
  return fine.dtype() == x.dtype() ? loss : cast(loss, x.dtype());
}

static const Op sparse_op =
    RAW_OP(SparseSoftmaxCrossEntropyWithLogits)
        .inputs("features, labels: Tlabels")
        .outputs("loss, backprop")
        .dtypes(kFloats)
        .dtypes(kIndices, "Tlabels")
        .doc(
            "Per row -log_softmax(features)[label], and its gradient "
            "softmax(features) - one_hot(label).")
        .infer(infer_sparse)
        .kernel("rows", run_sparse)
        .gradient(+[](Grad& g) -> Tensors { return {features_gradient(g), Tensor()}; })
        .keeps("features, backprop");

REGISTER(FUNCTION(&nn::sparse_softmax_cross_entropy_with_logits)
             .args("labels: L, logits")
             .python("nn.sparse_softmax_cross_entropy_with_logits")
             .doc("-log_softmax(logits)[label] along the last axis.")
             .samples("[2, 0], uniform(2, 3)", "[[0, 1]], uniform(1, 2, 3)", "1, uniform(3)")
             .reference("-np.take_along_axis(scipy.special.log_softmax(logits, axis=-1), "
                        "np.asarray(labels)[..., None], -1)[..., 0]"));
static const Composition sparse_late(
    "sparse_softmax_cross_entropy_with_logits", 2, +[](std::span<const Tensor> in) {
      return nn::sparse_softmax_cross_entropy_with_logits(in[0], in[1]);
    });
Tensor nn::sparse_softmax_cross_entropy_with_logits(const In& labels, const In& logits) {
  Tensor x = logits, l = labels;
  if (!ranks_known({x, l})) return sparse_late({l, x}, x.dtype(), l.shape());
  if (x.rank() == 0)
    fail(Code::E1102,
         "sparse_softmax_cross_entropy_with_logits: `logits` is a scalar, expected rank 1 or more");
  bool fits = l.rank() == x.rank() - 1;
  for (int i = 0; fits && i < l.rank(); ++i)
    fits = l.dim(i) < 0 || x.dim(i) < 0 || l.dim(i) == x.dim(i);
  if (!fits && l.shape().compatible(x.shape()))
    fail(Code::E1202,
         "sparse_softmax_cross_entropy_with_logits: `labels` has a number for each class",
         cat("`labels` ", l.shape().text(), " and `logits` ", x.shape().text(),
             " are alike: this loss takes the number of each example's class, "
             "softmax_cross_entropy_with_logits a probability for each class"),
         {manual_fix("use `softmax_cross_entropy_with_logits`, with labels of the logits' dtype"),
          manual_fix(cat("or make them numbers of classes: `", written(Advice::kArgmax, {"labels"}),
                         "`"))});
  if (!fits)
    fail(Code::E1102,
         cat("sparse_softmax_cross_entropy_with_logits: `labels` is ", l.shape().text(),
             ", `logits` ", x.shape().text()),
         "labels have the shape of logits without the last axis");
  Tensor fine = precise(x);
  Tensor loss = reshape(sparse_op.many({as_rows(fine), reshape(l, {-1})})[0], shape_of(l));
  return fine.dtype() == x.dtype() ? loss : cast(loss, x.dtype());
}

}  // namespace holdfast
