// Fourier transforms along the last one, two or three axes, of complex numbers and of real ones.
//
// Several lines are transformed at once: they are copied beside each other (which also cuts them
// off or pads them with zeros, and takes real and imaginary parts apart), so that loops run across
// the lines whichever axis they lie along.
#include <algorithm>
#include <complex>
#include <optional>

#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/signal.h"
#include "holdfast/ops/signal/fourier_plan.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

using signal::FourierPlan;
using signal::Parts;
using signal::RealTransformOptions;

// What is given beside complex numbers: the dtype of the other kind, which follows from the
// input's.
struct TransformAttrs {
  Attr<Arg> Tcomplex;
};
struct BackAttrs {
  Attr<Arg> Treal;
};

// A longer line would take all memory for its tables before its results could be refused.
constexpr int64_t kLongest = int64_t{1} << 30;

DType complex_of(DType d) { return d == float32 ? DType::kComplex64 : DType::kComplex128; }

template <int kAxes>
void infer_complex(Infer& s) {
  s.need_rank(0, kAxes);
  s.output(s.dtype(), s.shape());
}

// The sizes of a transform of real numbers: of its results where it goes there, else of the
// numbers.
template <int kAxes, bool kBack>
void infer_real(Infer& s) {
  s.need_rank(0, kAxes);
  DType out = kBack ? real_of(s.dtype()) : complex_of(s.dtype());
  const Arg& asked =
      kBack ? s.attrs<BackAttrs>().Treal.arg() : s.attrs<TransformAttrs>().Tcomplex.arg();
  if (!asked.none() && asked.dtype() != out)
    s.bad_value(kBack ? "Treal" : "Tcomplex", name(asked.dtype()),
                cat(name(out), " for ", name(s.dtype())));
  if (s.shape(1).has_rank() && !s.shape(1).compatible(Shape{kAxes}))
    s.bad_shape(1, cat("[", kAxes, "], a length for each axis"));
  auto lengths = s.sizes(1), known = s.ints(1);
  if (!s.shape().has_rank()) return s.output(out, Shape::unknown());
  Dims d = s.shape().dims();
  for (size_t i = 0; i < kAxes; ++i) {
    int64_t n = lengths ? (*lengths)[i] : kUnknown;
    if (known && (n < 0 || n > kLongest))
      s.bad_value("fft_length", sizes_text(*known), cat("lengths from 0 to ", kLongest));
    if (!kBack && i + 1 == kAxes && n > 0) n = n / 2 + 1;
    d[d.size() - kAxes + i] = n;
  }
  s.output(out, Shape(d));
}

// Lines that are transformed together: enough for a vector of floats.
constexpr int64_t kLines = 16;

// Transforms `lines` lines: `load(line, parts, stride)` gives the numbers of one, `store(line,
// parts, stride)` takes its results.
template <class T, class Load, class Store>
void for_lines(const FourierPlan<T>& plan, int64_t lines, bool inverse, Load load, Store store) {
  int64_t n = plan.size();
  int64_t tiles = (lines + kLines - 1) / kLines;
  parallel_for(tiles, grain_for(n * kLines * 8), [&](int64_t begin, int64_t end) {
    int64_t most = std::min(kLines, lines);
    std::vector<T> memory(static_cast<size_t>(2 * n * most + plan.scratch(most)));
    for (int64_t tile = begin; tile < end; ++tile) {
      int64_t first = tile * kLines, many = std::min(kLines, lines - first);
      Parts<T> x{memory.data(), memory.data() + n * many};
      for (int64_t q = 0; q < many; ++q) load(first + q, Parts<T>{x.re + q, x.im + q}, many);
      plan.run(inverse ? Parts<T>{x.im, x.re} : x, many, memory.data() + 2 * n * many);
      for (int64_t q = 0; q < many; ++q) store(first + q, Parts<T>{x.re + q, x.im + q}, many);
    }
  });
}

// The plans of a call, one for each axis that is transformed.
template <class T>
struct Plans final : Prepared {
  std::vector<FourierPlan<T>> axes;
};

