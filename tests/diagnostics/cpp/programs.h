// Programs that fail, each in a file of its own with the text it has to print beside it. They are
// compiled here, as a user's are, and run one after the other by programs_test.cpp.
#pragma once

#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include <map>
#include <string>

namespace holdfast {

inline std::map<std::string, void (*)()>& programs() {
  static std::map<std::string, void (*)()> by_name;
  return by_name;
}

struct RegisterProgram {
  RegisterProgram(const char* name, void (*program)()) { programs()[name] = program; }
};

}  // namespace holdfast

#define PROGRAM(name)                                    \
  void name();                                           \
  const RegisterProgram registered_##name(#name, &name); \
  void name()
