// Contractions, norms, factorisations: values by their defining identities, gradients against
// differences, refusals.
#include "holdfast/ops/linalg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "holdfast/autodiff/tape.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/lu.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

Tensor uniform(const Shape& shape, int seed = 1) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<double> draw(-1, 1);
  std::vector<double> v(static_cast<size_t>(shape.size()));
  for (double& x : v) x = draw(random);
  return Tensor::of<double>(std::span<const double>(v), shape);
}
Tensor regular(const Shape& shape, int seed = 1) {
  return uniform(shape, seed) + eye(shape[-1], {.dtype = float64}) * 3.0;
}
Tensor positive(int64_t n, int seed = 1) {
  Tensor a = uniform({n, n}, seed);
  return matmul(a, a, {.transpose_b = true}) + eye(n, {.dtype = float64});
}
Tensor complexes(const Shape& s, int seed = 1) {
  return complex(uniform(s, seed), uniform(s, seed + 50));
}

void expect_near(const Tensor& a, const Tensor& b, double tolerance = 1e-9) {
  ASSERT_EQ(a.shape(), b.shape());
  Tensor gap = abs(a - b);
  auto v = (gap.dtype() == float64 ? gap : cast(gap, float64)).to_vector<double>();
  for (size_t i = 0; i < v.size(); ++i) EXPECT_LE(v[i], tolerance) << "element " << i;
}

// The gradient of sum(f(x) * weights) against central differences.
void check_gradient(const std::function<Tensor(const Tensor&)>& f, const Tensor& x,
                    double tolerance = 1e-6) {
  Tensor weights = uniform(f(x).shape(), 77);
  GradientTape tape;
  tape.watch(x);
  Tensor target = reduce_sum(f(x) * weights);
  Tensor got = tape.gradient(target, x);
  ASSERT_TRUE(got.defined());
  ASSERT_EQ(got.shape(), x.shape());
  auto values = x.to_vector<double>(), gradient = got.to_vector<double>();
  for (size_t i = 0; i < values.size(); ++i) {
    auto at = [&](double step) {
      auto moved = values;
      moved[i] += step;
      return reduce_sum(f(Tensor::of<double>(std::span<const double>(moved), x.shape())) * weights)
          .item<double>();
    };
    EXPECT_NEAR(gradient[i], (at(1e-5) - at(-1e-5)) / 2e-5,
                tolerance * std::max(1.0, std::abs(gradient[i])))
        << "element " << i;
  }
}
Tensor symmetric(const Tensor& x) { return (x + linalg::matrix_transpose(x)) * 0.5; }

