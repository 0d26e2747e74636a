// Windows that signals are multiplied by before they are transformed.
#include <cmath>
#include <numbers>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/signal.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

int64_t checked(const char* function, int64_t length, DType dtype) {
  if (length < 0)
    fail(Code::E1103, cat(function, ": `window_length` is ", length, ", expected 0 or more"));
  if (!is_floating(dtype))
    fail(Code::E1101, cat(function, ": `dtype` is ", name(dtype), ", expected ", to_text(kFloats)));
  return length;
}

// 0, 1, ... as floats; in float16 a long window would have equal neighbours.
Tensor counted(int64_t n, DType dtype) {
  return cast(range(n), dtype == float64 ? float64 : float32);
}

// high - low cos(2 pi i / n), where a period of an even length ends one behind the last.
Tensor raised_cosine(const char* function, int64_t length, const signal::WindowOptions& o,
                     double high, double low) {
  checked(function, length, o.dtype);
  if (length <= 1) return ones({length}, o.dtype);
  int64_t n = length - (o.periodic && length % 2 == 0 ? 0 : 1);
  Tensor angle = counted(length, o.dtype) * (2 * std::numbers::pi / static_cast<double>(n));
  return cast(high - low * cos(angle), o.dtype);
}

Tensor kaiser(int64_t length, const signal::KaiserOptions& o, DType computed) {
  if (length <= 1) return ones({length}, computed);
  double half = static_cast<double>(length - 1) / 2;
  Tensor from_middle = counted(length, computed) / half - 1;
  // 1 - x^2 may fall below 0 at the ends by rounding.
  Tensor inside = o.beta * sqrt(maximum(1 - square(from_middle), 0));
  // The scaled function, times what it was scaled by: the plain one overflows for a large beta.
  return exp(inside - std::abs(o.beta)) * bessel_i0e(inside) /
         bessel_i0e(Tensor::scalar(o.beta, computed));
}

DType computed_in(DType wanted) { return wanted == float64 ? float64 : float32; }

}  // namespace

REGISTER(
    FUNCTION(&signal::hann_window)
        .args("window_length")
        .options<&signal::WindowOptions::periodic, &signal::WindowOptions::dtype>("periodic, dtype")
        .python("signal.hann_window")
        .doc("Half a cosine less than 1/2: 0 at the ends and 1 in the middle.")
        .samples("8", "7", "8, periodic=False", "1", "0")
        .reference("np.hanning(window_length + (periodic and window_length % 2 == 0))"
                   "[:window_length]"));
Tensor signal::hann_window(int64_t window_length, const WindowOptions& o) {
  return raised_cosine("hann_window", window_length, o, 0.5, 0.5);
}

REGISTER(
    FUNCTION(&signal::hamming_window)
        .args("window_length")
        .options<&signal::WindowOptions::periodic, &signal::WindowOptions::dtype>("periodic, dtype")
        .python("signal.hamming_window")
        .doc("Hann's window raised, so that its ends are 0.08.")
        .samples("8", "7", "8, periodic=False")
        .reference("np.hamming(window_length + (periodic and window_length % 2 == 0))"
                   "[:window_length]"));
Tensor signal::hamming_window(int64_t window_length, const WindowOptions& o) {
  return raised_cosine("hamming_window", window_length, o, 0.54, 0.46);
}

REGISTER(FUNCTION(&signal::kaiser_window)
             .args("window_length")
             .options<&signal::KaiserOptions::beta, &signal::KaiserOptions::dtype>("beta, dtype")
             .python("signal.kaiser_window")
             .doc("Kaiser's window, the narrower the larger `beta`.")
             .samples("8", "7, beta=2.5", "1")
             .reference("np.kaiser(window_length, beta)"));
Tensor signal::kaiser_window(int64_t window_length, const KaiserOptions& o) {
  checked("kaiser_window", window_length, o.dtype);
  return cast(kaiser(window_length, o, computed_in(o.dtype)), o.dtype);
}

REGISTER(FUNCTION(&signal::kaiser_bessel_derived_window)
             .args("window_length")
             .options<&signal::KaiserOptions::beta, &signal::KaiserOptions::dtype>("beta, dtype")
             .python("signal.kaiser_bessel_derived_window")
             .doc("A window whose overlapping halves have squares that add up to 1, made of "
                  "Kaiser's.")
             .samples("8", "6, beta=3.0")
             .reference("(lambda c: (lambda h: np.concatenate([h, h[::-1]]))(np.sqrt(c[:-1] / "
                        "c[-1])))(np.cumsum(np.kaiser(window_length // 2 + 1, beta)))"));
Tensor signal::kaiser_bessel_derived_window(int64_t window_length, const KaiserOptions& o) {
  checked("kaiser_bessel_derived_window", window_length, o.dtype);
  Tensor sums = cumsum(kaiser(window_length / 2 + 1, o, computed_in(o.dtype)));
  Tensor half = sqrt(index(sums, {{.stop = -1}}) / index(sums, {{.start = -1}}));
  return cast(concat({half, reverse(half, {0})}, 0), o.dtype);
}

REGISTER(FUNCTION(&signal::vorbis_window)
             .args("window_length")
             .options<&signal::VorbisOptions::dtype>("dtype")
             .python("signal.vorbis_window")
             .doc("The window of Vorbis, whose overlapping halves have squares that add up to 1.")
             .samples("8", "7")
             .reference("np.sin(np.pi / 2 * np.sin(np.pi * (np.arange(window_length) + 0.5) / "
                        "window_length) ** 2)"));
Tensor signal::vorbis_window(int64_t window_length, const VorbisOptions& o) {
  checked("vorbis_window", window_length, o.dtype);
  if (window_length == 0) return zeros({0}, o.dtype);
  Tensor angle = (counted(window_length, o.dtype) + 0.5) *
                 (std::numbers::pi / static_cast<double>(window_length));
  return cast(sin((std::numbers::pi / 2) * square(sin(angle))), o.dtype);
}

}  // namespace holdfast
