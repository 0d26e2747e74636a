// The class Generator: a Variable and the ops over it.
#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/random/fill.h"
#include "holdfast/ops/random/rng.h"
#include "holdfast/ops/random/streams.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::random {
namespace {

Tensor tensor_of(std::span<const int64_t> words) {
  return Tensor::of<int64_t>(words, Shape{static_cast<int64_t>(words.size())});
}

// Any integers, as int64; floats and strings are no state.
std::vector<int64_t> words_of(const Tensor& t, const char* argument) {
  if (!kInts.has(t.dtype()))
    fail(Code::E1101, cat("Generator: `", argument, "` is ", type_text(t), ", expected integers"));
  if (t.is_symbolic())
    fail(Code::E1105, cat("Generator: `", argument, "` is not known while tracing"));
  const Tensor host = copy_to(t, cpu());
  std::vector<int64_t> words;
  visit_plain(host.dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>)
      for (int64_t i = 0; i < host.size(); ++i)
        words.push_back(static_cast<int64_t>(host.raw<T>()[i]));
  });
  return words;
}

void need_shape(const Tensor& t, const char* argument, const Shape& expected) {
  if (!t.shape().compatible(expected))
    fail(Code::E1102, cat("Generator: `", argument, "` has shape ", t.shape().text(), ", expected ",
                          expected.text()));
}

Shape state_shape(Algorithm alg) { return Shape{static_cast<int64_t>(state_size(alg))}; }

Algorithm checked(Algorithm alg) {
  const auto n = static_cast<int64_t>(alg);
  if (n < 1 || n > 3)
    fail(Code::E1103,
         cat("Generator: `alg` is ", n, ", expected 1 (philox), 2 (threefry) or 3 (auto_select)"));
  return alg;
}

Tensor joined_state(const In& key, const In& counter, Algorithm alg) {
  Tensor k = key.tensor(int64), c = counter.tensor(int64);
  need_shape(k, "key", Shape{});
  need_shape(c, "counter", Shape{state_shape(alg)[0] - 1});
  std::vector<int64_t> words = words_of(c, "counter");
  words.push_back(words_of(k, "key")[0]);
  return tensor_of(words);
}

Variable state_variable(const Tensor& state) {
  return Variable(state, {.trainable = false, .name = "StateVar", .dtype = int64});
}

Tensor number(Algorithm alg) { return Tensor::scalar(static_cast<int64_t>(alg)); }

}  // namespace

Tensor rng_state(const In& seed, Algorithm alg) {
  Tensor t = seed.tensor(int64);
  const std::vector<int64_t> words = words_of(t, "seed");
  if (t.rank() == 0) return tensor_of(create_rng_state(words[0], checked(alg)));
  return tensor_of(create_rng_state(std::span<const int64_t>(words), checked(alg)));
}

Generator Generator::from_seed(int64_t seed, Algorithm alg) {
  return {state_variable(tensor_of(create_rng_state(seed, checked(alg)))), alg};
}
Generator Generator::from_seed(std::span<const int64_t> seed, Algorithm alg) {
  return {state_variable(tensor_of(create_rng_state(seed, checked(alg)))), alg};
}

Generator Generator::from_state(const In& state, Algorithm alg) {
  if (const Variable* v = state.variable()) {
    if (v->dtype() != int64)
      fail(Code::E1101, cat("Generator: the state is ", name(v->dtype()), ", expected int64"));
    need_shape(v->state()->get(), "state", state_shape(checked(alg)));
    return {*v, alg};
  }
  Tensor t = state.tensor(int64);
  need_shape(t, "state", state_shape(checked(alg)));
  return {state_variable(tensor_of(words_of(t, "state"))), alg};
}

Generator Generator::from_key_counter(const In& key, const In& counter, Algorithm alg) {
  return {state_variable(joined_state(key, counter, checked(alg))), alg};
}

Generator Generator::from_non_deterministic_state(Algorithm alg) {
  refuse_if_deterministic("Generator.from_non_deterministic_state");
  return {state_variable(nondeterministic_ints({Sizes(state_shape(checked(alg))).tensor()})), alg};
}

Generator Generator::clone() const { return {state_variable(state_.read()), alg_}; }

