// LAPACK as OpenBLAS has it: Fortran symbols, matrices by columns. And how ops walk over batches of
// matrices.
#pragma once

#include <cmath>
#include <complex>
#include <new>
#include <vector>

#include "holdfast/base/parallel.h"
#include "holdfast/op/op.h"
#include "holdfast/tensor/complex.h"

namespace holdfast::lapack {

/// What LAPACK computes in.
inline constexpr DTypes kTypes{float32, float64, DType::kComplex64, DType::kComplex128};

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using real_t = typename RealOf<T>::type;
template <class T>
inline constexpr bool kComplex = !std::is_same_v<T, real_t<T>>;

inline float conj_of(float x) { return x; }
inline double conj_of(double x) { return x; }
template <class R>
std::complex<R> conj_of(std::complex<R> x) {
  return std::conj(x);
}

inline bool finite(float x) { return std::isfinite(x); }
inline bool finite(double x) { return std::isfinite(x); }
template <class R>
bool finite(std::complex<R> x) {
  return std::isfinite(x.real()) && std::isfinite(x.imag());
}
/// Whether every element is a number: some of LAPACK's iterations never end on others.
template <class T>
bool all_finite(const T* p, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (!finite(p[i])) return false;
  return true;
}

/// Begins where the widest loads do: the last bits of what LAPACK gives follow from where its
/// operands lie.
template <class T>
struct Aligned {
  using value_type = T;
  static constexpr std::align_val_t kAt{64};
  Aligned() = default;
  template <class U>
  Aligned(const Aligned<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAt)); }
  void deallocate(T* p, size_t) { ::operator delete(p, kAt); }
  bool operator==(const Aligned&) const = default;
};
/// What LAPACK works on.
template <class T>
using Work = std::vector<T, Aligned<T>>;

/// Rows that follow each other in memory, from a matrix that lies by columns, and back.
template <class T>
void transpose_into(const T* from, int64_t rows, int64_t columns, T* to, bool conj = false) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      to[j * rows + i] = conj ? conj_of(from[i * columns + j]) : from[i * columns + j];
}
template <class T>
Work<T> by_columns(const T* from, int64_t rows, int64_t columns, bool conj = false) {
  Work<T> out(static_cast<size_t>(rows * columns));
  transpose_into(from, rows, columns, out.data(), conj);
  return out;
}

/// Calls `f(T{})` for the C++ type of one of `kTypes`.
template <class F>
void visit(DType d, F&& f) {
  switch (d) {
    case DType::kFloat32: f(float{}); break;
    case DType::kFloat64: f(double{}); break;
    case DType::kComplex64: f(complex64{}); break;
    case DType::kComplex128: f(complex128{}); break;
    default: break;
  }
}

using Each = Status (*)(void* env, int64_t i);
/// Calls `f(env, i)` for each matrix of a batch, side by side where they are large; the first
/// failure counts.
Status each_matrix(int64_t count, int64_t side, Each f, void* env);
template <class F>
Status each(int64_t count, int64_t side, F&& f) {
  return each_matrix(
      count, side,
      [](void* env, int64_t i) { return (*static_cast<std::remove_reference_t<F>*>(env))(i); }, &f);
}

/// How many matrices the leading axes hold.
inline int64_t batch_of(const Tensor& t) {
  int64_t n = 1;
  for (int i = 0; i + 2 < t.rank(); ++i) n *= t.dim(i);
  return n;
}

/// Which matrix of `operand` the i-th of `out` takes, as leading axes broadcast.
inline int64_t place(const Tensor& operand, const Tensor& out, int64_t i) {
  int64_t at = 0, stride = 1;
  for (int axis = -3; -axis <= out.rank(); --axis) {
    int64_t here = i % out.dim(axis);
    i /= out.dim(axis);
    if (-axis > operand.rank()) continue;
    if (operand.dim(axis) > 1) at += here * stride;
    stride *= operand.dim(axis);
  }
  return at;
}

/// Whether numbers are of 16 bits, which LAPACK does not know: functions compute them in float32.
inline bool is_short(const Tensor& t) {
  return t.defined() && (t.dtype() == float16 || t.dtype() == bfloat16);
}

/// For `Builder::kernel`: why LAPACK cannot run here, or null.
const char* missing(const Types&);

/// Refuses input `i` unless its last two axes are equal; answers their size, -1 where it is
/// unknown.
int64_t need_square(Infer&, int i = 0);
/// The leading axes of input `i` with others behind them.
Shape leading(const Infer&, int i, std::initializer_list<int64_t> last);

Status not_invertible();

#ifdef HOLDFAST_OPENBLAS
// Every routine writes its `info`, which is the answer here: 0 where all went well.

/// P A = L U in place, A of `m` x `n`; `pivots` as LAPACK numbers them.
template <class T>
int getrf(int m, int n, T* a, int* pivots);
/// The inverse from getrf's result.
template <class T>
int getri(int n, T* a, const int* pivots);
/// A x = b (or with 'C' A^H x = b) from getrf's result, in place in `b`, `k` columns.
template <class T>
int getrs(char trans, int n, int k, const T* a, const int* pivots, T* b);
/// A = L L^H in place in the lower triangle.
template <class T>
int potrf(int n, T* a);
/// A x = b from potrf's result.
template <class T>
int potrs(int n, int k, const T* a, T* b);
/// A = Q R, `m` x `n`: R above the diagonal, reflectors below.
template <class T>
int geqrf(int m, int n, T* a, T* tau);
/// The first `n` columns of Q from `k` reflectors of geqrf.
template <class T>
int orgqr(int m, int n, int k, T* a, const T* tau);
/// A = U diag(s) V^H; `job` is 'N' (only s), 'S' (thin) or 'A' (square U and V).
template <class T>
int gesdd(char job, int m, int n, T* a, real_t<T>* s, T* u, T* vh);
/// Eigenvalues and (where wanted) eigenvectors of the self-adjoint matrix in the lower triangle,
/// vectors in place.
template <class T>
int heevd(bool vectors, int n, T* a, real_t<T>* w);
/// Eigenvalues and right eigenvectors of any matrix, as complex numbers.
template <class T>
int geev(bool vectors, int n, T* a, std::complex<real_t<T>>* w, std::complex<real_t<T>>* v);
/// The shortest least-squares solution, in `b` of max(m, n) rows.
template <class T>
int gelsy(int m, int n, int k, T* a, T* b);
/// Schur form A = Z T Z^H of a complex matrix, in place.
template <class T>
int gees(int n, T* a, T* w, T* z);
/// op(A) x = alpha b in place, A triangular, everything by rows; trans is 'N', 'T' or 'C'.
template <class T>
void trsm(bool lower, char trans, int n, int k, const T* a, T* b);
#else
// Never called: without OpenBLAS the kernels refuse. They let the kernels compile.
#define HOLDFAST_ABSENT(name)    \
  template <class T, class... A> \
  int name(A...) {               \
    return -1;                   \
  }
HOLDFAST_ABSENT(getrf)
HOLDFAST_ABSENT(getri)
HOLDFAST_ABSENT(getrs)
HOLDFAST_ABSENT(potrf)
HOLDFAST_ABSENT(potrs)
HOLDFAST_ABSENT(geqrf)
HOLDFAST_ABSENT(orgqr)
HOLDFAST_ABSENT(gesdd)
HOLDFAST_ABSENT(heevd)
HOLDFAST_ABSENT(geev) HOLDFAST_ABSENT(gelsy) HOLDFAST_ABSENT(gees) HOLDFAST_ABSENT(trsm)
#undef HOLDFAST_ABSENT
#endif

}  // namespace holdfast::lapack
