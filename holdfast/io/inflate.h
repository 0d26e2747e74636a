// What was compressed with zlib.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::io {

/// No deflated byte stands for more than so many: what claims more is no honest file.
inline constexpr int64_t kMostInflated = 1032;

enum class Deflated : uint8_t { kRaw, kWithHeader };

/// Fills `to` with what `from` holds, which must be just so much. Whether it was.
bool inflate_into(Deflated how, std::string_view from, void* to, int64_t count);

/// The bytes deflated, with zlib's header.
std::string deflated(std::string_view bytes);

}  // namespace holdfast::io
