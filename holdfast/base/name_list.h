// Names in a message.
#pragma once

#include <string>
#include <vector>

#include "holdfast/base/text.h"

namespace holdfast {

/// "`a`, `b`": what `name` gives for each of a list.
template <class List, class Name>
std::string name_list(const List& list, Name&& name) {
  std::string out;
  for (const auto& one : list) out += cat(out.empty() ? "`" : ", `", name(one), "`");
  return out;
}
inline std::string name_list(const std::vector<std::string>& names) {
  return name_list(names, [](const std::string& name) -> const std::string& { return name; });
}

}  // namespace holdfast
