// The memory layout of DLPack 1, as every library that speaks it lays it out, and our side of it.
#pragma once

#include <cstdint>

#include "python/bind/nb.h"

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
struct Managed {
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
struct ManagedVersioned {
  Version version;
  void* owner;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  Array array;

  static constexpr const char* kName = "dltensor_versioned";
  static constexpr const char* kUsed = "used_dltensor_versioned";
};

}  // namespace holdfast::dlpack

namespace holdfast::py {

void bind_dlpack(nanobind::module_& m);

}  // namespace holdfast::py