TEST(Einsum, ReducesToProductsSumsAndDiagonals) {
  Tensor a = uniform({3, 4}), b = uniform({4, 5}, 2), c = uniform({5, 2}, 3),
         s = uniform({4, 4}, 4);
  expect_near(einsum("ij,jk->ik", {a, b}), matmul(a, b));
  expect_near(einsum("ij , jk -> ki", {a, b}), linalg::matrix_transpose(matmul(a, b)));
  expect_near(einsum("ij,jk", {a, b}), matmul(a, b));
  expect_near(einsum("ij,jk,kl->il", {a, b, c}), matmul(matmul(a, b), c));
  expect_near(einsum("ij->", {a}), reduce_sum(a));
  expect_near(einsum("ba", {a}), linalg::matrix_transpose(a));
  expect_near(einsum("ii->i", {s}), linalg::diag_part(s));
  expect_near(einsum("ii", {s}), linalg::trace(s));
  expect_near(einsum("i->ii", {linalg::diag_part(s)}), linalg::diag(linalg::diag_part(s)));
  expect_near(einsum("ij->...ij", {a}), a);
  expect_near(einsum("ij,ij->ij", {a, a}), a * a);
  expect_near(einsum("ij,kj->ik", {a, a}), matmul(a, a, {.transpose_b = true}));
  expect_near(einsum("ji,jk->ik", {a, a}), matmul(a, a, {.transpose_a = true}));
}
TEST(Einsum, EllipsesBroadcast) {
  Tensor a = uniform({2, 1, 3, 4}), b = uniform({5, 4, 6}, 2);
  expect_near(einsum("...ij,...jk->...ik", {a, b}), matmul(a, b));
  expect_near(einsum("...ij,...jk", {a, b}), matmul(a, b));
  expect_near(einsum("...ij->...", {a}), reduce_sum(a, {.axis = Sizes{2, 3}}));
  Tensor z = complexes({2, 3, 4}), w = complexes({2, 4, 3}, 9);
  expect_near(einsum("bij,bjk->bik", {z, w}), matmul(z, w));
  expect_near(einsum("bji,bkj->bik", {z, w}),
              matmul(linalg::matrix_transpose(z), linalg::matrix_transpose(w)));
}
TEST(Einsum, RefusesBadEquations) {
  Tensor a = uniform({3, 4});
  for (const char* bad :
       {"ij,jk->ik", "ij->k", "i->i", "ijk->i", "i1->i", "..ij->ij", "...i...->i"})
    EXPECT_THROW(einsum(bad, {a}), Error) << bad;
  EXPECT_THROW(einsum("ij,jk->ik", {a, a}), InvalidArgumentError);
}
TEST(Einsum, HasGradients) {
  Tensor b = uniform({4, 5, 2}, 3);
  check_gradient([&](const Tensor& x) { return einsum("ij,jkl->lik", {x, b}); }, uniform({3, 4}));
  check_gradient([&](const Tensor& x) { return einsum("iij,j->i", {x, uniform({2}, 5)}); },
                 uniform({3, 3, 2}));
}
TEST(Tensordot, TakesANumberOrTwoLists) {
  Tensor a = uniform({2, 3, 4}), b = uniform({3, 4, 5}, 2);
  expect_near(tensordot(a, b, 2), einsum("aij,ijb->ab", {a, b}));
  expect_near(tensordot(a, a, Tensor::of<int32_t>(std::vector<int32_t>{0, 1, 0, 1}, {2, 2})),
              einsum("ija,ijb->ab", {a, a}));
  expect_near(tensordot(a, b, 0), einsum("abc,def->abcdef", {a, b}));
  EXPECT_THROW(tensordot(a, b, 1), Error);
  EXPECT_THROW(tensordot(a, b, 9), Error);
  EXPECT_THROW(tensordot(a, b, Tensor::of<int32_t>({0, 7})), Error);
}

TEST(Norm, KnowsTheirOrders) {
  Tensor x = Tensor::of<double>(std::vector<double>{1, 2, 3, 4}, {2, 2});
  EXPECT_NEAR(norm(x).item<double>(), std::sqrt(30.0), 1e-12);
  EXPECT_NEAR(norm(x, {.ord = 2, .axis = Sizes{0, 1}}).item<double>(), 5.464985704219043, 1e-9);
  EXPECT_NEAR(norm(x, {.ord = 1, .axis = Sizes{0, 1}}).item<double>(), 6, 1e-12);
  EXPECT_NEAR(norm(x, {.ord = INFINITY, .axis = Sizes{0, 1}}).item<double>(), 7, 1e-12);
  EXPECT_NEAR(norm(x, {.ord = 0.5}).item<double>(), 37.77657, 1e-4);
  EXPECT_EQ(norm(x, {.axis = 1, .keepdims = true}).shape(), (Shape{2, 1}));
  EXPECT_EQ(norm(x, {.ord = "fro", .axis = Sizes{-2, -1}, .keepdims = true}).shape(),
            (Shape{1, 1}));
  for (Arg bad : {Arg("fro"), Arg("nuc"), Arg(-1), Arg(0)})
    EXPECT_THROW(norm(x, {.ord = bad}), Error);
  EXPECT_THROW(norm(x, {.ord = 3, .axis = Sizes{0, 1}}), Error);
  EXPECT_THROW(norm(x, {.axis = Sizes{0, 0}}), Error);
  EXPECT_THROW(norm(x, {.axis = 3}), Error);
  check_gradient([](const Tensor& t) { return norm(t, {.ord = 3, .axis = 1}); }, uniform({3, 4}));
  check_gradient([](const Tensor& t) { return norm(t, {.ord = 2, .axis = Sizes{0, 1}}); },
                 uniform({3, 4}));
}

