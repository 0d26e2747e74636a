// Samplers that draw a varying number of uniforms: shuffle, categorical, gamma, Poisson, binomial.
// Outputs are laid out as TensorFlow's: samples outside, parameters inside, so that sample s for
// parameter p is out[s * parameters + p]; `out.size()` is samples times parameters.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "holdfast/base/api.h"
#include "holdfast/ops/random/philox.h"

namespace holdfast::random {

/// Puts the elements in the order that the generator says.
template <class T>
void shuffle_in_place(Philox gen, std::span<T> rows) {
  Block block{};
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    if (i % 4 == 0) block = gen();
    std::swap(rows[i], rows[i + block[i % 4] % static_cast<uint32_t>(rows.size() - i)]);
  }
}
/// A permutation: row i of the shuffled tensor is row order[i] of the given one.
HOLDFAST_API void fill_shuffle(Philox gen, std::span<int64_t> order);
/// Blocks a stateful shuffle of `rows` moves its generator by.
HOLDFAST_API uint64_t blocks_of_shuffle(int64_t rows);

/// For each row of `classes` unnormalised log-probabilities, as many class numbers as fill `out`.
/// Classes whose logit is not finite are never drawn. Draws run on from row to row; TensorFlow does
/// this too, within each of the batches of rows it gives to a thread.
HOLDFAST_API void fill_categorical(Philox gen, std::span<const float> logits, int64_t classes,
                                   std::span<int64_t> out);
HOLDFAST_API void fill_categorical(Philox gen, std::span<const double> logits, int64_t classes,
                                   std::span<int64_t> out);
/// Blocks a stateful categorical moves its generator by.
HOLDFAST_API uint64_t blocks_of_categorical(int64_t rows, int64_t samples);

// The parameters are doubles and so are the results: TensorFlow computes in double for every dtype
// and rounds at the end, which the caller does.

/// Gamma with shape `alpha` and scale 1, by Marsaglia and Tsang's rejection.
HOLDFAST_API void fill_gamma(Philox gen, std::span<const double> alpha, std::span<double> out);

/// Poisson with mean `rate`; a negative one counts as 0. Draws above `highest` are drawn again:
/// pass the largest value of an integer dtype, infinity for a floating one. Where TensorFlow would
/// not end (NaN, or a rate far above `highest`) the result is NaN or `highest`.
HOLDFAST_API void fill_poisson(Philox gen, std::span<const double> rate, double highest,
                               std::span<double> out);

/// Successes among `counts` trials, each with probability `probs`. `narrow` says that the
/// parameters came as float32, which decides between the two samplers near counts * probs = 10.
HOLDFAST_API void fill_binomial(Philox gen, std::span<const double> counts,
                                std::span<const double> probs, bool narrow, std::span<double> out);
/// What `Generator.binomial` moves its state by, in blocks.
HOLDFAST_API uint64_t blocks_of_binomial(int64_t parameters, int64_t samples);

}  // namespace holdfast::random
