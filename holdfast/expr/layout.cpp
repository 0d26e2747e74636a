#include "holdfast/expr/layout.h"

#include <algorithm>

namespace holdfast {
namespace {

// Whether an operand is one row that all rows of the domain read.
bool is_one_row(const Shape& s, const Shape& domain, int64_t row) {
  if (!row || s.size() != row || s.rank() > domain.rank()) return false;
  int64_t inside = 1;
  for (int i = 1; i <= s.rank(); ++i) {
    if (s[-i] != (inside < row ? domain[-i] : 1)) return false;
    inside *= domain[-i];
  }
  return true;
}

Access access_of(const Expr& e, const Expr::Value& v, std::span<const Shape* const> in,
                 const Shape& domain) {
  if (v.input < 0) return Access::kValue;
  const Shape& s = *in[static_cast<size_t>(v.input)];
  if (v.per_row) return s.size() == 1 ? Access::kOne : Access::kDense;
  if (s == domain) return Access::kDense;
  if (s.size() == 1) return Access::kOne;
  return is_one_row(s, domain, e.row()) ? Access::kColumn : Access::kStrided;
}

void add_axes(Layout& l, std::span<const Shape* const> strided, const Shape& domain) {
  InlineVector<int64_t, 4> stride(strided.size(), 1), step(strided.size(), 0);
  l.strides.resize(strided.size());
  for (int k = 1; k <= domain.rank(); ++k) {
    int64_t size = domain[-k];
    bool joins = !l.sizes.empty();
    for (size_t i = 0; i < strided.size(); ++i) {
      int64_t own = k <= strided[i]->rank() ? (*strided[i])[-k] : 1;
      step[i] = own == 1 ? 0 : stride[i];
      stride[i] *= own;
      joins = joins && step[i] == l.strides[i].back() * l.sizes.back();
    }
    if (size == 1) continue;
    if (joins) {
      l.sizes.back() *= size;
      continue;
    }
    l.sizes.push_back(size);
    for (size_t i = 0; i < strided.size(); ++i) l.strides[i].push_back(step[i]);
  }
}

}  // namespace

std::vector<int> loads_of(const Expr& e) {
  std::vector<bool> read(e.values().size(), false);
  for (const Instruction& k : e.code())
    for (int o : k.operands) read[static_cast<size_t>(o)] = true;
  for (int s : e.stores()) read[static_cast<size_t>(s)] = true;
  std::vector<int> out;
  for (size_t i = 0; i < read.size(); ++i) {
    const Expr::Value& v = e.values()[i];
    if (read[i] && v.instruction < 0 && !v.aside) out.push_back(static_cast<int>(i));
  }
  return out;
}

Layout layout_of(const Expr& e, std::span<const int> loads, std::span<const Shape* const> in,
                 const Shape& domain) {
  Layout l;
  InlineVector<const Shape*, 4> strided;
  for (int v : loads) {
    const Expr::Value& value = e.values()[static_cast<size_t>(v)];
    l.access.push_back(access_of(e, value, in, domain));
    if (l.access.back() == Access::kStrided)
      strided.push_back(in[static_cast<size_t>(value.input)]);
  }
  if (!strided.empty()) add_axes(l, strided, domain);
  return l;
}

}  // namespace holdfast
