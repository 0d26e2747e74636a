// What is said of a file that cannot be read or written.
#pragma once

#include <string>

namespace holdfast::io {

/// Refuses a path that no file can have.
void check_path(const std::string& path);
/// "`a.safetensors` could not be opened", and why: the reason that `errno` has. E1304 where nothing
/// is there.
[[noreturn]] void refuse_file(const std::string& path, const char* what_failed);
/// Likewise, with a reason of our own.
[[noreturn]] void refuse_file(const std::string& path, const std::string& reason);
/// Likewise, with a reason that may be long, which stands below.
[[noreturn]] void refuse_contents(const std::string& path, const std::string& why);
[[noreturn]] void damaged_contents(const std::string& path, const std::string& why);
/// "`a.safetensors` is damaged: its header is not UTF-8".
[[noreturn]] void refuse_damaged(const std::string& path, const std::string& how);

}  // namespace holdfast::io
