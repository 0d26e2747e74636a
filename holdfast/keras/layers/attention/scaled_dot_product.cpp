#include "holdfast/keras/layers/attention/scaled_dot_product.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/dropout.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"

namespace holdfast::keras::layers {
namespace {

// Which places may look at which, by their order: [T, S].
Tensor by_place(const Tensor& scores, const AttentionRun& run) {
  Tensor sizes = shape(scores);
  Tensor row = expand_dims(range(0, at(sizes, -2)), 1),
         column = expand_dims(range(0, at(sizes, -1)), 0);
  Tensor mask;
  if (run.causal) mask = row >= column;
  if (run.window) mask = both(mask, abs(row - column) < static_cast<int32_t>(*run.window));
  return mask;
}

}  // namespace

Tensor both(const Tensor& mask, const Tensor& other) {
  if (!mask.defined()) return other;
  return other.defined() ? logical_and(mask, other) : mask;
}

Attended attend(const Tensor& given, const Tensor& value, const AttentionRun& run) {
  Tensor mask = both(run.mask, by_place(given, run)), scores = given;
  if (mask.defined())
    scores = select(mask, scores,
                    Tensor::scalar(scores.dtype() == float16 ? -3e4 : -1e9, scores.dtype()));
  scores = nn::softmax(scores);
  if (mask.defined() && !run.spreads)
    scores = select(mask, scores, Tensor::scalar(0, scores.dtype()));
  Tensor weights =
      run.dropout > 0 ? nn::stateless_dropout(scores, run.dropout, run.seeds->next()) : scores;
  return {matmul(weights, value), scores, weights};
}

Attended scaled_dot_product(const Tensor& query, const Tensor& key, const Tensor& value,
                            const AttentionRun& run) {
  Tensor q = run.scale == 1 ? query : query * run.scale;
  return attend(matmul(q, key, {.transpose_b = true}), value, run);
}

bool said(const CallOptions& o, const char* name, const Layer& of) {
  const Nested* given = o.find(name);
  if (!given) return false;
  const Tensor& t = given->tensor(cat(of.described(), ": `", name, "`"));
  bool fits = t.dtype() == boolean || is_integer(t.dtype());
  if (t.is_symbolic() || !fits || t.shape().rank() != 0)
    fail(Code::E1104,
         cat(of.described(), ": `", name, "` is ", holdfast::name(t.dtype()), t.shape().text(),
             ", expected true or false"),
         "what the layer computes depends on it, so it is known before the call");
  return t.to_double() != 0;
}

Tensor mask_said(const CallOptions& o, const char* name, const Tensor& of) {
  const Nested* given = o.find(name);
  Tensor mask = given ? given->tensor(name) : of.defined() ? mask_of(of) : Tensor();
  return !mask.defined() || mask.dtype() == boolean ? mask : cast(mask, boolean);
}

}  // namespace holdfast::keras::layers
