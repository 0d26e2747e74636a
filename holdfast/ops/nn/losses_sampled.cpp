// Losses over a few drawn classes where there are very many.
#include <limits>
#include <unordered_map>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/embedding.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/losses.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::nn {
namespace {

struct HitsAttrs {
  Attr<int64_t> num_true;
};

void infer_hits(Infer& s) {
  s.need_rank(0, 2, 2);
  s.need_rank(1, 1, 1);
  int64_t num_true = s.attrs<HitsAttrs>().num_true();
  if (num_true < 1) s.bad_value("num_true", cat(num_true), "1 or more");
  if (!s.shape().compatible(Shape{kUnknown, num_true}))
    s.bad_shape(0, cat("`num_true` columns: ", num_true));
  s.output(int32, Shape{kUnknown});
  s.output(int64, Shape{kUnknown});
  s.output(float32, Shape{kUnknown});
}

Status run_hits(Call& c) {
  const Tensor &classes = c.in(0), &drawn = c.in(1);
  if (classes.dim(0) > std::numeric_limits<int32_t>::max())
    return {Code::E1103, cat(c.op.name, ": `true_classes` has ", classes.dim(0),
                             " rows, more than int32 can number")};
  std::unordered_map<int64_t, int64_t> number;  // of the last one drawn
  for (int64_t i = 0; i < drawn.size(); ++i) number[drawn.raw<int64_t>()[i]] = i;
  std::vector<std::pair<int64_t, int64_t>> hits;
  int64_t width = classes.dim(1);
  for (int64_t i = 0; i < classes.size(); ++i)
    if (auto it = number.find(classes.raw<int64_t>()[i]); it != number.end())
      hits.push_back({i / width, it->second});
  Shape found{static_cast<int64_t>(hits.size())};
  auto* rows = c.out(0, found).mutable_raw<int32_t>();
  auto* ids = c.out(1, found).mutable_raw<int64_t>();
  auto* weights = c.out(2, found).mutable_raw<float>();
  for (size_t i = 0; i < hits.size(); ++i) {
    rows[i] = static_cast<int32_t>(hits[i].first);
    ids[i] = hits[i].second;
    weights[i] = -std::numeric_limits<float>::max();
  }
  return {};
}

Tensor as_classes(const In& x) {
  Tensor t = x.tensor(int64);
  return t.dtype() == int32 ? cast(t, int64) : t;
}

// Classes that are given as floats are whole numbers too.
Tensor as_class_numbers(const In& x) {
  Tensor t = x.tensor(int64);
  return is_integer(t.dtype()) || is_floating(t.dtype()) ? cast(t, int64) : t;
}

// A logit so low that its class does not count: finite, for the label of zero beside it would make
// no number of an infinite one.
Tensor no_chance(DType d) {
  double least = d == float16    ? 0x1.FFCp15
                 : d == bfloat16 ? 0x1.FEp127
                                 : double{std::numeric_limits<float>::max()};
  return cast(Tensor::scalar(-least, float64), d);
}

struct Sampled {
  Tensor logits, labels;
};

// What both losses are asked.
struct Asked {
  template <class O>
  explicit Asked(const char* by, int64_t sampled_classes, int64_t classes, const O& o)
      : op(by),
        num_sampled(sampled_classes),
        num_classes(classes),
        num_true(o.num_true),
        sampled(o.sampled),
        true_expected_count(o.true_expected_count),
        sampled_expected_count(o.sampled_expected_count),
        remove_hits(o.remove_accidental_hits),
        partition_strategy(o.partition_strategy),
        seed(o.seed) {}
  const char* op;
  int64_t num_sampled, num_classes, num_true;
  const MaybeIn &sampled, &true_expected_count, &sampled_expected_count;
  bool remove_hits;
  const std::string& partition_strategy;
  std::optional<int64_t> seed;
};

// Logits of the true classes, then of the drawn ones, less the logarithm of how often each was to
// be expected; and what the logits are to say.
Sampled sampled_logits(const Ins& weights, const Ins& biases, const In& labels, const In& inputs,
                       const Asked& o) {
  const char* op = o.op;
  int given = o.sampled.has_value() + o.true_expected_count.has_value() +
              o.sampled_expected_count.has_value();
  if (given != 0 && given != 3)
    fail(Code::E1104, cat(op,
                          ": `sampled_values` needs the drawn classes, how often the true ones "
                          "were to be expected, and how often the drawn ones"));
  if (o.num_true < 1)
    fail(Code::E1103, cat(op, ": `num_true` is ", o.num_true, ", expected 1 or more"));
  Tensor x = inputs, classes = as_class_numbers(labels);
  if (classes.shape().rank() == 1 && o.num_true == 1) classes = reshape(classes, {-1, 1});
  if (!classes.shape().compatible(Shape{kUnknown, o.num_true}))
    fail(Code::E1102, cat(op, ": `labels` has shape ", classes.shape().text(),
                          ", expected a batch and `num_true`, ", o.num_true, ", columns"));
  if (x.shape().has_rank() && x.rank() != 2)
    fail(Code::E1102,
         cat(op, ": `inputs` has shape ", x.shape().text(), ", expected a batch and features"));
  Tensor drawn, true_count, drawn_count;
  if (given)
    drawn = as_class_numbers(*o.sampled), true_count = o.true_expected_count->tensor(x.dtype()),
    drawn_count = o.sampled_expected_count->tensor(x.dtype());
  else
    std::tie(drawn, true_count, drawn_count) = random::log_uniform_candidate_sampler(
        classes, o.num_true, o.num_sampled, true, o.num_classes, {.seed = o.seed});
  auto count = [&](const Tensor& t) {
    return stop_gradient(t.dtype() == x.dtype() ? t : cast(t, x.dtype()));
  };
  drawn = stop_gradient(drawn);
  // One lookup for both, so that the gradient of the table is one set of rows.
  Tensor ids = concat({reshape(classes, {-1}), drawn}, 0);
  EmbeddingLookupOptions how{.partition_strategy = o.partition_strategy};
  Tensor table = embedding_lookup(weights, ids, how), bias = embedding_lookup(biases, ids, how);
  Tensor pieces = stack({size(classes, int64), size(drawn, int64)});
  auto w = split(table, pieces, {.axis = 0}), b = split(bias, pieces, {.axis = 0});
  Tensor rows = reshape(w[0], {-1, o.num_true, x.shape().has_rank() ? x.dim(-1) : kUnknown});
  Tensor of_true =
      reduce_sum(expand_dims(x, 1) * rows, {.axis = Sizes(2)}) + reshape(b[0], {-1, o.num_true});
  Tensor of_drawn = matmul(x, w[1], {.transpose_b = true}) + b[1];
  if (o.remove_hits) {
    Tensor same = equal(expand_dims(classes, 2), reshape(drawn, {1, 1, -1}));
    Tensor hit = reduce_any(same, {.axis = Sizes(1)});
    Tensor never = broadcast_to(no_chance(x.dtype()), Sizes(shape(of_drawn)));
    of_drawn = select(hit, never, of_drawn);
  }
  of_true = of_true - log(count(true_count));
  of_drawn = of_drawn - log(count(drawn_count));
  Tensor share = ones_like(of_true) / static_cast<double>(o.num_true);
  return {concat({of_true, of_drawn}, 1), concat({share, zeros_like(of_drawn)}, 1)};
}

constexpr const char* kArgs =
    "weights: W, biases: W, labels: L, inputs: X, num_sampled, num_classes";
constexpr const char* kOptions =
    "num_true, sampled: L, true_expected_count: X, sampled_expected_count: X, "
    "remove_accidental_hits, "
    "partition_strategy, seed";

}  // namespace

