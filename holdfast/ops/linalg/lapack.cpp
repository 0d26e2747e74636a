#include "holdfast/ops/linalg/lapack.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>

#include "holdfast/base/text.h"
#include "holdfast/tensor/complex.h"

#ifdef HOLDFAST_OPENBLAS
#include <cblas.h>
#endif

namespace holdfast::lapack {

Status each_matrix(int64_t count, int64_t side, Each f, void* env) {
#ifdef HOLDFAST_OPENBLAS
  static const bool one_thread = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  (void)one_thread;
#endif
  double cost =
      static_cast<double>(side) * static_cast<double>(side) * static_cast<double>(side) + 1;
  int64_t grain = std::max<int64_t>(1, static_cast<int64_t>(1e5 / cost));
  std::mutex mutex;
  Status failure;
  int64_t failed = count;
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Status s = f(env, i);
      if (s.ok()) continue;
      std::lock_guard<std::mutex> lock(mutex);
      if (i < failed) {
        failed = i;
        failure = s;
      }
      return;
    }
  });
  return failure;
}

const char* missing(const Types& t) {
#ifndef HOLDFAST_OPENBLAS
  return "built without OpenBLAS, whose LAPACK this needs";
#endif
  for (int i = 0; i < t.inputs(); ++i)
    for (int64_t d : t.shape(i))
      if (d > 1 << 24) return "LAPACK counts in 32 bits";
  return nullptr;
}

int64_t need_square(Infer& s, int i) {
  s.need_rank(i, 2);
  if (!s.shape(i).has_rank()) return -1;
  int64_t m = s.shape(i)[-2], n = s.shape(i)[-1];
  if (m >= 0 && n >= 0 && m != n) s.bad_shape(i, "square matrices in the last two axes");
  return m >= 0 ? m : n;
}

Shape leading(const Infer& s, int i, std::initializer_list<int64_t> last) {
  if (!s.shape(i).has_rank()) return Shape::unknown();
  Dims dims(s.shape(i).begin(), s.shape(i).end() - 2);
  for (int64_t d : last) dims.push_back(d);
  return Shape(dims);
}

Status not_invertible() {
  return Status(
      Code::E1103, "a matrix has no inverse",
      "a pivot of the factorisation is zero or not a number: the matrix is singular or holds NaN");
}

#ifdef HOLDFAST_OPENBLAS
namespace {

// The length of a workspace, as the query call of a routine answers it.
template <class T>
int length(T answer) {
  return std::max(1, static_cast<int>(std::real(answer)));
}

}  // namespace

// Fortran passes the lengths of character arguments after all others.
#define ROUTINES(T, R, p)                                                                         \
  extern "C" {                                                                                    \
  void p##getrf_(const int*, const int*, T*, const int*, int*, int*);                             \
  void p##getri_(const int*, T*, const int*, const int*, T*, const int*, int*);                   \
  void p##getrs_(const char*, const int*, const int*, const T*, const int*, const int*, T*,       \
                 const int*, int*, size_t);                                                       \
  void p##potrf_(const char*, const int*, T*, const int*, int*, size_t);                          \
  void p##potrs_(const char*, const int*, const int*, const T*, const int*, T*, const int*, int*, \
                 size_t);                                                                         \
  void p##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);               \
  }                                                                                               \
  template <>                                                                                     \
  int getrf<T>(int m, int n, T* a, int* pivots) {                                                 \
    int info = 0, ld = std::max(1, m);                                                            \
    p##getrf_(&m, &n, a, &ld, pivots, &info);                                                     \
    return info;                                                                                  \
  }                                                                                               \
  template <>                                                                                     \
  int getri<T>(int n, T* a, const int* pivots) {                                                  \
    int info = 0, ld = std::max(1, n), size = std::max(1, 64 * n);                                \
    Work<T> work(static_cast<size_t>(size));                                                      \
    p##getri_(&n, a, &ld, pivots, work.data(), &size, &info);                                     \
    return info;                                                                                  \
  }                                                                                               \
  template <>                                                                                     \
  int getrs<T>(char trans, int n, int k, const T* a, const int* pivots, T* b) {                   \
    int info = 0, ld = std::max(1, n);                                                            \
    p##getrs_(&trans, &n, &k, a, &ld, pivots, b, &ld, &info, 1);                                  \
    return info;                                                                                  \
  }                                                                                               \
  template <>                                                                                     \
  int potrf<T>(int n, T* a) {                                                                     \
    int info = 0, ld = std::max(1, n);                                                            \
    p##potrf_("L", &n, a, &ld, &info, 1);                                                         \
    return info;                                                                                  \
  }                                                                                               \
  template <>                                                                                     \
  int potrs<T>(int n, int k, const T* a, T* b) {                                                  \
    int info = 0, ld = std::max(1, n);                                                            \
    p##potrs_("L", &n, &k, a, &ld, b, &ld, &info, 1);                                             \
    return info;                                                                                  \
  }                                                                                               \
  template <>                                                                                     \
  int geqrf<T>(int m, int n, T* a, T* tau) {                                                      \
    int info = 0, ld = std::max(1, m), size = std::max(1, 64 * n);                                \
    Work<T> work(static_cast<size_t>(size));                                                      \
    p##geqrf_(&m, &n, a, &ld, tau, work.data(), &size, &info);                                    \
    return info;                                                                                  \
  }