// Where a line of the results comes from: axes but the last of an input that may have other sizes
// along those that are transformed.
class Rows {
 public:
  Rows(const Shape& from, const Shape& to) {
    for (int i = 0; i + 1 < to.rank(); ++i) sizes_.push_back({from[i], to[i]});
  }
  /// The row of the input that row `row` of the result is made of; -1: of none, it is zeros.
  int64_t of(int64_t row) const {
    int64_t out = 0, step = 1;
    for (size_t i = sizes_.size(); i-- > 0;) {
      auto [from, to] = sizes_[i];
      int64_t at = row % to;
      row /= to;
      if (at >= from) return -1;
      out += at * step;
      step *= from;
    }
    return out;
  }

 private:
  InlineVector<std::pair<int64_t, int64_t>, 8> sizes_;
};

template <class T>
void load_complex(const std::complex<T>* from, int64_t step, int64_t given, int64_t n, Parts<T> to,
                  int64_t stride) {
  for (int64_t j = 0; j < n; ++j) {
    std::complex<T> z = j < given ? from[j * step] : std::complex<T>();
    to.re[j * stride] = z.real();
    to.im[j * stride] = z.imag();
  }
}

template <class T>
void store_complex(Parts<T> from, int64_t stride, int64_t n, T scale, std::complex<T>* to,
                   int64_t step) {
  for (int64_t j = 0; j < n; ++j)
    to[j * step] = {from.re[j * stride] * scale, from.im[j * stride] * scale};
}

// Axis `axis` of a tensor of complex numbers, in place.
template <class T>
void transform_axis(const FourierPlan<T>& plan, std::complex<T>* data, const Shape& shape, int axis,
                    bool inverse) {
  int64_t n = plan.size(), inner = 1, lines = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > axis) inner *= shape[i];
    if (i != axis) lines *= shape[i];
  }
  T scale = inverse ? T(1) / static_cast<T>(n) : T(1);
  auto start = [=](int64_t line) { return data + line / inner * n * inner + line % inner; };
  for_lines(
      plan, lines, inverse,
      [&](int64_t line, Parts<T> x, int64_t stride) {
        load_complex(start(line), inner, n, n, x, stride);
      },
      [&](int64_t line, Parts<T> x, int64_t stride) {
        store_complex(x, stride, n, scale, start(line), inner);
      });
}

enum class Transform { kComplex, kReal, kBack };

template <class T>
Preparation planned(const Types& t, int axes, Transform kind) {
  auto made = make_ref<Plans<T>>();
  const Shape& out = t.out_shape();
  for (int i = -axes; i < 0; ++i) {
    int64_t n = out[i];
    if (kind == Transform::kReal && i == -1 && n > 0) {
      // Two lengths give so many results; most programs transform all of their input.
      n = 2 * (n - 1);
      if (t.shape()[-1] == n + 1) ++n;
    }
    made->axes.emplace_back(n);
  }
  return made;
}

template <int kAxes, Transform kKind>
Preparation prepare(const Types& t) {
  return real_of(t.dtype()) == float32 ? planned<float>(t, kAxes, kKind)
                                       : planned<double>(t, kAxes, kKind);
}

// Runs `f(T{}, plans)` with the plans of a call.
template <class F>
Status with_plans(Call& c, const Prepared& prepared, F f) {
  if (c.out_shape().elements() == 0) {
    c.out();
    return {};
  }
  if (real_of(c.in().dtype()) == float32)
    f(float{}, static_cast<const Plans<float>&>(prepared).axes);
  else
    f(double{}, static_cast<const Plans<double>&>(prepared).axes);
  return {};
}

template <int kAxes, bool kInverse>
Status run_complex(Call& c, const Prepared& prepared) {
  return with_plans(c, prepared, [&]<class T>(T, const std::vector<FourierPlan<T>>& plans) {
    Tensor& y = c.out();
    const Shape& shape = y.shape();
    auto* from = c.in().template raw<std::complex<T>>();
    auto* to = y.template mutable_raw<std::complex<T>>();
    std::copy_n(from, y.size(), to);
    for (int i = 1; i <= kAxes; ++i)
      transform_axis(plans[static_cast<size_t>(kAxes - i)], to, shape, shape.rank() - i, kInverse);
  });
}

