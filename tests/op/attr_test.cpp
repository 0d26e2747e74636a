// Attributes by name and type: registration refuses a struct that is not what the op declares.
#include "holdfast/op/attr.h"

#include <gtest/gtest.h>

#include "../refused.h"
#include "holdfast/op/op.h"

namespace holdfast {
namespace {

struct AxisAttrs {
  Attr<int64_t> axis;
};
struct TwoAttrs {
  Attr<int64_t> axis;
  Attr<bool> keep_dims;
};
struct WordAttrs {
  Attr<std::string> template_;
};

// What registering ends in; a test's op must not stay behind, so all of these are refused.
std::string refusal(Builder& b) {
  try {
    static_cast<void>(static_cast<Op>(b));
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::E1599);
    return e.diagnostic().headline;
  }
  return "registered";
}

TEST(AttrTest, AFieldOfAnotherNameIsRefused) {
  std::string said =
      refusal(RAW_OP(TestNames).inputs("x").attr("dim", 0).attrs<&AxisAttrs::axis>());
  for (const char* part : {"TestNames", "`axis`", "`dim`"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST(AttrTest, AFieldOfAnotherTypeIsRefused) {
  std::string said =
      refusal(RAW_OP(TestTypes).inputs("x").attr("axis", "last").attrs<&AxisAttrs::axis>());
  EXPECT_NE(said.find("TestTypes"), std::string::npos) << said;
  EXPECT_NE(said.find("last"), std::string::npos) << said;
}

TEST(AttrTest, AnotherOrderAndFieldsWithoutAttributesAreRefused) {
  EXPECT_NE(refusal(RAW_OP(TestOrder)
                        .inputs("x")
                        .attr("keep_dims", false)
                        .attr("axis", 0)
                        .attrs<&TwoAttrs::axis, &TwoAttrs::keep_dims>()),
            "registered");
  EXPECT_NE(refusal(RAW_OP(TestNumber)
                        .inputs("x")
                        .attr("axis", 0)
                        .attrs<&TwoAttrs::axis, &TwoAttrs::keep_dims>()),
            "registered");
}

TEST(AttrTest, NamesAreThoseOfTheFields) {
  EXPECT_EQ(detail::field_name<&TwoAttrs::keep_dims>(), "keep_dims");
  EXPECT_EQ(detail::field_name<&WordAttrs::template_>(), "template");
}

TEST(AttrTest, FieldsReadTheAttributesInTheirPlaces) {
  Attrs attrs{Arg(int64_t{3}), Arg(true)};
  auto a = detail::attrs_at<TwoAttrs>(attrs.data());
  EXPECT_EQ(a.axis(), 3);
  EXPECT_TRUE(a.keep_dims());
  EXPECT_EQ(&a.keep_dims.arg(), &attrs[1]);
}

TEST(AttrTest, AStructThatTheOpDidNotSayIsRefused) {
  const OpDef& pack = *find_op("Pack");
  EXPECT_FALSE(has_attrs<AxisAttrs>(pack));
  EXPECT_EQ(refused([&] { attrs_of<AxisAttrs>(pack, Attrs{Arg(int64_t{0})}); }), Code::E1599);
  EXPECT_EQ(pack.attr(Attrs{Arg(int64_t{2})}, "axis").i(), 2);
  EXPECT_EQ(refused([&] { pack.attr(Attrs{Arg(int64_t{2})}, "dim"); }), Code::E1599);
}

TEST(AttrTest, EveryOpWithAttributesThatItsRulesReadHasAStruct) {
  // Ops whose attributes nobody reads by name: what TensorFlow has, and has no meaning here.
  int with = 0;
  for (const OpDef* op : all_ops()) with += !op->attr_structs.empty();
  EXPECT_GT(with, 150);
}

// Something that is no graph, no spec of a dataset, no expression.
class Stone final : public RefCounted {};

TEST(AttrTest, AnObjectOfAnotherKindIsRefusedNotTrusted) {
  for (const char* name : {"If", "StatelessIf", "While", "StatelessWhile", "Fused", "Deferred",
                           "IteratorGetNext", "DatasetLoopElement"}) {
    const OpDef& op = *find_op(name);
    Attrs attrs;
    for (size_t i = 0; i < op.attrs.size(); ++i)
      attrs.push_back(Arg(Ref<RefCounted>(make_ref<Stone>())));
    Tensors in{Tensor::scalar(true)};
    Infer infer(op, in, attrs);
    EXPECT_EQ(refused([&] { op.infer(infer); }), Code::E1104) << name;
  }
}

}  // namespace
}  // namespace holdfast
