#include "holdfast/ops/nn/fractional_cuts.h"

#include <algorithm>
#include <cmath>

#include "holdfast/ops/random/sampling.h"

namespace holdfast::nn {
namespace {

std::vector<int64_t> shuffled_lengths(int64_t in, int64_t out, random::Philox& gen) {
  std::vector<int64_t> lengths(static_cast<size_t>(out), in / out);
  for (int64_t i = 0; i < in % out; ++i) ++lengths[static_cast<size_t>(i)];
  random::shuffle_in_place(gen, std::span<int64_t>(lengths));
  gen.skip(static_cast<uint64_t>(out + 3) / 4);
  return lengths;
}

// Graham's pseudo-random sequence: window i ends at ceil(alpha * (i + u)), u chosen so that no
// length is off by more than one.
std::vector<int64_t> spread_lengths(int64_t in, int64_t out, random::Philox& gen) {
  const double alpha = static_cast<double>(in) / static_cast<double>(out);
  const int64_t k = in / out;
  const double most =
      std::min(static_cast<double>(k + 2) / alpha - 1,
               static_cast<double>(in + 1 - k) / alpha - static_cast<double>(out - 1));
  const random::Block bits = gen();
  const double u = random::uniform_double(bits[0], bits[1]) * most;
  std::vector<int64_t> ends(static_cast<size_t>(out) + 1);
  ends.front() = 1;
  ends.back() = in + 1;
  for (int64_t i = 1; i < out; ++i)
    ends[static_cast<size_t>(i)] =
        static_cast<int64_t>(std::ceil(alpha * (static_cast<double>(i) + u)));
  std::vector<int64_t> lengths;
  for (size_t i = 0; i + 1 < ends.size(); ++i) lengths.push_back(ends[i + 1] - ends[i]);
  return lengths;
}

}  // namespace

std::vector<int64_t> fractional_cuts(int64_t in, int64_t out, bool pseudo_random,
                                     random::Philox& gen) {
  std::vector<int64_t> lengths(static_cast<size_t>(out), in / std::max<int64_t>(out, 1));
  if (out > 0 && in % out != 0)
    lengths = pseudo_random ? spread_lengths(in, out, gen) : shuffled_lengths(in, out, gen);
  std::vector<int64_t> cuts{0};
  for (int64_t n : lengths) cuts.push_back(cuts.back() + n);
  return cuts;
}

}  // namespace holdfast::nn
