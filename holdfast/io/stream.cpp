#include "holdfast/io/stream.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/io/input_file.h"
#include "holdfast/io/refuse_file.h"

namespace holdfast::io {

Compression compression_named(std::string_view name) {
  if (name.empty()) return Compression::kNone;
  if (name == "ZLIB") return Compression::kZlib;
  if (name == "GZIP") return Compression::kGzip;
  fail(Code::E1103, cat("the compression is \"", name, "\", expected \"\", \"ZLIB\" or \"GZIP\""));
}

/// Gives a file's bytes piece by piece.
class Stream::Source {
 public:
  Source(const std::string& path, Compression how) : file(path) {
    if (how == Compression::kNone) return;
    inflating_ = true;
    // 16 more: a header of gzip's.
    if (inflateInit2(&z_, MAX_WBITS + (how == Compression::kGzip ? 16 : 0)) != Z_OK)
      refuse_contents(path, "zlib has no memory to decompress it");
  }
  ~Source() {
    if (inflating_) inflateEnd(&z_);
  }
  Source(const Source&) = delete;

  bool seekable() const { return !inflating_; }
  void seek(int64_t to) { place_ = to; }
  /// Begins again.
  void rewind() {
    place_ = 0;
    if (!inflating_) return;
    inflateReset(&z_);
    z_.avail_in = 0;
    whole_ = false;
  }
  size_t read(char* to, size_t count) {
    return inflating_ ? inflated(to, count) : plain(to, count);
  }

  const InputFile file;

 private:
  size_t plain(char* to, size_t count) {
    auto left = static_cast<size_t>(std::max<int64_t>(file.size() - place_, 0));
    count = std::min(count, left);
    file.read(place_, to, count);
    place_ += static_cast<int64_t>(count);
    return count;
  }

  size_t inflated(char* to, size_t count) {
    constexpr size_t kIn = 1u << 16;
    count = std::min<size_t>(count, 1u << 30);  // zlib counts in 32 bits
    z_.next_out = reinterpret_cast<Bytef*>(to);
    z_.avail_out = static_cast<uInt>(count);
    while (z_.avail_out == count) {
      if (z_.avail_in == 0) {
        packed_.resize(kIn);
        size_t n = plain(packed_.data(), kIn);
        if (n == 0) {
          if (!whole_ && file.size() > 0)
            damaged_contents(file.path(), "its compressed bytes end too early");
          return 0;
        }
        z_.next_in = reinterpret_cast<Bytef*>(packed_.data());
        z_.avail_in = static_cast<uInt>(n);
      }
      if (whole_) {  // files that were put together: one more of them
        inflateReset(&z_);
        whole_ = false;
      }
      int state = inflate(&z_, Z_NO_FLUSH);
      if (state == Z_STREAM_END)
        whole_ = true;
      else if (state != Z_OK && state != Z_BUF_ERROR)
        damaged_contents(file.path(),
                         cat("its compressed bytes are not what zlib writes, before byte ", place_,
                             ": ", z_.msg ? z_.msg : "unknown"));
    }
    return count - z_.avail_out;
  }

  int64_t place_ = 0;
  bool inflating_ = false, whole_ = false;
  z_stream z_{};
  std::string packed_;
};

namespace {
constexpr size_t kPiece = 256u << 10;
}

Stream::Stream(const std::string& path, Compression how, int64_t buffer_bytes)
    : source_(make_owned<Source>(path, how)),
      piece_(buffer_bytes > 0 ? static_cast<size_t>(std::clamp<int64_t>(buffer_bytes, 64, 1 << 28))
                              : kPiece) {}
Stream::~Stream() = default;

const std::string& Stream::path() const { return source_->file.path(); }
int64_t Stream::file_size() const { return source_->file.size(); }

bool Stream::fill() {
  if (ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < piece_) buffer_.resize(std::max(end_ + piece_, end_ * 2));
  size_t n = source_->read(buffer_.data() + end_, piece_);
  end_ += n;
  ended_ = n == 0;
  return !ended_;
}

std::string_view Stream::look(size_t count) {
  while (end_ - begin_ < count && fill()) {
  }
  return {buffer_.data() + begin_, std::min(count, end_ - begin_)};
}

std::string_view Stream::look_until(char stop) {
  size_t seen = 0;
  do {
    std::string_view all(buffer_.data() + begin_, end_ - begin_);
    if (size_t found = all.find(stop, seen); found != all.npos) return all.substr(0, found);
    seen = all.size();
  } while (fill());
  return {buffer_.data() + begin_, end_ - begin_};
}

void Stream::skip(size_t count) {
  begin_ += count;
  at_ += static_cast<int64_t>(count);
}

bool Stream::seek(int64_t to) {
  if (to < at_ || source_->seekable()) {
    begin_ = end_ = 0;
    at_ = 0;
    ended_ = false;
    source_->rewind();
  }
  if (source_->seekable()) {
    if (to > source_->file.size()) return false;
    source_->seek(to);
    at_ = to;
    return true;
  }
  while (at_ < to) {
    size_t n = look(static_cast<size_t>(std::min<int64_t>(to - at_, kPiece))).size();
    if (n == 0) return false;
    skip(n);
  }
  return true;
}

}  // namespace holdfast::io
