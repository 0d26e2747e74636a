// Parts of tensors and variables, rows, changes in place, and identity.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include <unordered_set>

#include "tests/refused.h"

namespace holdfast {
namespace {

std::vector<int> ints(const Tensor& t) { return t.to_vector<int>(); }
std::vector<float> floats(const Tensor& t) { return t.to_vector<float>(); }

TEST(Indexing, TakesPartsAsNumPyDoes) {
  Tensor x = reshape(range(24), {2, 3, 4});
  EXPECT_EQ(at(x, 1).shape(), Shape({3, 4}));
  EXPECT_EQ(at(x, 1, 2, 3).item<int>(), 23);
  EXPECT_EQ(at(x, -1, -1, -1).item<int>(), 23);
  EXPECT_EQ(ints(at(x, 0, slice(1, 3), 0)), (std::vector<int>{4, 8}));
  EXPECT_EQ(ints(at(x, 0, slice(1, std::nullopt), -1)), (std::vector<int>{7, 11}));
  EXPECT_EQ(ints(at(x, 0, 0, slice(0, 4, 2))), (std::vector<int>{0, 2}));
  EXPECT_EQ(ints(at(x, 0, 0, slice(std::nullopt, std::nullopt, -1))),
            (std::vector<int>{3, 2, 1, 0}));
  EXPECT_EQ(at(x, all, 0).shape(), Shape({2, 4}));
  EXPECT_EQ(at(x, ellipsis, newaxis).shape(), Shape({2, 3, 4, 1}));
  EXPECT_EQ(at(x, newaxis, ellipsis, 0).shape(), Shape({1, 2, 3}));
  EXPECT_EQ(at(x, slice(5, 9)).shape(), Shape({0, 3, 4}));
  Tensor one = constant(1), two = constant(2);
  EXPECT_EQ(at(x, one, two, 0).item<int>(), 20);
  EXPECT_EQ(ints(at(x, 0, slice(one, two), 0)), (std::vector<int>{4}));
  EXPECT_EQ(ints(at(range(4), constant({true, false, false, true}))), (std::vector<int>{0, 3}));
  EXPECT_EQ(slice(x, {0, 0, 0}, {1, 2, 4}).shape(), Shape({1, 2, 4})) << "the op of that name";
}

TEST(Indexing, BeyondTheTensorIsRefused) {
  Tensor x = zeros({2, 3});
  EXPECT_EQ(refused([&] { at(x, 2); }), Code::E1103);
  EXPECT_NE(refused([&] { at(x, 0, 0, 0); }), Code{});
  EXPECT_NE(refused([&] { at(x, slice(0, 2, 0)); }), Code{});
  EXPECT_NE(refused([&] { at(x, ellipsis, ellipsis); }), Code{});
  EXPECT_EQ(refused([&] { at(Tensor(), 0); }), Code::E1104);
  EXPECT_EQ(refused([&] { at(x, Tensor()); }), Code::E1104);
  EXPECT_EQ(refused([&] { at(x, slice(0, Tensor())); }), Code::E1104);
  EXPECT_EQ(refused([&] { at(Variable(), 0) = 1.f; }), Code::E1104);
}

TEST(Indexing, HasGradientsAndIsTraced) {
  Variable v(constant({{1.f, 2.f}, {3.f, 4.f}}));
  auto f = function([](const Tensor& x) { return reduce_sum(at(x, all, 1) * 3.f); });
  GradientTape tape;
  Tensor y = f(v);
  EXPECT_EQ(floats(tape.gradient(y, v)), (std::vector<float>{0, 3, 0, 3}));
}

TEST(Indexing, OnlyThePartOfAVariableChanges) {
  Variable v(zeros({3, 2}));
  at(v, 0) = 1.f;
  at(v, 2) = constant({5.f, 6.f});
  at(v, 1) = at(v, 2);
  at(v, slice(1, 3), 1) += 2.f;
  at(v, 0, 0) -= 0.5f;
  at(v, 0, 1) *= 4.f;
  at(v, 2, 0) /= 2.f;
  EXPECT_EQ(floats(v), (std::vector<float>{0.5f, 4, 5, 8, 2.5f, 8}));
  EXPECT_EQ(floats(at(v, 0) + at(v, 1)), (std::vector<float>{5.5f, 12}));
  EXPECT_EQ(floats(2 * at(v, 0) - 1), (std::vector<float>{0, 7}));
  EXPECT_EQ(floats(-at(v, 0)), (std::vector<float>{-0.5f, -4}));
  EXPECT_TRUE(static_cast<bool>(reduce_all(at(v, all, 1) > 3.f)));
  EXPECT_EQ(at(at(v, 1), 1).item<float>(), 8.f);
  EXPECT_NE(refused([&] { at(v, 0) = constant({1.f, 2.f, 3.f}); }), Code{});
  EXPECT_NE(refused([&] { at(v, 7) = 1.f; }), Code{});
  EXPECT_EQ(floats(at(v, 0)), (std::vector<float>{0.5f, 4})) << "a refusal changes nothing";
}

TEST(Indexing, APartOfATensorIsNoPlaceToAssignTo) {
  auto assignable = []<class T>(const T&) { return requires(T t) { at(t, 0) = 1.f; }; };
  EXPECT_FALSE(assignable(Tensor()));
  EXPECT_TRUE(assignable(Variable()));
}

TEST(Indexing, PartsAreBornAtTheUsersLine) {
  Tensor x = zeros({2, 2});
  Tensor part = at(x, 0);
  int line = __LINE__ - 1;
  EXPECT_EQ(locate(part.born()).line, line);
  Variable v(x);
  Tensor read = at(v, 0);
  EXPECT_EQ(locate(read.born()).line, __LINE__ - 1);
  Tensor sum = at(v, 0) + at(v, 1);
  EXPECT_EQ(locate(sum.born()).line, __LINE__ - 1);
  for (Tensor row : x) EXPECT_EQ(locate(row.born()).line, __LINE__);
}

TEST(Rows, ComeOneAfterAnother) {
  std::vector<int> sums;
  for (Tensor row : reshape(range(6), {3, 2})) sums.push_back(reduce_sum(row).item<int>());
  EXPECT_EQ(sums, (std::vector<int>{1, 5, 9}));
  int rows = 0;
  Variable v(zeros({4, 1}));
  for (const Tensor& row : v) rows += static_cast<int>(row.size());
  EXPECT_EQ(rows, 4);
  for ([[maybe_unused]] Tensor row : zeros({0, 2})) ADD_FAILURE() << "there is no row";
}

TEST(Rows, OfAScalarOrOfNobodyKnowsHowManyAreRefused) {
  EXPECT_EQ(refused([] {
              for ([[maybe_unused]] Tensor row : constant(1)) continue;
            }),
            Code::E1102);
  EXPECT_EQ(refused([] {
              for ([[maybe_unused]] Tensor row : Tensor()) continue;
            }),
            Code::E1104);
}

TEST(InPlace, ATensorBecomesTheResultAndOthersKeepTheirs) {
  Tensor t = constant(2.f), old = t;
  t += 1;
  t *= t;
  t -= 1.f;
  t /= constant(4.f);
  EXPECT_EQ(t.item<float>(), 2.f);
  EXPECT_EQ(old.item<float>(), 2.f);
  EXPECT_FALSE(same(t, old));
  t += 1;
  EXPECT_EQ(locate(t.born()).line, __LINE__ - 1);
}

TEST(InPlace, AVariableChangesForAllWhoHoldIt) {
  Variable v(constant({1.f, 2.f})), also = v;
  v += 1.f;
  v -= constant({0.f, 1.f});
  v *= 3;
  v /= 2.f;
  EXPECT_EQ(floats(also), (std::vector<float>{3, 3}));
  v += at(v, 0).tensor();
  EXPECT_EQ(floats(also), (std::vector<float>{6, 6}));
}

TEST(Identity, IsNotEquality) {
  Tensor a = constant(1), b = constant(1), c = a;
  EXPECT_TRUE(same(a, c));
  EXPECT_FALSE(same(a, b));
  EXPECT_TRUE(same(Tensor(), Tensor()));
  std::unordered_set<Tensor, std::hash<Tensor>, SameTensor> set{a, b, c, Tensor()};
  EXPECT_EQ(set.size(), 3u);
}

TEST(Several, ResultsHaveNames) {
  Tensor x = reshape(range(12), {2, 6});
  auto [a, b] = split<2>(x);
  EXPECT_EQ(ints(b), (std::vector<int>{6, 7, 8, 9, 10, 11}));
  auto [c, d, e] = split<3>(x, {.axis = 1});
  EXPECT_EQ(e.shape(), Shape({2, 2}));
  auto [p, q] = unstack<2>(x);
  EXPECT_EQ(q.shape(), Shape({6}));
  auto [s, t] = exactly<2>(split(x, {1, 5}, {.axis = 1}));
  EXPECT_EQ(t.shape(), Shape({2, 5}));
  EXPECT_NE(refused([&] { split<4>(x); }), Code{});
  EXPECT_NE(refused([&] { unstack<3>(x); }), Code{});
  EXPECT_EQ(refused([&] { exactly<3>(unstack(x)); }), Code::E1102);
}

TEST(Several, GradientsAreOperands) {
  Variable v(2.f), w(3.f);
  GradientTape tape;
  Tensor y = v * w * 5.f;
  std::vector<Gradient> both = tape.gradients({y}, {v, w});
  EXPECT_EQ((both[0] * 0.5f + both[1]).item<float>(), 17.5f);
  v -= both[0] * 0.1f;
  EXPECT_FLOAT_EQ(v.read().item<float>(), 0.5f);
  EXPECT_EQ(refused([] { return Gradient() * 2.f; }), Code::E1104);
}

}  // namespace
}  // namespace holdfast
