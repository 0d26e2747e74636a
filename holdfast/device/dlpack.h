// Tensors handed to other libraries, and theirs taken in, without a copy: the memory layout of
// DLPack 1, as every library that speaks it lays it out, and our side of it.
#pragma once

#include <cstdint>
#include <source_location>

#include "holdfast/tensor/tensor.h"

namespace holdfast::dlpack {

enum DeviceType : int32_t { kCPU = 1, kCUDA = 2, kCUDAHost = 3 };
enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kComplex = 5, kBool = 6 };
enum Flags : uint64_t { kReadOnly = 1, kIsCopied = 2 };

struct Place {
  int32_t type, index;
};
struct ElementType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct Array {
  void* data;
  Place device;
  int32_t rank;
  ElementType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: dense, row by row
  uint64_t byte_offset;
};

/// What a capsule called "dltensor" holds.
struct HOLDFAST_API Managed {
  Array array;
  void* owner;
  void (*deleter)(Managed*);

  static constexpr const char* kName = "dltensor";
  static constexpr const char* kUsed = "used_dltensor";
};

struct Version {
  uint32_t major, minor;
};
/// What a capsule called "dltensor_versioned" holds: since version 1, which knows of read-only
/// memory.
struct HOLDFAST_API ManagedVersioned {
  Version version;
  void* owner;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  Array array;

  static constexpr const char* kName = "dltensor_versioned";
  static constexpr const char* kUsed = "used_dltensor_versioned";
};

namespace detail {
template <class M>
HOLDFAST_API M* exported(const Tensor& t, bool copy);
template <class M>
HOLDFAST_API Tensor imported(M* managed);
}  // namespace detail

/// `t` for another library: hand it over as that library's `DLManagedTensor*`
/// (`DLManagedTensorVersioned*`), which has this layout. Whoever takes it calls its deleter. The
/// memory is shared and may not be written, which only the versioned form can say, unless a copy is
/// asked for.
[[gnu::always_inline]] inline Managed* to_dlpack(
    const Tensor& t, bool copy = false,
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::exported<Managed>(t, copy);
}
[[gnu::always_inline]] inline ManagedVersioned* to_dlpack_versioned(
    const Tensor& t, bool copy = false,
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::exported<ManagedVersioned>(t, copy);
}

/// A tensor over another library's memory (a copy, where that is not laid out row by row). It calls
/// the deleter when the last tensor lets go. What is refused still belongs to the caller.
template <class M>
[[gnu::always_inline]] inline Tensor from_dlpack(
    M* managed, const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::imported(managed);
}

}  // namespace holdfast::dlpack