ROUTINES(float, float, s)
ROUTINES(double, double, d)
ROUTINES(complex64, float, c)
ROUTINES(complex128, double, z)
#undef ROUTINES

// Real and complex versions of these differ in name or in arguments.
#define REAL_ROUTINES(T, p)                                                                       \
  extern "C" {                                                                                    \
  void p##orgqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*,    \
                 int*);                                                                           \
  void p##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*,     \
                 const int*, T*, const int*, int*, int*, size_t);                                 \
  void p##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*,  \
                 const int*, int*, size_t, size_t);                                               \
  void p##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*, \
                const int*, T*, const int*, int*, size_t, size_t);                                \
  void p##gelsy_(const int*, const int*, const int*, T*, const int*, T*, const int*, int*,        \
                 const T*, int*, T*, const int*, int*);                                           \
  }                                                                                               \
  template <>                                                                                     \
  int orgqr<T>(int m, int n, int k, T* a, const T* tau) {                                         \
    int info = 0, ld = std::max(1, m), size = std::max(1, 64 * n);                                \
    Work<T> work(static_cast<size_t>(size));                                                      \
    p##orgqr_(&m, &n, &k, a, &ld, tau, work.data(), &size, &info);                                \
    return info;                                                                                  \
  }                                                                                               \
  template <>                                                                                     \
  int gesdd<T>(char job, int m, int n, T* a, T* s, T* u, T* vh) {                                 \
    int info = 0, ld = std::max(1, m), size = -1, r = std::min(m, n),                             \
        ldv = std::max(1, job == 'S' ? r : n);                                                    \
    std::vector<int> ints(static_cast<size_t>(8 * r + 1));                                        \
    T ask = 0;                                                                                    \
    p##gesdd_(&job, &m, &n, a, &ld, s, u, &ld, vh, &ldv, &ask, &size, ints.data(), &info, 1);     \
    size = length(ask);                                                                           \
    Work<T> work(static_cast<size_t>(size));                                                      \
    p##gesdd_(&job, &m, &n, a, &ld, s, u, &ld, vh, &ldv, work.data(), &size, ints.data(), &info,  \
              1);                                                                                 \
    return info;                                                                                  \
  }                                                                                               \
  template <>                                                                                     \
  int heevd<T>(bool vectors, int n, T* a, T* w) {                                                 \
    int info = 0, ld = std::max(1, n), size = -1, int_size = -1, int_ask = 0;                     \
    const char* job = vectors ? "V" : "N";                                                        \
    T ask = 0;                                                                                    \
    p##syevd_(job, "L", &n, a, &ld, w, &ask, &size, &int_ask, &int_size, &info, 1, 1);            \
    size = length(ask), int_size = std::max(1, int_ask);                                          \
    Work<T> work(static_cast<size_t>(size));                                                      \
    std::vector<int> ints(static_cast<size_t>(int_size));                                         \
    p##syevd_(job, "L", &n, a, &ld, w, work.data(), &size, ints.data(), &int_size, &info, 1, 1);  \
    return info;                                                                                  \
  }                                                                                               \
  template <>                                                                                     \
  int geev<T>(bool vectors, int n, T* a, std::complex<T>* w, std::complex<T>* v) {                \
    int info = 0, ld = std::max(1, n), size = -1;                                                 \
    size_t count = static_cast<size_t>(n);                                                        \
    Work<T> re(count), im(count), right(vectors ? count * count : 1);                             \
    const char* job = vectors ? "V" : "N";                                                        \
    T ask = 0;                                                                                    \
    p##geev_("N", job, &n, a, &ld, re.data(), im.data(), nullptr, &ld, right.data(), &ld, &ask,   \
             &size, &info, 1, 1);                                                                 \
    size = length(ask);                                                                           \
    Work<T> work(static_cast<size_t>(size));                                                      \
    p##geev_("N", job, &n, a, &ld, re.data(), im.data(), nullptr, &ld, right.data(), &ld,         \
             work.data(), &size, &info, 1, 1);                                                    \
    for (size_t j = 0; j < count; ++j) w[j] = {re[j], im[j]};                                     \
    /* A conjugate pair of eigenvalues shares two columns: real and imaginary part of the first   \
     * vector. */                                                                                 \
    for (size_t j = 0; vectors && j < count; ++j) {                                               \
      bool pair = im[j] != 0 && j + 1 < count;                                                    \
      for (size_t i = 0; i < count; ++i) {                                                        \
        T x = right[j * count + i], y = pair ? right[(j + 1) * count + i] : T(0);                 \
        v[j * count + i] = {x, y};                                                                \
        if (pair) v[(j + 1) * count + i] = {x, -y};                                               \
      }                                                                                           \
      if (pair) ++j;                                                                              \
    }                                                                                             \
    return info;                                                                                  \
  }                                                                                               \
  template <>                                                                                     \
  int gelsy<T>(int m, int n, int k, T* a, T* b) {                                                 \
    int info = 0, lda = std::max(1, m), ldb = std::max({1, m, n}), rank = 0, size = -1;           \
    std::vector<int> pivots(static_cast<size_t>(std::max(1, n)));                                 \
    T ask = 0, cut = std::numeric_limits<T>::epsilon() * static_cast<T>(std::max(m, n));          \
    p##gelsy_(&m, &n, &k, a, &lda, b, &ldb, pivots.data(), &cut, &rank, &ask, &size, &info);      \
    size = length(ask);                                                                           \
    Work<T> work(static_cast<size_t>(size));                                                      \
    p##gelsy_(&m, &n, &k, a, &lda, b, &ldb, pivots.data(), &cut, &rank, work.data(), &size,       \
              &info);                                                                             \
    return info;                                                                                  \
  }
