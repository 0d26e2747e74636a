// What a graph knew when it was written, and a run is fed something else.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "holdfast/autodiff/graph_gradient.h"
#include "holdfast/exec/control.h"
#include "holdfast/exec/session.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

Diagnostic refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.diagnostic();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

Tensor six() { return Tensor::of({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}); }

class FeedTest : public ::testing::Test {
 protected:
  Ref<OpenGraph> graph_ = make_graph("g");
  GraphScope in_{graph_};
  Session session_{graph_};
};

TEST_F(FeedTest, AShapeThatIsFedIsTheShapeThatIsMade) {
  Tensor to = graph_->constant(Tensor::of({2, 3}), "to");
  Tensor y = reshape(graph_->constant(six()), to);
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_EQ(session_.run(y, {{to, Tensor::of({3, 2})}}).shape(), (Shape{3, 2}));
  EXPECT_EQ(session_.run(y, {{to, Tensor::of({6, -1})}}).shape(), (Shape{6, 1}));
  Diagnostic d = refusal([&] { session_.run(y, {{to, Tensor::of({4, 4})}}); });
  EXPECT_NE(d.headline.find("Reshape"), std::string::npos) << d.headline;
}

TEST_F(FeedTest, WhatFollowsIsComputedFromWhatIsFed) {
  Tensor begin = graph_->constant(Tensor::of({1}), "begin"),
         size = graph_->constant(Tensor::of({2}), "size");
  Tensor part = slice(graph_->constant(six()), begin, size), y = part * 2.0f;
  EXPECT_EQ(session_.run(y, {{begin, Tensor::of({0})}, {size, Tensor::of({3})}}).to_vector<float>(),
            (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(refusal([&] { session_.run(y, {{begin, Tensor::of({1 << 30})}}); }).op, "Slice");
}

TEST_F(FeedTest, SizesThatWereFollowedAreFollowedAgain) {
  Tensor rows = graph_->constant(Tensor::scalar(2), "rows");
  Tensor made = fill(Sizes(stack({rows, rows + 1})), 1.0f);
  EXPECT_EQ(made.shape(), (Shape{2, 3}));
  Tensor y = reduce_sum(made);
  EXPECT_EQ(session_.run(made, {{rows, Tensor::scalar(3)}}).shape(), (Shape{3, 4}));
  EXPECT_EQ(session_.run(y, {{rows, Tensor::scalar(3)}}).item<float>(), 12);
}

TEST_F(FeedTest, AGradientThatRestsOnAShapeIsRefusedWhenTheShapeIsAnother) {
  Tensor to = graph_->constant(Tensor::of({2, 3}), "to");
  Tensor w = graph_->placeholder(float32, {1}, "w");
  Tensor y = reduce_mean(reshape(graph_->constant(six()), to) * w, {.axis = Sizes{0}});
  Tensor dw = gradients_in(graph_->tracer(), {y}, {w})[0].dense;
  Session::Feeds same{{w, Tensor::of({1.0f})}, {to, Tensor::of({2, 3})}},
      other{{w, Tensor::of({1.0f})}, {to, Tensor::of({3, 2})}};
  EXPECT_FLOAT_EQ(session_.run(dw, same).to_vector<float>()[0], 10.5f);
  Diagnostic d = refusal([&] { session_.run(dw, other); });
  EXPECT_EQ(d.code, Code::E0804) << d.headline;
  EXPECT_NE(d.headline.find("`to`"), std::string::npos) << d.headline;
}

TEST_F(FeedTest, ABranchIsWrittenAgainForWhatItsCaptureBecomes) {
  Tensor yes = graph_->placeholder(DType::kBool, {}, "yes");
  Tensor to = graph_->constant(Tensor::of({2, 3}), "to"), x = graph_->constant(six());
  Tensor y = cond(
      yes, [&] { return Tensors{reshape(x, to) * 2.0f}; }, [&] { return Tensors{fill(to, 7.0f)}; },
      {"then", "otherwise"})[0];
  for (bool way : {true, false})
    EXPECT_EQ(session_.run(y, {{yes, Tensor::scalar(way)}, {to, Tensor::of({3, 2})}}).shape(),
              (Shape{3, 2}));
}

TEST_F(FeedTest, ALoopIsWrittenAgainForWhatItBeginsWith) {
  Tensor size = graph_->constant(Tensor::of({2}), "size");
  Tensor x = slice(graph_->constant(six()), {0}, size);
  Tensors out =
      while_loop([](std::span<const Tensor> v) { return Tensors{less(v[0], 3)}; },
                 [&](std::span<const Tensor> v) {
                   return Tensors{v[0] + 1, v[1] + slice(graph_->constant(six()), {0}, size)};
                 },
                 std::vector<Tensor>{graph_->constant(Tensor::scalar(0)), x}, {}, {"test", "body"});
  EXPECT_EQ(session_.run(out[1]).to_vector<float>(), (std::vector<float>{4, 8}));
  EXPECT_EQ(session_.run(out[1], {{size, Tensor::of({3})}}).to_vector<float>(),
            (std::vector<float>{4, 8, 12}));
}

TEST_F(FeedTest, AnAxisThatAPlaceholderGivesIsCheckedByEveryRun) {
  Tensor axis = graph_->placeholder(int32, {1}, "axis");
  Tensor y = reverse(graph_->constant(six()), axis);
  EXPECT_EQ(session_.run(y, {{axis, Tensor::of({0})}}).to_vector<float>()[0], 6);
  for (int bad : {1, -2, 1 << 30})
    EXPECT_EQ(refusal([&] { session_.run(y, {{axis, Tensor::of({bad})}}); }).op, "ReverseV2");
}

class Shelf final : public Resource {
 public:
  static const ResourceKind kKind;
  Shelf() : Resource(kKind) {}
  const ObjectClass& object_class() const override {
    static const ObjectClass kClass{"Shelf"};
    return kClass;
  }
};
const ResourceKind Shelf::kKind{"shelf"};

// Operands that fit whatever `op` says of dtypes, with a handle of another kind where it takes one.
Tensors with_shelf(const OpDef& op) {
  Tensors in;
  for (const InputDef& def : op.inputs) {
    DType d = DType::kBool;
    while (!def.dtypes.has(d)) d = static_cast<DType>(static_cast<int>(d) + 1);
    if (def.resource)
      in.push_back(handle_to(make_ref<Shelf>()));
    else
      in.push_back(def.dtypes.has(DType::kVariant) ? Tensor() : empty(d, Shape{}, cpu()));
  }
  return in;
}

bool takes_handles(const OpDef& op) {
  return std::any_of(op.inputs.begin(), op.inputs.end(),
                     [](const InputDef& def) { return def.dtypes == DTypes{DType::kResource}; });
}

TEST(ResourceTest, EveryOpRefusesAHandleOfAnotherKindByName) {
  int seen = 0;
  for (const OpDef* op : all_ops()) {
    if (!takes_handles(*op)) continue;
    ++seen;
    Attrs attrs;
    for (const AttrDef& a : op->attrs) attrs.push_back(a.default_value);
    Tensors out;
    Diagnostic d = refusal([&] { apply(*op, with_shelf(*op), attrs, out); });
    EXPECT_EQ(d.code, Code::E1101) << op->name << ": " << d.headline;
    EXPECT_NE(d.headline.find("shelf"), std::string::npos) << op->name << ": " << d.headline;
    EXPECT_EQ(d.op, op->name);
  }
  EXPECT_GT(seen, 15);
}

TEST(ResourceTest, AHandleThatOnlyARunWouldKnowIsRefused) {
  auto graph = make_graph("g");
  GraphScope in(graph);
  for (const OpDef* op : all_ops()) {
    if (!takes_handles(*op)) continue;
    Attrs attrs;
    for (const AttrDef& a : op->attrs) attrs.push_back(a.default_value);
    Tensors operands = with_shelf(*op), out;
    for (Tensor& t : operands)
      if (t.defined() && t.dtype() == DType::kResource)
        t = graph->placeholder(DType::kResource, Shape{}, "handle");
    EXPECT_EQ(refusal([&] { apply(*op, operands, attrs, out); }).op, op->name);
  }
}

TEST(ResourceTest, ASymbolOfAVariablesHandleIsTheVariable) {
  auto graph = make_graph("g");
  GraphScope in(graph);
  Variable v = graph->variable(3.0f, {.name = "v"});
  Tensor read = v.read(), handle = graph->tensor(node_of(read)->inputs[0]);
  ASSERT_TRUE(handle.is_symbolic());
  Tensors out;
  apply(*find_op("ReadVariableOp"), {&handle, 1}, {}, out);
  Session session(graph);
  EXPECT_EQ(session.run(out[0]).item<float>(), 3);
}

TEST(ResourceTest, WhatIsNoVariableHasNoStateOfOne) {
  Tensor shelf = handle_to(make_ref<Shelf>());
  EXPECT_EQ(variable_behind(shelf), nullptr);
  EXPECT_EQ(variable_behind(Tensor::scalar(1.0f)), nullptr);
  EXPECT_EQ(refusal([&] { Variable::from_handle(shelf).read(); }).code, Code::E1101);
  EXPECT_EQ(refusal([&] { variable_state(shelf); }).code, Code::E1101);
}

}  // namespace
}  // namespace holdfast
