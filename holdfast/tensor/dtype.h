// The element types, and what is true of each.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "holdfast/base/api.h"
#include "holdfast/tensor/float16.h"

namespace holdfast {

/// An element type. `kResource` is a handle to a Variable, `kVariant` a list of tensors; they hold
/// no elements a user can see.
enum class DType : uint8_t {
  kInvalid,
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
  kString,
  kResource,
  kVariant,
};
inline constexpr int kNumDTypes = 19;

/// Short names, as in `zeros({2}, float32)`.
inline constexpr DType float16 = DType::kFloat16, bfloat16 = DType::kBFloat16,
                       float32 = DType::kFloat32, float64 = DType::kFloat64, int8 = DType::kInt8,
                       int16 = DType::kInt16, int32 = DType::kInt32, int64 = DType::kInt64,
                       uint8 = DType::kUInt8, uint16 = DType::kUInt16, uint32 = DType::kUInt32,
                       uint64 = DType::kUInt64, boolean = DType::kBool, string = DType::kString;

/// A set of dtypes, one bit each.
class DTypes {
 public:
  constexpr DTypes() = default;
  constexpr DTypes(std::initializer_list<DType> list) {
    for (DType d : list) bits_ |= bit(d);
  }
  constexpr bool has(DType d) const { return bits_ & bit(d); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr DTypes operator|(DTypes o) const {
    o.bits_ |= bits_;
    return o;
  }
  constexpr DTypes without(DTypes o) const {
    o.bits_ = bits_ & ~o.bits_;
    return o;
  }
  constexpr bool operator==(const DTypes&) const = default;

 private:
  static constexpr uint32_t bit(DType d) { return 1u << static_cast<int>(d); }
  uint32_t bits_ = 0;
};

inline constexpr DTypes kFloats{float16, bfloat16, float32, float64};
inline constexpr DTypes kComplexes{DType::kComplex64, DType::kComplex128};
inline constexpr DTypes kSignedInts{int8, int16, int32, int64};
inline constexpr DTypes kUnsignedInts{uint8, uint16, uint32, uint64};
inline constexpr DTypes kInts = kSignedInts | kUnsignedInts;
inline constexpr DTypes kReals = kFloats | kInts;
inline constexpr DTypes kNumbers = kReals | kComplexes;
inline constexpr DTypes kBools{DType::kBool};
inline constexpr DTypes kStrings{DType::kString};
inline constexpr DTypes kPlain = kNumbers | kBools;  // everything that is just bytes
inline constexpr DTypes kAll = kPlain | kStrings;
inline constexpr DTypes kIndices{int32, int64};
/// What a gradient can flow through.
inline constexpr DTypes kDifferentiable = kFloats | kComplexes;

struct DTypeInfo {
  const char* name;    // "float32"
  uint8_t size;        // bytes an element takes
  uint8_t tensorflow;  // number in TensorFlow's DataType enum
};
HOLDFAST_API const DTypeInfo& info(DType);

inline const char* name(DType d) { return info(d).name; }
inline int64_t size_of(DType d) { return info(d).size; }
inline bool is_floating(DType d) { return kFloats.has(d); }
inline bool is_integer(DType d) { return kInts.has(d); }
inline bool is_complex(DType d) { return kComplexes.has(d); }
inline bool is_bool(DType d) { return d == DType::kBool; }
inline bool is_differentiable(DType d) { return kDifferentiable.has(d); }
/// float32 of complex64, float64 of complex128, itself otherwise.
HOLDFAST_API DType real_of(DType);
/// The dtype called `name` ("float32", also "half", "double"), if there is one.
HOLDFAST_API std::optional<DType> dtype_named(std::string_view name);
/// "float16, float32 or int8" for messages.
HOLDFAST_API std::string to_text(DTypes);

template <class T>
struct dtype_of_type;
#define HOLDFAST_MAP(T, D)                   \
  template <>                                \
  struct dtype_of_type<T> {                  \
    static constexpr DType value = DType::D; \
  };
HOLDFAST_MAP(bool, kBool)
HOLDFAST_MAP(int8_t, kInt8)
HOLDFAST_MAP(int16_t, kInt16)
HOLDFAST_MAP(int32_t, kInt32)
HOLDFAST_MAP(int64_t, kInt64)
HOLDFAST_MAP(uint8_t, kUInt8)
HOLDFAST_MAP(uint16_t, kUInt16)
HOLDFAST_MAP(uint32_t, kUInt32)
HOLDFAST_MAP(uint64_t, kUInt64)
HOLDFAST_MAP(half, kFloat16)
HOLDFAST_MAP(bfloat, kBFloat16)
HOLDFAST_MAP(float, kFloat32)
HOLDFAST_MAP(double, kFloat64)
HOLDFAST_MAP(std::string, kString)
#undef HOLDFAST_MAP
/// std::complex, known by its looks: its header would be the largest that programs read with ours.
template <class T>
concept ComplexLike = requires(const T& c) {
  requires std::is_same_v<decltype(c.real()), typename T::value_type>;
  requires std::is_same_v<decltype(c.imag()), typename T::value_type>;
  requires std::is_floating_point_v<typename T::value_type>;
  requires sizeof(T) == 2 * sizeof(typename T::value_type);
};
template <ComplexLike T>
struct dtype_of_type<T> {
  static constexpr DType value = dtype_of_type<typename T::value_type>::value == DType::kFloat32
                                     ? DType::kComplex64
                                     : DType::kComplex128;
};
/// The dtype that holds C++ values of type T.
template <class T>
inline constexpr DType dtype_of = dtype_of_type<T>::value;

}  // namespace holdfast
