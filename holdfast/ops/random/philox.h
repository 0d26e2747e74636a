// Counter-based generators and the numbers made from them. Bits and uniforms equal TensorFlow's CPU
// kernels bit for bit, normals to 2 ulp, for any length and any number of threads.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "holdfast/base/api.h"

namespace holdfast::random {

/// Four words: what one step of Philox gives.
using Block = std::array<uint32_t, 4>;

/// Philox4x32-10. The three fields in this order are the state of a `Generator`.
struct HOLDFAST_API Philox {
  uint64_t counter_lo = 0;
  uint64_t counter_hi = 0;
  uint64_t key = 0;

  /// The generator of an op with the attributes `seed` and `seed2`, before its first call.
  static Philox from_seeds(int64_t seed, int64_t seed2);
  /// The generator of a stateless op whose seed is (`seed0`, `seed1`); int32 seeds are
  /// sign-extended.
  static Philox from_stateless_seed(int64_t seed0, int64_t seed1);

  /// The block at the counter; moves on by one.
  Block operator()();
  /// Moves on by `blocks`.
  void skip(uint64_t blocks);
  bool operator==(const Philox&) const = default;
};

/// Bits of a float16 or bfloat16: fills write these, whatever type the caller's buffer has.
enum class Float16Bits : uint16_t {};
enum class BFloat16Bits : uint16_t {};

// Every fill cuts its output in groups (four elements of up to 32 bits, two of 64) and gives group
// g to block g of the generator, so threads may take groups in any order.

/// Uniform in [0, 1).
HOLDFAST_API void fill_uniform(Philox gen, std::span<float> out);
HOLDFAST_API void fill_uniform(Philox gen, std::span<double> out);
HOLDFAST_API void fill_uniform(Philox gen, std::span<Float16Bits> out);
HOLDFAST_API void fill_uniform(Philox gen, std::span<BFloat16Bits> out);

/// Uniform in [lo, hi), with the bias of a remainder, as TensorFlow has it. Needs lo < hi.
HOLDFAST_API void fill_uniform_int(Philox gen, int32_t lo, int32_t hi, std::span<int32_t> out);
HOLDFAST_API void fill_uniform_int(Philox gen, int64_t lo, int64_t hi, std::span<int64_t> out);

/// Every value of the type equally likely: the raw bits.
HOLDFAST_API void fill_uniform_full_int(Philox gen, std::span<int32_t> out);
HOLDFAST_API void fill_uniform_full_int(Philox gen, std::span<uint32_t> out);
HOLDFAST_API void fill_uniform_full_int(Philox gen, std::span<int64_t> out);
HOLDFAST_API void fill_uniform_full_int(Philox gen, std::span<uint64_t> out);

/// Standard normal, by Box and Muller.
HOLDFAST_API void fill_normal(Philox gen, std::span<float> out);
HOLDFAST_API void fill_normal(Philox gen, std::span<double> out);
HOLDFAST_API void fill_normal(Philox gen, std::span<Float16Bits> out);
HOLDFAST_API void fill_normal(Philox gen, std::span<BFloat16Bits> out);

/// Standard normal, values outside (-2, 2) drawn again. An element may use up to 64 blocks.
HOLDFAST_API void fill_truncated_normal(Philox gen, std::span<float> out);
HOLDFAST_API void fill_truncated_normal(Philox gen, std::span<double> out);
HOLDFAST_API void fill_truncated_normal(Philox gen, std::span<Float16Bits> out);
HOLDFAST_API void fill_truncated_normal(Philox gen, std::span<BFloat16Bits> out);

/// What a call that makes `outputs` numbers moves its generator by, however few it needed.
constexpr uint64_t kBlocksPerOutput = 256;
constexpr uint64_t blocks_reserved(int64_t outputs) {
  return static_cast<uint64_t>(outputs) * kBlocksPerOutput;
}

/// Hands out doubles in [0, 1) one by one, the later of each block's two first, as TensorFlow's
/// rejection samplers do.
class UniformDoubles {
 public:
  explicit UniformDoubles(Philox& gen) : gen_(gen) {}
  double operator()();

 private:
  Philox& gen_;
  std::array<double, 2> pair_{};
  int left_ = 0;
};

/// Two standard normals from one block.
HOLDFAST_API std::array<double, 2> normal_pair(const Block& bits);
/// A float in [0, 1) from a word: its bits become the fraction of a number in [1, 2), so that
/// subtracting 1 is exact.
inline float uniform_float(uint32_t word) {
  return std::bit_cast<float>(0x3f800000u | (word & 0x7fffffu)) - 1.0f;
}
/// A double in [0, 1) from two words.
HOLDFAST_API double uniform_double(uint32_t high, uint32_t low);

/// ThreeFry2x32 with 20 rounds. TensorFlow offers it on XLA only, whose order of words this has.
struct HOLDFAST_API ThreeFry {
  uint64_t counter = 0;
  uint64_t key = 0;

  /// The generator of a stateless op with `alg="threefry"`: the low halves of the seeds are the
  /// key.
  static ThreeFry from_stateless_seed(int64_t seed0, int64_t seed1);
  /// The two words at `counter + offset`.
  std::array<uint32_t, 2> at(uint64_t offset) const;
};
HOLDFAST_API void fill_uniform_full_int(ThreeFry gen, std::span<uint32_t> out);
HOLDFAST_API void fill_uniform_full_int(ThreeFry gen, std::span<uint64_t> out);

}  // namespace holdfast::random
