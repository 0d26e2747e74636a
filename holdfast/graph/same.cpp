// When two arguments of nodes are the same.
#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <variant>

#include "holdfast/graph/text.h"
#include "holdfast/graph/words.h"
#include "holdfast/op/arg_value.h"

namespace holdfast {
namespace {

// Numbers are compared by their bits: 0 is not -0, and a NaN is itself.
bool equal(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }
bool equal(const Tensor& a, const Tensor& b) { return same_value(a, b); }
template <class T>
bool equal(const T& a, const T& b) {
  return a == b;
}
template <class List>
bool all_equal(const List& a, const List& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!equal(a[i], b[i])) return false;
  return true;
}
bool equal(const std::vector<double>& a, const std::vector<double>& b) { return all_equal(a, b); }
bool equal(const Tensors& a, const Tensors& b) { return all_equal(a, b); }

struct Hash {
  template <class T>
  uint64_t number(const T& v) const {
    return std::hash<T>{}(v);
  }
  template <class List>
  uint64_t list(const List& v) const {
    uint64_t h = v.size();
    for (const auto& x : v) h = h * 31 + (*this)(x);
    return h;
  }
  uint64_t operator()(std::monostate) const { return 0; }
  uint64_t operator()(bool v) const { return v; }
  uint64_t operator()(int64_t v) const { return number(v); }
  uint64_t operator()(double v) const { return number(std::bit_cast<uint64_t>(v)); }
  uint64_t operator()(const std::string& v) const { return number(v); }
  uint64_t operator()(DType v) const { return static_cast<uint64_t>(v); }
  uint64_t operator()(const Shape& v) const { return list(v.dims()); }
  uint64_t operator()(const Ints& v) const { return list(v); }
  uint64_t operator()(const std::vector<double>& v) const { return list(v); }
  uint64_t operator()(const std::vector<std::string>& v) const { return list(v); }
  uint64_t operator()(const Tensor& v) const {
    if (!v.defined()) return 0;
    return v.rep()->buffer ? digest(v) : number(static_cast<const void*>(v.rep()->beyond.get()));
  }
  uint64_t operator()(const Tensors& v) const { return list(v); }
  uint64_t operator()(const Ref<RefCounted>& v) const {
    return number(static_cast<const void*>(v.get()));
  }
};

}  // namespace

bool same_value(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return !a.defined() && !b.defined();
  if (a.id() == b.id()) return true;
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape()) || a.device() != b.device()) return false;
  if (!a.rep()->buffer) return a.rep()->beyond && a.rep()->beyond == b.rep()->beyond;
  Tensor x = copy_to(a, cpu()), y = copy_to(b, cpu());
  if (a.dtype() == DType::kString)
    return std::equal(x.raw<std::string>(), x.raw<std::string>() + x.size(), y.raw<std::string>());
  return std::memcmp(x.raw(), y.raw(), static_cast<size_t>(a.bytes())) == 0;
}

bool same(const Arg& a, const Arg& b) {
  if (a.value().index() != b.value().index()) return false;
  return std::visit(
      [&](const auto& v) {
        return equal(v, std::get<std::remove_cvref_t<decltype(v)>>(b.value()));
      },
      a.value());
}

uint64_t hash_of(const Arg& a) { return std::visit(Hash{}, a.value()) * 13 + a.value().index(); }

}  // namespace holdfast
