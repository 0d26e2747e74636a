// Bytes of a binary format, put one after the other. Numbers are little-endian.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::io {

class Put {
 public:
  Put& number(uint64_t v, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) out_ += static_cast<char>(v >> (8 * i));
    return *this;
  }
  Put& u8(uint8_t v) { return number(v, 1); }
  Put& u16(uint16_t v) { return number(v, 2); }
  Put& u32(uint32_t v) { return number(v, 4); }
  Put& u64(uint64_t v) { return number(v, 8); }
  Put& place(int64_t v) { return u64(static_cast<uint64_t>(v)); }
  Put& bytes(std::string_view v) {
    out_ += v;
    return *this;
  }
  Put& zeros(size_t count) {
    out_.append(count, '\0');
    return *this;
  }
  /// Zeros until eight divides the length.
  Put& align() { return zeros((8 - out_.size() % 8) % 8); }
  /// A name, its zero byte, and zeros until eight divides the length of both.
  Put& padded(std::string_view name) { return bytes(name).zeros(8 - name.size() % 8); }
  Put& varint(uint64_t v) {
    for (; v >= 128; v >>= 7) out_ += static_cast<char>(v | 128);
    out_ += static_cast<char>(v);
    return *this;
  }
  size_t size() const { return out_.size(); }
  const std::string& text() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace holdfast::io
