// What values look like in print.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include <iomanip>
#include <sstream>

namespace holdfast {
namespace {

template <class T>
std::string printed(const T& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

TEST(Printing, ShowsTheElementsOfATensor) {
  EXPECT_EQ(printed(constant({{1, 2}, {3, 40}})), "[[ 1  2]\n [ 3 40]]");
  EXPECT_EQ(printed(constant(2.5)), "2.5");
  EXPECT_EQ(to_string(constant({true, false})), printed(constant({true, false})));
  EXPECT_EQ(printed(zeros({0})), "[]");
}

TEST(Printing, ShowsShapesAndDtypes) {
  EXPECT_EQ(printed(Shape{2, -1}), "[2,?]");
  EXPECT_EQ(printed(Shape::unknown()), Shape::unknown().text());
  EXPECT_EQ(printed(float32), "float32");
  EXPECT_EQ(printed(DType::kInvalid), name(DType::kInvalid));
}

TEST(Printing, OfAVariableIsNotARead) {
  Variable v(constant({1.f, 2.f}), {.name = "w"});
  GradientTape tape;
  EXPECT_EQ(printed(v), "Variable `" + v.name() + "`, float32[2]: [1. 2.]");
  EXPECT_TRUE(tape.watched_variables().empty());
}

struct Pair : Module {
  Pair() : Module("pair") {}
  Variable a = variable("a", zeros({2})), b = variable("b", constant(1), {.trainable = false});
};

TEST(Printing, OfAModuleNamesItsVariables) {
  Pair pair;
  EXPECT_EQ(printed(pair), "Module `pair` with 2 variables\n  " + pair.a.name() +
                               "  float32[2]\n  " + pair.b.name() + "  int32[]  not trainable");
  EXPECT_EQ(printed(Module(pair)), printed(pair));
}

TEST(Printing, OfNothingIsNoFault) {
  EXPECT_EQ(printed(Tensor()), "a Tensor that refers to nothing");
  EXPECT_EQ(printed(Variable()), "a Variable that refers to nothing");
}

TEST(Printing, OfASymbolSaysWhoWillComputeIt) {
  std::string seen;
  auto f = function([&](const Tensor& x) {
    seen = printed(x + 1.f);
    return x;
  });
  f(zeros({3}));
  EXPECT_NE(seen.find("float32[3] that `"), std::string::npos) << seen;
  EXPECT_NE(seen.find("will compute"), std::string::npos) << seen;
}

TEST(Printing, KeepsWidthsAndLeavesOtherTypesAlone) {
  std::ostringstream out;
  out << std::setw(6) << constant(1) << '|' << 5 << float64;
  EXPECT_EQ(out.str(), "     1|5float64");
  auto streams = []<class T>(const T&) {
    return requires(std::ostream& o, const T& x) { o << x; };
  };
  EXPECT_FALSE(streams(std::vector<int>()));
  EXPECT_EQ(testing::PrintToString(constant({1, 2})), "[1 2]");
}

}  // namespace
}  // namespace holdfast
