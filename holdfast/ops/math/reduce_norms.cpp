// Norms, and scaling by them.
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/losses.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {

REGISTER(FUNCTION(&global_norm)
             .args("t_list")
             .python("linalg.global_norm")
             .doc("Square root of the sum of squares of all tensors together.")
             .samples("[uniform(3), uniform(2, 2)]")
             .reference("np.sqrt(sum(np.sum(np.square(t)) for t in t_list))"));
Tensor global_norm(const Ins& t_list) {
  Tensors list = t_list.tensors();
  if (list.empty())
    fail(Code::E1103, "global_norm: `t_list` is empty, expected one tensor or more");
  Tensor sum;
  for (const Tensor& t : list) {
    Tensor half = nn::l2_loss(t);
    sum = sum.defined() ? sum + half : half;
  }
  return sqrt(sum * 2);
}

REGISTER(FUNCTION(&clip_by_norm)
             .args("t, clip_norm, axes")
             .python("clip_by_norm")
             .doc("`t` scaled down so that its norm over `axes` (all of them where none is given) "
                  "is at most `clip_norm`.")
             .samples("[3.0, 4.0], 2.0", "uniform(3, 4), 0.5, axes=1")
             .reference("(lambda n: np.asarray(t) * clip_norm / np.maximum(n, "
                        "clip_norm))(np.sqrt(np.sum(np.square(t), axis=axes, keepdims=True)))"));
Tensor clip_by_norm(const In& t, const In& clip_norm, const Axes& axes) {
  Tensor x = t, most = clip_norm.tensor(x.dtype());
  Tensor squares = reduce_sum(x * x, {.axis = axes, .keepdims = true});
  // At zero the square root has no slope; neither branch may pass through it.
  Tensor positive = squares > 0;
  Tensor norm = where(positive, sqrt(where(positive, squares, ones_like(squares))), squares);
  Tensor clipped = x * most / maximum(norm, most);
  if (!clipped.shape().compatible(x.shape()))
    fail(Code::E1102, cat("clip_by_norm: `clip_norm` is ", most.shape().text(),
                          ", expected one that broadcasts to `t`, ", x.shape().text()));
  return clipped;
}

REGISTER(FUNCTION(&clip_by_average_norm)
             .args("t, clip_norm")
             .python("compat.v1.clip_by_average_norm")
             .doc("`t` scaled down so that its norm over its number of elements is at most "
                  "`clip_norm`.")
             .samples("uniform(3, 4), 0.01", "[3.0, 4.0], 8.0")
             .reference("(lambda n: np.asarray(t) * clip_norm / np.maximum(n, clip_norm))"
                        "(np.sqrt(np.sum(np.square(t))) / np.size(t))"));
Tensor clip_by_average_norm(const In& t, const In& clip_norm) {
  Tensor x = t, most = clip_norm.tensor(x.dtype());
  return clip_by_norm(x, most * cast(size(x), x.dtype()));
}

REGISTER(FUNCTION(&clip_by_global_norm)
             .args("t_list, clip_norm")
             .options<&ClipByGlobalNormOptions::use_norm>("use_norm")
             .python("clip_by_global_norm")
             .returns("list_clipped, global_norm")
             .doc("All tensors scaled by one factor so that their global norm is at most "
                  "`clip_norm`; the norm comes last."));
Tensors clip_by_global_norm(const Ins& t_list, const In& clip_norm,
                            const ClipByGlobalNormOptions& o) {
  Tensors list = t_list.tensors();
  if (list.empty())
    fail(Code::E1103, "clip_by_global_norm: `t_list` is empty, expected one tensor or more");
  Tensor norm = o.use_norm ? o.use_norm->tensor(list[0].dtype()) : global_norm(t_list);
  Tensor most = clip_norm.tensor(norm.dtype());
  // A norm that is not finite makes everything NaN, so that it is noticed.
  Tensor scale = most * minimum(reciprocal(norm), reciprocal(most)) + (norm - norm);
  for (Tensor& t : list) t = t * (t.dtype() == scale.dtype() ? scale : cast(scale, t.dtype()));
  list.push_back(norm);
  return list;
}

REGISTER(
    FUNCTION(&l2_normalize)
        .args("x")
        .options<&L2NormalizeOptions::axis, &L2NormalizeOptions::epsilon>("axis, epsilon")
        .python("math.l2_normalize, nn.l2_normalize, linalg.l2_normalize")
        .doc("`x` over the square root of max(sum of squares over `axis`, epsilon).")
        .samples("uniform(3, 4)", "uniform(3, 4), axis=1", "uniform(2, 3, 4), axis=[0, 2]")
        .reference(
            "x / np.sqrt(np.maximum(np.sum(np.abs(x) ** 2, axis=axis, keepdims=True), epsilon))"));
Tensor l2_normalize(const In& input, const L2NormalizeOptions& o) {
  Tensor x = input;
  bool complex_ = is_complex(x.dtype());
  Tensor squares = reduce_sum(complex_ ? square(real(x)) + square(imag(x)) : square(x),
                              {.axis = o.axis, .keepdims = true});
  Tensor inverse = rsqrt(maximum(squares, Tensor::scalar(o.epsilon, squares.dtype())));
  return x * (complex_ ? cast(inverse, x.dtype()) : inverse);
}

}  // namespace holdfast
