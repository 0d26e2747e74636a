// Prefixes for the names of variables and ops.
#pragma once

#include <string>

#include "holdfast/op/context.h"

namespace holdfast {

/// Names given in its lifetime begin with `name/`, inside the scope around it. A name that ends
/// with a slash is the whole prefix; an empty one means none. In a graph a name that is taken gets
/// a number.
class HOLDFAST_API NameScope {
 public:
  explicit NameScope(const std::string& name);
  ~NameScope();
  NameScope(const NameScope&) = delete;

  /// The whole prefix, with its slash.
  const std::string& name() const { return name_; }

 private:
  std::string name_, was_;
};

/// The prefix in force, without its last slash.
HOLDFAST_API std::string current_name_scope();
/// The prefix that a scope of this name would have here.
HOLDFAST_API std::string name_scope_prefix(const std::string& name);

}  // namespace holdfast