TEST(Linalg, SmallFunctions) {
  Tensor a = uniform({2, 3, 4}), v = uniform({4}, 3), u = uniform({5, 3}, 4),
         w = uniform({5, 3}, 5);
  expect_near(linalg::matvec(a, v), einsum("bij,j->bi", {a, v}));
  expect_near(linalg::cross(u, w), -linalg::cross(w, u));
  check_gradient([&](const Tensor& x) { return linalg::cross(x, w); }, u);
  EXPECT_THROW(linalg::cross(a, a), InvalidArgumentError);
  EXPECT_THROW(linalg::matrix_transpose(v), InvalidArgumentError);
  Tensor z = complexes({2, 3});
  expect_near(linalg::adjoint(z), conj(linalg::matrix_transpose(z)));
}

TEST(Linalg, InversesAndSystems) {
  for (Tensor a :
       {regular({2, 3, 3}), complexes({2, 3, 3}) + cast(eye(3), DType::kComplex128) * 3.0}) {
    Tensor one = broadcast_to(eye(3, {.dtype = a.dtype()}), a.shape());
    expect_near(matmul(a, linalg::inv(a)), one);
    expect_near(matmul(linalg::adjoint(a), linalg::inv(a, {.adjoint = true})), one);
    Tensor b = is_complex(a.dtype()) ? complexes({2, 3, 2}, 5) : uniform({2, 3, 2}, 5);
    expect_near(matmul(a, linalg::solve(a, b)), b);
    expect_near(matmul(linalg::adjoint(a), linalg::solve(a, b, {.adjoint = true})), b);
    Tensor low = linalg::band_part(a, -1, 0), high = linalg::band_part(a, 0, -1);
    expect_near(matmul(low, linalg::triangular_solve(a, b)), b);
    expect_near(matmul(linalg::adjoint(high),
                       linalg::triangular_solve(a, b, {.lower = false, .adjoint = true})),
                b);
  }
  Tensor p = positive(4), b = uniform({4, 2}, 3);
  expect_near(matmul(linalg::cholesky(p), linalg::cholesky(p), {.adjoint_b = true}), p);
  expect_near(matmul(p, linalg::cholesky_solve(linalg::cholesky(p), b)), b);
  EXPECT_NEAR(linalg::logdet(p).item<double>(), std::log(linalg::det(p).item<double>()), 1e-9);
  auto [sign, log_abs] = linalg::slogdet(-positive(3));
  EXPECT_EQ(sign.item<double>(), -1);
  Tensor t = uniform({6, 3}), r = uniform({6, 2}, 9);
  expect_near(linalg::lstsq(t, r), linalg::lstsq(t, r, {.fast = false}));
  expect_near(linalg::lstsq(linalg::matrix_transpose(t), uniform({3, 1})),
              linalg::lstsq(linalg::matrix_transpose(t), uniform({3, 1}), {.fast = false}));
  expect_near(matmul(linalg::pinv(t), t), eye(3, {.dtype = float64}));
  EXPECT_EQ(linalg::matrix_rank(matmul(uniform({5, 2}), uniform({2, 4}, 7))).item<int32_t>(), 2);
}
TEST(Linalg, GradientsOfSystems) {
  Tensor b = uniform({3, 2}, 5), a = regular({3, 3});
  check_gradient([](const Tensor& x) { return linalg::inv(x); }, regular({2, 3, 3}));
  check_gradient([](const Tensor& x) { return linalg::inv(x, {.adjoint = true}); }, a);
  check_gradient([](const Tensor& x) { return linalg::det(x); }, a, 1e-5);
  check_gradient([](const Tensor& x) { return std::get<1>(linalg::slogdet(x)); }, a);
  check_gradient([](const Tensor& x) { return linalg::logdet(symmetric(x)); }, positive(3));
  check_gradient([](const Tensor& x) { return linalg::cholesky(symmetric(x)); }, positive(3));
  check_gradient([&](const Tensor& x) { return linalg::solve(x, b); }, a);
  check_gradient([&](const Tensor& x) { return linalg::solve(a, x, {.adjoint = true}); }, b);
  check_gradient([&](const Tensor& x) { return linalg::triangular_solve(x, b, {.lower = false}); },
                 a);
  check_gradient([&](const Tensor& x) { return linalg::triangular_solve(regular({2, 3, 3}), x); },
                 b);
  check_gradient(
      [&](const Tensor& x) {
        return linalg::lstsq(x, uniform({5, 1}, 4), {.l2_regularizer = 0.1});
      },
      uniform({5, 3}));
  check_gradient([](const Tensor& x) { return linalg::pinv(x); }, uniform({4, 3}), 1e-5);
}