static const Op hits_op =
    OP(ComputeAccidentalHits, &compute_accidental_hits)
        .args("true_classes: C, sampled_candidates: C, num_true")
        .python("nn.compute_accidental_hits")
        .returns("indices, ids, weights")
        .doc(
            "Where drawn classes are true ones: the example, the number of the drawn class, and a "
            "weight that takes its logit away.")
        .inputs("true_classes, sampled_candidates")
        .dtypes({int64})
        .outputs("indices, ids, weights")
        .attr("num_true")
        .attr("seed", 0)
        .attr("seed2", 0)
        .attrs<&HitsAttrs::num_true>()
        .infer(infer_hits)
        .kernel("reference", run_hits)
        .no_gradient()
        .samples("[[3, 4], [4, 4]], [3, 4, 3], 2")
        .reference(
            "(np.array([0, 0, 1, 1], np.int32), np.array([2, 1, 1, 1]), np.full(4, "
            "-np.finfo(np.float32).max, np.float32))");
std::tuple<Tensor, Tensor, Tensor> compute_accidental_hits(const In& true_classes,
                                                           const In& sampled_candidates,
                                                           int64_t num_true) {
  Tensors t = hits_op.many({as_classes(true_classes), as_classes(sampled_candidates)},
                           Attrs{num_true, int64_t{0}, int64_t{0}});
  return {t[0], t[1], t[2]};
}

using N = NceOptions;
REGISTER(
    FUNCTION(&nce_loss)
        .args(kArgs)
        .options<&N::num_true, &N::sampled, &N::true_expected_count, &N::sampled_expected_count,
                 &N::remove_accidental_hits, &N::partition_strategy, &N::seed>(kOptions)
        .python("nn.nce_loss")
        .doc("Noise-contrastive estimation: each true class against a few drawn ones."));
Tensor nce_loss(const Ins& weights, const Ins& biases, const In& labels, const In& inputs,
                int64_t num_sampled, int64_t num_classes, const NceOptions& o) {
  auto [logits, wanted] = sampled_logits(weights, biases, labels, inputs,
                                         Asked("nce_loss", num_sampled, num_classes, o));
  return reduce_sum(sigmoid_cross_entropy_with_logits(wanted, logits), {.axis = Sizes(1)});
}

using S = SampledSoftmaxOptions;
REGISTER(
    FUNCTION(&sampled_softmax_loss)
        .args(kArgs)
        .options<&S::num_true, &S::sampled, &S::true_expected_count, &S::sampled_expected_count,
                 &S::remove_accidental_hits, &S::partition_strategy, &S::seed>(kOptions)
        .python("nn.sampled_softmax_loss")
        .doc("The cross entropy over the true classes and a few drawn ones instead of all."));
Tensor sampled_softmax_loss(const Ins& weights, const Ins& biases, const In& labels,
                            const In& inputs, int64_t num_sampled, int64_t num_classes,
                            const SampledSoftmaxOptions& o) {
  auto [logits, wanted] = sampled_logits(
      weights, biases, labels, inputs, Asked("sampled_softmax_loss", num_sampled, num_classes, o));
  return softmax_cross_entropy_with_logits(stop_gradient(wanted), logits);
}

}  // namespace holdfast::nn
