// Messages of Protocol Buffers: their fields one after the other, and how they are written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/api.h"

namespace holdfast::io {

/// Goes through the fields of a message. What is no message ends it early, and then it is `broken`:
/// lengths beyond the end, numbers of more than 64 bits, kinds that nobody writes any more.
class HOLDFAST_API WireReader {
 public:
  explicit WireReader(std::string_view message) : left_(message) {}
  /// Goes to the next field; false at the end.
  bool next();
  uint32_t field() const { return field_; }
  bool is_bytes() const { return kind_ == 2; }
  bool is_number() const { return kind_ == 0; }
  bool is_four() const { return kind_ == 5; }
  /// Of a field of bytes: a text, a message, a packed list.
  std::string_view bytes() const { return bytes_; }
  uint64_t number() const { return number_; }
  bool broken() const { return broken_; }

 private:
  bool varint(uint64_t& out);
  bool fail() {
    broken_ = true;
    left_ = {};
    return false;
  }
  std::string_view left_, bytes_;
  uint64_t number_ = 0;
  uint32_t field_ = 0;
  uint8_t kind_ = 0;
  bool broken_ = false;
};

// The lists of TensorFlow's examples: field 1, many times or packed. What a list holds is added to
// `to`; false where it is none.
HOLDFAST_API bool read_list(std::string_view list, std::vector<std::string>& to);
HOLDFAST_API bool read_list(std::string_view list, std::vector<float>& to);
HOLDFAST_API bool read_list(std::string_view list, std::vector<int64_t>& to);
HOLDFAST_API std::string written_list(const std::vector<std::string>& values);
HOLDFAST_API std::string written_list(const std::vector<float>& values);
HOLDFAST_API std::string written_list(const std::vector<int64_t>& values);
/// A field of bytes.
HOLDFAST_API void put_field(std::string& to, uint32_t field, std::string_view bytes);

}  // namespace holdfast::io
