// What the array ops promise beyond the sweep over samples.
#include "holdfast/ops/array.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "holdfast/autodiff/tape.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/scatter.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/ops/spatial.h"

namespace holdfast {
namespace {

using V = std::vector<float>;
using VI = std::vector<int32_t>;
using VL = std::vector<int64_t>;

Tensor count(Shape s) { return reshape(range(0.0, static_cast<double>(s.size())), s); }

Code code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return Code::E1599;
}

std::string text_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Constant, NestedListsBecomeTensors) {
  EXPECT_EQ(constant({{1, 2}, {3, 4}}).shape(), (Shape{2, 2}));
  EXPECT_EQ(constant({{1, 2}, {3, 4}}).dtype(), int32);
  EXPECT_EQ(constant({1.5, 2.5}).dtype(), float32);
  EXPECT_EQ(constant({1, 2}, float64).to_vector<double>(), (std::vector<double>{1, 2}));
  EXPECT_EQ(constant({{{1}, {2}}}).shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(constant({"a", "bc"}).to_vector<std::string>(), (std::vector<std::string>{"a", "bc"}));
  EXPECT_EQ(constant(true).dtype(), boolean);
  EXPECT_EQ(code_of([] { constant({{1, 2}, {3}}); }), Code::E1102);
  EXPECT_EQ(code_of([] { constant({300}, uint8); }), Code::E1103);
  EXPECT_EQ(code_of([] { constant({1.5}, int32); }), Code::E1101);
}

TEST(Create, ZerosOnesEye) {
  EXPECT_EQ(zeros({2, 3}).to_vector<float>(), V(6, 0));
  EXPECT_EQ(ones({2}, int64).to_vector<int64_t>(), (VL{1, 1}));
  EXPECT_EQ(zeros({2}, string).to_vector<std::string>(), (std::vector<std::string>{"", ""}));
  EXPECT_EQ(zeros_like(ones({2}), int32).to_vector<int32_t>(), (VI{0, 0}));
  EXPECT_EQ(eye(2, {.num_columns = 3}).to_vector<float>(), (V{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(eye(2, {.batch_shape = Sizes{3}}).shape(), (Shape{3, 2, 2}));
  EXPECT_EQ(code_of([] { ones({2}, string); }), Code::E1101);
  EXPECT_EQ(code_of([] { zeros({-1}); }), Code::E1103);
  EXPECT_EQ(code_of([] { zeros({int64_t{1} << 40, int64_t{1} << 40}); }), Code::E1102);
}

TEST(Range, FollowsTensorFlowsDtypes) {
  EXPECT_EQ(range(5).dtype(), int32);
  EXPECT_EQ(range(1, 4.0).dtype(), float32);
  EXPECT_EQ(range(5, {}, {}, float32).to_vector<float>(), (V{0, 1, 2, 3, 4}));
  EXPECT_EQ(range(10, 3, -3).to_vector<int32_t>(), (VI{10, 7, 4}));
  EXPECT_EQ(range(Tensor::scalar(int64_t{2}), 4).to_vector<int64_t>(), (VL{2, 3}));
  EXPECT_EQ(range(3, 3).size(), 0);
  EXPECT_EQ(code_of([] { range(0, 5, 0); }), Code::E1103);
  EXPECT_EQ(code_of([] { range(5, 0); }), Code::E1103);
}

TEST(Views, ShareTheBuffer) {
  Tensor x = count({4, 3});
  for (const Tensor& y : {reshape(x, {3, 4}), expand_dims(x, 0), squeeze(expand_dims(x, 1)),
                          identity(x), stop_gradient(x), index(x, {{.start = 1, .stop = 3}}),
                          slice(x, {1, 0}, {2, 3}), split(x, 2)[1], unstack(x)[2]}) {
    EXPECT_EQ(y.rep()->buffer.get(), x.rep()->buffer.get());
    EXPECT_NE(y.id(), x.id());
  }
  EXPECT_EQ(index(x, {{.start = 1, .stop = 3}}).to_vector<float>(), (V{3, 4, 5, 6, 7, 8}));
}

TEST(Reshape, ErrorsAndEmpties) {
  EXPECT_EQ(reshape(zeros({0, 3}), {3, -1}).shape(), (Shape{3, 0}));
  EXPECT_EQ(code_of([] { reshape(ones({4}), {3}); }), Code::E1102);
  EXPECT_EQ(code_of([] { reshape(ones({4}), {-1, -1}); }), Code::E1103);
  EXPECT_EQ(code_of([] { squeeze(ones({2, 1}), {.axis = Sizes(0)}); }), Code::E1103);
}

TEST(Transpose, AllRanksAndSizes) {
  Tensor x = count({5, 7, 9, 3});
  Tensor y = transpose(x, {.perm = Sizes{2, 0, 3, 1}});
  ASSERT_EQ(y.shape(), (Shape{9, 5, 3, 7}));
  const float *a = x.data<float>(), *b = y.data<float>();
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 7; ++j)
      for (int64_t k = 0; k < 9; ++k)
        for (int64_t l = 0; l < 3; ++l)
          ASSERT_EQ(a[((i * 7 + j) * 9 + k) * 3 + l], b[((k * 5 + i) * 3 + l) * 7 + j]);
  Tensor m = count({67, 133}), t = transpose(m);
  for (int64_t i = 0; i < 67; ++i)
    for (int64_t j = 0; j < 133; ++j)
      ASSERT_EQ(m.data<float>()[i * 133 + j], t.data<float>()[j * 67 + i]);
  EXPECT_EQ(code_of([&] { transpose(x, {.perm = Sizes{0, 0, 1, 2}}); }), Code::E1103);
}

// Such rows are copied line by line.
TEST(Transpose, RowsThatLieAPowerOfTwoApart) {
  for (Shape s :
       {Shape{1, 256}, Shape{37, 256}, Shape{64, 512}, Shape{50, 1024}, Shape{131, 768}}) {
    Tensor m = count(s), t = transpose(m);
    for (int64_t i = 0; i < s[0]; ++i)
      for (int64_t j = 0; j < s[1]; ++j)
        ASSERT_EQ(t.data<float>()[j * s[0] + i], m.data<float>()[i * s[1] + j]) << s.text();
  }
  Tensor x = count({3, 21, 256}), y = transpose(x, {.perm = Sizes{2, 0, 1}});
  for (int64_t i = 0; i < 63; ++i)
    for (int64_t j = 0; j < 256; ++j)
      ASSERT_EQ(y.data<float>()[j * 63 + i], x.data<float>()[i * 256 + j]);
}

TEST(StridedSlice, NumPysBasicSlicing) {
  Tensor x = count({3, 4});
  using I = IndexItem;
  EXPECT_EQ(index(x, {I{.step = -1}}).to_vector<float>(),
            (V{8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3}));
  EXPECT_EQ(
      index(x, {I{.kind = I::kEllipsis}, I{.start = 1, .stop = 4, .step = 2}}).to_vector<float>(),
      (V{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(index(x, {I{.kind = I::kNewAxis}, I{.kind = I::kInt, .start = -1}}).shape(),
            (Shape{1, 4}));
  EXPECT_EQ(
      index(x, {I{.kind = I::kInt, .start = 1}, I{.kind = I::kInt, .start = -2}}).item<float>(), 6);
  EXPECT_EQ(index(x, {I{}, I{.start = 10}}).shape(), (Shape{3, 0}));
  EXPECT_EQ(index(x, {I{.kind = I::kTensor, .tensor = constant(2)}}).to_vector<float>(),
            (V{8, 9, 10, 11}));
  EXPECT_EQ(index(x, {I{}, I{.start = 3, .stop = INT64_MIN, .step = -2}}).to_vector<float>(),
            (V{3, 1, 7, 5, 11, 9}));
  EXPECT_EQ(code_of([&] { index(x, {I{.kind = I::kInt, .start = 3}}); }), Code::E1103);
  std::string text = text_of([&] { index(x, {I{}, I{.kind = I::kInt, .start = -5}}); });
  EXPECT_NE(text.find("-5"), std::string::npos) << text;
  EXPECT_NE(text.find("axis 1"), std::string::npos) << text;
  EXPECT_EQ(code_of([&] { index(x, {I{.step = 0}}); }), Code::E1103);
  EXPECT_EQ(code_of([&] { index(x, {I{}, I{}, I{}}); }), Code::E1103);
  EXPECT_EQ(code_of([&] { index(x, {I{.kind = I::kEllipsis}, I{.kind = I::kEllipsis}}); }),
            Code::E1103);
  EXPECT_EQ(index(x, {I{.kind = I::kTensor, .tensor = constant({true, false, true})}}).shape(),
            (Shape{2, 4}));
  EXPECT_EQ(code_of([&] { index(x, {I{.kind = I::kTensor, .tensor = constant({0, 1})}}); }),
            Code::E1104);
  EXPECT_EQ(code_of([&] { index(x, {I{.kind = I::kTensor, .tensor = constant(1.0)}}); }),
            Code::E1104);
}

TEST(StridedSlice, UpdatesAndAssigns) {
  using I = IndexItem;
  Tensor x = zeros({2, 3});
  std::vector<I> column{I{}, I{.kind = I::kInt, .start = 1}};
  EXPECT_EQ(index_update(x, column, constant({5.0, 6.0})).to_vector<float>(),
            (V{0, 5, 0, 0, 6, 0}));
  Variable v(x);
  index_assign(v, column, 7);
  EXPECT_EQ(v.read().to_vector<float>(), (V{0, 7, 0, 0, 7, 0}));
  EXPECT_EQ(x.to_vector<float>(), V(6, 0)) << "the tensor the variable was made from is unchanged";
  Tensor before = v.read();
  index_assign(v, std::vector<I>{I{.kind = I::kInt, .start = 0}}, constant({1.0, 2.0, 3.0}));
  EXPECT_EQ(before.to_vector<float>(), (V{0, 7, 0, 0, 7, 0}));
  EXPECT_EQ(v.read().to_vector<float>(), (V{1, 2, 3, 0, 7, 0}));
  EXPECT_EQ(code_of([&] { index_assign(v, column, constant({1.0, 2.0, 3.0})); }), Code::E1102);
}

TEST(Gather, AxesBatchesAndBounds) {
  Tensor x = count({2, 3, 2});
  EXPECT_EQ(gather(x, constant({2, 0}), {.axis = Sizes(1)}).to_vector<float>(),
            (V{4, 5, 0, 1, 10, 11, 6, 7}));
  EXPECT_EQ(gather(x, constant({{2}, {0}}), {.batch_dims = 1}).to_vector<float>(), (V{4, 5, 6, 7}));
  EXPECT_EQ(gather(x, 1).shape(), (Shape{3, 2}));
  EXPECT_EQ(gather(zeros({0, 3}), zeros({0}, int32)).shape(), (Shape{0, 3}));
  std::string text = text_of([&] { gather(x, constant({{0, 1}, {5, 0}})); });
  EXPECT_NE(text.find("[1,0]"), std::string::npos) << text;
  EXPECT_NE(text.find("5"), std::string::npos) << text;
  EXPECT_NE(text.find("[0, 2)"), std::string::npos) << text;
  EXPECT_EQ(code_of([&] { gather(x, constant({-1})); }), Code::E1103);
  EXPECT_EQ(code_of([&] { gather(x, constant({0}), {.axis = Sizes(3)}); }), Code::E1103);
  EXPECT_EQ(code_of([&] { gather_nd(x, constant({{0, 3}})); }), Code::E1103);
  EXPECT_EQ(gather_nd(x, constant({{1}, {0}}), {.batch_dims = 1}).to_vector<float>(),
            (V{2, 3, 6, 7}));
}

TEST(Gather, GradientOfRowsIsSparse) {
  Variable v(count({4, 2}));
  GradientTape tape;
  tape.start();
  Tensor y = gather(v, constant({1, 3, 1}));
  auto g = tape.gradients(std::vector<Tensor>{y}, std::vector<Source>{v});
  ASSERT_TRUE(g[0].slices);
  EXPECT_EQ(g[0].slices->indices.to_vector<int32_t>(), (VI{1, 3, 1}));
  EXPECT_EQ(g[0].tensor().to_vector<float>(), (V{0, 0, 2, 2, 0, 0, 1, 1}));
}

TEST(Gather, GradientAlongOtherAxesIsDense) {
  Tensor x = count({2, 3});
  GradientTape tape;
  tape.start();
  tape.watch(x);
  Tensor y = gather(x, constant({0, 2, 0}), {.axis = Sizes(1)});
  EXPECT_EQ(tape.gradient(y, x).to_vector<float>(), (V{2, 0, 1, 2, 0, 1}));
}

TEST(Scatter, IntoTensorsAndVariables) {
  EXPECT_EQ(scatter_nd(constant({{1}, {1}}), constant({2.0, 3.0}), {3}).to_vector<float>(),
            (V{0, 5, 0}));
  EXPECT_EQ(tensor_scatter_nd_max(constant({1, 5}), constant({{0}, {1}}), constant({3, 2}))
                .to_vector<int32_t>(),
            (VI{3, 5}));
  EXPECT_EQ(code_of([] { scatter_nd(constant({{3}}), constant({1}), {3}); }), Code::E1103);
  EXPECT_EQ(code_of([] { scatter_nd(constant({{0}}), constant({1, 2}), {3}); }), Code::E1102);
  Variable v(count({3, 2}));
  scatter_add(v, {ones({2, 2}), constant({0, 0}), Tensor()});
  EXPECT_EQ(v.read().to_vector<float>(), (V{2, 3, 2, 3, 4, 5}));
  EXPECT_EQ(code_of([&] { scatter_update(v, {ones({2, 2}), constant({0, 3}), Tensor()}); }),
            Code::E1103);
  EXPECT_EQ(v.read().to_vector<float>(), (V{2, 3, 2, 3, 4, 5}))
      << "a refused update changes nothing";
  scatter_nd_update(v, constant({{2, 1}}), constant({9.0}));
  EXPECT_EQ(v.read().to_vector<float>(), (V{2, 3, 2, 3, 4, 9}));
}

TEST(Join, ConcatStackSplit) {
  EXPECT_EQ(concat({count({1, 2}), count({2, 2})}, 0).to_vector<float>(), (V{0, 1, 0, 1, 2, 3}));
  EXPECT_EQ(stack({constant({1, 2}), constant({3, 4})}, {1}).to_vector<int32_t>(),
            (VI{1, 3, 2, 4}));
  auto parts = split(count({2, 4}), {1, -1}, {.axis = 1});
  EXPECT_EQ(parts[1].to_vector<float>(), (V{1, 2, 3, 5, 6, 7}));
  EXPECT_EQ(code_of([] { concat({ones({2}), ones({2, 2})}, 0); }), Code::E1102);
  EXPECT_EQ(code_of([] { concat({ones({}), ones({})}, 0); }), Code::E1102);
  EXPECT_EQ(code_of([] { split(ones({5}), 2); }), Code::E1103);
  EXPECT_EQ(code_of([] { split(ones({5}), INT64_MAX); }), Code::E1103);
  EXPECT_EQ(code_of([] { stack({ones({2}), ones({3})}); }), Code::E1102);
}

TEST(Pad, AllModes) {
  Tensor x = constant({1.0, 2.0, 3.0});
  EXPECT_EQ(pad(x, constant({{2, 1}}), {.mode = "REFLECT"}).to_vector<float>(),
            (V{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(pad(x, constant({{2, 1}}), {.mode = "symmetric"}).to_vector<float>(),
            (V{2, 1, 1, 2, 3, 3}));
  EXPECT_EQ(pad(x, constant({{1, 0}}), {.constant_values = 9}).to_vector<float>(), (V{9, 1, 2, 3}));
  EXPECT_EQ(code_of([&] { pad(x, constant({{3, 0}}), {.mode = "REFLECT"}); }), Code::E1103);
  EXPECT_EQ(code_of([&] { pad(x, constant({{-1, 0}})); }), Code::E1103);
  EXPECT_EQ(code_of([&] { pad(x, constant({{1, 1}, {1, 1}})); }), Code::E1102);
}

TEST(Where, PositionsAndChoices) {
  Tensor c = constant({{true, false}, {true, true}});
  EXPECT_EQ(where(c).to_vector<int64_t>(), (VL{0, 0, 1, 0, 1, 1}));
  EXPECT_EQ(where(constant(true)).shape(), (Shape{1, 0}));
  EXPECT_EQ(where(c, constant({1, 2}), 0).to_vector<int32_t>(), (VI{1, 0, 1, 2}));
  EXPECT_EQ(code_of([&] { where(c, 1); }), Code::E1104);
  EXPECT_EQ(boolean_mask(count({2, 2, 2}), c).to_vector<float>(), (V{0, 1, 4, 5, 6, 7}));
}

TEST(Diag, AlignmentsAndGradients) {
  Tensor x = reshape(range(1, 13), {3, 4});
  EXPECT_EQ(linalg::diag_part(x, {.k = Sizes{-1, 1}}).to_vector<int32_t>(),
            (VI{2, 7, 12, 1, 6, 11, 5, 10, 0}));
  EXPECT_EQ(linalg::diag_part(x, {.k = Sizes{0, 2}}).to_vector<int32_t>(),
            (VI{0, 3, 8, 2, 7, 12, 1, 6, 11}));
  EXPECT_EQ(linalg::band_part(x, 0, 1).to_vector<int32_t>(),
            (VI{1, 2, 0, 0, 0, 6, 7, 0, 0, 0, 11, 12}));
  EXPECT_EQ(code_of([&] { linalg::diag_part(x, {.k = 4}); }), Code::E1103);
  EXPECT_EQ(linalg::set_diag(zeros({2, 2}), ones({2})).to_vector<float>(), (V{1, 0, 0, 1}));
}

TEST(Identity, StopGradientEndsIt) {
  Tensor x = count({2});
  GradientTape tape;
  tape.start();
  tape.watch(x);
  EXPECT_EQ(tape.gradient(x * stop_gradient(x), x).to_vector<float>(), (V{0, 1}));
}

TEST(Bitcast, CutsAndJoins) {
  EXPECT_EQ(bitcast(constant({1.0}), uint8).shape(), (Shape{1, 4}));
  EXPECT_EQ(bitcast(bitcast(constant({1.0, 2.0}), uint8), float32).to_vector<float>(), (V{1, 2}));
  EXPECT_EQ(code_of([] { bitcast(zeros({3}, uint8), int32); }), Code::E1102);
}

TEST(Rearrange, RollReverseRepeatTile) {
  EXPECT_EQ(roll(constant({1, 2, 3}), INT64_MIN, 0).size(), 3);
  EXPECT_EQ(roll(constant({1, 2, 3}), 4, 0).to_vector<int32_t>(), (VI{3, 1, 2}));
  EXPECT_EQ(repeat(constant({1, 2}), {0, 3}).to_vector<int32_t>(), (VI{2, 2, 2}));
  EXPECT_EQ(reverse_sequence(count({2, 3}), constant({2, 3}), {.seq_axis = 1}).to_vector<float>(),
            (V{1, 0, 2, 5, 4, 3}));
  EXPECT_EQ(code_of([] { reverse_sequence(ones({2, 3}), constant({4, 0}), {.seq_axis = 1}); }),
            Code::E1103);
  EXPECT_EQ(code_of([] { tile(ones({2}), {INT64_MAX}); }), Code::E1103);
  EXPECT_EQ(tile(ones({}), Ints{}).shape(), Shape{});
}

TEST(Partition, ThereAndBack) {
  Tensor x = count({4, 2});
  auto parts = dynamic_partition(x, constant({1, 0, 1, 1}), 2);
  EXPECT_EQ(parts[1].shape(), (Shape{3, 2}));
  Tensor back = dynamic_stitch({constant({1}), constant({0, 2, 3})}, parts);
  EXPECT_EQ(back.to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(code_of([&] { dynamic_partition(x, constant({1, 0, 2, 1}), 2); }), Code::E1103);
  Op stitch(find_op("DynamicStitch"));
  EXPECT_EQ(code_of([&] { stitch(constant({0, 1, 2}), x); }), Code::E1102)
      << "fewer indices than slices";
}

TEST(Space, ThereAndBack) {
  Tensor x = count({1, 4, 6, 2});
  EXPECT_EQ(nn::depth_to_space(nn::space_to_depth(x, 2), 2).to_vector<float>(),
            x.to_vector<float>());
  Tensor block = constant({2, 3}), pads = constant({{1, 1}, {0, 3}});
  EXPECT_EQ(batch_to_space(space_to_batch(x, block, pads), block, pads).to_vector<float>(),
            x.to_vector<float>());
  EXPECT_EQ(code_of([&] { nn::space_to_depth(x, 2, {"NCHW_VECT_C"}); }), Code::E1105);
}

// Results of 16 MB are written past the caches, in whole lines where they lie so.
TEST(Transpose, LargeResultsAreWhatSmallOnesAre) {
  struct Case {
    Shape shape;
    Axes perm;
  };
  for (const Case& c :
       {Case{{4000, 1111}, {1, 0}}, Case{{4001, 1056}, {1, 0}}, Case{{17, 528, 515}, {0, 2, 1}},
        Case{{304, 33, 512}, {2, 1, 0}}, Case{{18, 496, 500}, {2, 0, 1}}}) {
    std::vector<int32_t> numbers(static_cast<size_t>(c.shape.size()));
    std::iota(numbers.begin(), numbers.end(), 0);
    Tensor x = Tensor::of<int32_t>(std::span<const int32_t>(numbers), c.shape);
    Tensor wide = transpose(cast(x, int64), {.perm = c.perm});  // 64 bits go another way
    EXPECT_EQ(transpose(x, {.perm = c.perm}).to_vector<int32_t>(),
              cast(wide, int32).to_vector<int32_t>())
        << c.shape.text();
  }
}

}  // namespace
}  // namespace holdfast
