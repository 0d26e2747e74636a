#include "holdfast/ops/random/fill.h"

#include <cmath>
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random/generator.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::random {
namespace {

template <class T>
struct Bits {
  using Type = T;
};
template <>
struct Bits<half> {
  using Type = Float16Bits;
};
template <>
struct Bits<bfloat> {
  using Type = BFloat16Bits;
};

template <class T>
auto span_of(void* memory, int64_t count) {
  return std::span(static_cast<typename Bits<T>::Type*>(memory), static_cast<size_t>(count));
}
template <class T>
auto span_of(const Tensor& t) {
  return span_of<T>(t.mutable_raw(), t.size());
}

}  // namespace

void uniform_into(const Philox& gen, DType dtype, void* out, int64_t count) {
  visit_floats(dtype, [&]<class T>(T) { fill_uniform(gen, span_of<T>(out, count)); });
}
void normal_into(const Philox& gen, DType dtype, void* out, int64_t count) {
  visit_floats(dtype, [&]<class T>(T) { fill_normal(gen, span_of<T>(out, count)); });
}
void uniform_into(const Philox& gen, const Tensor& out) {
  uniform_into(gen, out.dtype(), out.mutable_raw(), out.size());
}
void normal_into(const Philox& gen, const Tensor& out) {
  normal_into(gen, out.dtype(), out.mutable_raw(), out.size());
}
void truncated_normal_into(const Philox& gen, const Tensor& out) {
  visit_floats(out.dtype(), [&]<class T>(T) { fill_truncated_normal(gen, span_of<T>(out)); });
}

void full_int_into(const Philox& gen, const Tensor& out) {
  switch (out.dtype()) {
    case int32: return fill_uniform_full_int(gen, span_of<int32_t>(out));
    case uint32: return fill_uniform_full_int(gen, span_of<uint32_t>(out));
    case int64: return fill_uniform_full_int(gen, span_of<int64_t>(out));
    case uint64: return fill_uniform_full_int(gen, span_of<uint64_t>(out));
    default: return;
  }
}

Status uniform_int_into(const Philox& gen, const Tensor& lo, const Tensor& hi, const Tensor& out) {
  Status status;
  if (out.size() == 0) return status;
  visit_indices(out.dtype(), [&]<class T>(T) {
    const T low = *lo.raw<T>(), high = *hi.raw<T>();
    if (low < high)
      fill_uniform_int(gen, low, high, span_of<T>(out));
    else
      status = {Code::E1103,
                cat("`minval` is ", low, " and `maxval` is ", high, ", expected minval < maxval")};
  });
  return status;
}

std::vector<double> doubles_of(const Tensor& t) {
  std::vector<double> out(static_cast<size_t>(t.size()));
  visit_plain(t.dtype(), [&]<class T>(T) {
    if constexpr (!is_complex_v<T>) {
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<double>(static_cast<float_of<T>>(t.raw<T>()[i]));
    }
  });
  return out;
}

void store_doubles(std::span<const double> values, const Tensor& out) {
  visit_plain(out.dtype(), [&]<class T>(T) {
    if constexpr (!is_complex_v<T>) {
      T* to = out.mutable_raw<T>();
      for (size_t i = 0; i < values.size(); ++i) {
        const double v = values[i];
        if constexpr (std::is_integral_v<T>) {
          // A value no integer holds becomes the least, as x86's conversion has it.
          const bool fits = v >= static_cast<double>(std::numeric_limits<T>::min()) &&
                            v < static_cast<double>(std::numeric_limits<T>::max()) + 1;
          to[i] = fits ? static_cast<T>(v) : std::numeric_limits<T>::min();
        } else {
          to[i] = static_cast<T>(static_cast<float_of<T>>(v));
        }
      }
    }
  });
}

Philox philox_of_seed(const Tensor& seed) {
  Philox gen;
  visit_indices(seed.dtype(), [&]<class T>(T) {
    gen = Philox::from_stateless_seed(seed.raw<T>()[0], seed.raw<T>()[1]);
  });
  return gen;
}

Status philox_of_inputs(const Call& c, int first, Philox& gen) {
  const auto alg = static_cast<Algorithm>(c.ints(first + 2)[0]);
  if (alg == Algorithm::kThreefry)
    return {Code::E1105, "the ThreeFry algorithm is not supported on the CPU",
            "supported: philox, auto_select"};
  if (alg != Algorithm::kPhilox && alg != Algorithm::kAutoSelect)
    return {Code::E1103,
            cat("`alg` is ", static_cast<int>(alg), ", expected 1 (philox) or 3 (auto_select)")};
  const auto* counter = c.in(first + 1).raw<uint64_t>();
  gen = {counter[0], counter[1], c.in(first).raw<uint64_t>()[0]};
  return {};
}

Shape named_shape(const Infer& s, int i) {
  s.need_rank(i, 1, 1);
  auto dims = s.ints(i);
  const char* argument = s.op().inputs[static_cast<size_t>(i)].name.c_str();
  const int64_t rank = dims                     ? static_cast<int64_t>(dims->size())
                       : s.shape(i).rank() == 1 ? s.shape(i)[0]
                                                : -1;
  if (rank > kMaxRank) s.bad_value(argument, cat(rank, " dimensions"), cat("at most ", kMaxRank));
  if (!dims) {
    auto part = s.sizes(i);
    return part ? Shape(*part) : Shape::unknown();
  }
  Shape shape(*dims);
  for (int64_t d : *dims)
    if (d < 0) s.bad_value(argument, shape.text(), "sizes of 0 or more");
  if (!shape.elements()) s.bad_value(argument, shape.text(), "a product that can be counted");
  return shape;
}

Shape shape_before(const Infer& s, int i, int p) {
  Shape shape = named_shape(s, i);
  const Shape& params = s.shape(p);
  if (!shape.has_rank() || !params.has_rank()) return Shape::unknown();
  for (int64_t d : params) shape.dims().push_back(d);
  if (shape.rank() > kMaxRank)
    s.bad_value("shape", cat(shape.rank(), " dimensions"), cat("at most ", kMaxRank));
  if (shape.is_full() && !shape.elements())
    s.bad_value("shape", shape.text(), "a product that can be counted");
  return shape;
}

Shape shape_ending(const Infer& s, int i, const Shape& params) {
  Shape shape = named_shape(s, i);
  if (!shape.has_rank() || !params.has_rank()) return shape;
  bool ends = shape.rank() >= params.rank();
  for (int k = 1; ends && k <= params.rank(); ++k)
    ends = shape[-k] == params[-k] || shape[-k] == kUnknown || params[-k] == kUnknown;
  if (!ends)
    s.bad_value("shape", shape.text(),
                cat("a shape that ends with that of the parameters, ", params.text()));
  return shape;
}

DType allowed_dtype(const Infer& s, DType asked, const char* attribute, DTypes allowed) {
  if (!allowed.has(asked)) s.bad_value(attribute, name(asked), to_text(allowed));
  return asked;
}

void need_scalar(const Infer& s, int i) { s.need_rank(i, 0, 0); }

void need_seed(const Infer& s, int i) {
  if (!s.shape(i).compatible(Shape{2})) s.bad_shape(i, "shape [2]");
}

void need_key_counter(const Infer& s, int first) {
  if (!s.shape(first).compatible(Shape{1})) s.bad_shape(first, "shape [1]");
  const Shape& counter = s.shape(first + 1);
  s.need_rank(first + 1, 1, 1);
  if (counter.has_rank() && counter[0] != kUnknown && counter[0] < 2)
    s.bad_shape(first + 1, "two elements or more");
  need_scalar(s, first + 2);
}

Tensor as_dtype(const In& value, DType dtype, const char* argument) {
  Tensor t = value.tensor(dtype);
  if (!t.defined()) fail(Code::E1104, cat("`", argument, "` is missing"));
  if (t.dtype() != dtype)
    fail(Code::E1101, cat("`", argument, "` is ", type_text(t), ", expected dtype ", name(dtype)),
         "the parameters have the dtype of the result; none is converted on its own",
         {manual_fix(cat("cast it to ", name(dtype), ", or ask for dtype ", name(t.dtype())))});
  return t;
}

void check_dtype(const char* function, DType dtype, DTypes allowed) {
  if (!allowed.has(dtype))
    fail(Code::E1103, cat(function, ": `dtype` is ", name(dtype), ", expected ", to_text(allowed)));
}

bool is_number(const In& value, double number) {
  if (!value.number()) return false;
  const Arg arg = value.arg();
  return !std::holds_alternative<bool>(arg.value()) && arg.f() == number;
}

// Multiplying by 1 and adding 0 change no bit of these numbers, so defaults cost nothing.
Tensor scaled_normal(const Tensor& r, const In& mean, const In& stddev) {
  if (is_number(mean, 0) && is_number(stddev, 1)) return r;
  return add(multiply(r, as_dtype(stddev, r.dtype(), "stddev")), as_dtype(mean, r.dtype(), "mean"));
}

Tensor scaled_uniform(const Tensor& r, const In& minval, const In& maxval) {
  const DType d = r.dtype();
  const bool from_zero = is_number(minval, 0);
  if (from_zero && (!maxval.given() || is_number(maxval, 1))) return r;
  Tensor high = maxval.given() ? as_dtype(maxval, d, "maxval") : In(1).tensor(d);
  if (from_zero) return multiply(r, high);
  Tensor low = as_dtype(minval, d, "minval");
  return add(multiply(r, subtract(high, low)), low);
}

}  // namespace holdfast::random
