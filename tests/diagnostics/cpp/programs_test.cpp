// Runs the programs that fail, and compares what they say with the text beside them.
#include "programs.h"

#include <fstream>
#include <regex>
#include <sstream>

namespace holdfast {
namespace {

std::string warnings;

// What the program printed and what it ended with; paths are those of no machine.
std::string outcome(const std::string& name) {
  warnings.clear();
  set_warning_sink([](const Diagnostic&, const std::string& text) { warnings += text; });
  std::string text;
  try {
    programs()[name]();
  } catch (const Error& e) {
    text = e.what();
  }
  set_warning_sink(nullptr);
  text = warnings + text;
  text = std::regex_replace(text, std::regex("[^ \n]*/(" + name + "\\.cpp)"), "$1");
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

class Programs : public ::testing::TestWithParam<std::string> {};

TEST_P(Programs, SayWhatIsWrong) {
  const std::string path =
      std::string(HOLDFAST_TEST_DIR) + "/diagnostics/cpp/" + GetParam() + ".txt";
  std::string said = outcome(GetParam());
  if (std::getenv("HOLDFAST_WRITE_TEXTS")) std::ofstream(path) << said;
  EXPECT_EQ(said, read(path));
  EXPECT_NE(said.find("[" + GetParam().substr(0, 5) + "]"), std::string::npos) << said;
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& [name, program] : programs()) out.push_back(name);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Cpp, Programs, ::testing::ValuesIn(names()),
                         [](const auto& given) { return given.param; });

}  // namespace
}  // namespace holdfast
