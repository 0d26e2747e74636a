// Ops over the state of a Generator.
#include "holdfast/ops/random/rng.h"

#include <algorithm>
#include <mutex>

#include "holdfast/base/text.h"
#include "holdfast/ops/random/binomial.h"
#include "holdfast/ops/random/fill.h"
#include "holdfast/ops/random/sampling.h"
#include "holdfast/ops/random/seeds.h"
#include "holdfast/ops/state/held.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast::random {
namespace {

void need_state(const Infer& s) {
  const VariableState* v = variable_state(s.input(0));
  const Tensor now = v->get();
  const Shape& shape = now.defined() ? now.shape() : v->shape;
  if (v->dtype != int64 || shape.rank() != 1 || (shape[0] >= 0 && shape[0] < 2))
    s.bad_dtype(0, "a Variable int64[3] (or int64[2] for ThreeFry)");
}

// Moves the state on by what `advance(gen)` does, in one step that no other thread can come
// between, and tells where it stood.
template <class Advance>
Status take(const Tensor& handle, int64_t algorithm, std::vector<int64_t>& before,
            Advance advance) {
  static std::mutex mutex;
  const auto alg = static_cast<Algorithm>(algorithm);
  if (algorithm < 1 || algorithm > 3)
    return {Code::E1103, cat("the algorithm is ", algorithm,
                             ", expected 1 (philox), 2 (threefry) or 3 (auto_select)")};
  VariableState* v = variable_state(handle);
  PatientLock lock(mutex);
  const Tensor held = v->get();
  if (!held.defined()) return no_value(*v);
  const Tensor now = copy_to(held, cpu());
  if (now.size() < static_cast<int64_t>(state_size(alg)))
    return {Code::E1102, cat("the state has ", now.size(), " numbers, expected ", state_size(alg))};
  const int64_t* words = now.raw<int64_t>();
  before.assign(words, words + now.size());
  std::vector<int64_t> after = before;
  advance(std::span(after), alg);
  Tensor next = empty(int64, now.shape(), cpu());
  std::copy(after.begin(), after.end(), next.mutable_raw<int64_t>());
  v->set(next);
  return {};
}

Status take_outputs(const Call& c, int64_t algorithm, uint64_t delta,
                    std::vector<int64_t>& before) {
  return take(c.in(), algorithm, before,
              [&](std::span<int64_t> state, Algorithm alg) { read_and_skip(state, alg, delta); });
}

Status refuse_threefry(int64_t algorithm) {
  if (static_cast<Algorithm>(algorithm) != Algorithm::kThreefry) return {};
  return {Code::E1105, "the ThreeFry algorithm is not supported on the CPU",
          "supported: philox, auto_select"};
}

// Inputs of the filling ops: resource, algorithm, shape.
template <bool kIntegers>
void infer_stateful(Infer& s) {
  need_state(s);
  need_scalar(s, 1);
  s.output(dtype_attr(s, kIntegers ? kFullInts : kFloats), named_shape(s, 2));
}

Status take_fill(Call& c, const Tensor& y, Philox& gen) {
  const int64_t algorithm = c.ints(1)[0];
  if (Status s = refuse_threefry(algorithm); !s.ok()) return s;
  std::vector<int64_t> before;
  if (Status s = take_outputs(c, algorithm, static_cast<uint64_t>(y.size()), before); !s.ok())
    return s;
  gen = philox_of_state(before);
  return {};
}

template <Into into>
Status run_stateful(Call& c) {
  const Tensor& y = c.out();
  Philox gen;
  if (Status s = take_fill(c, y, gen); !s.ok()) return s;
  into(gen, y);
  return {};
}

Status run_stateful_int(Call& c) {
  const Tensor& y = c.out();
  Philox gen;
  if (Status s = take_fill(c, y, gen); !s.ok()) return s;
  return uniform_int_into(gen, c.in(3), c.in(4), y);
}

Status run_binomial(Call& c) {
  const Tensor &counts = c.in(3), &probs = c.in(4), &y = c.out();
  const int64_t algorithm = c.ints(1)[0],
                parameters = broadcast(counts.shape(), probs.shape())->size();
  if (Status s = refuse_threefry(algorithm); !s.ok()) return s;
  const int64_t samples = parameters ? y.size() / parameters : 0;
  std::vector<int64_t> before;
  Status s = take(c.in(), algorithm, before, [&](std::span<int64_t> state, Algorithm) {
    Philox gen = philox_of_state(state);
    gen.skip(blocks_of_binomial(parameters, samples));
    store_state(gen, state);
  });
  if (s.ok() && y.size()) binomial_into(philox_of_state(before), counts, probs, y);
  return s;
}

Status run_read_and_skip(Call& c) {
  std::vector<int64_t> before;
  Status s = take_outputs(c, c.ints(1)[0], *c.in(2).raw<uint64_t>(), before);
  if (s.ok())
    std::copy(before.begin(), before.end(),
              c.out(0, Shape{static_cast<int64_t>(before.size())}).mutable_raw<int64_t>());
  return s;
}

Status run_skip(Call& c) {
  std::vector<int64_t> before;
  return take_outputs(c, c.ints(1)[0], static_cast<uint64_t>(c.ints(2)[0]), before);
}

Status run_nondeterministic(Call& c) {
  const Tensor& y = c.out();
  full_int_into({0, nondeterministic_bits(), nondeterministic_bits()}, y);
  return {};
}

Builder& over_state(Builder& b) {
  return b.inputs("resource: R, algorithm: A!, shape: shape_dtype!")
      .resource(VariableState::kKind)
      .stateful()
      .no_gradient();
}

}  // namespace