REAL_ROUTINES(float, s)
REAL_ROUTINES(double, d)
#undef REAL_ROUTINES

#define COMPLEX_ROUTINES(T, R, p)                                                                  \
  extern "C" {                                                                                     \
  void p##ungqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*,     \
                 int*);                                                                            \
  void p##gesdd_(const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*,      \
                 const int*, T*, const int*, R*, int*, int*, size_t);                              \
  void p##heevd_(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, R*,     \
                 const int*, int*, const int*, int*, size_t, size_t);                              \
  void p##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, T*,      \
                const int*, T*, const int*, R*, int*, size_t, size_t);                             \
  void p##gelsy_(const int*, const int*, const int*, T*, const int*, T*, const int*, int*,         \
                 const R*, int*, T*, const int*, R*, int*);                                        \
  void p##gees_(const char*, const char*, void*, const int*, T*, const int*, int*, T*, T*,         \
                const int*, T*, const int*, R*, int*, int*, size_t, size_t);                       \
  }                                                                                                \
  template <>                                                                                      \
  int orgqr<T>(int m, int n, int k, T* a, const T* tau) {                                          \
    int info = 0, ld = std::max(1, m), size = std::max(1, 64 * n);                                 \
    Work<T> work(static_cast<size_t>(size));                                                       \
    p##ungqr_(&m, &n, &k, a, &ld, tau, work.data(), &size, &info);                                 \
    return info;                                                                                   \
  }                                                                                                \
  template <>                                                                                      \
  int gesdd<T>(char job, int m, int n, T* a, R* s, T* u, T* vh) {                                  \
    int info = 0, ld = std::max(1, m), size = -1, r = std::min(m, n),                              \
        ldv = std::max(1, job == 'S' ? r : n);                                                     \
    size_t most = static_cast<size_t>(std::max(m, n)), least = static_cast<size_t>(r);             \
    std::vector<int> ints(8 * least + 1);                                                          \
    Work<R> reals(                                                                                 \
        std::max(5 * least * least + 7 * least, 2 * most * least + 2 * least * least + least) +    \
        1);                                                                                        \
    T ask = 0;                                                                                     \
    p##gesdd_(&job, &m, &n, a, &ld, s, u, &ld, vh, &ldv, &ask, &size, reals.data(), ints.data(),   \
              &info, 1);                                                                           \
    size = length(ask);                                                                            \
    Work<T> work(static_cast<size_t>(size));                                                       \
    p##gesdd_(&job, &m, &n, a, &ld, s, u, &ld, vh, &ldv, work.data(), &size, reals.data(),         \
              ints.data(), &info, 1);                                                              \
    return info;                                                                                   \
  }                                                                                                \
  template <>                                                                                      \
  int heevd<T>(bool vectors, int n, T* a, R* w) {                                                  \
    int info = 0, ld = std::max(1, n), size = -1, real_size = -1, int_size = -1, int_ask = 0;      \
    const char* job = vectors ? "V" : "N";                                                         \
    T ask = 0;                                                                                     \
    R real_ask = 0;                                                                                \
    p##heevd_(job, "L", &n, a, &ld, w, &ask, &size, &real_ask, &real_size, &int_ask, &int_size,    \
              &info, 1, 1);                                                                        \
    size = length(ask), real_size = length(real_ask), int_size = std::max(1, int_ask);             \
    Work<T> work(static_cast<size_t>(size));                                                       \
    Work<R> reals(static_cast<size_t>(real_size));                                                 \
    std::vector<int> ints(static_cast<size_t>(int_size));                                          \
    p##heevd_(job, "L", &n, a, &ld, w, work.data(), &size, reals.data(), &real_size, ints.data(),  \
              &int_size, &info, 1, 1);                                                             \
    return info;                                                                                   \
  }                                                                                                \
  template <>                                                                                      \
  int geev<T>(bool vectors, int n, T* a, T* w, T* v) {                                             \
    int info = 0, ld = std::max(1, n), size = std::max(1, 64 * n);                                 \
    Work<T> work(static_cast<size_t>(size));                                                       \
    Work<R> reals(static_cast<size_t>(2 * n + 1));                                                 \
    p##geev_("N", vectors ? "V" : "N", &n, a, &ld, w, nullptr, &ld, v, &ld, work.data(), &size,    \
             reals.data(), &info, 1, 1);                                                           \
    return info;                                                                                   \
  }                                                                                                \
  template <>                                                                                      \
  int gelsy<T>(int m, int n, int k, T* a, T* b) {                                                  \
    int info = 0, lda = std::max(1, m), ldb = std::max({1, m, n}), rank = 0, size = -1;            \
    std::vector<int> pivots(static_cast<size_t>(std::max(1, n)));                                  \
    Work<R> reals(static_cast<size_t>(2 * n + 1));                                                 \
    T ask = 0;                                                                                     \
    R cut = std::numeric_limits<R>::epsilon() * static_cast<R>(std::max(m, n));                    \
    p##gelsy_(&m, &n, &k, a, &lda, b, &ldb, pivots.data(), &cut, &rank, &ask, &size, reals.data(), \
              &info);                                                                              \
    size = length(ask);                                                                            \
    Work<T> work(static_cast<size_t>(size));                                                       \
    p##gelsy_(&m, &n, &k, a, &lda, b, &ldb, pivots.data(), &cut, &rank, work.data(), &size,        \
              reals.data(), &info);                                                                \
    return info;                                                                                   \
  }                                                                                                \
  template <>                                                                                      \
  int gees<T>(int n, T* a, T* w, T* z) {                                                           \
    int info = 0, ld = std::max(1, n), size = std::max(1, 64 * n), sorted = 0, flag = 0;           \
    Work<T> work(static_cast<size_t>(size));                                                       \
    Work<R> reals(static_cast<size_t>(n + 1));                                                     \
    p##gees_("V", "N", nullptr, &n, a, &ld, &sorted, w, z, &ld, work.data(), &size, reals.data(),  \
             &flag, &info, 1, 1);                                                                  \
    return info;                                                                                   \
  }
