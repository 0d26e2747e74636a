#include "holdfast/io/inflate.h"

#include <zlib.h>

#include <algorithm>

namespace holdfast::io {

bool inflate_into(Deflated how, std::string_view from, void* to, int64_t count) {
  z_stream z{};
  if (inflateInit2(&z, how == Deflated::kRaw ? -MAX_WBITS : MAX_WBITS) != Z_OK) return false;
  // zlib counts in 32 bits.
  constexpr uint64_t kPiece = 1u << 30;
  uint64_t in = from.size(), out = static_cast<uint64_t>(count);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
  char beyond;  // one more byte than wanted would be seen here
  z.next_out = count ? static_cast<Bytef*>(to) : reinterpret_cast<Bytef*>(&beyond);
  int state = Z_OK;
  while (state == Z_OK) {
    if (z.avail_in == 0) {
      z.avail_in = static_cast<uInt>(std::min(in, kPiece));
      in -= z.avail_in;
    }
    if (z.avail_out == 0) {
      z.avail_out = static_cast<uInt>(std::min(out, kPiece));
      out -= z.avail_out;
      if (z.avail_out == 0) {
        z.next_out = reinterpret_cast<Bytef*>(&beyond);
        z.avail_out = 1;
        state = inflate(&z, Z_NO_FLUSH);
        bool ended = state == Z_STREAM_END && z.avail_out == 1;
        inflateEnd(&z);
        return ended && z.avail_in == 0 && in == 0;
      }
    }
    state = inflate(&z, Z_NO_FLUSH);
  }
  bool whole = state == Z_STREAM_END && z.avail_out == 0 && out == 0 && z.avail_in == 0 && in == 0;
  inflateEnd(&z);
  return whole;
}

}  // namespace holdfast::io
