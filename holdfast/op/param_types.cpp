// What parameters of public functions are made of when another language calls: out of line, because
// every op file would compile them again.
#include <optional>
#include <string>
#include <vector>

#include "holdfast/op/function.h"

namespace holdfast {
namespace {

Sizes sizes_from(const Arg& a) {
  if (auto* i = std::get_if<int64_t>(&a.value())) return Sizes(*i);
  if (auto* v = std::get_if<Ints>(&a.value())) return Sizes(*v);
  if (auto* s = std::get_if<Shape>(&a.value())) return Sizes(*s);
  return Sizes(a.tensor());
}

Arg arg_of(const Sizes& s) {
  if (s.is_tensor()) return Arg(s.tensor());
  Dims d = s.ints();
  return s.single() ? Arg(d[0]) : Arg(Ints(d.begin(), d.end()));
}

// Nothing where there is nothing, else what `T` alone would be.
template <class T>
std::optional<T> maybe(const Arg& a) {
  if (a.none()) return std::nullopt;
  return ParamType<T>::from(a);
}

Arg arg_of(const Axes& a) { return a ? arg_of(*a) : Arg(); }
Arg arg_of(const Ins& list) { return Arg(list.tensors()); }

template <class T>
Arg arg_of(const T& v) {
  if constexpr (std::is_base_of_v<In, T>)
    return v.arg();
  else
    return Arg(v);
}
template <class T>
  requires(!std::is_same_v<T, Tensor>)
Arg arg_of(const std::optional<T>& v) {
  return v ? arg_of(*v) : Arg();
}

}  // namespace

#define HOLDFAST_PARAM(T)                                 \
  Arg ParamType<T>::arg(const T& v) { return arg_of(v); } \
  void ParamType<T>::put(void* field, const Arg& a) { *static_cast<T*>(field) = from(a); }

In ParamType<In>::from(const Arg& a) { return In::from(a); }
KeptIn ParamType<KeptIn>::from(const Arg& a) { return KeptIn(In::from(a)); }
MaybeIn ParamType<MaybeIn>::from(const Arg& a) { return MaybeIn(In::from(a)); }
std::optional<Tensor> ParamType<std::optional<Tensor>>::from(const Arg& a) {
  return a.none() ? std::optional<Tensor>() : a.tensor();
}
Ins ParamType<Ins>::from(const Arg& a) { return Ins(a.tensors()); }
Sizes ParamType<Sizes>::from(const Arg& a) { return sizes_from(a); }
Axes ParamType<Axes>::from(const Arg& a) { return a.none() ? Axes() : Axes(sizes_from(a)); }
bool ParamType<bool>::from(const Arg& a) { return a.b(); }
int64_t ParamType<int64_t>::from(const Arg& a) { return a.i(); }
std::optional<int64_t> ParamType<std::optional<int64_t>>::from(const Arg& a) {
  return maybe<int64_t>(a);
}
double ParamType<double>::from(const Arg& a) { return a.f(); }
std::optional<double> ParamType<std::optional<double>>::from(const Arg& a) {
  return maybe<double>(a);
}
std::string ParamType<std::string>::from(const Arg& a) { return a.s(); }
std::optional<std::string> ParamType<std::optional<std::string>>::from(const Arg& a) {
  return maybe<std::string>(a);
}
DType ParamType<DType>::from(const Arg& a) { return a.dtype(); }
std::optional<DType> ParamType<std::optional<DType>>::from(const Arg& a) { return maybe<DType>(a); }
Shape ParamType<Shape>::from(const Arg& a) { return a.shape(); }
Ints ParamType<Ints>::from(const Arg& a) { return a.ints(); }
std::optional<Ints> ParamType<std::optional<Ints>>::from(const Arg& a) { return maybe<Ints>(a); }
std::vector<double> ParamType<std::vector<double>>::from(const Arg& a) { return a.floats(); }
std::vector<std::string> ParamType<std::vector<std::string>>::from(const Arg& a) {
  return a.strings();
}
Arg ParamType<Arg>::from(const Arg& a) { return a; }

HOLDFAST_PARAM(In)
HOLDFAST_PARAM(KeptIn)
HOLDFAST_PARAM(MaybeIn)
HOLDFAST_PARAM(std::optional<Tensor>)
HOLDFAST_PARAM(Ins)
HOLDFAST_PARAM(Sizes)
HOLDFAST_PARAM(Axes)
HOLDFAST_PARAM(bool)
HOLDFAST_PARAM(int64_t)
HOLDFAST_PARAM(std::optional<int64_t>)
HOLDFAST_PARAM(double)
HOLDFAST_PARAM(std::optional<double>)
HOLDFAST_PARAM(std::string)
HOLDFAST_PARAM(std::optional<std::string>)
HOLDFAST_PARAM(DType)
HOLDFAST_PARAM(std::optional<DType>)
HOLDFAST_PARAM(Shape)
HOLDFAST_PARAM(Ints)
HOLDFAST_PARAM(std::optional<Ints>)
HOLDFAST_PARAM(std::vector<double>)
HOLDFAST_PARAM(std::vector<std::string>)
HOLDFAST_PARAM(Arg)
#undef HOLDFAST_PARAM

}  // namespace holdfast
