#include "holdfast/tensor/shape.h"

#include <algorithm>

#include "holdfast/base/checked.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast {

bool Shape::is_full() const {
  return known_rank_ && std::none_of(begin(), end(), [](int64_t d) { return d < 0; });
}

std::optional<int64_t> Shape::elements() const {
  int64_t product = 1;
  bool plain = known_rank_;
  for (int64_t d : dims_) plain = plain && d > 0 && !__builtin_mul_overflow(product, d, &product);
  if (plain) return product;
  if (!is_full()) return std::nullopt;
  // A zero makes the product zero, however large the others are.
  if (std::find(begin(), end(), 0) != end()) return 0;
  int64_t n = 1;
  for (int64_t d : dims_) {
    auto next = checked_mul(n, d);
    if (!next) return std::nullopt;
    n = *next;
  }
  return n;
}

void Shape::no_axis(int axis) const {
  fail(Code::E1102, cat("axis ", axis, " of shape ", text(), " was asked for"),
       has_rank() ? cat("it has ", rank(), " axes") : "its rank is not known yet");
}

int64_t Shape::odd_size() const {
  if (auto n = elements()) return *n;  // a zero makes it zero, however large the others are
  if (is_full())
    fail(Code::E1102, cat("shape ", text(), " has more elements than can be counted"),
         "sizes are numbers of 64 bits");
  fail(Code::E1102, cat("the size of shape ", text(), " was asked for"),
       "a dimension that is not known yet is decided when the graph runs",
       {manual_fix("`size(t)` and `shape_of(t)` are tensors that hold it then")});
}

bool Shape::compatible(const Shape& o) const { return merged(o).has_value(); }

std::optional<Shape> Shape::merged(const Shape& o) const {
  if (!has_rank()) return o;
  if (!o.has_rank()) return *this;
  if (rank() != o.rank()) return std::nullopt;
  Shape out = *this;
  for (int i = 0; i < rank(); ++i) {
    int64_t a = (*this)[i], b = o[i];
    if (a >= 0 && b >= 0 && a != b) return std::nullopt;
    out.dims_[static_cast<size_t>(i)] = std::max(a, b);
  }
  return out;
}

std::string Shape::text() const {
  if (!has_rank()) return "[?...]";
  std::string s = "[";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i) s += ",";
    s += dims_[i] < 0 ? "?" : cat(dims_[i]);
  }
  return s + "]";
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  if (a == b) return a;
  if (!a.has_rank() || !b.has_rank()) return Shape::unknown();
  int rank = std::max(a.rank(), b.rank());
  Dims out(static_cast<size_t>(rank), 1);
  for (int i = 1; i <= rank; ++i) {
    int64_t x = i <= a.rank() ? a[-i] : 1, y = i <= b.rank() ? b[-i] : 1;
    int64_t& d = out[static_cast<size_t>(rank - i)];
    if (x == 1)
      d = y;
    else if (y == 1 || x == y)
      d = x;
    else if (x < 0)
      d = y;
    else if (y < 0)
      d = x;
    else
      return std::nullopt;
  }
  return Shape(std::move(out));
}

Dims strides_of(const Shape& s) {
  Dims out(static_cast<size_t>(s.rank()), 1);
  // Unsigned: an empty tensor may have dimensions whose product wraps, and its strides are unused.
  for (int i = s.rank() - 2; i >= 0; --i) {
    auto at = static_cast<size_t>(i);
    out[at] =
        static_cast<int64_t>(static_cast<uint64_t>(out[at + 1]) * static_cast<uint64_t>(s[i + 1]));
  }
  return out;
}

}  // namespace holdfast
