// Compiled kernels on disk, under $XDG_CACHE_HOME/holdfast or ~/.cache/holdfast.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::cuda {

uint64_t hash_of(std::string_view text);
/// What was kept for `key`, exactly that key; false if nothing was, or if the file is damaged or
/// not ours.
bool read_cached(const std::string& key, std::string& code);
/// Keeps `code` for `key`, whole or not at all. Returns why it could not, empty on success.
std::string write_cached(const std::string& key, const std::string& code);

}  // namespace holdfast::cuda
