#include "holdfast/io/inflate.h"

#include <zlib.h>

#include <algorithm>

#include "holdfast/base/diagnostic.h"

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

std::string deflated(std::string_view bytes) {
  auto size = static_cast<uLong>(bytes.size());
  uLong room = compressBound(size);
  std::string out(room, '\0');
  int state = compress2(reinterpret_cast<Bytef*>(out.data()), &room,
                        reinterpret_cast<const Bytef*>(bytes.data()), size, Z_DEFAULT_COMPRESSION);
  if (state != Z_OK) fail(Code::E0702, "zlib has no memory to deflate what is to be written");
  out.resize(room);
  return out;
}

}  // namespace holdfast::io
