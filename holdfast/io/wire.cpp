#include "holdfast/io/wire.h"

#include <bit>
#include <cstring>

#include "holdfast/io/byte_put.h"

static_assert(std::endian::native == std::endian::little, "floats are copied as they lie");

namespace holdfast::io {

bool WireReader::varint(uint64_t& out) {
  out = 0;
  for (unsigned shift = 0, i = 0; shift < 64; shift += 7, ++i) {
    if (i == left_.size()) return fail();
    auto byte = static_cast<unsigned char>(left_[i]);
    out |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) {
      left_.remove_prefix(i + 1);
      return true;
    }
  }
  return fail();
}

bool WireReader::next() {
  if (left_.empty()) return false;
  uint64_t tag;
  if (!varint(tag)) return false;
  kind_ = tag & 7;
  if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return fail();
  field_ = static_cast<uint32_t>(tag >> 3);
  if (kind_ == 0) return varint(number_);
  uint64_t count = kind_ == 1 ? 8 : kind_ == 5 ? 4 : 0;
  if (kind_ == 2 && !varint(count)) return false;
  if ((kind_ != 1 && kind_ != 2 && kind_ != 5) || count > left_.size()) return fail();
  bytes_ = left_.substr(0, count);
  left_.remove_prefix(count);
  return true;
}

bool read_list(std::string_view list, std::vector<std::string>& to) {
  WireReader fields(list);
  while (fields.next()) {
    if (fields.field() != 1) continue;
    if (!fields.is_bytes()) return false;
    to.emplace_back(fields.bytes());
  }
  return !fields.broken();
}

bool read_list(std::string_view list, std::vector<float>& to) {
  WireReader fields(list);
  while (fields.next()) {
    if (fields.field() != 1) continue;
    std::string_view raw = fields.bytes();
    if ((!fields.is_bytes() && !fields.is_four()) || raw.size() % 4 != 0) return false;
    size_t before = to.size();
    to.resize(before + raw.size() / 4);
    if (!raw.empty()) std::memcpy(to.data() + before, raw.data(), raw.size());
  }
  return !fields.broken();
}

bool read_list(std::string_view list, std::vector<int64_t>& to) {
  WireReader fields(list);
  while (fields.next()) {
    if (fields.field() != 1) continue;
    if (fields.is_number()) {
      to.push_back(static_cast<int64_t>(fields.number()));
      continue;
    }
    if (!fields.is_bytes()) return false;
    std::string_view raw = fields.bytes();
    for (size_t at = 0; at < raw.size();) {
      uint64_t value = 0;
      for (unsigned shift = 0;; shift += 7) {
        if (at == raw.size() || shift > 63) return false;
        auto byte = static_cast<unsigned char>(raw[at++]);
        value |= static_cast<uint64_t>(byte & 127) << shift;
        if (byte < 128) break;
      }
      to.push_back(static_cast<int64_t>(value));
    }
  }
  return !fields.broken();
}

void put_field(std::string& to, uint32_t field, std::string_view bytes) {
  to += Put().varint(field << 3 | 2).varint(bytes.size()).text();
  to += bytes;
}

std::string written_list(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& v : values) put_field(out, 1, v);
  return out;
}
std::string written_list(const std::vector<float>& values) {
  std::string out;
  if (!values.empty())
    put_field(out, 1, {reinterpret_cast<const char*>(values.data()), values.size() * 4});
  return out;
}
std::string written_list(const std::vector<int64_t>& values) {
  Put packed;
  for (int64_t v : values) packed.varint(static_cast<uint64_t>(v));
  std::string out;
  if (!values.empty()) put_field(out, 1, packed.text());
  return out;
}

}  // namespace holdfast::io
