// Passes, as text files: tests/passes/<pass>/<promise>.txt holds a graph, a line of dashes, and the
// graph after the pass and drop_dead. With HOLDFAST_BLESS set, the second half is written anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "holdfast/base/diagnostic.h"
#include "holdfast/graph/text.h"
#include "holdfast/graph/verify.h"
#include "holdfast/passes/passes.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;
constexpr const char* kBorder = "----\n";

std::vector<fs::path> files() {
  std::vector<fs::path> out;
  for (const auto& e : fs::recursive_directory_iterator(HOLDFAST_TEST_DIR "/passes"))
    if (e.path().extension() == ".txt") out.push_back(e.path());
  std::sort(out.begin(), out.end());
  return out;
}

const Pass* pass_named(const std::string& name) {
  for (const Pass& p : all_passes())
    if (name == p.name) return &p;
  return nullptr;
}

class PassFile : public testing::TestWithParam<fs::path> {};

TEST_P(PassFile, GivesTheGraphAfter) {
  std::stringstream content;
  content << std::ifstream(GetParam()).rdbuf();
  std::string text = content.str();
  size_t border = text.find(kBorder);
  ASSERT_NE(border, std::string::npos) << "no line of dashes";
  std::string before = text.substr(0, border),
              after = text.substr(border + std::string(kBorder).size());
  const Pass* pass = pass_named(GetParam().parent_path().filename());
  ASSERT_TRUE(pass) << "the folder is not named after a pass";

  Ref<Graph> g = parse_graph(before);
  verify(*g, "as it stands in the file");
  std::string given = to_text(*g);
  bool changed = pass->run(*g);
  verify(*g, "after the pass");
  EXPECT_EQ(changed, to_text(*g) != given) << "the pass did not say whether it changed the graph";
  drop_dead(*g);
  verify(*g, "after drop_dead");
  if (std::getenv("HOLDFAST_BLESS"))
    std::ofstream(GetParam()) << before << kBorder << to_text(*g);
  else
    EXPECT_EQ(to_text(*g), after);
  EXPECT_FALSE(pass->run(*g)) << "the pass finds more to do in what it made";
}

INSTANTIATE_TEST_SUITE_P(Files, PassFile, testing::ValuesIn(files()), [](const auto& each) {
  std::string name =
      each.param.parent_path().filename().string() + "_" + each.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return name;
});

TEST(Passes, EachHasAFile) {
  for (const Pass& p : all_passes()) {
    fs::path folder = fs::path(HOLDFAST_TEST_DIR "/passes") / p.name;
    EXPECT_TRUE(fs::exists(folder) && !fs::is_empty(folder)) << p.name;
  }
}

TEST(Passes, OfANameThatNoneHasAreRefused) {
  try {
    set_passes("fold,cs");
    FAIL() << "accepted";
  } catch (const InvalidArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("`cs`"), std::string::npos);
  }
}

TEST(Passes, AreRecordedWhereTheyChangedSomething) {
  Ref<Graph> g = parse_graph(
      "holdfast graph 1\nfunction f(x) {\n  x = Placeholder() : float32[2]\n  n = Neg(x) : "
      "float32[2]\n"
      "  m = Neg(n) : float32[2]\n  y = Abs(m) : float32[2]\n  return y\n}\n");
  record_passes(true);
  Ref<Graph> out = optimised(*g);
  record_passes(false);
  std::vector<std::string> names;
  for (const PassRecord& r : take_pass_records()) names.push_back(r.pass);
  EXPECT_EQ(names, (std::vector<std::string>{"", "simplify", "drop_dead"}));
  EXPECT_EQ(out->nodes.size(), 2u);
}

}  // namespace
}  // namespace holdfast
