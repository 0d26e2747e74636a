// Reads recorded.txt (see record.py) and compares what we make with it.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace holdfast::random {

struct Recorded {
  size_t count = 0;
  uint64_t checksum = 0;
  std::vector<uint64_t> values;
};

inline const Recorded& recorded(const std::string& name) {
  static const std::map<std::string, Recorded> all = [] {
    const std::string here = __FILE__;
    std::ifstream file(here.substr(0, here.rfind('/')) + "/recorded.txt");
    std::map<std::string, Recorded> read;
    for (std::string line, key; std::getline(file, line);) {
      std::istringstream words(line);
      Recorded r;
      words >> key >> r.count >> std::hex >> r.checksum;
      for (uint64_t v = 0; words >> v;) r.values.push_back(v);
      read[key] = r;
    }
    return read;
  }();
  static const Recorded none;
  const auto it = all.find(name);
  EXPECT_NE(it, all.end()) << "recorded.txt has no " << name;
  return it == all.end() ? none : it->second;
}

inline bool kept(size_t i, size_t n) { return n <= 16 || i < 6 || i + 3 >= n || i % 67 == 0; }

inline uint64_t fnv1a(const void* data, size_t bytes) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; ++i)
    h = (h ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001b3u;
  return h;
}

template <class T>
uint64_t bits_of(const T& value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// Places on the line of representable numbers, so that neighbours differ by 1.
template <class T>
int64_t place(uint64_t bits) {
  const uint64_t sign = uint64_t{1} << (8 * sizeof(T) - 1);
  const auto magnitude = static_cast<int64_t>(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

/// Every bit of every element.
template <class T>
void expect_equal(const std::string& name, const std::vector<T>& ours) {
  const Recorded& r = recorded(name);
  ASSERT_EQ(ours.size(), r.count) << name;
  size_t next = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (!kept(i, ours.size())) continue;
    ASSERT_EQ(bits_of(ours[i]), r.values[next++]) << name << " [" << i << "]";
  }
  EXPECT_EQ(fnv1a(ours.data(), ours.size() * sizeof(T)), r.checksum) << name;
}

/// The recorded elements, within `ulps` units in the last place.
template <class T>
void expect_near(const std::string& name, const std::vector<T>& ours, int64_t ulps = 2) {
  const Recorded& r = recorded(name);
  ASSERT_EQ(ours.size(), r.count) << name;
  size_t next = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (!kept(i, ours.size())) continue;
    const int64_t off = place<T>(bits_of(ours[i])) - place<T>(r.values[next++]);
    ASSERT_LE(std::abs(off), ulps) << name << " [" << i << "]";
  }
  if (fnv1a(ours.data(), ours.size() * sizeof(T)) == r.checksum) {
    ::testing::Test::RecordProperty("bit_equal", name);
  }
}

}  // namespace holdfast::random
