#include "holdfast/exec/structure.h"

#include <charconv>

#include "holdfast/base/text.h"

namespace holdfast::detail {
namespace {

// Long enough for what tells a number from all others.
template <class T>
std::string exact(T x) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

}  // namespace

std::string number_text(float x) { return exact(x); }
std::string number_text(double x) { return exact(x); }
std::string number_text(long double x) { return exact(x); }
std::string number_text(int64_t x) { return exact(x); }
std::string number_text(uint64_t x) { return exact(x); }

std::string watched_text(const Tensor& t) {
  if (!t.defined()) return "empty";
  return cat(name(t.dtype()), t.shape().text(), " number ", t.id());
}

void PartNames::enter(Step s) { path.push_back(s); }
void PartNames::leave() { path.pop_back(); }

std::string PartNames::text(bool form) const {
  std::string out = form ? "the form of " : "";
  for (const Step& s : path) {
    switch (s.kind) {
      case Step::kArgument: out += cat("argument ", s.index + 1); break;
      case Step::kCapture: out += cat("capture ", s.index + 1); break;
      case Step::kElement: out += cat("[", s.index, "]"); break;
      case Step::kMember: out += cat(" member ", s.index + 1); break;
    }
  }
  return out;
}

}  // namespace holdfast::detail
