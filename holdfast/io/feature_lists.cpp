#include "holdfast/io/feature_lists.h"

#include <bit>
#include <cstring>

#include "holdfast/io/byte_put.h"

static_assert(std::endian::native == std::endian::little, "floats are copied as they lie");

namespace holdfast::io {

bool read_list(std::string_view list, std::vector<std::string>& to) {
  return each_of(list, 1, [&](std::string_view text) {
    to.emplace_back(text);
    return true;
  });
}

bool read_list(std::string_view list, std::vector<float>& to) {
  WireReader fields(list);
  for (WireField f; fields.next(f);) {
    if (f.number != 1) continue;
    if (f.kind == 5) {
      to.push_back(std::bit_cast<float>(static_cast<uint32_t>(f.value)));
      continue;
    }
    if (f.kind != 2 || f.bytes.size() % 4 != 0) return false;
    size_t before = to.size();
    to.resize(before + f.bytes.size() / 4);
    if (!f.bytes.empty()) std::memcpy(to.data() + before, f.bytes.data(), f.bytes.size());
  }
  return fields.good();
}

bool read_list(std::string_view list, std::vector<int64_t>& to) {
  WireReader fields(list);
  for (WireField f; fields.next(f);) {
    if (f.number != 1) continue;
    if (f.kind == 0) {
      to.push_back(static_cast<int64_t>(f.value));
      continue;
    }
    if (f.kind != 2) return false;
    WireReader packed(f.bytes);
    for (uint64_t value; packed.number(value);) to.push_back(static_cast<int64_t>(value));
    if (!packed.good()) return false;
  }
  return fields.good();
}

std::string written_list(const std::vector<std::string>& values) {
  Message out;
  for (const std::string& v : values) out.bytes(1, v);
  return out.text();
}
std::string written_list(const std::vector<float>& values) {
  if (values.empty()) return {};
  return Message()
      .bytes(1, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)})
      .text();
}
std::string written_list(const std::vector<int64_t>& values) {
  if (values.empty()) return {};
  Put packed;
  for (int64_t v : values) packed.varint(static_cast<uint64_t>(v));
  return Message().bytes(1, packed.text()).text();
}

int kind_of_feature(std::string_view feature, std::string_view& list) {
  WireReader fields(feature);
  int kind = 0;
  for (WireField f; fields.next(f);) {
    if (f.number > 3) continue;
    if (f.kind != 2) return -1;
    kind = f.number;
    list = f.bytes;
  }
  return fields.good() ? kind : -1;
}

}  // namespace holdfast::io
