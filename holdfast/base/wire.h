// Protobuf's wire format, as far as writing a GraphDef needs it: a message is a list of (field
// number, kind, value).
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

}  // namespace holdfast
