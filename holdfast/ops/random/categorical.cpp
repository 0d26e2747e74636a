// Class numbers drawn by their log-probabilities.
#include "holdfast/base/text.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/random/fill.h"
#include "holdfast/ops/random/sampling.h"
#include "holdfast/ops/random/stateless.h"
#include "holdfast/ops/random/streams.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::random {
namespace {

struct MultinomialAttrs {
  Attr<int64_t> seed;
  Attr<int64_t> seed2;
  Attr<DType> output_dtype;
};
struct StatelessMultinomialAttrs {
  Attr<DType> output_dtype;
};

template <class A>
void infer_categorical(Infer& s) {
  s.need_rank(0, 2, 2);
  need_scalar(s, 1);
  auto samples = s.ints(1);
  if (samples && (*samples)[0] < 0) s.bad_value("num_samples", cat((*samples)[0]), "0 or more");
  if (s.shape().has_rank() && s.shape()[1] == 0) s.bad_shape(0, "one class or more");
  if (s.inputs() > 2) need_seed(s, 2);
  const int64_t rows = s.shape().has_rank() ? s.shape()[0] : kUnknown;
  s.output(allowed_dtype(s, s.attrs<A>().output_dtype(), "output_dtype", kIndices),
           Shape{rows, samples ? (*samples)[0] : kUnknown});
}

// Float16 logits are widened to float, exactly.
void draw(const Philox& gen, const Tensor& logits, std::span<int64_t> out) {
  const int64_t classes = logits.dim(1);
  const auto size = static_cast<size_t>(logits.size());
  visit_floats(logits.dtype(), [&]<class T>(T) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      fill_categorical(gen, std::span(logits.raw<T>(), size), classes, out);
    } else {
      const std::vector<float> wide(logits.raw<T>(), logits.raw<T>() + size);
      fill_categorical(gen, std::span<const float>(wide), classes, out);
    }
  });
}

Status draw_into(Call& c, const Philox& gen) {
  Tensor& y = c.out();
  if (y.dtype() == int64) {
    draw(gen, c.in(), std::span(y.mutable_raw<int64_t>(), static_cast<size_t>(y.size())));
    return {};
  }
  std::vector<int64_t> classes(static_cast<size_t>(y.size()));
  draw(gen, c.in(), classes);
  for (size_t i = 0; i < classes.size(); ++i)
    y.mutable_raw<int32_t>()[i] = static_cast<int32_t>(classes[i]);
  return {};
}

Status run_multinomial(Call& c) {
  const Tensor& y = c.out();
  if (y.size() == 0) return {};
  return draw_into(c, stream(c, blocks_of_categorical(y.dim(0), y.dim(1))));
}

Status run_stateless(Call& c) { return draw_into(c, philox_of_seed(c.in(2))); }

}  // namespace

static const Op multinomial_op =
    OP(Multinomial, &categorical)
        .args("logits, num_samples")
        .options<&CategoricalOptions::dtype, &CategoricalOptions::seed>("dtype, seed")
        .python("random.categorical")
        .doc("For each row of unnormalised log-probabilities, `num_samples` class numbers.")
        .inputs("logits, num_samples: N!")
        .dtypes(kFloats)
        .attr("seed", 0)
        .attr("seed2", 0)
        .attrs<&SeedAttrs::seed, &SeedAttrs::seed2>()
        .draws()
        .attr("output_dtype", int64)
        .attrs<&MultinomialAttrs::seed, &MultinomialAttrs::seed2, &MultinomialAttrs::output_dtype>()
        .stateful()
        .no_gradient()
        .infer(infer_categorical<MultinomialAttrs>)
        .kernel("philox", run_multinomial)
        .samples("uniform(2, 3), 5");
Tensor categorical(const In& logits, const Sizes& num_samples, const CategoricalOptions& o) {
  CallSeeds seeds(o.seed);
  return multinomial_op({logits, num_samples.tensor()}, seeds.attrs(o.dtype.value_or(int64)));
}

static const Op stateless_op =
    OP(StatelessMultinomial, &stateless_categorical)
        .args("logits, num_samples, seed: S")
        .options<&StatelessCategoricalOptions::dtype>("dtype")
        .python("random.stateless_categorical")
        .doc("Class numbers drawn by unnormalised log-probabilities, a pure function of `seed`.")
        .inputs("logits, num_samples: N!, seed: Tseed!")
        .dtypes(kFloats)
        .attr("output_dtype", int64)
        .attrs<&StatelessMultinomialAttrs::output_dtype>()
        .no_gradient()
        .infer(infer_categorical<StatelessMultinomialAttrs>)
        .kernel("philox", run_stateless)
        .samples("[[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]], 5, [1, 2]")
        .reference("np.array([[2, 2, 1, 2, 2], [0, 0, 0, 0, 0]])");
Tensor stateless_categorical(const In& logits, const Sizes& num_samples, const In& seed,
                             const StatelessCategoricalOptions& o) {
  return stateless_op({logits, num_samples.tensor(), checked_seed(seed)}, {o.dtype});
}

}  // namespace holdfast::random
