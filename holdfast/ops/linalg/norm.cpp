#include <cmath>

#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

constexpr double kEuclidean = -1, kFrobenius = -2;

// `ord` as one number; a matrix knows fewer norms than a vector.
double order(const Arg& ord, bool of_matrix) {
  auto refuse = [&]() -> double {
    fail(Code::E1103, cat("norm: `ord` is ", ord.text(), ", expected ",
                          of_matrix ? "'euclidean', 'fro', 1, 2 or inf for a matrix norm"
                                    : "'euclidean', a positive number or inf for a vector norm"));
  };
  if (auto* name = std::get_if<std::string>(&ord.value())) {
    if (*name == "euclidean") return kEuclidean;
    return *name == "fro" && of_matrix ? kFrobenius : refuse();
  }
  auto* whole = std::get_if<int64_t>(&ord.value());
  auto* real = std::get_if<double>(&ord.value());
  if (!whole && !real) return refuse();
  double p = whole ? static_cast<double>(*whole) : *real;
  if (!(p > 0) || (of_matrix && p != 1 && p != 2 && !std::isinf(p))) return refuse();
  return p;
}

// The largest of sizes, the axes kept as 1; of none 0, as they are never below.
Tensor largest(const Tensor& sizes, const Axes& axis) {
  return maximum(reduce_max(sizes, {.axis = axis, .keepdims = true}), 0);
}

Tensor spectral(const Tensor& t, const Dims& axes);
const Composition spectral_later(
    "norm", 1, +[](std::span<const Tensor> in, const Ints& axes) {
      return spectral(in[0], Dims(axes.begin(), axes.end()));
    });

// The largest singular value over two axes, those axes kept as 1.
Tensor spectral(const Tensor& t, const Dims& axes) {
  if (!t.shape().has_rank())
    return spectral_later({t}, t.dtype(), Shape::unknown(), Ints(axes.begin(), axes.end()));
  Dims at, perm, back(static_cast<size_t>(t.rank()), 0);
  for (int64_t a : axes) {
    if (a < -t.rank() || a >= t.rank())
      fail(Code::E1103, cat("norm: axis ", a, " is out of range for ", t.shape().text()));
    at.push_back(a < 0 ? a + t.rank() : a);
  }
  for (int64_t i = 0; i < t.rank(); ++i)
    if (i != at[0] && i != at[1]) perm.push_back(i);
  perm.append(at.begin(), at.end());
  for (size_t i = 0; i < perm.size(); ++i)
    back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  Tensor s = linalg::svd(transpose(t, {.perm = Sizes(perm)}), {.compute_uv = false})[0];
  Tensor most = expand_dims(largest(s, Sizes(-1)), -1);
  return transpose(most, {.perm = Sizes(back)});
}

// The norm with the axes kept as 1, as all of it is computed before they go.
Tensor kept(const Tensor& t, double p, const Axes& axis, bool of_matrix) {
  if (p == kEuclidean || p == kFrobenius || (p == 2 && !of_matrix))
    return sqrt(reduce_sum(t * conj(t), {.axis = axis, .keepdims = true}));
  if (of_matrix) {
    Dims axes = known_numbers(*axis, "norm", "axis");
    if (p == 2) return spectral(t, axes);
    // Largest column sum for 1, largest row sum for infinity.
    int64_t sum = p == 1 ? axes[0] : axes[1], most = p == 1 ? axes[1] : axes[0];
    return largest(reduce_sum(abs(t), {.axis = Sizes(sum), .keepdims = true}), Sizes(most));
  }
  if (p == 1) return reduce_sum(abs(t), {.axis = axis, .keepdims = true});
  if (std::isinf(p)) return largest(abs(t), axis);
  return pow(reduce_sum(pow(abs(t), p), {.axis = axis, .keepdims = true}), 1 / p);
}

bool is_matrix_norm(const Axes& axis) {
  if (!axis || axis->single()) return false;
  Dims axes = known_numbers(*axis, "norm", "axis");
  if (axis->is_tensor() && axes.size() == 1) return false;
  if (axes.size() != 2 || axes[0] == axes[1])
    fail(Code::E1103, cat("norm: `axis` is ", Shape(axes).text(),
                          ", expected none, an integer, or two different integers"));
  return true;
}

}  // namespace

REGISTER(
    FUNCTION(&norm)
        .args("tensor")
        .options<&NormOptions::ord, &NormOptions::axis, &NormOptions::keepdims>(
            "ord, axis, keepdims")
        .python("norm, linalg.norm")
        .doc("Norm of vectors, of matrices, or of all elements.")
        .samples("uniform(3, 4)", "uniform(3, 4), axis=1, ord=1",
                 "uniform(3, 4), ord=3, axis=0, keepdims=True",
                 "uniform(3, 4), ord=np.inf, axis=[0, 1]",
                 "uniform(2, 3, 4), ord='fro', axis=[1, 2]", "uniform(3, 4), ord=2, axis=[0, 1]")
        .reference("np.linalg.norm(tensor if axis is not None else np.ravel(tensor), ord=None if "
                   "ord in ('euclidean', 'fro') else ord, "
                   "axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims)"));
Tensor norm(const In& tensor, const NormOptions& o) {
  bool of_matrix = is_matrix_norm(o.axis);
  Tensor t = tensor, result = kept(t, order(o.ord, of_matrix), o.axis, of_matrix);
  if (o.keepdims) return result;
  return o.axis ? squeeze(result, {.axis = *o.axis}) : reshape(result, Sizes(Dims{}));
}

REGISTER(
    FUNCTION(&linalg::normalize)
        .args("tensor")
        .options<&linalg::NormalizeOptions::ord, &linalg::NormalizeOptions::axis>("ord, axis")
        .python("linalg.normalize")
        .returns("normalized, norm")
        .doc("The tensor over its norm, and the norm.")
        .samples("uniform(3, 4)", "uniform(3, 4), axis=1, ord=1", "complexes(3, 4)",
                 "complexes(3, 4), axis=1, ord=np.inf")
        .reference("(lambda n: (tensor / n, n))(np.linalg.norm(np.ravel(tensor) if axis is None "
                   "else tensor, "
                   "ord=None if ord == 'euclidean' else ord, axis=axis, "
                   "keepdims=True).reshape((1,) * tensor.ndim if axis is None else (-1, 1)))"));
std::tuple<Tensor, Tensor> linalg::normalize(const In& tensor, const NormalizeOptions& o) {
  // Other norms than Euclid's of complex numbers are real.
  Tensor t = tensor, n = cast(norm(t, {.ord = o.ord, .axis = o.axis, .keepdims = true}), t.dtype());
  return {t / n, n};
}

}  // namespace holdfast
