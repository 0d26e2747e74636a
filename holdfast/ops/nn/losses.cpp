#include "holdfast/ops/losses.h"

#include <numbers>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/activations.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/fold.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

struct AlikeAttrs {
  Attr<std::string> function;
  Attr<std::string> first;
  Attr<std::string> second;
};

// The shape of both.
Shape merged(const std::string& function, const std::string& a_name, const Shape& a,
             const std::string& b_name, const Shape& b) {
  if (auto both = a.merged(b)) return *both;
  fail(Code::E1102, cat(function, ": `", a_name, "` ", a.text(), " and `", b_name, "` ", b.text(),
                        " differ in shape"));
}

void infer_alike(Infer& s) {
  auto a = s.attrs<AlikeAttrs>();
  s.output(s.dtype(), merged(a.function(), a.first(), s.shape(0), a.second(), s.shape(1)));
}

const Op alike_op = RAW_OP(EnsureSameShape)
                        .inputs("input, like: L")
                        .attr("function")
                        .attr("first")
                        .attr("second")
                        .attrs<&AlikeAttrs::function, &AlikeAttrs::first, &AlikeAttrs::second>()
                        .doc(
                            "The first operand of a function, which must have the shape of the "
                            "second: sizes of 1 are not repeated.")
                        .view()
                        .infer(infer_alike)
                        .kernel("view", run_view)
                        .kernel_for(DeviceKind::kCuda, "view", run_view)
                        .gradient(+[](Grad& g) -> Tensors { return {g.dy(), Tensor()}; })
                        .keeps("");

// `a`, which has the shape of `b`: what a trace does not know of them is looked at when it runs.
Tensor alike(const char* function, const char* a_name, const Tensor& a, const char* b_name,
             const Tensor& b) {
  merged(function, a_name, a.shape(), b_name, b.shape());
  bool known = a.shape().is_full() && b.shape().is_full();
  return known ? a : alike_op({a, b}, {function, a_name, b_name});
}

}  // namespace

REGISTER(
    FUNCTION(&nn::sigmoid_cross_entropy_with_logits)
        .args("labels, logits")
        .python("nn.sigmoid_cross_entropy_with_logits")
        .doc("-labels * log(p) - (1 - labels) * log(1 - p) with p = sigmoid(logits), without "
             "overflow.")
        .samples("uniform(3, 4, low=0, high=1), uniform(3, 4, low=-3, high=3)")
        .reference("np.maximum(logits, 0) - logits * labels + np.log1p(np.exp(-np.abs(logits)))"));
Tensor nn::sigmoid_cross_entropy_with_logits(const In& labels, const In& logits) {
  Tensor x = logits, z = labels.tensor(x.dtype());
  z = alike("sigmoid_cross_entropy_with_logits", "labels", z, "logits", x);
  Tensor positive = x >= 0, zero = zeros_like(x);
  return where(positive, x, zero) - x * z + log1p(exp(where(positive, -x, x)));
}

REGISTER(FUNCTION(&nn::weighted_cross_entropy_with_logits)
             .args("labels, logits, pos_weight")
             .python("nn.weighted_cross_entropy_with_logits")
             .doc("-pos_weight * labels * log(p) - (1 - labels) * log(1 - p) with p = "
                  "sigmoid(logits), without overflow.")
             .samples("uniform(3, 4, low=0, high=1), uniform(3, 4, low=-3, high=3), 2.0")
             .reference("(1 - labels) * logits + (1 + (pos_weight - 1) * labels) * "
                        "(np.log1p(np.exp(-np.abs(logits))) + np.maximum(-logits, 0))"));
Tensor nn::weighted_cross_entropy_with_logits(const In& labels, const In& logits,
                                              const In& pos_weight) {
  Tensor x = logits, z = labels.tensor(x.dtype()), w = pos_weight.tensor(x.dtype());
  z = alike("weighted_cross_entropy_with_logits", "labels", z, "logits", x);
  Tensor weight = (w - 1) * z + 1;
  return (1 - z) * x + weight * (log1p(exp(-abs(x))) + relu(-x));
}