template <int kAxes>
Status run_real(Call& c, const Prepared& prepared) {
  return with_plans(c, prepared, [&]<class T>(T, const std::vector<FourierPlan<T>>& plans) {
    const Tensor& x = c.in();
    Tensor& y = c.out();
    const Shape &in = x.shape(), &shape = y.shape();
    int64_t n = c.ints(1)[kAxes - 1], given = std::min(in[-1], n), kept = shape[-1];
    std::optional<FourierPlan<T>> own;
    if (plans.back().size() != n) own.emplace(n);
    const FourierPlan<T>& plan = own ? *own : plans.back();
    auto* from = x.template raw<T>();
    auto* to = y.template mutable_raw<std::complex<T>>();
    Rows rows(in, shape);
    for_lines(
        plan, y.size() / kept, false,
        [&](int64_t line, Parts<T> z, int64_t stride) {
          int64_t row = rows.of(line), many = row < 0 ? 0 : given;
          for (int64_t j = 0; j < n; ++j) {
            z.re[j * stride] = j < many ? from[row * in[-1] + j] : T(0);
            z.im[j * stride] = 0;
          }
        },
        [&](int64_t line, Parts<T> z, int64_t stride) {
          store_complex(z, stride, kept, T(1), to + line * kept, 1);
        });
    for (int i = 2; i <= kAxes; ++i)
      transform_axis(plans[static_cast<size_t>(kAxes - i)], to, shape, shape.rank() - i, false);
  });
}

template <int kAxes>
Status run_back(Call& c, const Prepared& prepared) {
  return with_plans(c, prepared, [&]<class T>(T, const std::vector<FourierPlan<T>>& plans) {
    const Tensor& x = c.in();
    Tensor& y = c.out();
    const Shape &in = x.shape(), &shape = y.shape();
    const FourierPlan<T>& plan = plans.back();
    int64_t n = plan.size(), half = n / 2 + 1;
    auto* from = x.template raw<std::complex<T>>();
    auto* to = y.template mutable_raw<T>();
    Tensor between;
    Rows rows(in, shape);
    int64_t given = std::min(in[-1], half), apart = in[-1];
    if (kAxes > 1) {
      // The other axes come first: of what the last one takes, in the lengths of the results.
      Dims d = shape.dims();
      d.back() = half;
      between = c.scratch(x.dtype(), Shape(d));
      auto* all = between.template mutable_raw<std::complex<T>>();
      for (int64_t line = 0; line < between.size() / half; ++line) {
        int64_t row = rows.of(line), many = row < 0 ? 0 : given;
        std::copy_n(from + std::max<int64_t>(row, 0) * apart, many, all + line * half);
        std::fill_n(all + line * half + many, half - many, std::complex<T>());
      }
      for (int i = 2; i <= kAxes; ++i)
        transform_axis(plans[static_cast<size_t>(kAxes - i)], all, between.shape(),
                       shape.rank() - i, true);
      from = all;
      given = apart = half;
    }
    T scale = T(1) / static_cast<T>(n);
    for_lines(
        plan, y.size() / n, true,
        [&](int64_t line, Parts<T> z, int64_t stride) {
          load_complex(from + line * apart, 1, given, half, z, stride);
          // What is its own conjugate is real.
          z.im[0] = 0;
          if (n % 2 == 0) z.im[n / 2 * stride] = 0;
          for (int64_t k = half; k < n; ++k) {
            z.re[k * stride] = z.re[(n - k) * stride];
            z.im[k * stride] = -z.im[(n - k) * stride];
          }
        },
        [&](int64_t line, Parts<T> z, int64_t stride) {
          for (int64_t j = 0; j < n; ++j) to[line * n + j] = z.re[j * stride] * scale;
        });
  });
}

// -- gradients: the adjoint of a sum with e^(-2 pi i jk / n) is that with e^(2 pi i jk / n)

