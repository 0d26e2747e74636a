// Cosine transforms, and what is made of them: functions over Fourier transforms.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/signal.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

const IndexItem kAll{.kind = IndexItem::kEllipsis};

struct Wanted {
  std::string function;  // as the program calls it
  int64_t type;
  int64_t length;  // -1: that of the input
  bool ortho;
};

// The last axis cut off, or filled up with zeros.
Tensor resized(const Tensor& x, int64_t length) {
  int64_t have = x.dim(-1);
  if (length <= have) return index(x, {kAll, {.start = 0, .stop = length}});
  Dims borders(static_cast<size_t>(2 * x.rank()), 0);
  borders.back() = length - have;
  return pad(x, host_ints(int32, borders, {x.rank(), 2}));
}

// e^(i pi k / 2n) for k = 0 ... n - 1, forwards or backwards.
Tensor turns(int64_t n, DType real, double sign) {
  Tensor angle = cast(range(n), real) * (sign * std::numbers::pi / (2 * static_cast<double>(n)));
  return complex(cos(angle), sin(angle));
}

// A factor for the first number, and one for the others.
Tensor first_and_others(int64_t n, DType dtype, double first, double others) {
  Tensor is_first = cast(equal(range(n), 0), dtype);
  return is_first * (first - others) + others;
}

Tensor by_type(const Tensor& x, int64_t type, bool ortho);

Tensor transformed(const Tensor& x, const Wanted& w);
const Composition transformed_later(
    "dct", 1,
    +[](std::span<const Tensor> in, const std::string& function, int64_t type, int64_t length,
        bool ortho) { return transformed(in[0], {function, type, length, ortho}); });

Tensor transformed(const Tensor& x, const Wanted& w) {
  if (!x.shape().has_rank())
    return transformed_later({x}, x.dtype(), Shape::unknown(), w.function, w.type, w.length,
                             w.ortho);
  if (x.rank() < 1)
    fail(Code::E1102, cat(w.function, ": `input` is a scalar, expected one axis or more"));
  if (x.dim(-1) < 0) {
    Shape shape = x.shape();
    shape.dims().back() = w.length;
    return transformed_later({x}, x.dtype(), shape, w.function, w.type, w.length, w.ortho);
  }
  Tensor whole = w.length < 0 ? x : resized(x, w.length);
  int64_t n = whole.dim(-1);
  if (n < (w.type == 1 ? 2 : 1))
    fail(Code::E1103, cat(w.function, ": `input` has ", n, " numbers, expected ",
                          w.type == 1 ? 2 : 1, " or more"));
  return by_type(whole, w.type, w.ortho);
}

Tensor by_type(const Tensor& x, int64_t type, bool ortho) {
  int64_t n = x.dim(-1);
  auto size = static_cast<double>(n);
  DType d = x.dtype();
  auto first = [&](const Tensor& t) { return index(t, {kAll, {.start = 0, .stop = n}}); };
  if (type == 1) {  // there and back again, the ends once
    Tensor inner = index(x, {kAll, {.start = 1, .stop = n - 1}});
    return real(signal::rfft(concat({x, reverse(inner, {-1})}, -1)));
  }
  if (type == 2) {
    Tensor spectrum = first(signal::rfft(x, {.fft_length = Axes{2 * n}}));
    Tensor found = 2. * real(spectrum * turns(n, d, -1));
    double all = 0.5 / std::sqrt(size);
    return ortho ? found * first_and_others(n, d, all, all * std::numbers::sqrt2) : found;
  }
  if (type == 3) {
    double all = std::sqrt(size);
    Tensor scaled = x * (ortho ? first_and_others(n, d, all, all / std::numbers::sqrt2)
                               : first_and_others(n, d, size, size));
    Tensor spectrum = turns(n, d, 1) * complex(2. * scaled, zeros_like(scaled));
    return first(signal::irfft(spectrum, {.fft_length = Axes{2 * n}}));
  }
  // Every second number of the transform of twice the length.
  Tensor twice = by_type(resized(x, 2 * n), 2, false);
  Tensor found = gather(twice, range(1, 2 * n, 2), {.axis = {-1}});
  return ortho ? found * std::sqrt(0.5 / size) : found;
}

