// Comparing, element by element; all results are bools, and no gradient flows.
#include <cmath>

#include "holdfast/base/text.h"
#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/rows.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct EqualAttrs {
  Attr<bool> incompatible_shape_error;
};
struct ApproximateAttrs {
  Attr<double> tolerance;
};

template <bool kEqual>
Status compare_strings(Call& c) {
  const Tensor &x = c.in(0), &y = c.in(1);
  Tensor& z = c.out();
  for_rows<2>({&x, &y}, z.shape(), [&](const Row<2>& r) {
    const std::string *a = x.raw<std::string>() + r.at[0], *b = y.raw<std::string>() + r.at[1];
    bool* to = z.mutable_raw<bool>() + r.out;
    for (int64_t i = 0; i < r.count; ++i, a += r.step[0], b += r.step[1])
      to[i] = (*a == *b) == kEqual;
  });
  return {};
}

// Shapes that do not broadcast are an error, or by `incompatible_shape_error=false` simply unequal.
void infer_equal(Infer& s) {
  bool fits = broadcast(s.shape(0), s.shape(1)).has_value();
  if (fits || s.attrs<EqualAttrs>().incompatible_shape_error()) return infer_elementwise(s);
  s.output(DType::kBool, Shape{});
}

template <bool kEqual>
Status run_equal(Call& c) {
  if (!broadcast(c.in(0).shape(), c.in(1).shape())) {
    *c.out().mutable_raw<bool>() = !kEqual;
    return {};
  }
  return c.in().dtype() == DType::kString ? compare_strings<kEqual>(c) : run_elementwise(c);
}

void infer_approximate(Infer& s) {
  auto both = s.shape(0).merged(s.shape(1));
  if (!both) s.bad_shape(1, cat("the shape of `x`, ", s.shape(0).text()));
  s.output(DType::kBool, *std::move(both));
}

Status run_approximate(Call& c) {
  const Tensor &x = c.in(0), &y = c.in(1);
  Tensor& z = c.out();
  double tolerance = c.attrs<ApproximateAttrs>().tolerance();
  visit_plain(x.dtype(), [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>) {
      const T *a = x.raw<T>(), *b = y.raw<T>();
      for (int64_t i = 0, n = x.size(); i < n; ++i) {
        if constexpr (std::is_integral_v<T>) {
          auto distance = a[i] < b[i] ? static_cast<uint64_t>(b[i]) - static_cast<uint64_t>(a[i])
                                      : static_cast<uint64_t>(a[i]) - static_cast<uint64_t>(b[i]);
          z.mutable_raw<bool>()[i] = static_cast<double>(distance) < tolerance;
        } else {
          z.mutable_raw<bool>()[i] =
              std::abs(static_cast<float_of<T>>(a[i]) - static_cast<float_of<T>>(b[i])) < tolerance;
        }
      }
    }
  });
  return {};
}

template <bool kStrict>
Tensor in_order(const char* function, const In& in) {
  Tensor t = in;
  if (!t.defined()) fail(Code::E1104, cat(function, ": `x` is missing"));
  if (!kReals.has(t.dtype()))
    fail(Code::E1101, cat(function, ": `x` is ", name(t.dtype()), ", expected ", to_text(kReals)));
  if (t.is_symbolic()) {
    IndexItem before, after;
    before.stop = -1;
    after.start = 1;
    Tensor flat = reshape(t, {-1}), a = index(flat, {before}), b = index(flat, {after});
    return reduce_all(kStrict ? less(a, b) : less_equal(a, b));
  }
  Tensor host = copy_to(t, cpu());
  bool ok = true;
  visit_plain(host.dtype(), [&]<class T>(T) {
    if constexpr (!is_complex_v<T> && !std::is_same_v<T, bool>) {
      const T* p = host.raw<T>();
      for (int64_t i = 1, n = host.size(); i < n && ok; ++i) {
        auto a = static_cast<float_of<T>>(p[i - 1]), b = static_cast<float_of<T>>(p[i]);
        ok = kStrict ? a < b : a <= b;
      }
    }
  });
  return Tensor::scalar(ok);
}

}  // namespace

static const Op equal_op = OP(Equal, &equal)
                               .args("x, y")
                               .python("equal, math.equal")
                               .inputs("x, y")
                               .attr("incompatible_shape_error", true)
                               .attrs<&EqualAttrs::incompatible_shape_error>()
                               .dtypes(kAll)
                               .commutative()
                               .no_gradient()
                               .doc("x == y, element by element; NaN equals nothing.")
                               .kernel("equal", run_equal<true>, kAll)
                               .elementwise(Scalar::kEqual)
                               .infer(infer_equal)
                               .samples("ints(3, 4, low=0, high=2), ints(4, low=0, high=2)",
                                        "bools(5), bools(5)", "strings(3), strings(3)")
                               .reference("x == y");
Tensor equal(const In& x, const In& y) { return equal_op(x, y); }

static const Op not_equal_op = OP(NotEqual, &not_equal)
                                   .args("x, y")
                                   .python("not_equal, math.not_equal")
                                   .inputs("x, y")
                                   .attr("incompatible_shape_error", true)
                                   .attrs<&EqualAttrs::incompatible_shape_error>()
                                   .dtypes(kAll)
                                   .commutative()
                                   .no_gradient()
                                   .doc("x != y, element by element; NaN differs from everything.")
                                   .kernel("equal", run_equal<false>, kAll)
                                   .elementwise(Scalar::kNotEqual)
                                   .infer(infer_equal)
                                   .samples("ints(3, 4, low=0, high=2), ints(4, low=0, high=2)",
                                            "bools(5), bools(5)", "strings(3), strings(3)")
                                   .reference("x != y");
