#include "holdfast/ops/dropout.h"

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/random/fill.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::nn {
namespace {

// The shape in which decisions are drawn.
Sizes noise_sizes(const char* function, const Tensor& x, const Axes& given) {
  if (!given) return x.shape().is_full() ? Sizes(x.shape()) : Sizes(shape(x));
  if (given->is_tensor()) return *given;
  Dims d = given->ints();
  bool same_rank = x.shape().has_rank() && d.size() == static_cast<size_t>(x.rank());
  for (size_t i = 0; i < d.size(); ++i) {
    if (d[i] == -1 && same_rank) d[i] = x.shape().dims()[i];
    if (d[i] < 0)
      fail(Code::E1103, cat(function, ": `noise_shape` is ", Shape(d).text(),
                            ", expected sizes that broadcast to ", type_text(x)));
  }
  return Sizes(d);
}

// `draw(shape, dtype)` gives numbers in [0, 1).
template <class F>
Tensor drop(const char* function, const In& input, const In& rate, const Axes& noise_shape,
            F&& draw) {
  Tensor x = input;
  if (!kFloats.has(x.dtype()))
    fail(Code::E1101,
         cat(function, ": `x` is ", type_text(x), ", expected floats: what is kept is scaled up"));
  auto check = [&](double r) {
    if (!(r >= 0 && r < 1))
      fail(Code::E1103, cat(function, ": `rate` is ", r, ", expected a number in [0, 1)"));
  };
  Tensor keep, scale;
  if (rate.number()) {
    double r = rate.arg().f();
    check(r);
    if (r == 0) return identity(x);
    keep = Tensor::scalar(r, x.dtype());
    scale = Tensor::scalar(1 / (1 - r), x.dtype());
  } else {
    keep = rate;
    if (keep.shape().has_rank() && keep.rank() != 0)
      fail(Code::E1102, cat(function, ": `rate` is ", type_text(keep), ", expected a scalar"));
    if (!kReals.has(keep.dtype()))
      fail(Code::E1101, cat(function, ": `rate` is ", type_text(keep), ", expected a number"));
    if (!keep.is_symbolic()) {
      double r = random::doubles_of(copy_to(keep, cpu()))[0];
      check(r);
      if (r == 0) return identity(x);
    }
    if (keep.dtype() != x.dtype()) keep = cast(keep, x.dtype());
    scale = 1 / (1 - keep);
  }
  Tensor kept = greater_equal(draw(noise_sizes(function, x, noise_shape), x.dtype()), keep);
  // Decisions of a shape that is not known yet are made for what `x` holds.
  if (!kept.shape().is_full()) kept = broadcast_to(kept, Sizes(shape(x)));
  return where(kept, In(x * scale), In(Tensor::scalar(0, x.dtype())));
}

}  // namespace

REGISTER(
    FUNCTION(&dropout)
        .args("x, rate: R")
        .options<&DropoutOptions::noise_shape, &DropoutOptions::seed>("noise_shape, seed")
        .python("nn.dropout")
        .doc("Zero with probability `rate`, else x / (1 - rate), so that the expected sum stays.")
        .samples("uniform(3, 4), 0.0")
        .reference("x"));
Tensor dropout(const In& x, const In& rate, const DropoutOptions& o) {
  return drop("dropout", x, rate, o.noise_shape, [&](const Sizes& shape, DType d) {
    return random::uniform(shape, {.dtype = d, .seed = o.seed});
  });
}

REGISTER(FUNCTION(&stateless_dropout)
             .args("x, rate: R, seed: S")
             .options<&StatelessDropoutOptions::rng_alg, &StatelessDropoutOptions::noise_shape>(
                 "rng_alg, noise_shape")
             .python("nn.experimental.stateless_dropout")
             .doc("dropout as a pure function of `seed`, two integers.")
             .samples("uniform(3, 4), 0.0, [1, 2]")
             .reference("x"));
Tensor stateless_dropout(const In& x, const In& rate, const In& seed,
                         const StatelessDropoutOptions& o) {
  return drop("stateless_dropout", x, rate, o.noise_shape, [&](const Sizes& shape, DType d) {
    return random::stateless_uniform(shape, seed,
                                     {.dtype = d, .alg = o.rng_alg.value_or("auto_select")});
  });
}

REGISTER(FUNCTION(&general_dropout)
             .args("x, rate: R, uniform")
             .python("nn.experimental.general_dropout")
             .doc("dropout by numbers in [0, 1) that the caller drew.")
             .samples("uniform(3, 4), 0.5, uniform(3, 4, low=0, high=1)")
             .reference("np.where(uniform >= rate, x / (1 - rate), 0)"));
Tensor general_dropout(const In& x, const In& rate, const In& uniform) {
  return drop("general_dropout", x, rate, {}, [&](const Sizes&, DType) { return Tensor(uniform); });
}

}  // namespace holdfast::nn
