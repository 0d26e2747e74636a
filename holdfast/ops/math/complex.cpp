// Complex numbers and their parts: the dtype changes, so each has a kernel of its own.
#include <cmath>
#include <complex>

#include "holdfast/base/text.h"
#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/operands.h"
#include "holdfast/ops/math/rows.h"

namespace holdfast {
namespace {

struct PartAttrs {
  Attr<Arg> Tout;
};

void infer_part(Infer& s) {
  auto a = s.attrs<PartAttrs>();
  DType part = real_of(s.dtype()), asked = a.Tout.arg().none() ? part : a.Tout.arg().dtype();
  if (asked != part) s.bad_value("Tout", name(asked), cat(name(part), " for ", name(s.dtype())));
  s.output(part, s.shape());
}

// out[i] = f(in[i]) from complex numbers to their parts.
template <class F>
Status run_part(Call& c, F f) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  auto run = [&]<class T>(T) {
    for_rows<1>({&x}, y.shape(), [&](const Row<1>& r) {
      const auto* from = x.raw<std::complex<T>>();
      T* to = y.mutable_raw<T>();
      for (int64_t i = r.out; i < r.out + r.count; ++i) to[i] = f(from[i]);
    });
  };
  x.dtype() == DType::kComplex64 ? run(float{}) : run(double{});
  return {};
}

void infer_complex(Infer& s) {
  auto a = s.attrs<PartAttrs>();
  infer_elementwise(s);
  DType out = s.dtype() == float32 ? DType::kComplex64 : DType::kComplex128;
  if (!a.Tout.arg().none() && a.Tout.arg().dtype() != out)
    s.bad_value("Tout", name(a.Tout.arg().dtype()), cat(name(out), " for ", name(s.dtype())));
  s.dtypes[0] = out;
}

Status run_complex(Call& c) {
  const Tensor &x = c.in(0), &y = c.in(1);
  Tensor& z = c.out();
  auto run = [&]<class T>(T) {
    for_rows<2>({&x, &y}, z.shape(), [&](const Row<2>& r) {
      const T *a = x.raw<T>() + r.at[0], *b = y.raw<T>() + r.at[1];
      auto* to = z.mutable_raw<std::complex<T>>() + r.out;
      for (int64_t i = 0; i < r.count; ++i) to[i] = {a[i * r.step[0]], b[i * r.step[1]]};
    });
  };
  x.dtype() == float32 ? run(float{}) : run(double{});
  return {};
}

Tensor number(const char* function, const char* argument, const In& x) {
  Tensor t = x;
  if (!t.defined()) fail(Code::E1104, cat(function, ": `", argument, "` is missing"));
  if (!kNumbers.has(t.dtype()))
    fail(Code::E1101, cat(function, ": `", argument, "` is ", name(t.dtype()), ", expected ",
                          to_text(kNumbers)));
  return t;
}

}  // namespace

static const Op complex_op =
    OP(Complex, &complex)
        .args("real, imag")
        .python("complex, dtypes.complex")
        .inputs("real, imag")
        .attr("Tout", Arg())
        .attrs<&PartAttrs::Tout>()
        .dtypes({float32, float64})
        .doc("real + i imag, element by element.")
        .infer(infer_complex)
        .kernel("rows", run_complex)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.wants(0) ? sum_to(real(g.dy()), g.x(0)) : Tensor(),
                  g.wants(1) ? sum_to(imag(g.dy()), g.x(1)) : Tensor()};
        })
        .keeps("")
        .samples("uniform(3, 4), uniform(3, 4)", "uniform(3, 4), uniform(4)")
        .reference("real + 1j * imag");
Tensor complex(const In& re, const In& im) { return complex_op(re, im); }

static const Op real_op =
    OP(Real, &real)
        .args("input")
        .python("math.real")
        .inputs("input")
        .attr("Tout", Arg())
        .attrs<&PartAttrs::Tout>()
        .dtypes(kComplexes)
        .doc("Real part, element by element; a real tensor as it is.")
        .infer(infer_part)
        .kernel(
            "reference",
            +[](Call& c) -> Status { return run_part(c, [](auto z) { return z.real(); }); })
        .gradient(+[](Grad& g) -> Tensors { return {complex(g.dy(), zeros_like(g.dy()))}; })
        .keeps("")
        .samples("complexes(3, 4)", "uniform(3, 4)")
        .reference("np.real(input)");
Tensor real(const In& x) {
  Tensor t = number("real", "input", x);
  return is_complex(t.dtype()) ? real_op(t) : t;
}

static const Op imag_op =
    OP(Imag, &imag)
        .args("input")
        .python("math.imag")
        .inputs("input")
        .attr("Tout", Arg())
        .attrs<&PartAttrs::Tout>()
        .dtypes(kComplexes)
        .doc("Imaginary part, element by element; zeros for a real tensor.")
        .infer(infer_part)
        .kernel(
            "reference",
            +[](Call& c) -> Status { return run_part(c, [](auto z) { return z.imag(); }); })
        .gradient(+[](Grad& g) -> Tensors { return {complex(zeros_like(g.dy()), g.dy())}; })
        .keeps("")
        .samples("complexes(3, 4)")
        .reference("np.imag(input)");
Tensor imag(const In& x) {
  Tensor t = number("imag", "input", x);
  return is_complex(t.dtype()) ? imag_op(t) : zeros_like(t);
}

static const Op conj_op = OP(Conj, &conj)
                              .args("x")
                              .python("math.conj")
                              .inputs("input")
                              .dtypes(kComplexes)
                              .doc("Complex conjugate, element by element; a real tensor as it is.")
                              .elementwise(Scalar::kConj)
                              .gradient(+[](Grad& g) -> Tensors { return {conj(g.dy())}; })
                              .keeps("")
                              .samples("complexes(3, 4)", "uniform(3, 4)")
                              .reference("np.conj(x)");
Tensor conj(const In& x) {
  Tensor t = number("conj", "x", x);
  return is_complex(t.dtype()) ? conj_op(t) : t;
}

static const Op angle_op =
    OP(Angle, &angle)
        .args("input")
        .python("math.angle")
        .inputs("input")
        .attr("Tout", Arg())
        .attrs<&PartAttrs::Tout>()
        .dtypes(kComplexes)
        .doc("Argument, in [-pi, pi], element by element; of a real number 0 or pi.")
        .infer(infer_part)
        .kernel(
            "reference",
            +[](Call& c) -> Status { return run_part(c, [](auto z) { return std::arg(z); }); })
        .gradient(+[](Grad& g) -> Tensors {
          // The angle turns across the direction of x, the slower the farther out it lies.
          Tensor x = g.x(), along = complex(-imag(x), real(x));
          Tensor dy = complex(g.dy(), zeros_like(g.dy()));
          return {dy * along / (x * conj(x))};
        })
        .keeps("input")
        .samples("complexes(3, 4)", "uniform(3, 4)")
        .reference("np.angle(input).astype(np.real(input).dtype)");
Tensor angle(const In& x) {
  Tensor t = number("angle", "input", x);
  if (is_complex(t.dtype())) return angle_op(t);
  // Of a real number 0 or pi; of NaN 0, as TensorFlow has it.
  DType d = t.dtype();
  if (!is_floating(d))
    fail(Code::E1101, cat("angle: `input` is ", name(d), ", expected ", to_text(kDifferentiable)));
  return select(less(t, 0), Tensor::scalar(3.14159265358979323846, d), 0);
}

}  // namespace holdfast
