// The checksums that formats carry. (CRC-32, which zip has, is zlib's.)
#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::io {

/// CRC-32C of `bytes` after what `before` is the sum of.
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);
/// As tables and records store it, so that a sum of bytes that hold sums stays a good one.
uint32_t masked_crc32c(uint32_t crc);
/// Bob Jenkins' lookup3, with which HDF5 checks its own records.
uint32_t lookup3(std::string_view bytes);

}  // namespace holdfast::io
