// Building text without a formatting library: cat("got ", n, " of ", m).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "holdfast/base/api.h"

namespace holdfast {

/// What `cat` joins: a view of a text, or a number. Messages are built in nearly every file, so
/// that what is compiled there is one small call.
class HOLDFAST_API Piece {
 public:
  Piece(std::string_view v) : text_(v) {}
  Piece(const char* v) : text_(v) {}
  Piece(const std::string& v) : text_(v) {}
  Piece(bool v) : text_(v ? "true" : "false") {}
  Piece(char v) : kind_(Kind::kChar), char_(v) {}
  template <class T>
    requires(std::is_integral_v<T> && std::is_signed_v<T>)
  Piece(T v) : kind_(Kind::kSigned), signed_(v) {}
  template <class T>
    requires(std::is_integral_v<T> && std::is_unsigned_v<T>)
  Piece(T v) : kind_(Kind::kUnsigned), unsigned_(v) {}
  Piece(float v) : kind_(Kind::kFloat), float_(v) {}
  Piece(double v) : kind_(Kind::kDouble), double_(v) {}

  void append_to(std::string&) const;

 private:
  enum class Kind : uint8_t { kText, kChar, kSigned, kUnsigned, kFloat, kDouble };
  Kind kind_ = Kind::kText;
  union {
    std::string_view text_;
    char char_;
    int64_t signed_;
    uint64_t unsigned_;
    float float_;
    double double_;
  };
};

HOLDFAST_API std::string join(std::initializer_list<Piece> pieces);

/// Joins the text forms of all arguments.
template <class... Args>
std::string cat(const Args&... args) {
  return join({Piece(args)...});
}

}  // namespace holdfast
