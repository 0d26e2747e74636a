#include "holdfast/base/text.h"

#include <charconv>

namespace holdfast {
namespace {

template <class T>
void append_number(std::string& s, T v) {
  char buf[64];
  auto r = std::to_chars(buf, buf + sizeof buf, v);
  s.append(buf, r.ptr);
}

}  // namespace

void Piece::append_to(std::string& s) const {
  switch (kind_) {
    case Kind::kText: s += text_; break;
    case Kind::kChar: s += char_; break;
    case Kind::kSigned: append_number(s, signed_); break;
    case Kind::kUnsigned: append_number(s, unsigned_); break;
    case Kind::kFloat: append_number(s, float_); break;
    case Kind::kDouble: append_number(s, double_); break;
  }
}

std::string join(std::initializer_list<Piece> pieces) {
  std::string s;
  for (const Piece& p : pieces) p.append_to(s);
  return s;
}

}  // namespace holdfast
