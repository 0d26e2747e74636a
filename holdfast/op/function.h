// A public function: what C++ declares, described so that other languages, docs and tests can use
// it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "holdfast/op/in.h"
#include "holdfast/op/opdef.h"
#include "holdfast/op/result.h"

namespace holdfast {

/// What a parameter takes.
enum class Kind : uint8_t {
  kTensor,
  kOptTensor,
  kTensors,
  kSizes,
  kAxes,
  kBool,
  kInt,
  kOptInt,
  kFloat,
  kOptFloat,
  kString,
  kDType,
  kOptDType,
  kShape,
  kIntList,
  kOptIntList,
  kFloatList,
  kStringList,
  kOptString,
  kAny,
  kPadding,  // "SAME", "VALID", or a list of pairs: a text or the pairs' numbers in a row
};

struct Param {
  std::string name;
  Kind kind = Kind::kTensor;
  std::string group = "T";  // tensor parameters of one group share a dtype
  bool required = true;
  bool whole = false;  // of a list: a tensor that stands alone is all of it, not a list of its rows
  Arg default_value;
};

/// A field of an options struct: where it lies, and what puts an argument there.
struct OptionSetter {
  size_t offset;
  void (*put)(void* field, const Arg&);

  void operator()(void* options, const Arg& a) const {
    put(static_cast<std::byte*>(options) + offset, a);
  }
};
using Thunk = Tensors (*)(std::span<const Arg> args, std::span<const OptionSetter> setters);

/// What a sample call is checked for, stated with the samples.
struct Checks {
  double rtol = 1e-5, atol = 1e-6;
  bool gradient = true;         // first order against finite differences
  bool second_gradient = true;  // and second order
};

struct HOLDFAST_API FunctionDef {
  std::string name;                 // C++ name, "matmul"
  std::vector<std::string> python;  // paths under the package, "linalg.matmul"
  std::string doc;
  std::vector<Param> params;
  ResultKind result = ResultKind::kTensor;
  std::vector<std::string> result_names;  // of a tuple
  std::vector<std::string> samples;       // argument lists, in the words of tests/samples
  std::string reference;                  // a NumPy/SciPy expression over the arguments
  Checks checks;
  const OpDef* op = nullptr;  // null for compositions
  Thunk thunk = nullptr;
  std::vector<OptionSetter> setters;

  Tensors call(std::span<const Arg> args) const { return thunk(args, setters); }
};

/// From an Arg to what a C++ parameter takes and back, and how that is called in other languages. A
/// field of options is given its argument by `put`.
template <class T>
struct ParamType;
#define HOLDFAST_PARAM(T, K)                    \
  template <>                                   \
  struct HOLDFAST_API ParamType<T> {            \
    static constexpr Kind kind = Kind::K;       \
    static T from(const Arg& a);                \
    static Arg arg(const T& v);                 \
    static void put(void* field, const Arg& a); \
  };
HOLDFAST_PARAM(In, kTensor)
HOLDFAST_PARAM(KeptIn, kTensor)
HOLDFAST_PARAM(MaybeIn, kOptTensor)
HOLDFAST_PARAM(std::optional<Tensor>, kOptTensor)
HOLDFAST_PARAM(Ins, kTensors)
HOLDFAST_PARAM(Sizes, kSizes)
HOLDFAST_PARAM(Axes, kAxes)
HOLDFAST_PARAM(bool, kBool)
HOLDFAST_PARAM(int64_t, kInt)
HOLDFAST_PARAM(std::optional<int64_t>, kOptInt)
HOLDFAST_PARAM(double, kFloat)
HOLDFAST_PARAM(std::optional<double>, kOptFloat)
HOLDFAST_PARAM(std::string, kString)
HOLDFAST_PARAM(std::optional<std::string>, kOptString)
HOLDFAST_PARAM(DType, kDType)
HOLDFAST_PARAM(std::optional<DType>, kOptDType)
HOLDFAST_PARAM(Shape, kShape)
HOLDFAST_PARAM(Ints, kIntList)
HOLDFAST_PARAM(std::optional<Ints>, kOptIntList)
HOLDFAST_PARAM(std::vector<double>, kFloatList)
HOLDFAST_PARAM(std::vector<std::string>, kStringList)
HOLDFAST_PARAM(Arg, kAny)  // a number or a text, as for `ord` of a norm
#undef HOLDFAST_PARAM

template <class T>
concept IsParam = requires { ParamType<std::remove_cvref_t<T>>::kind; };

namespace detail {

struct Signature {
  std::vector<Kind> kinds;
  bool options = false;
  ResultKind result = ResultKind::kTensor;
  Thunk thunk = nullptr;
};

template <auto Fn, class F>
struct Deduce;
template <auto Fn, class R, class... P>
struct Deduce<Fn, R (*)(P...)> {
  template <class T, size_t I>
  static decltype(auto) get(std::span<const Arg> args, std::span<const OptionSetter> setters) {
    using V = std::remove_cvref_t<T>;
    if constexpr (IsParam<V>) {
      return ParamType<V>::from(args[I]);
    } else {
      V options{};  // the options struct is the last parameter; its fields follow the others
      for (size_t k = 0; k < setters.size(); ++k) setters[k](&options, args[I + k]);
      return options;
    }
  }
  static Tensors call(std::span<const Arg> args, std::span<const OptionSetter> setters) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      if constexpr (std::is_void_v<R>)
        return Fn(get<P, I>(args, setters)...), Tensors{};
      else
        return Result<R>::list(Fn(get<P, I>(args, setters)...));
    }(std::index_sequence_for<P...>{});
  }
  static Signature signature() {
    Signature s;
    s.result = Result<R>::kind;
    s.thunk = &call;
    (add<P>(s), ...);
    return s;
  }
  template <class T>
  static void add(Signature& s) {
    using V = std::remove_cvref_t<T>;
    if constexpr (IsParam<V>)
      s.kinds.push_back(ParamType<V>::kind);
    else
      s.options = true;
  }
};

/// The struct whose fields these are.
template <class C, class T>
C owner_of(T C::*);
template <auto Field>
using OwnerOf = decltype(owner_of(Field));

}  // namespace detail
}  // namespace holdfast