// How many numbers one transform is over, as a number of `t`'s dtype.
template <int kAxes>
Tensor count_in(const Tensor& t) {
  if (t.shape().has_rank()) {
    double all = 1;
    for (int i = -kAxes; i < 0; ++i) all *= static_cast<double>(t.shape()[i]);
    bool known = true;
    for (int i = -kAxes; i < 0; ++i) known = known && t.shape()[i] >= 0;
    if (known) return Tensor::scalar(all, t.dtype());
  }
  return cast(reduce_prod(index(shape(t), {{.start = -kAxes}})), t.dtype());
}

// The last axes of `t` cut off or padded with zeros, so that it has the shape of `like`.
Tensor fitted(const Tensor& t, const Tensor& like, int axes) {
  if (t.shape().has_rank() && like.shape().has_rank()) {
    bool same = true;
    for (int i = -axes; i < 0; ++i)
      same = same && t.shape()[i] >= 0 && t.shape()[i] == like.shape()[i];
    if (same) return t;
  }
  Tensor wanted = shape(like);
  Tensor missing = maximum(wanted - shape(t), 0);
  Tensor padded = pad(t, stack({zeros_like(missing), missing}, {.axis = 1}));
  return slice(padded, zeros_like(wanted), wanted);
}

// 1 for the numbers of a half that stand for themselves, `other` for those that stand for their
// conjugates too.
Tensor halves(const Tensor& fft_length, double other, DType d) {
  Tensor n = index(fft_length, {{.kind = IndexItem::kInt, .start = -1}});
  Tensor k = range(floordiv(n, 2) + 1);
  Tensor alone = logical_or(equal(k, 0), equal(k * 2, n));
  return cast(where(alone, Tensor::scalar(1.0, real_of(d)), Tensor::scalar(other, real_of(d))), d);
}

template <Tensor (*kOther)(const In&), int kAxes, bool kInverse>
Tensors complex_gradient(Grad& g) {
  Tensor back = kOther(g.dy()), n = count_in<kAxes>(g.x());
  return {kInverse ? back / n : back * n};
}

template <Tensor (*kBack)(const In&, const RealTransformOptions&), int kAxes>
Tensors real_gradient(Grad& g) {
  Tensor dy = g.dy() * halves(g.x(1), 0.5, g.dy().dtype());
  Tensor n = cast(reduce_prod(g.x(1)), g.x().dtype());
  return {fitted(kBack(dy, {.fft_length = g.x(1)}) * n, g.x(), kAxes), Tensor()};
}

template <Tensor (*kForth)(const In&, const RealTransformOptions&), int kAxes>
Tensors back_gradient(Grad& g) {
  Tensor all = kForth(g.dy(), {.fft_length = g.x(1)}), n = reduce_prod(g.x(1));
  all = all * halves(g.x(1), 2, all.dtype()) / cast(n, all.dtype());
  return {fitted(all, g.x(), kAxes), Tensor()};
}

// The lengths that a transform of real numbers is asked for, or those of its input.
Tensor lengths(const char* function, const Tensor& t, const Axes& given, int axes, bool back) {
  if (given) {
    Tensor asked = given->tensor();
    return asked.shape().rank() == 0 && axes == 1 ? expand_dims(asked, 0) : asked;
  }
  if (t.shape().has_rank()) {
    if (t.rank() < axes)
      fail(Code::E1102, cat(function, ": `input_tensor` has the shape ", t.shape().text(),
                            ", expected at least ", axes, axes == 1 ? " axis" : " axes"));
    Dims d;
    bool known = true;
    for (int i = -axes; i < 0; ++i) {
      int64_t n = t.shape()[i];
      known = known && n >= 0;
      d.push_back(back && i == -1 ? std::max<int64_t>(0, 2 * (n - 1)) : n);
    }
    if (known) return Sizes(d).tensor();
  }
  Tensor last = index(shape(t), {{.start = -axes}});
  if (!back) return last;
  Tensor inner = maximum(2 * (index(last, {{.start = -1}}) - 1), 0);
  return concat({index(last, {{.stop = -1}}), inner}, 0);
}

// A transform of real numbers, or back to them.
Tensor with_lengths(const Op& op, const char* function, const In& x, const RealTransformOptions& o,
                    int axes, bool back) {
  Tensor t = x;
  return op({t, lengths(function, t, o.fft_length, axes, back)});
}

}  // namespace

