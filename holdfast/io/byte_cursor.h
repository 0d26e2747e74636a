// Numbers of a binary format, one after the other.
#pragma once

#include <string>
#include <string_view>

#include "holdfast/base/text.h"
#include "holdfast/io/byte_source.h"

namespace holdfast::io {

/// A stretch of bytes that is read from front to back. Numbers are little-endian. What goes beyond
/// the end is damage, told with what the stretch is.
class ByteCursor {
 public:
  /// `what` names the stretch in messages, as in "the object header at 96".
  ByteCursor(const ByteSource& source, std::string_view bytes, std::string_view what)
      : source_(&source), bytes_(bytes), what_(what) {}

  size_t left() const { return bytes_.size() - at_; }
  size_t at() const { return at_; }
  std::string_view take(size_t count) {
    if (count > left()) too_short();
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  void skip(size_t count) { take(count); }
  uint64_t number(size_t bytes) {
    uint64_t out = 0;
    std::string_view raw = take(bytes);
    for (size_t i = bytes; i-- > 0;) out = out << 8 | static_cast<unsigned char>(raw[i]);
    return out;
  }
  uint8_t u8() { return static_cast<uint8_t>(number(1)); }
  uint16_t u16() { return static_cast<uint16_t>(number(2)); }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  uint64_t u64() { return number(8); }
  /// A number that must be below 2^63, as every size and place is.
  int64_t size(size_t bytes = 8) {
    uint64_t out = number(bytes);
    if (out >> 63) source_->damaged(cat(what_, " holds the size ", out));
    return static_cast<int64_t>(out);
  }
  /// Seven bits a byte, the last one without the eighth.
  uint64_t varint() {
    uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      uint64_t byte = u8();
      out |= (byte & 127) << shift;
      if (byte < 128) return out;
    }
    source_->damaged(cat(what_, " holds a number of more than 64 bits"));
  }
  void expect(std::string_view magic) {
    if (left() < magic.size() || take(magic.size()) != magic)
      source_->damaged(cat(what_, " does not begin with `", magic, "`"));
  }
  /// Refuses another version than those that are known.
  uint8_t version(uint8_t lowest, uint8_t highest) {
    uint8_t v = u8();
    if (v < lowest || v > highest)
      source_->refuse(
          cat(what_, " has version ", v, "; those from ", lowest, " to ", highest, " are read"));
    return v;
  }
  std::string_view what() const { return what_; }

 private:
  [[noreturn]] void too_short() const { source_->damaged(cat(what_, " ends too early")); }

  const ByteSource* source_;
  std::string_view bytes_;
  std::string what_;  // its own: callers build better names while they read
  size_t at_ = 0;
};

}  // namespace holdfast::io
