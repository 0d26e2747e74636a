#include "holdfast/ops/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

std::string printed;
void note(bool to_stdout, const std::string& text) {
  printed += (to_stdout ? "out:" : "err:") + text;
}

class Print : public testing::Test {
 protected:
  void SetUp() override {
    printed.clear();
    set_print_sink(note);
  }
  void TearDown() override { set_print_sink(nullptr); }
};

TEST_F(Print, ShowsTextsNumbersTensorsAndVariables) {
  Variable v(Tensor::of({1.f, 2.f}));
  print("v is", v, "at", 3, 0.5);
  EXPECT_EQ(printed, "err:v is [1 2] at 3 0.5\n");
  printed.clear();
  print({.output_stream = "stdout", .summarize = 2, .sep = "|", .end = "!"}, range(10), true);
  EXPECT_EQ(printed, "out:[0 1 ... 8 9]|true!");
}

TEST_F(Print, UsesFewDigitsWhereTheySayItExactly) {
  print(Tensor::of({1.5f, 1e10f, NAN, -INFINITY, 1.f / 3, -0.f}));
  EXPECT_EQ(printed, "err:[1.5 1e+10 nan -inf 0.333333343 -0]\n");
  printed.clear();
  print(zeros({2, 2, 2}));
  EXPECT_EQ(printed, "err:[[[0 0]\n  [0 0]]\n\n [[0 0]\n  [0 0]]]\n");
}

TEST_F(Print, ATextMayLookLikeAPlaceholder) {
  print("{}", Tensor::scalar(1), "{_}", "{", "}");
  EXPECT_EQ(printed, "err:{} 1 {_} { }\n");
}

TEST_F(Print, ATracedPrintRunsInItsPlaceAtEachCall) {
  auto f = function([](Tensor x) {
    print("before", x);
    Tensor y = x + 1;
    print("after", y);
    return y;
  });
  f(Tensor::scalar(1));
  f(Tensor::scalar(5));
  EXPECT_EQ(printed, "err:before 1\nerr:after 2\nerr:before 5\nerr:after 6\n");
}

TEST_F(Print, AddsToAFileAndRefusesOtherStreams) {
  auto path = std::filesystem::temp_directory_path() / "holdfast_print_test";
  std::filesystem::remove(path);
  for (int i : {1, 2}) print({.output_stream = "file://" + path.string()}, "line", i);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "line 1\nline 2\n");
  std::filesystem::remove(path);
  for (const char* bad : {"nowhere", "file://", "file:///no/such/folder/x"}) {
    try {
      print({.output_stream = bad}, "x");
      ADD_FAILURE() << "no error came for " << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::E1103);
      EXPECT_NE(std::string(e.what()).find("print_test.cpp"), std::string::npos) << e.what();
    }
  }
}

TEST_F(Print, ATensorsTextIsThatOfNumPy) {
  EXPECT_EQ(Tensor::of({1.f, 2.5f}).text(), "[1.  2.5]");
  EXPECT_EQ(constant({{1.0, 2.0}, {3.0, 40.0}}).text(), "[[ 1.  2.]\n [ 3. 40.]]");
  EXPECT_EQ(Tensor::of({1.0, 1.5e10}).text(), "[1.0e+00 1.5e+10]");
  EXPECT_EQ(Tensor::of({1e-5f}).text(), "[1.e-05]");
  EXPECT_EQ(Tensor::of({NAN, 1.25f, -1.f}).text(), "[  nan  1.25 -1.  ]");
  EXPECT_EQ(Tensor::scalar(0.1f).text(), "0.1");
  EXPECT_EQ(Tensor::scalar(1e16).text(), "1e+16");
  EXPECT_EQ(cast(Tensor::scalar(0.1f), float16).text(), "0.1");
  EXPECT_EQ(Tensor::of({1, -20}).text(), "[  1 -20]");
}

}  // namespace
}  // namespace holdfast
