#include "holdfast/device/dlpack.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "holdfast/base/checked.h"
#include "holdfast/base/text.h"
#include "holdfast/device/device.h"

namespace holdfast::dlpack {
namespace {

// -- dtypes

std::optional<ElementType> element_type(DType d) {
  auto bits = static_cast<uint8_t>(8 * size_of(d));
  if (d == DType::kBool) return ElementType{kBool, 8, 1};
  if (d == bfloat16) return ElementType{kBFloat, 16, 1};
  if (is_floating(d)) return ElementType{kFloat, bits, 1};
  if (is_complex(d)) return ElementType{kComplex, bits, 1};
  if (kSignedInts.has(d)) return ElementType{kInt, bits, 1};
  if (kUnsignedInts.has(d)) return ElementType{kUInt, bits, 1};
  return std::nullopt;
}

DType dtype_of_element(ElementType e) {
  for (int i = 1; i < kNumDTypes; ++i) {
    auto mine = element_type(static_cast<DType>(i));
    if (mine && mine->code == e.code && mine->bits == e.bits && e.lanes == 1)
      return static_cast<DType>(i);
  }
  constexpr const char* kNames[] = {"int",    "uint",    "float", "opaque handles",
                                    "bfloat", "complex", "bool"};
  std::string kind =
      e.code < std::size(kNames) ? kNames[e.code] : cat("type code ", static_cast<int>(e.code));
  std::string lanes = e.lanes == 1 ? "" : cat(" in vectors of ", e.lanes);
  fail(Code::E1105,
       cat("`from_dlpack` got elements of ", kind, " with ", static_cast<int>(e.bits), " bits",
           lanes),
       "there is no dtype for them",
       {manual_fix("convert them in the library that made the capsule")});
}

// -- out

// What a consumer holds on to. The view keeps the memory, not the tensor.
template <class M>
struct Export {
  M managed{};
  Tensor view;
  Dims shape, strides;
};

template <class M>
void release_export(M* m) {
  delete static_cast<Export<M>*>(m->owner);
}

template <class M>
M* export_as(const Tensor& t, bool copied) {
  auto held = std::make_unique<Export<M>>();
  held->view = view_of(t, t.shape());
  held->shape = t.shape().dims();
  held->strides = strides_of(t.shape());
  M& m = held->managed;
  m.owner = held.get();
  m.deleter = &release_export<M>;
  m.array = {t.size() ? t.mutable_raw() : nullptr,
             {kCPU, 0},
             t.rank(),
             *element_type(t.dtype()),
             held->shape.data(),
             held->strides.data(),
             0};
  if constexpr (std::is_same_v<M, ManagedVersioned>) {
    m.version = {1, 0};
    m.flags = copied ? kIsCopied : kReadOnly;
  }
  return &held.release()->managed;
}

// -- in

Shape shape_of_array(const Array& a) {
  if (a.rank < 0 || a.rank > kMaxRank || (a.rank > 0 && !a.shape))
    fail(Code::E1102,
         cat("`from_dlpack` got an array of rank ", a.rank, ", expected 0 to ", kMaxRank));
  Shape shape(std::span<const int64_t>(a.shape, static_cast<size_t>(a.rank)));
  if (!shape.is_full() || !shape.elements())
    fail(Code::E1102,
         cat("`from_dlpack` got an array of shape ", shape.text(), ", which no memory holds"));
  return shape;
}

bool is_dense(const Array& a, const Shape& shape) {
  if (!a.strides || shape.size() == 0) return true;
  Dims dense = strides_of(shape);
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] != 1 && a.strides[i] != dense[static_cast<size_t>(i)]) return false;
  return true;
}

// Refuses strides and offsets that lead further than memory goes: their sums would wrap around.
// What lies within is the word of the library that made the array.
void check_extent(const Array& a, const Shape& shape, int64_t item) {
  std::optional<int64_t> back = 0, ahead = 0;
  if (a.byte_offset > static_cast<uint64_t>(INT64_MAX))
    ahead.reset();
  else
    ahead = static_cast<int64_t>(a.byte_offset);
  for (int i = 0; a.strides && i < shape.rank() && back && ahead; ++i) {
    auto elements = checked_mul(std::max<int64_t>(shape[i] - 1, 0), a.strides[i]);
    auto bytes = elements ? checked_mul(*elements, item) : std::nullopt;
    std::optional<int64_t>& side = bytes.value_or(0) < 0 ? back : ahead;
    side = bytes ? checked_add(*side, *bytes) : std::nullopt;
  }
  if (!back || !ahead)
    fail(Code::E1102, cat("`from_dlpack` got an array of shape ", shape.text(),
                          " with strides and an offset that no memory has"));
}

