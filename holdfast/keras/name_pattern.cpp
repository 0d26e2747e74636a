#include "holdfast/keras/name_pattern.h"

#include <regex>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast::keras {

namespace {
struct Compiled : RefCounted {
  std::regex expression;
};
const std::regex& expression(const Ref<RefCounted>& compiled) {
  return static_cast<const Compiled&>(*compiled).expression;
}
}  // namespace

NamePattern::NamePattern(const std::string& pattern, const std::string& what) {
  auto compiled = make_ref<Compiled>();
  try {
    compiled->expression = std::regex(pattern);
  } catch (const std::regex_error& e) {
    fail(Code::E1104, cat(what, " has \"", pattern, "\", which is no pattern"), e.what());
  }
  compiled_ = compiled;
}

bool NamePattern::is_in(const std::string& name) const {
  return std::regex_search(name, expression(compiled_));
}
bool NamePattern::begins(const std::string& name) const {
  return std::regex_search(name, expression(compiled_), std::regex_constants::match_continuous);
}

}  // namespace holdfast::keras