Tensor cosine_transform(const char* function, const In& input, const signal::DctOptions& o,
                        bool back) {
  if (o.type < 1 || o.type > 4)
    fail(Code::E1103, cat(function, ": `type` is ", o.type, ", expected 1, 2, 3 or 4"));
  if (o.n && *o.n < 1) fail(Code::E1103, cat(function, ": `n` is ", *o.n, ", expected 1 or more"));
  Tensor x = input.tensor(float32);
  if (o.axis != -1 && (!x.shape().has_rank() || o.axis != x.rank() - 1))
    fail(Code::E1105, cat(function, ": `axis` ", o.axis, " is not supported"),
         "it goes along the last axis");
  if (o.norm && *o.norm != "ortho")
    fail(Code::E1103, cat(function, ": `norm` is \"", *o.norm, "\", expected None or \"ortho\""));
  if (o.norm && o.type == 1)
    fail(Code::E1103, cat(function, ": a transform of type 1 has no `norm`"));
  constexpr DTypes wide{float32, float64};
  if (!wide.has(x.dtype()))
    fail(Code::E1101,
         cat(function, ": `input` is ", name(x.dtype()), ", expected ", to_text(wide)));
  int64_t type = back && (o.type == 2 || o.type == 3) ? 5 - o.type : o.type;
  return transformed(x, {function, type, o.n.value_or(-1), o.norm.has_value()});
}

}  // namespace

REGISTER(FUNCTION(&signal::dct)
             .args("input")
             .options<&signal::DctOptions::type, &signal::DctOptions::n, &signal::DctOptions::axis,
                      &signal::DctOptions::norm>("type, n, axis, norm")
             .python("signal.dct")
             .doc("Cosine transform of type 1 to 4 along the last axis, of `n` numbers if that is "
                  "given.")
             .samples("uniform(2, 5)", "uniform(2, 5), 1", "uniform(6), 3", "uniform(2, 5), 4",
                      "uniform(2, 5), norm='ortho'", "uniform(5), 3, norm='ortho'",
                      "uniform(5), 4, norm='ortho'", "uniform(5), n=3", "uniform(5), n=8")
             .reference("scipy.fft.dct(input, type, n, axis, norm)")
             .checks({.rtol = 1e-4, .atol = 1e-5}));
Tensor signal::dct(const In& input, const DctOptions& o) {
  return cosine_transform("dct", input, o, false);
}

REGISTER(FUNCTION(&signal::idct)
             .args("input")
             .options<&signal::DctOptions::type, &signal::DctOptions::n, &signal::DctOptions::axis,
                      &signal::DctOptions::norm>("type, n, axis, norm")
             .python("signal.idct")
             .doc("What undoes `dct` of that type, but for a factor where there is no `norm`.")
             .samples("uniform(2, 5)", "uniform(2, 5), 3", "uniform(5), 4, norm='ortho'",
                      "uniform(5), norm='ortho'")
             .reference("scipy.fft.dct(input, {1: 1, 2: 3, 3: 2, 4: 4}[type], n, axis, norm)")
             .checks({.rtol = 1e-4, .atol = 1e-5}));
Tensor signal::idct(const In& input, const DctOptions& o) {
  return cosine_transform("idct", input, o, true);
}

REGISTER(FUNCTION(&signal::mfccs_from_log_mel_spectrograms)
             .args("log_mel_spectrograms")
             .python("signal.mfccs_from_log_mel_spectrograms")
             .doc("Coefficients of the cepstrum of logarithms of mel spectrograms `[..., bins]`.")
             .samples("uniform(2, 5)")
             .reference("scipy.fft.dct(log_mel_spectrograms) / np.sqrt(2 * "
                        "log_mel_spectrograms.shape[-1])")
             .checks({.rtol = 1e-4, .atol = 1e-5}));
