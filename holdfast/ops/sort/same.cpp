#include "holdfast/ops/sort/same.h"

#include <algorithm>
#include <functional>
#include <string>

#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

template <class T>
size_t hash_of(const T& v) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat>)
    return std::hash<float>()(static_cast<float>(v));
  else if constexpr (is_complex_v<T>)
    return hash_of(v.real()) * 31 + hash_of(v.imag());
  else
    return std::hash<T>()(v);
}

template <class T>
struct Rules {
  static size_t hash(const void* x, int64_t n, size_t h) {
    for (int64_t i = 0; i < n; ++i) h = h * 31 + hash_of(static_cast<const T*>(x)[i]);
    return h;
  }
  static bool same(const void* a, const void* b, int64_t n) {
    auto* x = static_cast<const T*>(a);
    return std::equal(x, x + n, static_cast<const T*>(b));
  }
  static void copy(const void* from, int64_t n, void* to) {
    std::copy_n(static_cast<const T*>(from), n, static_cast<T*>(to));
  }
};

template <class T>
constexpr ElementRules rules{sizeof(T), Rules<T>::hash, Rules<T>::same, Rules<T>::copy};

}  // namespace

ElementRules element_rules(DType dtype) {
  if (dtype == DType::kString) return rules<std::string>;
  ElementRules found{};
  visit_plain(dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      found = rules<std::make_unsigned_t<T>>;  // the same bits are the same number
    else
      found = rules<T>;
  });
  return found;
}

void put_indices(const std::vector<int64_t>& positions, Tensor& to) {
  visit_indices(to.dtype(), [&]<class I>(I) {
    std::transform(positions.begin(), positions.end(), to.mutable_raw<I>(),
                   [](int64_t at) { return static_cast<I>(at); });
  });
}

}  // namespace holdfast
