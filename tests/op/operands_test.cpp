// What functions take for a tensor: numbers and texts in braces, bare ones, containers.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include <thread>

#include "../refused.h"

namespace holdfast {
namespace {

template <class T>
std::vector<T> values(const Tensor& t) {
  return t.to_vector<T>();
}

std::string headline(auto f) {
  try {
    f();
  } catch (const Error& e) {
    return e.diagnostic().headline;
  }
  return "nothing was refused";
}

TEST(NumbersOutOfRange, HaveTheNearestAllowedOneForAFix) {
  auto nearest = [](auto f) {
    try {
      f();
    } catch (const Error& e) {
      const auto& fixes = e.diagnostic().fixes;
      return fixes.empty() ? std::string("none") : fixes[0].title;
    }
    return std::string("nothing was refused");
  };
  Tensor x = constant({{1.f, 2.f, 3.f}});
  EXPECT_EQ(nearest([&] { (void)gather(reshape(x, {-1}), 7); }),
            "`2` is the nearest allowed value");
  EXPECT_EQ(nearest([&] { (void)repeat(x, 2, {.axis = 5}); }), "`1` is the nearest allowed value");
  EXPECT_EQ(nearest([&] { (void)nn::softmax(x, {.axis = -7}); }),
            "`-2` is the nearest allowed value");
  EXPECT_EQ(nearest([&] { (void)gather(zeros({0}), 0); }), "none");
}

TEST(Braces, AreRowsOfNumbers) {
  Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
  EXPECT_EQ(values<float>(gather(x, {1, 0, 1})), (std::vector<float>{3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(gather(x, {{0, 1}, {1, 1}}).shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(values<float>(gather_nd(x, {{0, 1}, {1, 0}})), (std::vector<float>{2, 3}));
  EXPECT_EQ(values<float>(boolean_mask(x, {true, false})), (std::vector<float>{1, 2}));
  EXPECT_EQ(values<float>(one_hot({2, 0}, 3)), (std::vector<float>{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(values<float>(maximum(x, {2, 3})), (std::vector<float>{2, 3, 3, 4}));
  EXPECT_EQ(values<int>(concat({{1, 2}, {3}}, 0)), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(values<float>(pad({1.f, 2.f}, {{1, 2}})), (std::vector<float>{0, 1, 2, 0, 0}));
  EXPECT_EQ(values<float>(matmul({{1.0, 2.0}}, {{3.0}, {4.0}})), (std::vector<float>{11}));
  EXPECT_EQ(values<int>(where({true, false}, {1, 2}, {3, 4})), (std::vector<int>{1, 4}));
  EXPECT_EQ(values<float>(tensor_scatter_nd_update(x, {{0, 0}}, {9})),
            (std::vector<float>{9, 2, 3, 4}));
}

TEST(Braces, AloneAreAsConstantHasThem) {
  EXPECT_EQ(reduce_sum({1, 2, 3}).dtype(), int32);
  EXPECT_EQ(reduce_sum({1.5, 2.0}).dtype(), float32);
  EXPECT_EQ(logical_not({true, false}).dtype(), boolean);
  EXPECT_EQ(negative({1, 2.5}).dtype(), float32);
  EXPECT_EQ(identity({true, 2}).dtype(), int32);
  Tensor wide = identity({1LL, 1LL << 40});
  EXPECT_EQ(wide.dtype(), int64);
  EXPECT_EQ(values<int64_t>(wide), (std::vector<int64_t>{1, 1LL << 40}));
  EXPECT_EQ(identity({{1, 2, 3}, {4, 5, 6}}).shape(), (Shape{2, 3}));
  EXPECT_EQ(identity({{{1}, {2}}}).shape(), (Shape{1, 2, 1}));
}

TEST(Braces, TakeTheDtypeOfTheOperandBeside) {
  for (DType d : {float16, bfloat16, float32, float64, int8, int16, int64, uint8, uint64}) {
    Tensor sum = add(cast({3, 4}, d), {1, 2});
    EXPECT_EQ(sum.dtype(), d);
    EXPECT_EQ(values<double>(cast(sum, float64)), (std::vector<double>{4, 6})) << name(d);
    EXPECT_EQ(add({1, 2}, cast({3, 4}, d)).dtype(), d);
  }
  EXPECT_EQ(values<double>(add(Tensor::of({0.0}), {0.1})), (std::vector<double>{0.1}));
  Variable v(Tensor::of<int64_t>({1, 2}));
  EXPECT_EQ(values<int64_t>(multiply(v, {10, 20})), (std::vector<int64_t>{10, 40}));
  v.assign({5, 6});
  v.assign_add({1, 1});
  EXPECT_EQ(values<int64_t>(v), (std::vector<int64_t>{6, 7}));
  v(slice(0, 2)) = {9, 8};
  v[1].assign(3);
  EXPECT_EQ(values<int64_t>(v), (std::vector<int64_t>{9, 3}));
}

TEST(Braces, MustFitAndBeRectangular) {
  Tensor small = constant({1, 2}, uint8), ints = constant({1, 2});
  EXPECT_EQ(refused([&] { add(small, {1, 256}); }), Code::E1103);
  EXPECT_EQ(refused([&] { add(small, {-1, 0}); }), Code::E1103);
  EXPECT_EQ(refused([&] { add(ints, {1LL << 40, 0LL}); }), Code::E1103);
  EXPECT_EQ(refused([&] { add(ints, {0.5, 1.0}); }), Code::E1101);
  EXPECT_EQ(refused([&] { add(ints, {true, false}); }), Code::E1101);
  EXPECT_EQ(refused([&] { identity({18446744073709551615ULL}); }), Code::E1103);
  EXPECT_NE(headline([&] { add(small, {1, 256}); }).find("256"), std::string::npos);
  EXPECT_EQ(refused([&] { identity({{1, 2}, {3}}); }), Code::E1102);
  EXPECT_EQ(refused([&] { identity({{1}, 2}); }), Code::E1102);
  EXPECT_EQ(refused([&] { identity({1, {2}}); }), Code::E1102);
  EXPECT_EQ(refused([&] { identity({{{1}}, {{2, 3}}}); }), Code::E1102);
}

TEST(Braces, MayBeEmptyRows) {
  Tensor none = identity({{}, {}});
  EXPECT_EQ(none.shape(), (Shape{2, 0}));
  EXPECT_EQ(none.dtype(), float32);
  EXPECT_EQ(add(zeros({2, 0}, int64), {{}, {}}).dtype(), int64);
}

TEST(Braces, AreBornInTheUsersLine) {
  auto line = [](const Tensor& t) { return locate(t.born()).line; };
  EXPECT_EQ(line(negative({1, 2})), __LINE__);
  EXPECT_EQ(line(gather(constant({1, 2}), {0})), __LINE__);
  EXPECT_EQ(line(identity("text")), __LINE__);
  EXPECT_EQ(line(identity(std::vector<int>{1})), __LINE__);
  EXPECT_EQ(line(random::normal({2}, {.mean = {0, 1}})), __LINE__);
}

TEST(Braces, AreHeldByOptions) {
  random::NormalOptions kept{.mean = {100, 200}, .stddev = 0.0};
  EXPECT_EQ(values<float>(random::normal({2, 2}, kept)), (std::vector<float>{100, 200, 100, 200}));
  StridedSliceOptions steps{.strides = {2}};
  EXPECT_EQ(values<int>(strided_slice(range(5), {0}, {5}, steps)), (std::vector<int>{0, 2, 4}));
  MaybeIn none, given = {1, 2};
  EXPECT_FALSE(none.has_value());
  ASSERT_TRUE(given.has_value());
  EXPECT_FALSE(given->number());
  EXPECT_EQ(given->tensor(float64).dtype(), float64);
  MaybeIn copy = given;
  EXPECT_EQ(values<int>(copy->tensor()), (std::vector<int>{1, 2}));
}

TEST(Braces, AreConstantsOfATrace) {
  auto f = function([](const Tensor& x) { return gather(x, {1, 0}) * maximum(x, {2, 2}); });
  EXPECT_EQ(values<float>(f(constant({1.f, 3.f}))), (std::vector<float>{6, 3}));
  EXPECT_EQ(values<int64_t>(f(Tensor::of<int64_t>({1, 3}))), (std::vector<int64_t>{6, 3}));
}

TEST(Braces, HaveGradientsOfWhatStandsBeside) {
  Variable v({1.f, 2.f});
  GradientTape tape;
  Tensor y = reduce_sum(multiply(v, {3, 4}));
  EXPECT_EQ(values<float>(tape.gradient(y, v)), (std::vector<float>{3, 4}));
}

TEST(Braces, ComeFromManyThreads) {
  std::vector<std::thread> threads;
  std::vector<int64_t> sums(4);
  for (size_t i = 0; i < sums.size(); ++i)
    threads.emplace_back([&sums, i] {
      for (int n = 0; n < 200; ++n)
        sums[i] += reduce_sum(add({1, 2}, static_cast<int>(i))).item<int>();
    });
  for (auto& t : threads) t.join();
  for (size_t i = 0; i < sums.size(); ++i)
    EXPECT_EQ(sums[i], 200 * (3 + 2 * static_cast<int64_t>(i)));
}

TEST(Braces, FeedModelsAndDatasets) {
  keras::layers::Dense dense(2, {.kernel_initializer = "ones"});
  Tensor out = dense({{1.f, 2.f, 3.f}});
  EXPECT_EQ(values<float>(out), (std::vector<float>{6, 6}));
  int sum = 0;
  for (Tensor row : data::Dataset::from_tensor_slices({1, 2, 3})) sum += row.item<int>();
  EXPECT_EQ(sum, 6);
  Nested numbers = {{1, 2}, {3, 4}};
  ASSERT_TRUE(numbers.is_tensor());
  EXPECT_EQ(numbers.tensor().shape(), (Shape{2, 2}));
  Nested pair = {out, out};
  EXPECT_EQ(pair.kind(), Nested::Kind::kTuple);
}

TEST(Texts, AreOperands) {
  Tensor words = constant({"a", "b"});
  EXPECT_EQ(values<bool>(words == "a"), (std::vector<bool>{true, false}));
  EXPECT_EQ(values<bool>("b" != words), (std::vector<bool>{true, false}));
  EXPECT_EQ(values<std::string>(words + "c"), (std::vector<std::string>{"ac", "bc"}));
  std::string own = "xyz";
  EXPECT_EQ(strings::length(own).item<int>(), 3);
  EXPECT_EQ(strings::length(std::string_view("ab")).item<int>(), 2);
  EXPECT_EQ(strings::upper("ab").item<std::string>(), "AB");
  EXPECT_EQ(values<int>(strings::length({"a", "", "abc"})), (std::vector<int>{1, 0, 3}));
  EXPECT_EQ(strings::join({"a", words, "z"}, {.separator = "-"}).to_vector<std::string>(),
            (std::vector<std::string>{"a-a-z", "a-b-z"}));
  EXPECT_EQ(strings::length({{"a"}, {"b"}}).shape(), (Shape{2, 1}));
}

TEST(Texts, AreNoNumbersAndNoNullPointers) {
  Tensor x = constant({1.f});
  const char* null = nullptr;
  EXPECT_EQ(refused([&] { add(x, "a"); }), Code::E1101);
  EXPECT_EQ(refused([&] { identity({"a", "b"}) + 1; }), Code::E1101);
  EXPECT_EQ(refused([&] { identity(null); }), Code::E1104);
  EXPECT_EQ(refused([&] { constant(null); }), Code::E1104);
  EXPECT_EQ(refused([&] { identity({null}); }), Code::E1104);
  In mixed_refused = "kept";
  In copy = mixed_refused;
  EXPECT_EQ(copy.tensor().item<std::string>(), "kept");
  EXPECT_EQ(copy.dtype(), string);
}

TEST(Containers, AreOperandsOfTheirOwnType) {
  Tensor x = constant({10.f, 20.f, 30.f});
  EXPECT_EQ(values<float>(gather(x, std::vector<int>{2, 0})), (std::vector<float>{30, 10}));
  EXPECT_EQ(values<float>(gather(x, std::vector<int64_t>{1})), (std::vector<float>{20}));
  EXPECT_EQ(values<float>(add(x, std::array<float, 3>{1, 2, 3})), (std::vector<float>{11, 22, 33}));
  EXPECT_EQ(refused([&] { add(x, std::vector<double>{1, 2, 3}); }), Code::E1101);
  EXPECT_EQ(values<bool>(logical_not(std::vector<bool>{true, false})),
            (std::vector<bool>{false, true}));
}

TEST(Sizes, AreNumbersOrTensors) {
  EXPECT_EQ(zeros({2, 3}).shape(), (Shape{2, 3}));
  EXPECT_EQ(zeros(3).shape(), Shape{3});
  EXPECT_EQ(zeros({}).shape(), Shape{});
  EXPECT_EQ(zeros(constant({2, 1})).shape(), (Shape{2, 1}));
  EXPECT_EQ(Sizes({1, 2}).tensor().dtype(), int32);
  EXPECT_EQ(Sizes({int64_t{1} << 40}).tensor().dtype(), int64);
  EXPECT_EQ(Sizes(4).tensor().rank(), 0);
  EXPECT_TRUE(Sizes(4).single());
  EXPECT_EQ(Sizes(Tensor::of<int64_t>({3, 4})).ints(), (Dims{3, 4}));
  EXPECT_EQ(refused([] { (void)Sizes(constant({1.f})).ints(); }), Code::E1101);
  EXPECT_FALSE(Axes().has_value());
  EXPECT_TRUE(Axes(Sizes()).has_value());
  EXPECT_EQ(Axes({0, -1}).ints(), (Dims{0, -1}));
}

TEST(Lists, TakeOneDtype) {
  Tensor x = constant({1, 2}, int64);
  Tensors all = Ins{{3, 4}, x, 5}.tensors();
  ASSERT_EQ(all.size(), 3u);
  for (const Tensor& t : all) EXPECT_EQ(t.dtype(), int64);
  EXPECT_EQ(Ins({1, 2}).tensors()[1].dtype(), int32);
  EXPECT_TRUE(Ins(std::vector<Tensor>{}).tensors().empty());
}

}  // namespace
}  // namespace holdfast