REGISTER(FUNCTION(&nn::log_poisson_loss)
             .args("targets, log_input")
             .options<&nn::LogPoissonOptions::compute_full_loss>("compute_full_loss")
             .python("nn.log_poisson_loss")
             .doc("exp(log_input) - log_input * targets; the full loss adds Stirling's "
                  "approximation of log(targets!) above 1.")
             .samples("uniform(3, 4, low=0, high=5), uniform(3, 4)",
                      "uniform(3, 4, low=2, high=5), uniform(3, 4), compute_full_loss=True")
             .reference("np.exp(log_input) - log_input * targets + (np.where(targets > 1, "
                        "targets * np.log(targets) - targets + 0.5 * np.log(2 * np.pi * targets), "
                        "0) if compute_full_loss else 0)"));
Tensor nn::log_poisson_loss(const In& targets, const In& log_input, const LogPoissonOptions& o) {
  Tensor x = log_input, z = targets.tensor(x.dtype());
  z = alike("log_poisson_loss", "targets", z, "log_input", x);
  Tensor loss = exp(x) - x * z;
  if (!o.compute_full_loss) return loss;
  Tensor small = logical_and(z >= 0, z <= 1);
  Tensor stirling = z * log(z) - z + log(z * (2 * std::numbers::pi)) * 0.5;
  return loss + where(small, zeros_like(z), stirling);
}

REGISTER(
    FUNCTION(&nn::compute_average_loss)
        .args("per_example_loss")
        .options<&nn::AverageLossOptions::sample_weight,
                 &nn::AverageLossOptions::global_batch_size>("sample_weight: W, global_batch_size")
        .python("nn.compute_average_loss")
        .doc("Sum of the losses, weighted if asked, over the batch size of all replicas together.")
        .samples("uniform(4)", "uniform(4), sample_weight=[1.0, 0.5, 0.0, 2.0]",
                 "uniform(4), global_batch_size=8")
        .reference(
            "np.sum(per_example_loss * (1 if sample_weight is None else np.asarray(sample_weight, "
            "per_example_loss.dtype))) / (global_batch_size or max(1, len(per_example_loss)))"));
Tensor nn::compute_average_loss(const In& per_example_loss, const AverageLossOptions& o) {
  Tensor loss = per_example_loss;
  if (loss.rank() == 0)
    fail(Code::E1102,
         "compute_average_loss: `per_example_loss` is a scalar, expected one loss per example");
  Tensor batch;
  if (o.global_batch_size) {
    batch = o.global_batch_size->tensor();
    if (batch.rank() != 0)
      fail(Code::E1102, cat("compute_average_loss: `global_batch_size` is ", batch.shape().text(),
                            ", expected a scalar"));
    if (!batch.is_symbolic() && o.global_batch_size->ints()[0] < 0)
      fail(Code::E1103, cat("compute_average_loss: `global_batch_size` is ",
                            o.global_batch_size->ints()[0], ", expected 0 or more"));
  } else {
    batch = gather(shape(loss), 0);  // one replica: the batch at hand is all of it
  }
  if (o.sample_weight) {
    Tensor weight = o.sample_weight->tensor(loss.dtype());
    if (weight.dtype() != loss.dtype()) weight = cast(weight, loss.dtype());
    for (int i = weight.rank(); i < loss.rank(); ++i) weight = expand_dims(weight, -1);
    loss = loss * weight;
  }
  return divide_no_nan(reduce_sum(loss), cast(batch, loss.dtype()));  // no example: no loss
}

REGISTER(FUNCTION(&nn::scale_regularization_loss)
             .args("regularization_loss")
             .python("nn.scale_regularization_loss")
             .doc("Sum of a regularisation loss, shared out among the replicas.")
             .samples("uniform(3)")
             .reference("np.sum(regularization_loss)"));
Tensor nn::scale_regularization_loss(const In& loss) { return reduce_sum(loss); }

static const Op l2_op = OP(L2Loss, &nn::l2_loss)
                            .args("t")
                            .python("nn.l2_loss")
                            .dtypes(kFloats)
                            .doc("Half the sum of squares.")
                            .infer(+[](Infer& s) { s.output(s.dtype(), Shape{}); })
                            .kernel(
                                "fold",
                                +[](Call& c) -> Status {
                                  Dims all;
                                  for (int i = 0; i < c.in().rank(); ++i) all.push_back(i);
                                  fold(Fold::kHalfSquares, c.in(), all, c.out());
                                  return {};
                                })
                            .gradient(+[](Grad& g) -> Tensors { return {g.x() * g.dy()}; })
                            .keeps("t")
                            .samples("uniform(3, 4)")
                            .reference("np.sum(t * t) / 2");
Tensor nn::l2_loss(const In& t) { return l2_op(t); }

}  // namespace holdfast