COMPLEX_ROUTINES(complex64, float, c)
COMPLEX_ROUTINES(complex128, double, z)
#undef COMPLEX_ROUTINES

template <class T>
void trsm(bool lower, char trans, int n, int k, const T* a, T* b) {
  auto uplo = lower ? CblasLower : CblasUpper;
  auto t = trans == 'N' ? CblasNoTrans : trans == 'T' ? CblasTrans : CblasConjTrans;
  const T one(1);
  int ld = std::max(1, n), ldb = std::max(1, k);
  if constexpr (std::is_same_v<T, float>)
    cblas_strsm(CblasRowMajor, CblasLeft, uplo, t, CblasNonUnit, n, k, 1, a, ld, b, ldb);
  else if constexpr (std::is_same_v<T, double>)
    cblas_dtrsm(CblasRowMajor, CblasLeft, uplo, t, CblasNonUnit, n, k, 1, a, ld, b, ldb);
  else if constexpr (std::is_same_v<T, complex64>)
    cblas_ctrsm(CblasRowMajor, CblasLeft, uplo, t, CblasNonUnit, n, k, &one, a, ld, b, ldb);
  else
    cblas_ztrsm(CblasRowMajor, CblasLeft, uplo, t, CblasNonUnit, n, k, &one, a, ld, b, ldb);
}
template void trsm<float>(bool, char, int, int, const float*, float*);
template void trsm<double>(bool, char, int, int, const double*, double*);
template void trsm<complex64>(bool, char, int, int, const complex64*, complex64*);
template void trsm<complex128>(bool, char, int, int, const complex128*, complex128*);

#endif

}  // namespace holdfast::lapack
