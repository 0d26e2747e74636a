// Patterns of names, as users write them: regular expressions. Reading <regex> costs a file
// seconds, so one file does.
#pragma once

#include <string>
#include <vector>

#include "holdfast/base/refcount.h"

namespace holdfast::keras {

/// A pattern. Copies are the same one.
class NamePattern {
 public:
  /// What is no pattern is refused; `what` says whose it is.
  NamePattern(const std::string& pattern, const std::string& what);
  /// Whether it is found anywhere in a name.
  bool is_in(const std::string& name) const;
  /// Whether a name begins with it.
  bool begins(const std::string& name) const;

 private:
  Ref<RefCounted> compiled_;  // a regular expression
};

}  // namespace holdfast::keras
