// Building text without a formatting library: cat("got ", n, " of ", m).
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>

namespace holdfast {

inline void append_text(std::string& s, std::string_view v) { s += v; }
inline void append_text(std::string& s, const char* v) { s += v; }
inline void append_text(std::string& s, const std::string& v) { s += v; }
inline void append_text(std::string& s, bool v) { s += v ? "true" : "false"; }
inline void append_text(std::string& s, char v) { s += v; }
template <class T>
  requires std::is_arithmetic_v<T>
void append_text(std::string& s, T v) {
  char buf[64];
  auto r = std::to_chars(buf, buf + sizeof buf, v);
  s.append(buf, r.ptr);
}

/// Joins the text forms of all arguments.
template <class... Args>
std::string cat(const Args&... args) {
  std::string s;
  (append_text(s, args), ...);
  return s;
}

}  // namespace holdfast