TEST(Linalg, Factorisations) {
  for (Shape s : {Shape{4, 3}, Shape{2, 3, 3}, Shape{3, 5}, Shape{1, 4}, Shape{4, 1}})
    for (bool full : {false, true})
      for (Tensor a : {uniform(s), complexes(s)}) {
        auto [q, r] = linalg::qr(a, {.full_matrices = full});
        expect_near(matmul(q, r), a);
        Tensors suv = linalg::svd(a, {.full_matrices = full});
        int64_t k = suv[0].dim(-1);
        Dims cut_u = suv[1].shape().dims(), cut_v = suv[2].shape().dims();
        cut_u.back() = cut_v.back() = k;
        auto cut = [&](const Tensor& t) {
          Tensor mask =
              linalg::diag(ones(Sizes{k}, a.dtype()), {.num_rows = t.dim(-1), .num_cols = k});
          return matmul(t, mask);
        };
        expect_near(matmul(cut(suv[1]) * expand_dims(cast(suv[0], suv[1].dtype()), -2), cut(suv[2]),
                           {.adjoint_b = true}),
                    a);
        expect_near(linalg::svd(a, {.compute_uv = false})[0], suv[0]);
      }
  Tensor a = regular({2, 4, 4});
  auto [packed, p] = linalg::lu(a, {.output_idx_type = int64});
  Tensor low = linalg::set_diag(linalg::band_part(packed, -1, 0), ones(Sizes{2, 4}, float64));
  EXPECT_EQ(p.dtype(), int64);
  Tensor order = one_hot(p, 4, {.dtype = float64});
  expect_near(matmul(order, a), matmul(low, linalg::band_part(packed, 0, -1)));
  for (Tensor h :
       {symmetric(uniform({4, 4})), complexes({4, 4}) + linalg::adjoint(complexes({4, 4}))}) {
    auto [e, v] = linalg::eigh(h);
    expect_near(matmul(v * expand_dims(e, -2), v, {.adjoint_b = true}), h);
    expect_near(linalg::eigvalsh(h), e);
  }
  for (Tensor g : {uniform({5, 5}), complexes({5, 5})}) {
    auto [e, v] = linalg::eig(g);
    expect_near(matmul(cast(g, DType::kComplex128), v), v * expand_dims(e, -2));
  }
}
TEST(Lu, ServesToSolveAndToInvert) {
  for (const Shape& shape : {Shape{4, 4}, Shape{2, 3, 3}}) {
    Tensor a = regular(shape), b = uniform({shape[-1], 2});
    auto [packed, p] = linalg::lu(a);
    expect_near(linalg::lu_reconstruct(packed, p), a);
    expect_near(matmul(a, linalg::lu_solve(packed, p, b)), b + zeros_like(matmul(a, b)));
    expect_near(linalg::lu_matrix_inverse(packed, p), linalg::inv(a));
  }
  Tensor a = regular({3, 3});
  auto [packed, p] = linalg::lu(a);
  Tensor other = Tensor::of({0, 1});
  EXPECT_THROW(linalg::lu_solve(packed, other, a), InvalidArgumentError);
  EXPECT_THROW(linalg::lu_solve(packed, p, Tensor::of({1.0, 2.0, 3.0})), InvalidArgumentError);
  EXPECT_THROW(linalg::lu_reconstruct(uniform({3, 2}), p), InvalidArgumentError);
}

