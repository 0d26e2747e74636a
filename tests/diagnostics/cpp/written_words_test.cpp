// What the program wrote is what messages call it: lists, methods, fetches, conditions.
#include <gtest/gtest.h>
#include <holdfast/exec/session.h>
#include <holdfast/holdfast.h>

#include "holdfast/op/written_call.h"

namespace holdfast {
namespace {

template <class F>
std::string headline(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.diagnostic().headline;
  }
  return "nothing was refused";
}
#define SAYS(text, words) EXPECT_NE((text).find(words), std::string::npos) << (text)

TEST(WrittenWords, OfLists) {
  EXPECT_EQ(written_element("{a, f(b, c), d[0]}", 1), "f(b, c)");
  EXPECT_EQ(written_element("{a}", 0), "a");
  EXPECT_EQ(written_element("{a}", 1), "");
  EXPECT_EQ(written_element("parts", 2), "parts[2]");
  EXPECT_EQ(written_element("net.parts", 0), "net.parts[0]");
  EXPECT_EQ(written_element("f(x)", 0), "");
  EXPECT_EQ(written_element("", 0), "");
  EXPECT_EQ(written_element("{a, {b", 0), "");
}

TEST(WrittenWords, OfConditions) {
  EXPECT_EQ(written_truth("    if (a > b) {"), "a > b");
  EXPECT_EQ(written_truth("} else if (f(a, b) > 0) {"), "f(a, b) > 0");
  EXPECT_EQ(written_truth("while (reduce_max(x) > 0) x = x - 1;"), "reduce_max(x) > 0");
  EXPECT_EQ(written_truth("  return x > 0 ? x : -x;"), "x > 0");
  EXPECT_EQ(written_truth("Tensor y = x > 0 ? x : -x;"), "x > 0");
  EXPECT_EQ(written_truth("f(x > 0 ? x : y);"), "");
  EXPECT_EQ(written_truth("if (a > b && c > d)"), "") << "which of them is not known";
  EXPECT_EQ(written_truth("if (!(a > b))"), "");
  EXPECT_EQ(written_truth("if (a) if (b)"), "");
  EXPECT_EQ(written_truth("if (a > b ||"), "");
  EXPECT_EQ(written_truth("if (Tensor t = x > 0; n > 1)"), "");
  EXPECT_EQ(written_truth("?"), "");
  EXPECT_EQ(written_truth(""), "");
  EXPECT_EQ(written_truth("bool more = static_cast<bool>(a > b);"), "a > b");
}

TEST(WrittenWords, OfFlags) {
  EXPECT_EQ(written_name("  Tensor more = a > b;"), "more");
  EXPECT_EQ(written_name("auto done = reduce_all(x > 3);"), "done");
  EXPECT_EQ(written_name("    done = reduce_all(y > 3);"), "done");
  EXPECT_EQ(written_name("const Tensor& more = f(a);"), "more");
  EXPECT_EQ(written_name("net.more = a > b;"), "");
  EXPECT_EQ(written_name("flags[0] = a > b;"), "");
  EXPECT_EQ(written_name("Tensor a = x > 0, b = x < 5;"), "") << "which of them is not known";
  EXPECT_EQ(written_name("return a > b;"), "");
  EXPECT_TRUE(asks_truth_of("  if (more) return x;", "more"));
  EXPECT_TRUE(asks_truth_of("while (!done) {", "done"));
  EXPECT_TRUE(asks_truth_of("return more ? a : b;", "more"));
  EXPECT_TRUE(asks_truth_of("bool both = more && other;", "more"));
  EXPECT_FALSE(asks_truth_of("if (n > 1) y = more;", "mor"));
  EXPECT_FALSE(asks_truth_of("if (more.defined()) {", "more"));
  EXPECT_FALSE(asks_truth_of("y = more + 1;", "more"));
  EXPECT_FALSE(asks_truth_of("", "more"));
}

// The calls stand on lines without quotes: lines with texts in them are left alone.
TEST(WrittenWords, StandInMessages) {
  Tensor first = ones({2}), second = ones({3});
  std::vector<Tensor> parts{first, second};
  Variable v(ones({2}));
  std::string said[] = {
      headline([&] { stack({first, second}); }),
      headline([&] { add_n({first, second}); }),
      headline([&] { v.assign(second); }),
      headline([&] { v.assign_add(second); }),
  };
  for (const std::string& each : said) SAYS(each, "`second` is float32[3]");
  std::string of_list = headline([&] { stack(parts); });
  SAYS(of_list, "`parts[1]` is float32[3]");
  std::string of_product = headline([&] { matmul(first, second); });
  SAYS(of_product, "`first` is float32[2]");
  std::string of_call = headline([&] { concat({first, reshape(second, {3, 1})}, 0); });
  SAYS(of_call, "`reshape(second, {3, 1})`");
}

TEST(WrittenWords, OfFetches) {
  auto graph = make_graph("g");
  Tensor x, doubled;
  {
    GraphScope in(graph);
    x = graph->placeholder(float32, {2}, "x");
    doubled = x * 2;
  }
  Session session(graph);
  std::string said[] = {
      headline([&] { session.run(doubled); }),
      headline([&] { session.run({doubled}); }),
  };
  for (const std::string& each : said) SAYS(each, "and `doubled` needs it");
}

}  // namespace
}  // namespace holdfast