void Generator::reset(const In& state) const {
  Tensor t = state.tensor(int64);
  need_shape(t, "state", state_shape(alg_));
  state_.assign(t.dtype() == int64 ? t : tensor_of(words_of(t, "state")));
}
void Generator::reset_from_seed(int64_t seed) const {
  state_.assign(tensor_of(create_rng_state(seed, alg_)));
}
void Generator::reset_from_key_counter(const In& key, const In& counter) const {
  state_.assign(joined_state(key, counter, alg_));
}

Tensor Generator::key() const {
  const Tensor now = state_.read();
  if (now.is_symbolic()) return gather(now, -1 + static_cast<int64_t>(state_size(alg_)));
  return view_of(now, Shape{}, (now.size() - 1) * size_of(int64));
}

Tensor Generator::skip(const In& delta) const {
  Tensor d = delta.tensor(int64);
  need_shape(d, "delta", Shape{});
  if (d.is_symbolic())
    d = cast(d, uint64);
  else if (d.dtype() != uint64)
    d = Tensor::scalar(words_of(d, "delta")[0], uint64);
  return rng_read_and_skip({state_.handle(), Tensor::scalar(static_cast<int32_t>(alg_)), d});
}

Tensor Generator::make_seeds(int64_t count) const {
  Tensor keys = reshape(uniform_full_int({count}, int64), {1, count});
  return concat({keys, zeros_like(keys)}, 0);
}

std::vector<Generator> Generator::split(int64_t count) const {
  std::vector<Generator> made;
  for (int64_t key : words_of(uniform_full_int({count}, int64), "keys"))
    made.push_back({state_variable(tensor_of(state_of_key(key, alg_))), alg_});
  return made;
}

Tensor Generator::normal(const Sizes& shape, const GeneratorNormalOptions& o) const {
  check_dtype("Generator.normal", o.dtype, kFloats);
  return scaled_normal(stateful_normal({state_.handle(), number(alg_), shape.tensor()}, {o.dtype}),
                       o.mean, o.stddev);
}

Tensor Generator::truncated_normal(const Sizes& shape, const GeneratorNormalOptions& o) const {
  check_dtype("Generator.truncated_normal", o.dtype, kFloats);
  return scaled_normal(
      stateful_truncated_normal({state_.handle(), number(alg_), shape.tensor()}, {o.dtype}), o.mean,
      o.stddev);
}

Tensor Generator::uniform(const Sizes& shape, const GeneratorUniformOptions& o) const {
  if (!is_integer(o.dtype)) {
    check_dtype("Generator.uniform", o.dtype, kFloats);
    return scaled_uniform(
        stateful_uniform({state_.handle(), number(alg_), shape.tensor()}, {o.dtype}), o.minval,
        o.maxval);
  }
  if (o.minval.given() != o.maxval.given())
    fail(Code::E1103, cat("Generator.uniform: of `minval` and `maxval` one is missing, expected "
                          "both or none for dtype ",
                          name(o.dtype)));
  if (!o.minval.given()) return uniform_full_int(shape, o.dtype);
  check_dtype("Generator.uniform", o.dtype, kIndices);
  return stateful_int({state_.handle(), number(alg_), shape.tensor(),
                       as_dtype(o.minval, o.dtype, "minval"),
                       as_dtype(o.maxval, o.dtype, "maxval")});
}

Tensor Generator::uniform_full_int(const Sizes& shape, DType dtype) const {
  return stateful_full_int({state_.handle(), number(alg_), shape.tensor()}, {dtype});
}

Tensor Generator::binomial(const Sizes& shape, const In& counts, const In& probs,
                           DType dtype) const {
  return stateful_binomial({state_.handle(), number(alg_), shape.tensor(), counts, probs}, {dtype});
}

static std::optional<Generator>& global_generator() {
  static std::optional<Generator> generator;
  return generator;
}

Generator get_global_generator() {
  std::optional<Generator>& g = global_generator();
  if (!g) {
    refuse_if_deterministic("random.get_global_generator");
    g = Generator::from_non_deterministic_state();
  }
  return *g;
}
void set_global_generator(const Generator& generator) { global_generator() = generator; }

}  // namespace holdfast::random
