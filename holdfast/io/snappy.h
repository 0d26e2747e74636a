// What was compressed with Snappy.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::io {

/// The bytes that `from` stands for; nothing if it is not in Snappy's format.
std::optional<std::string> unsnappied(std::string_view from);

}  // namespace holdfast::io
