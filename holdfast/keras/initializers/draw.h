// Numbers that initializers draw.
#pragma once

#include "holdfast/keras/initializers.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/random.h"

namespace holdfast::keras::initializers {

inline std::vector<int64_t> sizes_of(const Shape& s) {
  std::vector<int64_t> out;
  for (int i = 0; i < s.rank(); ++i) out.push_back(s[i]);
  return out;
}

/// An initializer's seed as the two numbers of stateless ops, as Keras makes them; an empty one
/// where there is none.
inline Tensor seed_pair(const Seed& seed) {
  if (seed.stream) return seed.stream->next();
  if (!seed.number) return {};
  constexpr int64_t limit = INT32_MAX - 1;
  int64_t first = (*seed.number % limit + limit) % limit;
  return constant(std::vector<int32_t>{static_cast<int32_t>(first), 0});
}

inline Tensor uniform(const Shape& shape, double low, double high, DType dtype, const Seed& seed) {
  if (Tensor pair = seed_pair(seed); pair.defined())
    return random::stateless_uniform(sizes_of(shape), pair,
                                     {.minval = low, .maxval = high, .dtype = dtype});
  return random::uniform(sizes_of(shape), {.minval = low, .maxval = high, .dtype = dtype});
}
inline Tensor normal(const Shape& shape, double mean, double stddev, DType dtype,
                     const Seed& seed) {
  if (Tensor pair = seed_pair(seed); pair.defined())
    return random::stateless_normal(sizes_of(shape), pair,
                                    {.mean = mean, .stddev = stddev, .dtype = dtype});
  return random::normal(sizes_of(shape), {.mean = mean, .stddev = stddev, .dtype = dtype});
}
inline Tensor truncated_normal(const Shape& shape, double mean, double stddev, DType dtype,
                               const Seed& seed) {
  if (Tensor pair = seed_pair(seed); pair.defined())
    return random::stateless_truncated_normal(sizes_of(shape), pair,
                                              {.mean = mean, .stddev = stddev, .dtype = dtype});
  return random::truncated_normal(sizes_of(shape),
                                  {.mean = mean, .stddev = stddev, .dtype = dtype});
}

/// The numbers of an option: an array of another language is described with its dtype.
inline const Config& numbers_of(const Config& value) {
  if (value.kind() != Config::Kind::kObject) return value;
  const ConfigObject& o = value.as_object();
  const Config* numbers = o.config.find("value");
  bool array = o.class_name == "__numpy__" || o.class_name == "__tensor__";
  return array && numbers ? *numbers : value;
}

/// An initializer of a class, with its options.
template <class I>
Ref<Initializer> made(const typename I::Options& o) {
  Ref<I> out = make_ref<I>();
  out->configure(o);
  return out;
}

/// Refuses a dtype that has no fractions.
inline void need_floats(const Initializer& of, DType dtype) {
  if (!is_floating(dtype))
    fail(Code::E1101, cat(of.text(), " was asked for ", name(dtype), ", expected a float dtype"));
}

}  // namespace holdfast::keras::initializers