Tensor not_equal(const In& x, const In& y) { return not_equal_op(x, y); }

static const Op less_op = OP(Less, &less)
                              .args("x, y")
                              .python("less, math.less")
                              .dtypes(kReals)
                              .no_gradient()
                              .flat(Flat::kStep)
                              .doc("x < y, element by element.")
                              .elementwise(Scalar::kLess)
                              .samples("uniform(3, 4), uniform(4)", "ints(5), ints(5)")
                              .reference("x < y");
Tensor less(const In& x, const In& y) { return less_op(x, y); }

static const Op less_equal_op = OP(LessEqual, &less_equal)
                                    .args("x, y")
                                    .python("less_equal, math.less_equal")
                                    .dtypes(kReals)
                                    .no_gradient()
                                    .flat(Flat::kStep)
                                    .doc("x <= y, element by element.")
                                    .elementwise(Scalar::kLessEqual)
                                    .samples("uniform(3, 4), uniform(4)", "ints(5), ints(5)")
                                    .reference("x <= y");
Tensor less_equal(const In& x, const In& y) { return less_equal_op(x, y); }

static const Op greater_op = OP(Greater, &greater)
                                 .args("x, y")
                                 .python("greater, math.greater")
                                 .dtypes(kReals)
                                 .no_gradient()
                                 .flat(Flat::kStep)
                                 .doc("x > y, element by element.")
                                 .elementwise(Scalar::kGreater)
                                 .samples("uniform(3, 4), uniform(4)", "ints(5), ints(5)")
                                 .reference("x > y");
Tensor greater(const In& x, const In& y) { return greater_op(x, y); }

static const Op greater_equal_op = OP(GreaterEqual, &greater_equal)
                                       .args("x, y")
                                       .python("greater_equal, math.greater_equal")
                                       .dtypes(kReals)
                                       .no_gradient()
                                       .flat(Flat::kStep)
                                       .doc("x >= y, element by element.")
                                       .elementwise(Scalar::kGreaterEqual)
                                       .samples("uniform(3, 4), uniform(4)", "ints(5), ints(5)")
                                       .reference("x >= y");
Tensor greater_equal(const In& x, const In& y) { return greater_equal_op(x, y); }

static const Op approximate_equal_op =
    OP(ApproximateEqual, &approximate_equal)
        .args("x, y")
        .options<&ApproximateEqualOptions::tolerance>("tolerance")
        .python("compat.v1.approximate_equal, compat.v1.math.approximate_equal")
        .inputs("x, y")
        .attr("tolerance", 1e-5)
        .attrs<&ApproximateAttrs::tolerance>()
        .dtypes(kNumbers)
        .commutative()
        .no_gradient()
        .doc("|x - y| < tolerance, element by element; both have one shape.")
        .infer(infer_approximate)
        .kernel("reference", run_approximate)
        .samples("uniform(3, 4), uniform(3, 4), tolerance=0.5")
        .reference("np.abs(x - y) < tolerance");
Tensor approximate_equal(const In& x, const In& y, const ApproximateEqualOptions& o) {
  return approximate_equal_op({x, y}, {o.tolerance});
}

static const Op is_nan_op = OP(IsNan, &is_nan)
                                .args("x")
                                .python("math.is_nan")
                                .dtypes(kFloats)
                                .no_gradient()
                                .doc("Whether x is NaN, element by element.")
                                .elementwise(Scalar::kIsNan)
                                .samples("[1.0, float('nan'), float('inf')]")
                                .reference("np.isnan(x)");
Tensor is_nan(const In& x) { return is_nan_op(x); }

static const Op is_inf_op = OP(IsInf, &is_inf)
                                .args("x")
                                .python("math.is_inf")
                                .dtypes(kFloats)
                                .no_gradient()
                                .doc("Whether x is infinite, element by element.")
                                .elementwise(Scalar::kIsInf)
                                .samples("[1.0, float('nan'), float('-inf')]")
                                .reference("np.isinf(x)");
Tensor is_inf(const In& x) { return is_inf_op(x); }

static const Op is_finite_op =
    OP(IsFinite, &is_finite)
        .args("x")
        .python("math.is_finite")
        .dtypes(kFloats)
        .no_gradient()
        .doc("Whether x is neither infinite nor NaN, element by element.")
        .elementwise(Scalar::kIsFinite)
        .samples("[1.0, float('nan'), float('inf')]")
        .reference("np.isfinite(x)");
Tensor is_finite(const In& x) { return is_finite_op(x); }

REGISTER(FUNCTION(&is_non_decreasing)
             .args("x")
             .python("math.is_non_decreasing")
             .doc("Whether each element, row by row, is at least the one before.")
             .samples("[1.0, 1.0, 2.0]", "uniform(3, 4)")
             .reference("np.all(np.diff(x.ravel()) >= 0)"));
Tensor is_non_decreasing(const In& x) { return in_order<false>("is_non_decreasing", x); }

REGISTER(FUNCTION(&is_strictly_increasing)
             .args("x")
             .python("math.is_strictly_increasing")
             .doc("Whether each element, row by row, is above the one before.")
             .samples("[1.0, 1.5, 2.0]", "uniform(3, 4)")
             .reference("np.all(np.diff(x.ravel()) > 0)"));
Tensor is_strictly_increasing(const In& x) { return in_order<true>("is_strictly_increasing", x); }

}  // namespace holdfast
