#include "holdfast/ops/random/index_shuffle.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/random.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::random {
namespace {

struct ShuffleIndexAttrs {
  Attr<int64_t> rounds;
};

// Words of `bits` bits (8 to 32) and rotations of them.
struct Word {
  int bits;
  uint64_t mask = (uint64_t{1} << bits) - 1;
  uint64_t left(uint64_t x, int by) const { return ((x << by) | (x >> (bits - by))) & mask; }
  uint64_t right(uint64_t x, int by) const { return left(x, bits - by); }
  uint64_t mix(uint64_t x) const { return (left(x, 1) & left(x, 8 % bits)) ^ left(x, 2); }
};

std::vector<uint64_t> round_keys(const Word& w, const IndexKey& key, int rounds) {
  uint64_t constants =
      0x7369f885192c0ef5u & w.mask;  // the cipher's published sequence, as far as it fits
  std::vector<uint64_t> keys{key[0] & w.mask, key[1] & w.mask, key[2] & w.mask};
  for (size_t i = 3; i < static_cast<size_t>(rounds); ++i, constants >>= 1) {
    const uint64_t last = keys[i - 1];
    keys.push_back((0xfffffffcu & w.mask) ^ (constants & 1) ^ keys[i - 3] ^ w.right(last, 3) ^
                   w.right(last, 4));
  }
  return keys;
}

constexpr DTypes kWide{int32, int64, uint32, uint64};

void infer_index_shuffle(Infer& s) {
  const Shape &index = s.shape(0), &seed = s.shape(1), &most = s.shape(2);
  s.need_rank(0, 0, 1);
  s.need_rank(1, 1, 2);
  s.need_rank(2, 0, 1);
  if (seed.has_rank() && seed[-1] != 3 && seed[-1] != kUnknown)
    s.bad_shape(1, "three numbers a seed");
  const int64_t rounds = s.attrs<ShuffleIndexAttrs>().rounds();
  if (rounds < 4 || rounds % 2 || rounds > 64)
    s.bad_value("rounds", cat(rounds), "an even number from 4 to 64");
  if (!index.has_rank() || !seed.has_rank() || !most.has_rank())
    return s.output(s.dtype(), Shape::unknown());
  Shape out;
  auto join = [&](int i, Shape entries) {
    auto both = broadcast(out, entries);
    if (!both) s.bad_shape(i, cat("one entry, or as many as the other inputs: ", out.text()));
    out = *both;
  };
  join(0, index);
  join(1, seed.rank() == 2 ? Shape{seed[0]} : Shape{});
  join(2, most);
  s.output(s.dtype(), out);
}

template <class F>
void visit_wide(DType d, F&& f) {
  if (d == int32) f(int32_t{});
  if (d == int64) f(int64_t{});
  if (d == uint32) f(uint32_t{});
  if (d == uint64) f(uint64_t{});
}

IndexKey key_at(const Tensor& seed, int64_t i) {
  IndexKey key{};
  visit_wide(seed.dtype(), [&]<class S>(S) {
    const S* from = seed.raw<S>() + (seed.size() == 3 ? 0 : 3 * i);
    for (size_t k = 0; k < 3; ++k) key[k] = static_cast<uint32_t>(from[k]);
  });
  return key;
}

Status run_index_shuffle(Call& c) {
  const Tensor &index = c.in(0), &seed = c.in(1), &most = c.in(2);
  const Tensor& y = c.out();
  Status status;
  visit_wide(y.dtype(), [&]<class T>(T) {
    for (int64_t i = 0, n = y.size(); i < n; ++i) {
      const T at = index.raw<T>()[index.size() == 1 ? 0 : i],
              top = most.raw<T>()[most.size() == 1 ? 0 : i];
      if (std::cmp_less(at, 0) || at > top) {
        status = {Code::E1103,
                  cat("`index` is ", at, ", expected a number from 0 to `max_index`, ", top)};
        return;
      }
      y.mutable_raw<T>()[i] = static_cast<T>(
          shuffled_index(static_cast<uint64_t>(at), key_at(seed, i), static_cast<uint64_t>(top),
                         static_cast<int>(c.attrs<ShuffleIndexAttrs>().rounds())));
    }
  });
  return status;
}

}  // namespace

uint64_t shuffled_index(uint64_t index, const IndexKey& key, uint64_t max, int rounds) {
  if (max == 0) return 0;
  const int needed = static_cast<int>(std::ceil(std::log2(max)));
  const Word w{std::clamp((needed + 1) / 2, 8, 32)};
  const std::vector<uint64_t> keys = round_keys(w, key, rounds);
  do {
    uint64_t left = index >> w.bits & w.mask, right = index & w.mask;
    for (size_t i = 0; i + 1 < keys.size(); i += 2) {
      left ^= w.mix(right) ^ keys[i];
      right ^= w.mix(left) ^ keys[i + 1];
    }
    index = left << w.bits | right;
  } while (index > max);
  return index;
}

static const Op op =
    RAW_OP(RandomIndexShuffle)
        .doc("Where `index` goes in a permutation of [0, max_index] that `seed` chooses.")
        .inputs("index, seed: Tseed, max_index")
        .dtypes(kWide)
        .dtypes(kWide, "Tseed")
        .attr("rounds", 4)
        .attrs<&ShuffleIndexAttrs::rounds>()
        .no_gradient()
        .infer(infer_index_shuffle)
        .kernel("simon", run_index_shuffle);

REGISTER(FUNCTION(&index_shuffle)
             .args("index, seed: S, max_index")
             .python("random.experimental.index_shuffle")
             .doc("Where `index` goes in a permutation of [0, max_index] that is never laid out in "
                  "memory.")
             .samples("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2], 9")
             .reference("np.array([5, 0, 1, 4, 3, 6, 9, 8, 7, 2], np.int32)"));
Tensor index_shuffle(const In& index, const In& seed, const In& max_index) {
  Tensor s = seed.tensor();
  if (s.shape().has_rank() && s.rank() != 1)
    fail(Code::E1102, cat("random.experimental.index_shuffle: `seed` has shape ", s.shape().text(),
                          ", expected [2]"));
  Tensor word =
      fill({1}, Tensor::scalar(498247692, s.dtype()));  // TensorFlow's, before the two given
  return op({index, concat({word, s}, 0), max_index});
}

}  // namespace holdfast::random