const Op stateful_uniform =
    over_state(RAW_OP(StatefulUniform)
                   .doc("Uniform in [0, 1) from a Generator's state, which moves on.")
                   .attr("dtype", float32)
                   .attrs<&DtypeAttrs::dtype>())
        .infer(infer_stateful<false>)
        .kernel("philox", run_stateful<uniform_into>);
const Op stateful_normal =
    over_state(RAW_OP(StatefulStandardNormalV2)
                   .doc("Standard normal from a Generator's state, which moves on.")
                   .attr("dtype", float32)
                   .attrs<&DtypeAttrs::dtype>())
        .infer(infer_stateful<false>)
        .kernel("philox", run_stateful<normal_into>);
const Op stateful_truncated_normal =
    over_state(RAW_OP(StatefulTruncatedNormal)
                   .doc("Standard normal cut at -2 and 2 from a Generator's state, which moves on.")
                   .attr("dtype", float32)
                   .attrs<&DtypeAttrs::dtype>())
        .infer(infer_stateful<false>)
        .kernel("philox", run_stateful<truncated_normal_into>);
const Op stateful_full_int =
    over_state(RAW_OP(StatefulUniformFullInt)
                   .doc("Any value of the integer dtype from a Generator's state, which moves on.")
                   .attr("dtype", uint64)
                   .attrs<&DtypeAttrs::dtype>())
        .infer(infer_stateful<true>)
        .kernel("philox", run_stateful<full_int_into>);
const Op stateful_int =
    RAW_OP(StatefulUniformInt)
        .doc("Integers in [minval, maxval) from a Generator's state, which moves on.")
        .inputs("resource: R, algorithm: A!, shape: shape_dtype!, minval: dtype, maxval: dtype")
        .resource(VariableState::kKind)
        .dtypes(kIndices, "dtype")
        .stateful()
        .no_gradient()
        .infer(+[](Infer& s) {
          need_state(s);
          need_scalar(s, 1);
          need_scalar(s, 3);
          need_scalar(s, 4);
          s.output(s.dtype(3), named_shape(s, 2));
        })
        .kernel("philox", run_stateful_int);
const Op stateful_binomial =
    RAW_OP(StatefulRandomBinomial)
        .doc("Successes among `counts` trials from a Generator's state, which moves on.")
        .inputs("resource: R, algorithm: A!, shape: S!, counts, probs")
        .resource(VariableState::kKind)
        .dtypes(kCountTypes)
        .attr("dtype", int64)
        .attrs<&DtypeAttrs::dtype>()
        .stateful()
        .no_gradient()
        .infer(+[](Infer& s) {
          need_state(s);
          need_scalar(s, 1);
          s.output(dtype_attr(s, kCountTypes), shape_ending(s, 2, binomial_parameters(s, 3)));
        })
        .kernel("philox", run_binomial);

const Op rng_read_and_skip =
    RAW_OP(RngReadAndSkip)
        .doc("A Generator's state as it is; then moves it on by `delta` numbers.")
        .inputs("resource: R, alg: A!, delta: D")
        .resource(VariableState::kKind)
        .dtypes({uint64}, "D")
        .outputs("value")
        .stateful()
        .no_gradient()
        .infer(+[](Infer& s) {
          need_state(s);
          need_scalar(s, 1);
          need_scalar(s, 2);
          s.output(int64, variable_state(s.input(0))->shape);
        })
        .kernel("philox", run_read_and_skip);
static const Op rng_skip = RAW_OP(RngSkip)
                               .doc("Moves a Generator's state on by `delta` numbers.")
                               .inputs("resource: R, algorithm: A!, delta: D!")
                               .resource(VariableState::kKind)
                               .outputs("")
                               .stateful()
                               .no_gradient()
                               .infer(+[](Infer& s) {
                                 need_state(s);
                                 need_scalar(s, 1);
                                 need_scalar(s, 2);
                               })
                               .kernel("philox", run_skip);
const Op nondeterministic_ints =
    RAW_OP(NonDeterministicInts)
        .doc("Integers from the system's randomness.")
        .inputs("shape: shape_dtype!")
        .attr("dtype", int64)
        .attrs<&DtypeAttrs::dtype>()
        .stateful()
        .no_gradient()
        .infer(+[](Infer& s) { s.output(dtype_attr(s, kFullInts), named_shape(s, 0)); })
        .kernel("philox", run_nondeterministic);

}  // namespace holdfast::random
