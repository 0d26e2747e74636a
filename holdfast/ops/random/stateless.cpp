// Uniform and normal numbers that are pure functions of a seed.
#include "holdfast/ops/random/stateless.h"

#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/random/fill.h"
#include "holdfast/ops/random/fused_draw.h"

namespace holdfast::random {
namespace {

constexpr DTypes kUInt64{uint64};

template <bool kAlg>
void infer_key_counter(Infer& s) {
  need_seed(s, 0);
  s.output(uint64, Shape{1});
  s.output(uint64, Shape{2});
  if (kAlg) s.output(int32, Shape{});
}

Status run_key_counter(Call& c) {
  const Philox gen = philox_of_seed(c.in());
  c.out(0).mutable_raw<uint64_t>()[0] = gen.key;
  c.out(1).mutable_raw<uint64_t>()[0] = gen.counter_lo;
  c.out(1).mutable_raw<uint64_t>()[1] = gen.counter_hi;
  if (c.outputs() > 2) *c.out(2).mutable_raw<int32_t>() = static_cast<int32_t>(Algorithm::kPhilox);
  return {};
}

// The ops of the second generation: shape, key, counter, alg.
template <bool kIntegers>
void infer_v2(Infer& s) {
  Shape shape = named_shape(s, 0);
  need_key_counter(s, 1);
  s.output(dtype_attr(s, kIntegers ? kFullInts : kFloats), shape);
}

template <Into into>
Status run_v2(Call& c) {
  Philox gen;
  if (Status s = philox_of_inputs(c, 1, gen); !s.ok()) return s;
  into(gen, c.out());
  return {};
}

Status run_int_v2(Call& c) {
  Philox gen;
  if (Status s = philox_of_inputs(c, 1, gen); !s.ok()) return s;
  return uniform_int_into(gen, c.in(4), c.in(5), c.out());
}

// Those of the first: shape, seed.
template <bool kIntegers>
void infer_v1(Infer& s) {
  Shape shape = named_shape(s, 0);
  need_seed(s, 1);
  s.output(dtype_attr(s, kIntegers ? kFullInts : kFloats), shape);
}

template <Into into>
Status run_v1(Call& c) {
  into(philox_of_seed(c.in(1)), c.out());
  return {};
}

template <int kLow>
void infer_int(Infer& s) {
  Shape shape = named_shape(s, 0);
  if (kLow == 2)
    need_seed(s, 1);
  else
    need_key_counter(s, 1);
  need_scalar(s, kLow);
  need_scalar(s, kLow + 1);
  s.output(s.dtype(kLow), shape);
}

Builder& v2(Builder& b) {
  return b.inputs("shape: Tshape!, key: K, counter: K, alg: A!").dtypes(kUInt64, "K").no_gradient();
}
Builder& v1(Builder& b) { return b.inputs("shape: T!, seed: Tseed!").no_gradient(); }

}  // namespace

static const Op key_counter_op =
    RAW_OP(StatelessRandomGetKeyCounter)
        .doc("The key and the counter that a seed of shape [2] stands for.")
        .inputs("seed: Tseed!")
        .outputs("key, counter")
        .no_gradient()
        .infer(infer_key_counter<false>)
        .kernel("philox", run_key_counter);
static const Op key_counter_alg_op =
    RAW_OP(StatelessRandomGetKeyCounterAlg)
        .doc("Key, counter and algorithm that a seed of shape [2] stands for.")
        .inputs("seed: Tseed!")
        .outputs("key, counter, alg")
        .no_gradient()
        .infer(infer_key_counter<true>)
        .kernel("philox", run_key_counter);
static const Op alg_op = RAW_OP(StatelessRandomGetAlg)
                             .doc("The algorithm that suits the device: 1, Philox.")
                             .inputs("")
                             .outputs("alg")
                             .no_gradient()
                             .stateful()
                             .infer(+[](Infer& s) { s.output(int32, Shape{}); })
                             .kernel(
                                 "philox", +[](Call& c) -> Status {
                                   *c.out().mutable_raw<int32_t>() = 1;
                                   return {};
                                 });

static const Op uniform_op = v2(RAW_OP(StatelessRandomUniformV2)
                                    .doc("Uniform in [0, 1), a pure function of key and counter.")
                                    .attr("dtype", float32)
                                    .attrs<&DtypeAttrs::dtype>())
                                 .infer(infer_v2<false>)
                                 .kernel("philox", run_v2<uniform_into>);
static const Op normal_op = v2(RAW_OP(StatelessRandomNormalV2)
                                   .doc("Standard normal, a pure function of key and counter.")
                                   .attr("dtype", float32)
                                   .attrs<&DtypeAttrs::dtype>())
                                .infer(infer_v2<false>)
                                .kernel("philox", run_v2<normal_into>);
static const Op truncated_op =
    v2(RAW_OP(StatelessTruncatedNormalV2)
           .doc("Standard normal cut at -2 and 2, a pure function of key and counter.")
           .attr("dtype", float32)
           .attrs<&DtypeAttrs::dtype>())
        .infer(infer_v2<false>)
        .kernel("philox", run_v2<truncated_normal_into>);
static const Op stream_op =
    RAW_OP(StatelessRandomStream)
        .doc(
            "Where the numbers of key and counter begin in their stream. Graphs hold it after they "
            "were optimised.")
        .inputs("key: K, counter: K, alg: A!")
        .dtypes(kUInt64, "K")
        .no_gradient()
        .infer(+[](Infer& s) {
          need_key_counter(s, 0);
          s.output(uint64, Shape{3});
        })
        .kernel(
            "philox", +[](Call& c) -> Status {
              Philox gen;
              Status s = philox_of_inputs(c, 0, gen);
              if (s.ok()) store_stream(gen, c.out());
              return s;
            });
static const DrawnInsideLoops uniform_inside(uniform_op.def(),
                                             {&stream_op.def(), {1, 2, 3}, 0, Numbers::kUniform}),
    normal_inside(normal_op.def(), {&stream_op.def(), {1, 2, 3}, 0, Numbers::kNormal});
static const Op full_int_op =
    v2(RAW_OP(StatelessRandomUniformFullIntV2)
           .doc("Any value of the integer dtype, a pure function of key and counter.")
           .attr("dtype", uint64)
           .attrs<&DtypeAttrs::dtype>())
        .infer(infer_v2<true>)
        .kernel("philox", run_v2<full_int_into>);
static const Op int_op =
    RAW_OP(StatelessRandomUniformIntV2)
        .doc("Integers in [minval, maxval), a pure function of key and counter.")
        .inputs("shape: Tshape!, key: K, counter: K, alg: A!, minval: dtype, maxval: dtype")
        .dtypes(kUInt64, "K")
        .dtypes(kIndices, "dtype")
        .no_gradient()
        .infer(infer_int<4>)
        .kernel("philox", run_int_v2);

static const Op uniform_v1 = v1(RAW_OP(StatelessRandomUniform)
                                    .doc("Uniform in [0, 1), a pure function of `seed`.")
                                    .attr("dtype", float32)
                                    .attrs<&DtypeAttrs::dtype>())
                                 .infer(infer_v1<false>)
                                 .kernel("philox", run_v1<uniform_into>);
static const Op normal_v1 = v1(RAW_OP(StatelessRandomNormal)
                                   .doc("Standard normal, a pure function of `seed`.")
                                   .attr("dtype", float32)
                                   .attrs<&DtypeAttrs::dtype>())
                                .infer(infer_v1<false>)
                                .kernel("philox", run_v1<normal_into>);
static const Op truncated_v1 =
    v1(RAW_OP(StatelessTruncatedNormal)
           .doc("Standard normal cut at -2 and 2, a pure function of `seed`.")
           .attr("dtype", float32)
           .attrs<&DtypeAttrs::dtype>())
        .infer(infer_v1<false>)
        .kernel("philox", run_v1<truncated_normal_into>);
static const Op full_int_v1 =
    v1(RAW_OP(StatelessRandomUniformFullInt)
           .doc("Any value of the integer dtype, a pure function of `seed`.")
           .attr("dtype", uint64)
           .attrs<&DtypeAttrs::dtype>())
        .infer(infer_v1<true>)
        .kernel("philox", run_v1<full_int_into>);
static const Op int_v1 =
    RAW_OP(StatelessRandomUniformInt)
        .doc("Integers in [minval, maxval), a pure function of `seed`.")
        .inputs("shape: T!, seed: Tseed!, minval: dtype, maxval: dtype")
        .dtypes(kIndices, "dtype")
        .no_gradient()
        .infer(infer_int<2>)
        .kernel(
            "philox", +[](Call& c) -> Status {
              return uniform_int_into(philox_of_seed(c.in(1)), c.in(2), c.in(3), c.out());
            });

Algorithm algorithm_of(const std::string& name) {
  if (auto alg = algorithm_named(name)) return *alg;
  fail(Code::E1103, cat("`alg` is '", name, "', expected 'philox', 'threefry' or 'auto_select'"));
}

Tensor checked_seed(const In& seed) {
  Tensor s = seed.tensor();
  if (!s.defined()) fail(Code::E1104, "`seed` is missing, expected two integers");
  // NumPy's generators hand out unsigned words; what counts is their bits.
  if (s.dtype() == uint32 || s.dtype() == uint64) s = cast(s, int64);
  if (!kIndices.has(s.dtype()))
    fail(Code::E1101, cat("`seed` is ", type_text(s), ", expected two integers, int32 or int64"));
  if (!s.shape().compatible(Shape{2}))
    fail(Code::E1102, cat("`seed` is ", type_text(s), ", expected shape [2]"));
  return s;
}

KeyCounter::KeyCounter(const In& seed, const std::string& name) {
  const Algorithm which = algorithm_of(name);
  if (which == Algorithm::kThreefry)
    fail(Code::E1105, "alg='threefry' is not supported on the CPU",
         "supported: 'philox', 'auto_select'");
  Tensors both = key_counter_op.many({checked_seed(seed)});
  key = both[0];
  counter = both[1];
  alg = Tensor::scalar(static_cast<int32_t>(which));
}

REGISTER(FUNCTION(&stateless_uniform)
             .args("shape, seed: S")
             .options<&StatelessUniformOptions::minval, &StatelessUniformOptions::maxval,
                      &StatelessUniformOptions::dtype, &StatelessUniformOptions::alg>(
                 "minval: dtype, maxval: dtype, dtype, alg")
             .python("random.stateless_uniform")
             .doc("Uniform in [minval, maxval), a pure function of `seed`. An integer dtype "
                  "without bounds takes any value.")
             .samples("[3, 2], [1, 2], minval=uniform(2), maxval=uniform(3, 1, low=2, high=4)")
             .reference("minval + (maxval - minval) * np.array([[0.84406042, 0.19204533], "
                        "[0.99622321, 0.16038740], [0.27199018, 0.64934599]])"));
Tensor stateless_uniform(const Sizes& shape, const In& seed, const StatelessUniformOptions& o) {
  check_dtype("random.stateless_uniform", o.dtype, kFloats | kFullInts);
  if (!is_integer(o.dtype)) {
    KeyCounter k(seed, o.alg);
    return scaled_uniform(uniform_op({shape.tensor(), k.key, k.counter, k.alg}, {o.dtype}),
                          o.minval, o.maxval);
  }
  if (o.minval.given() != o.maxval.given())
    fail(Code::E1103, cat("random.stateless_uniform: of `minval` and `maxval` one is missing, "
                          "expected both or none for dtype ",
                          name(o.dtype)));
  if (o.minval.given() && !kIndices.has(o.dtype))
    fail(Code::E1103, cat("random.stateless_uniform: `dtype` is ", name(o.dtype),
                          " and bounds are given, expected int32 or int64"));
  KeyCounter k(seed, o.alg);
  if (!o.minval.given()) return full_int_op({shape.tensor(), k.key, k.counter, k.alg}, {o.dtype});
  return int_op({shape.tensor(), k.key, k.counter, k.alg, as_dtype(o.minval, o.dtype, "minval"),
                 as_dtype(o.maxval, o.dtype, "maxval")});
}

REGISTER(FUNCTION(&stateless_normal)
             .args("shape, seed: S")
             .options<&StatelessNormalOptions::mean, &StatelessNormalOptions::stddev,
                      &StatelessNormalOptions::dtype, &StatelessNormalOptions::alg>(
                 "mean: dtype, stddev: dtype, dtype, alg")
             .python("random.stateless_normal")
             .doc("Normal with the given mean and standard deviation, a pure function of `seed`.")
             .samples("[3, 2], [1, 2], mean=uniform(2), stddev=positive(3, 1)")
             .reference("mean + stddev * np.array([[0.54411012, 0.20738031], [0.07356432, "
                        "0.04643455], [-1.30158985, -0.95385653]])"));
Tensor stateless_normal(const Sizes& shape, const In& seed, const StatelessNormalOptions& o) {
  check_dtype("random.stateless_normal", o.dtype, kFloats);
  KeyCounter k(seed, o.alg);
  return scaled_normal(normal_op({shape.tensor(), k.key, k.counter, k.alg}, {o.dtype}), o.mean,
                       o.stddev);
}

REGISTER(FUNCTION(&stateless_truncated_normal)
             .args("shape, seed: S")
             .options<&StatelessNormalOptions::mean, &StatelessNormalOptions::stddev,
                      &StatelessNormalOptions::dtype, &StatelessNormalOptions::alg>(
                 "mean: dtype, stddev: dtype, dtype, alg")
             .python("random.stateless_truncated_normal")
             .doc("Normal cut at two standard deviations from the mean, a pure function of `seed`.")
             .samples("[3, 2], [1, 2], mean=uniform(2), stddev=positive(3, 1)")
             .reference("mean + stddev * np.array([[0.54411012, 0.20738031], [0.07356432, "
                        "0.04643455], [0.16820592, -1.68503332]])"));
Tensor stateless_truncated_normal(const Sizes& shape, const In& seed,
                                  const StatelessNormalOptions& o) {
  check_dtype("random.stateless_truncated_normal", o.dtype, kFloats);
  KeyCounter k(seed, o.alg);
  return scaled_normal(truncated_op({shape.tensor(), k.key, k.counter, k.alg}, {o.dtype}), o.mean,
                       o.stddev);
}

REGISTER(FUNCTION(&split)
             .args("seed: S")
             .options<&SplitOptions::num, &SplitOptions::alg>("num, alg")
             .python("random.split, random.experimental.stateless_split")
             .doc("`num` seeds of shape [2], independent of each other and of `seed`.")
             .samples("[1, 2]")
             .reference("np.array([[1105988140, 1738052849], [-335576002, 370444179]], np.int32)"));
Tensor split(const In& seed, const SplitOptions& o) {
  Tensor s = checked_seed(seed);
  return stateless_uniform({o.num, 2}, s,
                           {.minval = std::nullopt, .dtype = s.dtype(), .alg = o.alg});
}

REGISTER(FUNCTION(&fold_in)
             .args("seed: S, data")
             .options<&AlgOptions::alg>("alg")
             .python("random.fold_in, random.experimental.stateless_fold_in")
             .doc("A seed made of `seed` and an integer, such as the number of a step.")
             .samples("[1, 2], 7")
             .reference("np.array([1105988140, 7], np.int32)"));
Tensor fold_in(const In& seed, const In& data, const AlgOptions& o) {
  Tensor d = data.tensor();
  if (!kFullInts.has(d.dtype()))
    fail(Code::E1101,
         cat("random.fold_in: `data` is ", type_text(d), ", expected ", to_text(kFullInts)));
  if (d.rank() > 0)
    fail(Code::E1102,
         cat("random.fold_in: `data` has shape ", d.shape().text(), ", expected a scalar"));
  Tensor mixed =
      stateless_uniform(Sizes(), seed, {.minval = std::nullopt, .dtype = d.dtype(), .alg = o.alg});
  return concat({reshape(mixed, {1}), reshape(d, {1})}, 0);
}

}  // namespace holdfast::random
