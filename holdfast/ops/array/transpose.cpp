#include <algorithm>
#include <complex>

#include "holdfast/base/parallel.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/math.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

// Where `perm` sends each axis; refuses what is no permutation.
Dims checked_permutation(const Infer& s, const Dims& perm, int rank) {
  auto refuse = [&]() {
    s.bad_value("perm", sizes_text(perm), cat("each axis of ", s.shape().text(), " once"));
  };
  if (static_cast<int>(perm.size()) != rank) refuse();
  Dims out, seen(static_cast<size_t>(rank), 0);
  for (int64_t p : perm) {
    if (p < -rank || p >= rank) refuse();
    auto at = static_cast<size_t>(p < 0 ? p + rank : p);
    if (seen[at]++) refuse();
    out.push_back(static_cast<int64_t>(at));
  }
  return out;
}

void infer_transpose(Infer& s) {
  s.need_rank(1, 1, 1);
  auto perm = s.ints(1);
  if (!s.shape().has_rank()) {
    return s.output(s.dtype(),
                    perm ? Shape::of_rank(static_cast<int>(perm->size())) : Shape::unknown());
  }
  if (!perm) return s.output(s.dtype(), Shape::of_rank(s.shape().rank()));
  Dims out;
  for (int64_t p : checked_permutation(s, *perm, s.shape().rank()))
    out.push_back(s.shape()[static_cast<int>(p)]);
  s.output(s.dtype(), Shape(out));
}

Status run_transpose(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  Dims from = strides_of(x.shape()), to = strides_of(y.shape()), perm = c.ints(1);
  CopyAxes axes;
  for (size_t i = 0; i < perm.size(); ++i) {
    int64_t p = perm[i] < 0 ? perm[i] + x.rank() : perm[i];
    axes.push_back({y.dim(static_cast<int>(i)), from[static_cast<size_t>(p)], to[i]});
  }
  copy_strided(y.dtype(), axes, x.raw(), y.mutable_raw());
  return {};
}

Status run_conjugate_transpose(Call& c) {
  if (Status s = run_transpose(c); !s.ok()) return s;
  Tensor& y = c.out();
  visit_plain(y.dtype(), [&]<class T>(T) {
    if constexpr (is_complex_v<T>) {
      T* p = y.mutable_raw<T>();
      parallel_for(y.size(), 32768, [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; ++i) p[i] = std::conj(p[i]);
      });
    }
  });
  return {};
}

Dims inverse(const Dims& perm) {
  auto rank = static_cast<int64_t>(perm.size());
  Dims out(perm.size(), 0);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t p = perm[static_cast<size_t>(i)];
    out[static_cast<size_t>(p < 0 ? p + rank : p)] = i;
  }
  return out;
}

// The permutation that undoes input 1: worked out now, or by an op where it is not known yet.
Axes undone(Grad& g) {
  const Tensor& perm = g.x(1);
  // Axes may be counted from the end.
  if (perm.is_symbolic())
    return Axes(Sizes(invert_permutation(floormod(perm, size(perm, perm.dtype())))));
  return Axes(Sizes(inverse(g.ints(1))));
}

void infer_invert(Infer& s) {
  s.need_rank(0, 1, 1);
  s.output(s.dtype(), s.shape());
}

Status run_invert(Call& c) {
  Tensor& y = c.out();
  Status status;
  visit_indices(y.dtype(), [&]<class I>(I) {
    const I* p = c.in().raw<I>();
    int64_t n = y.size();
    std::fill_n(y.mutable_raw<I>(), n, I{-1});
    for (int64_t i = 0; i < n; ++i) {
      auto v = static_cast<int64_t>(p[i]);
      if (v < 0 || v >= n || y.raw<I>()[v] != -1) {
        status = {Code::E1103, cat("InvertPermutation: `x` holds ", v, " at ", i,
                                   ", expected each of 0 to ", n - 1, " once")};
        return;
      }
      y.mutable_raw<I>()[v] = static_cast<I>(i);
    }
  });
  return status;
}

}  // namespace

static const Op op =
    OP(Transpose, &transpose)
        .outputs("y")
        .args("a")
        .options<&TransposeOptions::perm, &TransposeOptions::conjugate>("perm, conjugate")
        .doc("Axes in the order `perm`, reversed where none is given; `conjugate` also conjugates.")
        .inputs("x, perm: Tperm!")
        .infer(infer_transpose)
        .kernel("blocked", run_transpose)
        .gradient(
            +[](Grad& g) -> Tensors { return {transpose(g.dy(), {.perm = undone(g)}), Tensor()}; })
        .keeps("perm")
        .samples("uniform(3, 4)", "uniform(2, 3, 4), [1, 2, 0]", "uniform(2, 3, 4), [0, -1, 1]",
                 "complexes(2, 3), conjugate=True", "strings(2, 3)")
        .reference("(np.conj if conjugate else np.asarray)(np.transpose(a, perm))");

static const Op conjugate_op =
    RAW_OP(ConjugateTranspose)
        .outputs("y")
        .doc("Axes in another order, and the complex conjugate.")
        .inputs("x, perm: Tperm!")
        .dtypes(kPlain)
        .infer(infer_transpose)
        .kernel("blocked", run_conjugate_transpose)
        .gradient(+[](Grad& g) -> Tensors {
          return {transpose(g.dy(), {.perm = undone(g), .conjugate = true}), Tensor()};
        })
        .keeps("perm");

Tensor transpose(const In& a, const TransposeOptions& o) {
  Tensor t = a;
  Sizes perm;
  if (o.perm)
    perm = *o.perm;
  else if (t.shape().has_rank()) {
    Dims reversed;
    for (int i = t.rank(); i-- > 0;) reversed.push_back(i);
    perm = reversed;
  } else
    perm = Sizes(range(rank(t) - 1, -1, -1));
  return (o.conjugate && is_complex(t.dtype()) ? conjugate_op : op)({t, perm.tensor()});
}

static const Op invert_op = OP(InvertPermutation, &invert_permutation)
                                .args("x")
                                .python("math.invert_permutation")
                                .dtypes(kIndices)
                                .doc("The permutation that undoes `x`.")
                                .no_gradient()
                                .infer(infer_invert)
                                .kernel("reference", run_invert)
                                .samples("permutation(5)")
                                .reference("np.argsort(x)");
Tensor invert_permutation(const In& x) { return invert_op(x); }

}  // namespace holdfast
