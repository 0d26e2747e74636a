// The lists that features of TensorFlow's examples hold, and the maps that name them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/api.h"
#include "holdfast/base/wire.h"

namespace holdfast::io {

// A list is field 1, many times or packed. What it holds is added to `to`; false where it is none.
HOLDFAST_API bool read_list(std::string_view list, std::vector<std::string>& to);
HOLDFAST_API bool read_list(std::string_view list, std::vector<float>& to);
HOLDFAST_API bool read_list(std::string_view list, std::vector<int64_t>& to);
HOLDFAST_API std::string written_list(const std::vector<std::string>& values);
HOLDFAST_API std::string written_list(const std::vector<float>& values);
HOLDFAST_API std::string written_list(const std::vector<int64_t>& values);

/// Which list a feature's message holds: 1 texts, 2 floats, 3 integers, 0 none; -1 where it is no
/// such message. `list` becomes the list's message.
HOLDFAST_API int kind_of_feature(std::string_view feature, std::string_view& list);

/// Calls `f(bytes)` for each field of that number; false where the message is damaged, or a field
/// is of another kind than bytes, or `f` says so.
template <class F>
bool each_of(std::string_view message, int field, F&& f) {
  WireReader in(message);
  for (WireField found; in.next(found);)
    if (found.number == field && (found.kind != 2 || !f(found.bytes))) return false;
  return in.good();
}

/// Calls `f(key, value)` for each entry of a map's message, and is false likewise.
template <class F>
bool each_entry(std::string_view map, F&& f) {
  return each_of(map, 1, [&](std::string_view entry) {
    std::string_view both[2];
    WireReader in(entry);
    for (WireField found; in.next(found);) {
      if (found.number > 2) continue;
      if (found.kind != 2) return false;
      both[found.number - 1] = found.bytes;
    }
    return in.good() && f(both[0], both[1]);
  });
}

}  // namespace holdfast::io