#define HOLDFAST_COMPLEX(Name, fn, other, axes, inverse)                                \
  OP(Name, &signal::fn)                                                                 \
      .args("input")                                                                    \
      .python("signal." #fn)                                                            \
      .inputs("input")                                                                  \
      .dtypes(kComplexes)                                                               \
      .infer(infer_complex<axes>)                                                       \
      .kernel("passes", prepare<axes, Transform::kComplex>, run_complex<axes, inverse>) \
      .gradient(complex_gradient<signal::other, axes, inverse>)                         \
      .keeps("")

static const Op fft_op = HOLDFAST_COMPLEX(FFT, fft, ifft, 1, false)
                             .doc("Discrete Fourier transform along the last axis.")
                             .samples("complexes(3, 8)", "complexes(2, 15)", "complexes(1)",
                                      "complexes(2, 34)", "complexes(77)")
                             .reference("np.fft.fft(input)");
Tensor signal::fft(const In& input) { return fft_op(input); }

static const Op ifft_op = HOLDFAST_COMPLEX(IFFT, ifft, fft, 1, true)
                              .doc("Inverse of `fft`.")
                              .samples("complexes(3, 8)", "complexes(2, 13)", "complexes(17)")
                              .reference("np.fft.ifft(input)");
Tensor signal::ifft(const In& input) { return ifft_op(input); }

static const Op fft2d_op = HOLDFAST_COMPLEX(FFT2D, fft2d, ifft2d, 2, false)
                               .doc("Discrete Fourier transform along the last two axes.")
                               .samples("complexes(2, 3, 4)", "complexes(6, 1)")
                               .reference("np.fft.fft2(input)");
Tensor signal::fft2d(const In& input) { return fft2d_op(input); }

static const Op ifft2d_op = HOLDFAST_COMPLEX(IFFT2D, ifft2d, fft2d, 2, true)
                                .doc("Inverse of `fft2d`.")
                                .samples("complexes(2, 3, 4)", "complexes(1, 6)")
                                .reference("np.fft.ifft2(input)");
Tensor signal::ifft2d(const In& input) { return ifft2d_op(input); }

static const Op fft3d_op = HOLDFAST_COMPLEX(FFT3D, fft3d, ifft3d, 3, false)
                               .doc("Discrete Fourier transform along the last three axes.")
                               .samples("complexes(2, 3, 4)", "complexes(2, 2, 1, 5)")
                               .reference("np.fft.fftn(input, axes=(-3, -2, -1))");
Tensor signal::fft3d(const In& input) { return fft3d_op(input); }

static const Op ifft3d_op = HOLDFAST_COMPLEX(IFFT3D, ifft3d, fft3d, 3, true)
                                .doc("Inverse of `fft3d`.")
                                .samples("complexes(2, 3, 4)", "complexes(2, 2, 1, 5)")
                                .reference("np.fft.ifftn(input, axes=(-3, -2, -1))");
Tensor signal::ifft3d(const In& input) { return ifft3d_op(input); }

#define HOLDFAST_REAL(Name, fn)                                 \
  OP(Name, &signal::fn)                                         \
      .args("input_tensor")                                     \
      .options<&RealTransformOptions::fft_length>("fft_length") \
      .python("signal." #fn)                                    \
      .inputs("input, fft_length: Tlength!")                    \
      .dtypes({int32, int64}, "Tlength")                        \
      .keeps("fft_length")

#define HOLDFAST_FORTH(Name, fn, other, axes)                            \
  HOLDFAST_REAL(Name, fn)                                                \
      .attr("Tcomplex", Arg())                                           \
      .attrs<&TransformAttrs::Tcomplex>()                                \
      .dtypes({float32, float64})                                        \
      .infer(infer_real<axes, false>)                                    \
      .kernel("passes", prepare<axes, Transform::kReal>, run_real<axes>) \
      .gradient(real_gradient<signal::other, axes>)

// NumPy leaves what it makes of no numbers at all as it finds it: one zero more changes nothing
// where a length is given.
#define HOLDFAST_NEVER_EMPTY                                                                      \
  "input_tensor if fft_length is None else np.pad(input_tensor, [(0, 0)] * (input_tensor.ndim - " \
  "1) + [(0, 1)])"

#define HOLDFAST_BACK(Name, fn, other, axes)                             \
  HOLDFAST_REAL(Name, fn)                                                \
      .attr("Treal", Arg())                                              \
      .attrs<&BackAttrs::Treal>()                                        \
      .dtypes(kComplexes)                                                \
      .infer(infer_real<axes, true>)                                     \
      .kernel("passes", prepare<axes, Transform::kBack>, run_back<axes>) \
      .gradient(back_gradient<signal::other, axes>)

static const Op rfft_op =
    HOLDFAST_FORTH(RFFT, rfft, irfft, 1)
        .doc(
            "The first n / 2 + 1 numbers of the Fourier transform of real ones, along the last "
            "axis.")
        .samples("uniform(3, 8)", "uniform(2, 7)", "uniform(9), fft_length=[6]",
                 "uniform(2, 5), fft_length=[9]")
        .reference("np.fft.rfft(input_tensor, None if fft_length is None else fft_length[0])");
Tensor signal::rfft(const In& x, const RealTransformOptions& o) {
  return with_lengths(rfft_op, "rfft", x, o, 1, false);
}

static const Op rfft2d_op =
    HOLDFAST_FORTH(RFFT2D, rfft2d, irfft2d, 2)
        .doc("The same along the last two axes.")
        .samples("uniform(2, 3, 4)", "uniform(3, 5)", "uniform(4, 6), fft_length=[6, 5]")
        .reference("np.fft.rfftn(input_tensor, s=fft_length, axes=(-2, -1))");
Tensor signal::rfft2d(const In& x, const RealTransformOptions& o) {
  return with_lengths(rfft2d_op, "rfft2d", x, o, 2, false);
}

static const Op rfft3d_op =
    HOLDFAST_FORTH(RFFT3D, rfft3d, irfft3d, 3)
        .doc("The same along the last three axes.")
        .samples("uniform(2, 3, 4)", "uniform(2, 3, 1, 5), fft_length=[2, 2, 6]")
        .reference("np.fft.rfftn(input_tensor, s=fft_length, axes=(-3, -2, -1))");
Tensor signal::rfft3d(const In& x, const RealTransformOptions& o) {
  return with_lengths(rfft3d_op, "rfft3d", x, o, 3, false);
}

static const Op irfft_op =
    HOLDFAST_BACK(IRFFT, irfft, rfft, 1)
        .doc("Inverse of `rfft`; where no length is given, an even one.")
        .samples("complexes(3, 5)", "complexes(4), fft_length=[7]",
                 "complexes(2, 4), fft_length=[9]", "complexes(6), fft_length=[4]")
        .reference("np.fft.irfft(" HOLDFAST_NEVER_EMPTY
                   ", None if fft_length is None else fft_length[0])");
Tensor signal::irfft(const In& x, const RealTransformOptions& o) {
  return with_lengths(irfft_op, "irfft", x, o, 1, true);
}

static const Op irfft2d_op =
    HOLDFAST_BACK(IRFFT2D, irfft2d, rfft2d, 2)
        .doc("Inverse of `rfft2d`.")
        .samples("complexes(2, 3, 4)", "complexes(3, 4), fft_length=[4, 5]")
        .reference("np.fft.irfftn(" HOLDFAST_NEVER_EMPTY ", s=fft_length, axes=(-2, -1))");
Tensor signal::irfft2d(const In& x, const RealTransformOptions& o) {
  return with_lengths(irfft2d_op, "irfft2d", x, o, 2, true);
}

static const Op irfft3d_op =
    HOLDFAST_BACK(IRFFT3D, irfft3d, rfft3d, 3)
        .doc("Inverse of `rfft3d`.")
        .samples("complexes(2, 3, 4)", "complexes(2, 3, 4), fft_length=[3, 2, 5]")
        .reference("np.fft.irfftn(" HOLDFAST_NEVER_EMPTY ", s=fft_length, axes=(-3, -2, -1))");
Tensor signal::irfft3d(const In& x, const RealTransformOptions& o) {
  return with_lengths(irfft3d_op, "irfft3d", x, o, 3, true);
}

}  // namespace holdfast
