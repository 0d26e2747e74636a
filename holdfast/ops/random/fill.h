// What the random ops share: fills by dtype, and the rules of shapes and seeds.
#pragma once

#include <vector>

#include "holdfast/op/op.h"
#include "holdfast/ops/random/philox.h"

namespace holdfast::random {

// -- kernels

/// A fill of philox.h, chosen by the dtype of `out`.
using Into = void (*)(const Philox& gen, const Tensor& out);
void uniform_into(const Philox& gen, const Tensor& out);
void normal_into(const Philox& gen, const Tensor& out);
void truncated_normal_into(const Philox& gen, const Tensor& out);
void full_int_into(const Philox& gen, const Tensor& out);
/// The same for memory: `count` elements of a dtype.
void uniform_into(const Philox& gen, DType dtype, void* out, int64_t count);
void normal_into(const Philox& gen, DType dtype, void* out, int64_t count);
/// Integers in [lo, hi), two scalars; refuses lo >= hi unless there is nothing to draw.
Status uniform_int_into(const Philox& gen, const Tensor& lo, const Tensor& hi, const Tensor& out);

/// The elements as doubles, and doubles as elements (rounded; integers must be in range).
std::vector<double> doubles_of(const Tensor& t);
void store_doubles(std::span<const double> values, const Tensor& out);

/// The generator of a seed tensor, which has shape [2].
Philox philox_of_seed(const Tensor& seed);
/// The generator that the inputs `first`: key, counter and alg describe.
Status philox_of_inputs(const Call& c, int first, Philox& gen);

// -- shape rules; inputs that hold shapes live on the host

/// The shape that input `i` spells out.
Shape named_shape(const Infer& s, int i);
/// That shape, and behind it the shape of parameter `p`.
Shape shape_before(const Infer& s, int i, int p);
/// That shape, refused unless it ends with `params`.
Shape shape_ending(const Infer& s, int i, const Shape& params);
/// The dtype that the attribute `attribute` asks for, refused unless it is one of `allowed`.
DType allowed_dtype(const Infer& s, DType asked, const char* attribute, DTypes allowed);
/// The attribute `dtype` of ops that have no other, and of those that have it behind their seeds.
struct DtypeAttrs {
  Attr<DType> dtype;
};
struct SeedsDtypeAttrs {
  Attr<int64_t> seed;
  Attr<int64_t> seed2;
  Attr<DType> dtype;
};
template <class A = DtypeAttrs>
DType dtype_attr(const Infer& s, DTypes allowed) {
  return allowed_dtype(s, s.attrs<A>().dtype(), "dtype", allowed);
}
/// Input `i` is a scalar; input `i` is a seed.
void need_scalar(const Infer& s, int i);
void need_seed(const Infer& s, int i);
/// Inputs `first`: key, counter and alg have their shapes.
void need_key_counter(const Infer& s, int first);

inline constexpr DTypes kFullInts{int32, int64, uint32, uint64};
inline constexpr DTypes kGammaTypes{float16, float32, float64};
inline constexpr DTypes kCountTypes{float16, float32, float64, int32, int64};

// -- public functions

/// The value as a tensor of `dtype`; refuses one that has another dtype already.
Tensor as_dtype(const In& value, DType dtype, const char* argument);
/// Refuses a dtype that is not one of `allowed`.
void check_dtype(const char* function, DType dtype, DTypes allowed);
/// A bare number of this value, as defaults are.
bool is_number(const In& value, double number);
/// r * stddev + mean, parameters in the dtype of `r`.
Tensor scaled_normal(const Tensor& r, const In& mean, const In& stddev);
/// r * (maxval - minval) + minval, likewise; `maxval` is 1 where it is not given.
Tensor scaled_uniform(const Tensor& r, const In& minval, const In& maxval);

}  // namespace holdfast::random