Tensor signal::mfccs_from_log_mel_spectrograms(const In& log_mel_spectrograms) {
  Tensor x = log_mel_spectrograms.tensor(float32), found = dct(x);
  Tensor bins = cast(index(shape(x), {{.kind = IndexItem::kInt, .start = -1}}), x.dtype());
  return found * rsqrt(2. * bins);
}

REGISTER(FUNCTION(&signal::linear_to_mel_weight_matrix)
             .args("")
             .options<&signal::MelOptions::num_mel_bins, &signal::MelOptions::num_spectrogram_bins,
                      &signal::MelOptions::sample_rate, &signal::MelOptions::lower_edge_hertz,
                      &signal::MelOptions::upper_edge_hertz, &signal::MelOptions::dtype>(
                 "num_mel_bins, num_spectrogram_bins, sample_rate, lower_edge_hertz, "
                 "upper_edge_hertz, dtype")
             .python("signal.linear_to_mel_weight_matrix")
             .doc("The matrix by which a spectrogram is multiplied to have its bins on the mel "
                  "scale."));
Tensor signal::linear_to_mel_weight_matrix(const MelOptions& o) {
  const char* function = "linear_to_mel_weight_matrix";
  auto need = [&](bool holds, const char* argument, auto got, const std::string& expected) {
    if (!holds)
      fail(Code::E1103, cat(function, ": `", argument, "` is ", got, ", expected ", expected));
  };
  need(o.num_mel_bins >= 1, "num_mel_bins", o.num_mel_bins, "1 or more");
  need(o.num_spectrogram_bins >= 1, "num_spectrogram_bins", o.num_spectrogram_bins, "1 or more");
  need(o.sample_rate > 0, "sample_rate", o.sample_rate, "a number above 0");
  need(o.lower_edge_hertz >= 0, "lower_edge_hertz", o.lower_edge_hertz, "0 or more");
  need(o.upper_edge_hertz > o.lower_edge_hertz, "upper_edge_hertz", o.upper_edge_hertz,
       "more than `lower_edge_hertz`");
  need(o.upper_edge_hertz <= o.sample_rate / 2, "upper_edge_hertz", o.upper_edge_hertz,
       cat(o.sample_rate / 2, " at most"));
  if (!is_floating(o.dtype))
    fail(Code::E1101,
         cat(function, ": `dtype` is ", name(o.dtype), ", expected ", to_text(kFloats)));
  auto mel = [](double hertz) { return 1127 * std::log1p(hertz / 700); };
  double low = mel(o.lower_edge_hertz), high = mel(o.upper_edge_hertz);
  double step = (high - low) / static_cast<double>(o.num_mel_bins + 1);
  Shape shape{o.num_spectrogram_bins, o.num_mel_bins};
  auto count = shape.elements();
  if (!count)
    fail(Code::E1103, cat(function, ": a matrix of shape ", shape.text(), " is too large"));
  std::vector<double> to(static_cast<size_t>(*count), 0.);
  for (int64_t i = 1; i < o.num_spectrogram_bins; ++i) {  // none of frequency 0
    double at = mel(o.sample_rate / 2 * static_cast<double>(i) /
                    static_cast<double>(o.num_spectrogram_bins - 1));
    for (int64_t j = 0; j < o.num_mel_bins; ++j) {  // a triangle over the edges beside it
      double rises = (at - low) / step - static_cast<double>(j);
      to[static_cast<size_t>(i * o.num_mel_bins + j)] = std::max(0., std::min(rises, 2 - rises));
    }
  }
  return cast(Tensor::of<double>(to, shape), o.dtype);
}

}  // namespace holdfast
