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

/// A message that is being read: `for (WireField f; in.next(f);)`, then `in.good()`.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : left_(bytes) {}
  /// The next field; false at the end, and where the bytes are no message.
  bool next(WireField& f) {
    if (left_.empty() || !good_) return false;
    uint64_t key = varint();
    f = {static_cast<int>(key >> 3 & 0x1fffffff), static_cast<int>(key & 7), 0, {}};
    if (f.kind == 0) f.value = varint();
    if (f.kind == 1) f.value = fixed(8);
    if (f.kind == 5) f.value = fixed(4);
    if (f.kind == 2) f.bytes = take(varint());
    good_ = good_ && f.number > 0 && (f.kind < 3 || f.kind == 5);
    return good_;
  }
  bool good() const { return good_; }

 private:
  std::string_view take(uint64_t count) {
    good_ = good_ && count <= left_.size();
    if (!good_) return {};
    std::string_view out = left_.substr(0, count);
    left_.remove_prefix(count);
    return out;
  }
  uint64_t fixed(size_t count) {
    uint64_t out = 0;
    std::string_view raw = take(count);
    for (size_t i = raw.size(); i-- > 0;) out = out << 8 | static_cast<unsigned char>(raw[i]);
    return out;
  }
  uint64_t varint() {
    uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      uint64_t byte = fixed(1);
      out |= (byte & 127) << shift;
      if (byte < 128) return out;
    }
    good_ = false;
    return 0;
  }
  std::string_view left_;
  bool good_ = true;
};

}  // namespace holdfast
