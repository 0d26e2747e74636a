// Files that are read from front to back, also compressed ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "holdfast/base/api.h"
#include "holdfast/base/owned.h"

namespace holdfast::io {

enum class Compression : uint8_t { kNone, kZlib, kGzip };

/// "", "ZLIB" or "GZIP"; anything else is refused.
HOLDFAST_API Compression compression_named(std::string_view name);

/// Bytes of a file in order, decompressed on the way. Memory grows with what the file has, never
/// with what it claims to have.
class HOLDFAST_API Stream {
 public:
  /// `buffer_bytes` are read at a time; 0: as many as suit.
  Stream(const std::string& path, Compression how, int64_t buffer_bytes = 0);
  ~Stream();
  Stream(const Stream&) = delete;

  /// The next bytes, which stay where they are: `count` of them, fewer where the file ends. Valid
  /// until the next call.
  std::string_view look(size_t count);
  /// The next bytes up to `stop`, without it; all that are left where it does not come.
  std::string_view look_until(char stop);
  /// Goes past bytes that were looked at.
  void skip(size_t count);
  /// Goes on behind so many bytes from the start. Whether there are as many.
  bool seek(int64_t to);
  /// How many bytes lie before, after decompression.
  int64_t at() const { return at_; }
  const std::string& path() const;
  /// Of the file as it is on the disk.
  int64_t file_size() const;

 private:
  class Source;
  bool fill();

  Owned<Source> source_;
  std::string buffer_;
  size_t begin_ = 0, end_ = 0;  // what of the buffer is still to be taken
  size_t piece_;
  int64_t at_ = 0;
  bool ended_ = false;
};

}  // namespace holdfast::io
