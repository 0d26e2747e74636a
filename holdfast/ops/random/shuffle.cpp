// Rows in a random order.
#include <algorithm>

#include "holdfast/base/parallel.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/random/fill.h"
#include "holdfast/ops/random/sampling.h"
#include "holdfast/ops/random/stateless.h"
#include "holdfast/ops/random/streams.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::random {
namespace {

int64_t rows_of(const Tensor& t) { return t.rank() == 0 ? 1 : t.dim(0); }

// There is nothing to shuffle.
int alias_of_shuffle(const Types& t, int) {
  return t.shape().rank() == 0 || t.shape()[0] <= 1 || t.shape().size() == 0 ? 0 : kFresh;
}

// Row i of the output is row order[i] of the input.
Status permute_rows(Call& c, const Philox& gen) {
  const Tensor& x = c.in();
  const int64_t rows = rows_of(x);
  if (rows <= 1 || x.size() == 0) {
    c.set_out(0, view_of(x, x.shape()));
    return {};
  }
  Tensor& y = c.out();
  const int64_t width = x.size() / rows;
  visit_cells(x.dtype(), [&]<class T>(T) {
    const T* from = x.raw<T>();
    T* to = y.mutable_raw<T>();
    if (width == 1) {  // swapping elements is cheaper than gathering them
      std::copy_n(from, rows, to);
      shuffle_in_place(gen, std::span<T>(to, static_cast<size_t>(rows)));
      return;
    }
    std::vector<int64_t> order(static_cast<size_t>(rows));
    fill_shuffle(gen, order);
    parallel_for(rows, std::max<int64_t>(1, (1 << 14) / width), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        std::copy_n(from + order[static_cast<size_t>(i)] * width, width, to + i * width);
    });
  });
  return {};
}

Status run_shuffle(Call& c) {
  const int64_t rows = rows_of(c.in());
  return permute_rows(
      c, rows <= 1 || c.in().size() == 0 ? Philox() : stream(c, blocks_of_shuffle(rows)));
}

Status run_stateless(Call& c) {
  Philox gen;
  if (Status s = philox_of_inputs(c, 1, gen); !s.ok()) return s;
  return permute_rows(c, gen);
}

}  // namespace

static const Op shuffle_op = OP(RandomShuffle, &shuffle)
                                 .args("value")
                                 .options<&ShuffleOptions::seed>("seed")
                                 .python("random.shuffle")
                                 .doc("The rows in a random order.")
                                 .inputs("value")
                                 .attr("seed", 0)
                                 .attr("seed2", 0)
                                 .attrs<&SeedAttrs::seed, &SeedAttrs::seed2>()
                                 .draws()
                                 .stateful()
                                 .no_gradient()
                                 .same_as_input()
                                 .kernel("philox", run_shuffle)
                                 .aliases(alias_of_shuffle)
                                 .samples("uniform(5, 2)", "strings(4)");
Tensor shuffle(const In& value, const ShuffleOptions& o) {
  CallSeeds seeds(o.seed);
  return shuffle_op({value}, seeds.attrs());
}

static const Op stateless_op = OP(StatelessShuffle, &stateless_shuffle)
                                   .args("value, seed: S")
                                   .options<&AlgOptions::alg>("alg")
                                   .python("random.experimental.stateless_shuffle")
                                   .doc("The rows in an order that is a pure function of `seed`.")
                                   .inputs("value, key: K, counter: K, alg: A!")
                                   .dtypes({uint64}, "K")
                                   .no_gradient()
                                   .infer(+[](Infer& s) {
                                     need_key_counter(s, 1);
                                     s.output(s.dtype(), s.shape());
                                   })
                                   .kernel("philox", run_stateless)
                                   .aliases(alias_of_shuffle)
                                   .samples("ints(6, 2), [1, 2]")
                                   .reference("value[[4, 5, 0, 3, 1, 2]]");
Tensor stateless_shuffle(const In& value, const In& seed, const AlgOptions& o) {
  Tensor rows = value.tensor();
  KeyCounter k(seed, o.alg);
  return stateless_op({rows, k.key, k.counter, k.alg});
}

}  // namespace holdfast::random
