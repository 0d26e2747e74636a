#include "holdfast/graph/words.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>

#include "holdfast/base/columns.h"
#include "holdfast/base/text.h"

namespace holdfast {
namespace {

constexpr const char* kKinds[] = {"function", "branch", "loop", "graph", "build", "dataset", "map"};

bool plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/' ||
         c == '-';
}

template <class T>
struct Bits {
  using type = uint8_t;
};
template <>
struct Bits<half> {
  using type = uint16_t;
};
template <>
struct Bits<bfloat> {
  using type = uint16_t;
};
template <>
struct Bits<float> {
  using type = uint32_t;
};
template <>
struct Bits<double> {
  using type = uint64_t;
};

template <class T>
inline constexpr bool is_float_v =
    std::is_floating_point_v<T> || std::is_same_v<T, half> || std::is_same_v<T, bfloat>;

}  // namespace

const char* word_of(ScopeKind k) { return kKinds[static_cast<size_t>(k)]; }

bool kind_of(std::string_view word, ScopeKind& out) {
  auto it = std::find(std::begin(kKinds), std::end(kKinds), word);
  if (it == std::end(kKinds)) return false;
  out = static_cast<ScopeKind>(it - std::begin(kKinds));
  return true;
}

bool is_plain_name(std::string_view s) {
  return !s.empty() && (std::isalpha(static_cast<unsigned char>(s[0])) || s[0] == '_') &&
         std::all_of(s.begin(), s.end(), plain) && s != words::kNone && s != "return";
}

std::string quoted(std::string_view s) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  // Bytes that are no text are written one by one: what reads the whole is told that it is UTF-8.
  const bool text = valid_utf8(s) == s;
  for (char c : s) {
    auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (u < 32 || u == 127 || (u > 127 && !text))
      out += {'\\', 'x', kHex[u >> 4], kHex[u & 15]};
    else
      out += c;
  }
  return out + "\"";
}

std::string name_text(std::string_view s) { return is_plain_name(s) ? std::string(s) : quoted(s); }

template <class T>
std::string number_text(T v) {
  if constexpr (std::is_same_v<T, bool>) {
    return v ? "True" : "False";
  } else if constexpr (is_float_v<T>) {
    using F = std::conditional_t<std::is_floating_point_v<T>, T, float>;
    std::string text = cat(static_cast<F>(v));
    T back{};
    using B = typename Bits<T>::type;
    auto bits = std::bit_cast<B>(v);
    if (read_number(text, back) && std::bit_cast<B>(back) == bits) return text;
    // It is a NaN with something in it.
    char hex[24];
    return cat(
        "0x", std::string_view(hex, static_cast<size_t>(
                                        std::to_chars(hex, hex + sizeof hex, bits, 16).ptr - hex)));
  } else {
    return cat(static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(v));
  }
}

template <class T>
bool read_number(std::string_view text, T& out) {
  const char* end = text.data() + text.size();
  auto whole = [&](std::from_chars_result r) { return r.ec == std::errc() && r.ptr == end; };
  if constexpr (std::is_same_v<T, bool>) {
    out = text == "True";
    return out || text == "False";
  } else if constexpr (is_float_v<T>) {
    if (text.starts_with("0x")) {
      typename Bits<T>::type bits{};
      if (!whole(std::from_chars(text.data() + 2, end, bits, 16))) return false;
      out = std::bit_cast<T>(bits);
      return true;
    }
    std::conditional_t<std::is_floating_point_v<T>, T, float> wide{};
    if (!whole(std::from_chars(text.data(), end, wide))) return false;
    out = static_cast<T>(wide);
    return true;
  } else {
    return whole(std::from_chars(text.data(), end, out));
  }
}

#define HOLDFAST_NUMBER(T)                \
  template std::string number_text<T>(T); \
  template bool read_number<T>(std::string_view, T&);
HOLDFAST_NUMBER(bool)
HOLDFAST_NUMBER(int8_t)
HOLDFAST_NUMBER(int16_t)
HOLDFAST_NUMBER(int32_t)
HOLDFAST_NUMBER(int64_t)
HOLDFAST_NUMBER(uint8_t)
HOLDFAST_NUMBER(uint16_t)
HOLDFAST_NUMBER(uint32_t)
HOLDFAST_NUMBER(uint64_t)
HOLDFAST_NUMBER(half)
HOLDFAST_NUMBER(bfloat)
HOLDFAST_NUMBER(float)
HOLDFAST_NUMBER(double)
#undef HOLDFAST_NUMBER

uint64_t digest(const Tensor& t) {
  uint64_t h = 0xcbf29ce484222325;
  auto mix = [&](const void* p, size_t n) {
    auto* bytes = static_cast<const unsigned char*>(p);
    for (size_t i = 0; i < n; ++i) h = (h ^ bytes[i]) * 0x100000001b3;
  };
  Tensor host = copy_to(t, cpu());
  if (t.dtype() == DType::kString) {
    for (int64_t i = 0; i < t.size(); ++i) {
      const std::string& s = host.raw<std::string>()[i];
      size_t n = s.size();
      mix(&n, sizeof n);
      mix(s.data(), n);
    }
  } else {
    mix(host.raw(), static_cast<size_t>(t.bytes()));
  }
  return h;
}

}  // namespace holdfast
