// Where written bytes go.
#pragma once

#include <functional>
#include <string_view>

namespace holdfast::io {

/// Takes bytes, stretch after stretch.
using Sink = std::function<void(std::string_view)>;

}  // namespace holdfast::io
