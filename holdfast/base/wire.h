// Protobuf's wire format: a message is a list of (field number, kind, value).
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace holdfast {

/// A message that is being written, field after field.
class Message {
 public:
  Message& number(int field, uint64_t v) {
    key(field, 0);
    varint(v);
    return *this;
  }
  Message& number(int field, int64_t v) { return number(field, static_cast<uint64_t>(v)); }
  Message& bytes(int field, std::string_view v) {
    key(field, 2);
    varint(v.size());
    out_ += v;
    return *this;
  }
  Message& message(int field, const Message& m) { return bytes(field, m.out_); }
  Message& real(int field, float v) {
    key(field, 5);
    char raw[4];
    std::memcpy(raw, &v, 4);
    out_.append(raw, 4);
    return *this;
  }
  /// The fields of another one, after its own.
  Message& append(const Message& m) {
    out_ += m.out_;
    return *this;
  }
  const std::string& text() const { return out_; }

 private:
  void key(int field, int kind) {
    varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(kind));
  }
  void varint(uint64_t v) {
    for (; v >= 128; v >>= 7) out_ += static_cast<char>(v | 128);
    out_ += static_cast<char>(v);
  }
  std::string out_;
};

/// One field of a message that is read.
struct WireField {
  int number = 0;
  int kind = 0;            // 0 a number, 1 eight bytes, 2 bytes or a message, 5 four bytes
  uint64_t value = 0;      // of all but 2
  std::string_view bytes;  // of 2
};

/// A message that is being read: `for (WireField f; in.next(f);)`, then `in.good()`. What is no
/// message ends early: lengths beyond the end, numbers of more than 64 bits, kinds that nobody
/// writes any more.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : left_(bytes) {}
  /// The next field; false at the end, and where the bytes are no message.
  bool next(WireField& f) {
    uint64_t key;
    if (!number(key)) return false;
    if (key >> 3 == 0 || key >> 3 > 0x1fffffff) return broken();
    f = {static_cast<int>(key >> 3), static_cast<int>(key & 7), 0, {}};
    switch (f.kind) {
      case 0: return whole(f.value);
      case 1: return fixed(8, f.value);
      case 2: {
        uint64_t size;
        return whole(size) && take(size, f.bytes);
      }
      case 5: return fixed(4, f.value);
      default: return broken();
    }
  }
  /// The next of numbers that stand one after the other, as in a packed list; false at the end.
  bool number(uint64_t& out) { return !left_.empty() && whole(out); }
  bool good() const { return good_; }

 private:
  bool broken() {
    good_ = false;
    left_ = {};
    return false;
  }
  bool take(uint64_t count, std::string_view& out) {
    if (count > left_.size()) return broken();
    out = left_.substr(0, count);
    left_.remove_prefix(count);
    return true;
  }
  bool fixed(size_t count, uint64_t& out) {
    std::string_view raw;
    if (!take(count, raw)) return false;
    out = 0;
    for (size_t i = count; i-- > 0;) out = out << 8 | static_cast<unsigned char>(raw[i]);
    return true;
  }
  bool whole(uint64_t& out) {
    out = 0;
    for (unsigned shift = 0, i = 0; shift < 64 && i < left_.size(); shift += 7, ++i) {
      auto byte = static_cast<unsigned char>(left_[i]);
      out |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) {
        left_.remove_prefix(i + 1);
        return true;
      }
    }
    return broken();
  }
  std::string_view left_;
  bool good_ = true;
};

}  // namespace holdfast
