// Programs that fail, each in a file of its own with the text it has to print beside it. They are
// compiled here, as a user's are, and run one after the other.
#include <gtest/gtest.h>
#include <holdfast/exec/session.h>
#include <holdfast/holdfast.h>

#include <fstream>
#include <map>
#include <regex>
#include <sstream>

namespace holdfast {
namespace {

std::map<std::string, void (*)()>& programs() {
  static std::map<std::string, void (*)()> all;
  return all;
}

struct Register {
  Register(const char* name, void (*program)()) { programs()[name] = program; }
};

#define PROGRAM(name)                             \
  void name();                                    \
  const Register registered_##name(#name, &name); \
  void name()

// clang-format off
#include "E0101_argument.cpp"
#include "E0101_escaped.cpp"
#include "E0101_never_called.cpp"
#include "E0101_other_function.cpp"
#include "E0101_read.cpp"
#include "E0103_loop.cpp"
#include "E0104_branch.cpp"
#include "E0109_init_scope.cpp"
#include "E0110_two_graphs.cpp"
#include "E0111_other_graph.cpp"
#include "E0113_loop_body.cpp"
#include "E0201_if.cpp"
#include "E0201_while.cpp"
#include "E0203_graph.cpp"
#include "E0203_item.cpp"
#include "E0203_to_vector.cpp"
#include "E0504_twice.cpp"
#include "E0801_not_fed.cpp"
#include "E0802_closed.cpp"
#include "E0803_finalized.cpp"
#include "E0902_branches.cpp"
#include "E0902_loop.cpp"
#include "E1101_dtypes.cpp"
#include "E1101_read.cpp"
#include "E1101_variable.cpp"
#include "E1102_broadcast.cpp"
#include "E1102_concat.cpp"
#include "E1102_in_function.cpp"
#include "E1102_item.cpp"
#include "E1102_matmul.cpp"
#include "E1103_number.cpp"
#include "E1104_argument.cpp"
#include "E1104_undefined.cpp"
#include "W0502_cut.cpp"
#include "W0502_ended.cpp"
#include "W0502_integer.cpp"
#include "W0502_no_path.cpp"
#include "W0502_unwatched.cpp"
// clang-format on

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