TEST(Linalg, GradientsOfFactorisations) {
  for (Shape s : {Shape{4, 3}, Shape{3, 3}, Shape{3, 5}}) {
    check_gradient(
        [](const Tensor& x) {
          auto [q, r] = linalg::qr(x);
          return matmul(q, r * r) + reduce_sum(q);
        },
        uniform(s), 1e-5);
    check_gradient([](const Tensor& x) { return linalg::svd(x, {.compute_uv = false})[0]; },
                   uniform(s), 1e-5);
    check_gradient(
        [](const Tensor& x) {
          Tensors t = linalg::svd(x);  // vectors up to their sign
          return reduce_sum(square(square(t[1])) * 2.0) + reduce_sum(square(square(t[2]))) + t[0];
        },
        uniform(s), 1e-4);
  }
  check_gradient([](const Tensor& x) { return linalg::eigvalsh(symmetric(x)); }, uniform({4, 4}),
                 1e-5);
  check_gradient(
      [](const Tensor& x) {
        auto [e, v] = linalg::eigh(symmetric(x));
        return e + reduce_sum(square(square(v)), {.axis = 0});
      },
      uniform({4, 4}), 1e-4);
  check_gradient([](const Tensor& x) { return real(linalg::eigvals(x)); },
                 symmetric(uniform({4, 4})), 1e-5);
}

TEST(Linalg, FunctionsOfMatrices) {
  Tensor a = uniform({2, 3, 3}) * 4.0, zero = zeros(Sizes{2, 2}, float64);
  expect_near(matmul(linalg::expm(a), linalg::expm(-a)),
              broadcast_to(eye(3, {.dtype = float64}), a.shape()), 1e-7);
  expect_near(linalg::expm(zero), eye(2, {.dtype = float64}));
  Tensor p = positive(4), z = complexes({3, 3}) * 0.3;
  expect_near(matmul(linalg::sqrtm(p), linalg::sqrtm(p)), p);
  expect_near(linalg::logm(linalg::expm(z)), z, 1e-9);
  Tensor far = complexes({4, 4}) + cast(eye(4), DType::kComplex128) * 5.0;
  expect_near(linalg::expm(linalg::logm(far)), far, 1e-8);
  check_gradient([](const Tensor& x) { return linalg::expm(x); }, uniform({3, 3}), 1e-5);
  check_gradient([](const Tensor& x) { return linalg::sqrtm(x); }, regular({3, 3}), 1e-5);
}

TEST(Linalg, AFactorOfNaNIsNaNWhereverItLies) {
  for (int64_t at : {0, 4, 8}) {  // a pivot that is none must not leave what is behind it
    std::vector<double> numbers{4, 1, 1, 1, 4, 1, 1, 1, 4};
    numbers[static_cast<size_t>(at)] = NAN;
    Tensor t = Tensor::of<double>(numbers, {3, 3});
    EXPECT_TRUE(std::isnan(linalg::cholesky(t).to_vector<double>()[8])) << at;
    auto [q, r] = linalg::qr(t);
    EXPECT_TRUE(std::isnan(q.to_vector<double>()[8]) && std::isnan(r.to_vector<double>()[8])) << at;
  }
}

