// Files by patterns.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "holdfast/base/api.h"

namespace holdfast::io {

/// The names that patterns as a shell has them (`*`, `?`, `[ab]`) stand for, sorted.
HOLDFAST_API std::vector<std::string> matching(std::span<const std::string> patterns);

}  // namespace holdfast::io