// Row by row into `to`, which is left behind the last element.
void copy_strided(const char* from, const Array& a, int axis, int64_t item, char*& to) {
  if (axis == a.rank) {
    std::memcpy(to, from, static_cast<size_t>(item));
    to += item;
    return;
  }
  for (int64_t i = 0; i < a.shape[axis]; ++i)
    copy_strided(from + i * a.strides[axis] * item, a, axis + 1, item, to);
}

template <class M>
void release_import(void* token) {
  auto* m = static_cast<M*>(token);
  if (m->deleter) m->deleter(m);
}

}  // namespace

namespace detail {

template <class M>
M* exported(const Tensor& given, bool copy) {
  Tensor t = given;
  if (!element_type(t.dtype()))
    fail(Code::E1105, cat("DLPack of a ", name(t.dtype()), " tensor is not supported"),
         "DLPack describes numbers and bools", {manual_fix("hand over numbers")});
  if (!t.device())
    fail(Code::E1104, cat("DLPack of a ", name(t.dtype()), " tensor that has no value yet"));
  if (t.device()->kind() != DeviceKind::kCpu)
    fail(Code::E1105, cat("DLPack of a tensor on ", t.device()->short_name(), " is not supported"),
         "memory of the CPU is shared", {manual_fix("copy it to the CPU first")});
  if (copy) {
    Tensor own = empty(t.dtype(), t.shape(), cpu());
    if (t.bytes()) std::memcpy(own.mutable_raw(), t.raw(), static_cast<size_t>(t.bytes()));
    t = own;
  }
  return export_as<M>(t, copy);
}
template HOLDFAST_API Managed* exported<Managed>(const Tensor&, bool);
template HOLDFAST_API ManagedVersioned* exported<ManagedVersioned>(const Tensor&, bool);

template <class M>
Tensor imported(M* m) {
  if (!m) fail(Code::E1104, "`from_dlpack` got a null pointer");
  if constexpr (std::is_same_v<M, ManagedVersioned>) {
    if (m->version.major != 1)
      fail(Code::E1105, cat("`from_dlpack` got a capsule of DLPack ", m->version.major, ".",
                            m->version.minor, ", expected version 1"));
  }
  const Array& a = m->array;
  if (a.device.type != kCPU && a.device.type != kCUDAHost) {
    std::string where = a.device.type == kCUDA ? cat("GPU:", a.device.index)
                                               : cat("a device of DLPack's type ", a.device.type);
    fail(Code::E1105, cat("`from_dlpack` got memory of ", where), "memory of the CPU is taken in",
         {manual_fix("copy it to the CPU first, in the library that made it")});
  }
  Shape shape = shape_of_array(a);
  DType dtype = dtype_of_element(a.dtype);
  auto bytes = checked_mul(shape.size(), size_of(dtype));
  if (!bytes)
    fail(Code::E1102,
         cat("`from_dlpack` got an array of shape ", shape.text(), ", which no memory holds"));
  if (*bytes && !a.data) fail(Code::E1104, "`from_dlpack` got an array without memory");
  check_extent(a, shape, size_of(dtype));
  char* data = static_cast<char*>(a.data) + a.byte_offset;
  Tensor t;
  int64_t alignment = size_of(dtype) / (is_complex(dtype) ? 2 : 1);
  bool dense = is_dense(a, shape),
       aligned = reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(alignment) == 0;
  bool share = dense && aligned && *bytes > 0;
  if (!share) {
    t = empty(dtype, shape, cpu());
    char* to = static_cast<char*>(t.mutable_raw());
    if (*bytes > 0 && dense)
      std::memcpy(to, data, static_cast<size_t>(*bytes));
    else if (*bytes > 0)
      copy_strided(data, a, 0, size_of(dtype), to);
  }
  // From here on the memory is ours to give back.
  auto buffer =
      make_ref<ForeignBuffer>(cpu(), data, static_cast<size_t>(*bytes), m, &release_import<M>);
  if (share) t = Tensor(make_ref<TensorRep>(dtype, shape, std::move(buffer)));
  t.rep()->born = here();
  t.rep()->op = "Const";
  return t;
}
template HOLDFAST_API Tensor imported<Managed>(Managed*);
template HOLDFAST_API Tensor imported<ManagedVersioned>(ManagedVersioned*);

}  // namespace detail
}  // namespace holdfast::dlpack