TEST(Linalg, SingularAndInvalidMatrices) {
  Tensor zero = zeros(Sizes{2, 2}, float64), nan = fill(Sizes{2, 2}, Tensor::scalar(NAN)),
         b = uniform({2, 1});
  for (const Tensor& t : {zero, cast(nan, float64)}) {
    EXPECT_THROW(linalg::inv(t), InvalidArgumentError);
    EXPECT_THROW(linalg::solve(t, b), InvalidArgumentError);
    EXPECT_THROW(linalg::lu(t), InvalidArgumentError);
    EXPECT_TRUE(std::isnan(linalg::cholesky(t).to_vector<double>()[0]));
    linalg::qr(t);
    linalg::svd(t);
    linalg::expm(t);
    linalg::sqrtm(t);
    linalg::logm(cast(t, DType::kComplex128));
    linalg::pinv(t);
    linalg::matrix_rank(t);
    linalg::lstsq(t, b);
    linalg::lstsq(t, b, {.fast = false});
  }
  EXPECT_EQ(linalg::det(zero).item<double>(), 0);
  EXPECT_TRUE(std::isnan(linalg::det(cast(nan, float64)).item<double>()));
  EXPECT_THROW(linalg::eigh(nan), InvalidArgumentError);
  EXPECT_THROW(linalg::eig(nan), InvalidArgumentError);
  EXPECT_THROW(linalg::eigvals(nan), InvalidArgumentError);
}
TEST(Linalg, RefusesWrongShapesAndStandsEmptyOnes) {
  std::vector<std::function<void(const Tensor&)>> square_only{
      [](const Tensor& t) { linalg::inv(t); },     [](const Tensor& t) { linalg::det(t); },
      [](const Tensor& t) { linalg::slogdet(t); }, [](const Tensor& t) { linalg::cholesky(t); },
      [](const Tensor& t) { linalg::lu(t); },      [](const Tensor& t) { linalg::eigh(t); },
      [](const Tensor& t) { linalg::eig(t); },     [](const Tensor& t) { linalg::expm(t); },
      [](const Tensor& t) { linalg::sqrtm(t); }};
  std::vector<std::function<void(const Tensor&)>> any{
      [](const Tensor& t) { linalg::qr(t); },
      [](const Tensor& t) { linalg::qr(t, {.full_matrices = true}); },
      [](const Tensor& t) { linalg::svd(t); },
      [](const Tensor& t) { linalg::svd(t, {.full_matrices = true}); },
      [](const Tensor& t) { linalg::pinv(t); },
      [](const Tensor& t) { linalg::matrix_rank(t); }};
  for (auto& f : square_only) {
    EXPECT_THROW(f(uniform({2, 3})), InvalidArgumentError);
    EXPECT_THROW(f(uniform({3, 0, 2})), InvalidArgumentError);
    f(uniform({0, 0}));
    f(uniform({3, 0, 0}));
    f(uniform({0, 2, 2}));
  }
  for (auto& f : any)
    for (Shape s : {Shape{0, 0}, Shape{3, 0, 2}, Shape{2, 0}, Shape{0, 3, 2}}) f(uniform(s));
  square_only.insert(square_only.end(), any.begin(), any.end());
  for (auto& f : square_only) {
    EXPECT_THROW(f(uniform({3})), InvalidArgumentError);
    EXPECT_THROW(f(Tensor::scalar(1.0)), InvalidArgumentError);
    EXPECT_THROW(f(Tensor::of<int32_t>(std::vector<int32_t>{1}, {1, 1})), InvalidArgumentError);
  }
  EXPECT_THROW(linalg::solve(uniform({2, 2}), uniform({3, 2, 1})), InvalidArgumentError);
  EXPECT_THROW(linalg::solve(uniform({2, 2}), uniform({3, 1})), InvalidArgumentError);
  EXPECT_EQ(linalg::triangular_solve(regular({2, 2}), uniform({3, 2, 1})).shape(),
            (Shape{3, 2, 1}));
}

}  // namespace
}  // namespace holdfast
