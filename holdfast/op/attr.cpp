#include "holdfast/op/attr.h"

#include "holdfast/op/arg_value.h"

namespace holdfast {
namespace {

template <class T>
bool is(const Arg& a) {
  return std::holds_alternative<T>(a.value());
}

}  // namespace

#define HOLDFAST_ATTR(T) \
  bool AttrType<T>::takes(const Arg& a) { return is<T>(a); }
HOLDFAST_ATTR(bool)
HOLDFAST_ATTR(int64_t)
HOLDFAST_ATTR(std::string)
HOLDFAST_ATTR(DType)
HOLDFAST_ATTR(Shape)
HOLDFAST_ATTR(Ints)
HOLDFAST_ATTR(std::vector<double>)
HOLDFAST_ATTR(std::vector<std::string>)
HOLDFAST_ATTR(Tensor)
#undef HOLDFAST_ATTR
bool AttrType<double>::takes(const Arg& a) { return is<double>(a) || is<int64_t>(a); }
bool AttrType<RefCounted>::takes(const Arg& a) { return is<Ref<RefCounted>>(a); }

}  // namespace holdfast
