// Hashes of texts, which are the same on every machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast {

/// FarmHash's fingerprint of 64 bits.
uint64_t farm_fingerprint(std::string_view text);
/// MurmurHash64A, with the seed that TensorFlow has for it.
uint64_t murmur_hash(std::string_view text);
/// SipHash-2-4.
uint64_t sip_hash(std::string_view text, uint64_t key0, uint64_t key1);

}  // namespace holdfast
