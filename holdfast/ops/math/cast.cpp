// From one dtype to another.
#include <algorithm>
#include <cmath>
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/expr/fused.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct CastAttrs {
  Attr<DType> DstT;
  Attr<bool> Truncate;
};

void infer_cast(Infer& s) {
  auto a = s.attrs<CastAttrs>();
  DType to = a.DstT();
  if (!cast_loop(s.dtype(), to) && s.dtype() != to)
    s.unsupported(cat("Cast ", name(s.dtype()), " to ", name(to)),
                  "all pairs of numbers and bools");
  if (a.Truncate() && (is_floating(to) || is_complex(to)))
    s.unsupported("Truncate=True", "rounding to the nearest, Truncate=False");
  s.output(to, s.shape());
}

Status run_cast(Call& c) {
  DType from = c.in().dtype(), to = c.out_dtype();
  if (from == to)
    c.set_out(0, view_of(c.in(), c.out_shape()));
  else
    run_broadcast(cast_loop(from, to), {&c.in(0), 1}, c.out());
  return {};
}

bool fuse_cast(const OpDef&, const Attrs&, std::span<const DType> in, DType out, FusedForm& form,
               const char*& why) {
  form.does = Does::kCast;
  bool computes = in[0] != out && cast_loop(in[0], out);
  if (!computes) why = "nothing to compute";
  return computes;
}

// The lowest and the highest number of a dtype.
struct Range {
  double low, high;
};
Range range_of(DType d) {
  Range r{0, 0};
  visit_plain(d, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      r = {static_cast<double>(std::numeric_limits<T>::min()),
           static_cast<double>(std::numeric_limits<T>::max())};
    } else if constexpr (std::is_floating_point_v<T>) {
      r = {static_cast<double>(std::numeric_limits<T>::lowest()),
           static_cast<double>(std::numeric_limits<T>::max())};
    }
  });
  if (d == float16) r = {-65504, 65504};
  if (d == bfloat16) r = {-0x1.fep127, 0x1.fep127};
  return r;
}

int digits_of(DType d) { return d == bfloat16 ? 8 : d == float16 ? 11 : d == float32 ? 24 : 53; }

// The number of the float dtype `in` next to `x` that is not beyond it.
double towards_zero(double x, DType in) {
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);
  int digits = digits_of(in);
  return std::ldexp(std::trunc(std::ldexp(fraction, digits)), exponent - digits);
}

// The highest number of the float dtype `in` that the integer dtype `out` holds.
double highest_whole(DType in, DType out) {
  int digits = digits_of(in);
  bool is_signed = kSignedInts.has(out);
  int bits = static_cast<int>(size_of(out)) * 8 - is_signed;
  return bits > digits ? std::ldexp(std::ldexp(1.0, digits) - 1, bits - digits)
                       : std::ldexp(1.0, bits) - 1;
}

Tensor saturate(const Tensor& t, DType to) {
  DType from = t.dtype();
  if (is_bool(from) || (from == to && is_integer(to))) return cast(t, to);
  if (is_integer(from)) {
    if (!is_integer(to)) {
      Range in = range_of(from), out = range_of(to);
      if (in.low >= out.low && in.high <= out.high) return cast(t, to);  // all but float16's
      return saturate(cast(t, float64), to);
    }
    // Bounds as integers of the dtype that `t` has: doubles do not hold those of 64 bits.
    bool wide_in =
        size_of(from) * 8 - kSignedInts.has(from) > size_of(to) * 8 - kSignedInts.has(to);
    Tensor x = t;
    if (kSignedInts.has(from) && !kSignedInts.has(to)) x = maximum(x, 0);
    if (kSignedInts.has(from) && kSignedInts.has(to) && wide_in)
      x = maximum(x, static_cast<int64_t>(range_of(to).low));
    if (wide_in)
      x = minimum(x, to == int64 ? std::numeric_limits<int64_t>::max()
                                 : static_cast<int64_t>(range_of(to).high));
    return cast(x, to);
  }
  Range in = range_of(from), out = range_of(to);
  if (is_integer(to))
    out.high = highest_whole(from, to);
  else
    out = {towards_zero(out.low, from), towards_zero(out.high, from)};
  // Also where the range is no smaller: an infinity is beyond either.
  return cast(clip_by_value(t, std::max(in.low, out.low), std::min(in.high, out.high)), to);
}

}  // namespace

static const Op cast_op =
    OP(Cast, &cast)
        .outputs("y")
        .args("x: SrcT, dtype")
        .python("cast, dtypes.cast")
        .inputs("x: SrcT")
        .attr("DstT")
        .attr("Truncate", false)
        .attrs<&CastAttrs::DstT, &CastAttrs::Truncate>()
        .dtypes(kAll, "SrcT")
        .doc(
            "x as another dtype: floats lose their fraction, complex numbers their imaginary part.")
        .flat(Flat::kStep)
        .fuses(fuse_cast)
        .infer(infer_cast)
        .rearranges()
        .kernel("loops", run_cast)
        .aliases(+[](const Types& t, int) { return t.dtype() == t.out_dtype() ? 0 : kFresh; })
        .gradient(+[](Grad& g) -> Tensors {
          DType d = g.x().dtype();
          return {is_differentiable(d) ? cast(g.dy(), d) : Tensor()};
        })
        .keeps("")
        .samples("uniform(3, 4, low=-9, high=9), 'int32'", "ints(5), 'float32'",
                 "uniform(3, 4), 'float64'", "bools(5), 'int64'")
        .reference("x.astype(dtype)");
Tensor cast(const In& x, DType dtype) {
  if (!x.weak() && !x.variable() && x.dtype() == dtype && dtype != DType::kInvalid) return x;
  return cast_op({x}, {dtype});
}

REGISTER(FUNCTION(&saturate_cast)
             .args("value: SrcT, dtype")
             .python("saturate_cast, dtypes.saturate_cast")
             .doc("value as another dtype, moved into that dtype's range first.")
             .samples("uniform(3, 4, low=-900, high=900), 'uint8'",
                      "ints(5, low=-900, high=900), 'int8'")
             .reference("np.clip(value, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)"));
Tensor saturate_cast(const In& value, DType to) {
  Tensor t = value;
  if (!t.defined()) fail(Code::E1104, "saturate_cast: `value` is missing");
  if (!kPlain.has(t.dtype()) || !kNumbers.has(to))
    fail(Code::E1101,
         cat("saturate_cast: from ", name(t.dtype()), " to ", name(to), ", expected numbers"));
  if (is_complex(t.dtype()) && is_complex(to))
    return size_of(t.dtype()) <= size_of(to)
               ? cast(t, to)
               : complex(saturate(real(t), real_of(to)), saturate(imag(t), real_of(to)));
  if (is_complex(t.dtype())) t = real(t);
  return is_complex(to) ? cast(saturate(t, real_of(to)), to) : saturate(t, to);
}

}  // namespace holdfast
