// What a tensor of dtype `resource` is a handle to.
#pragma once

#include "holdfast/base/object.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast {

/// A sort of thing that handles lead to: each is one object, which the thing's own class defines.
struct ResourceKind {
  const char* name;  // as messages say it: "variable"
};

/// State that outlives a step, known to ops by its handle. Each kind is a class of its own, with a
/// static `kKind`; ops say which one they take (`Builder::resource`).
class HOLDFAST_API Resource : public Object {
 public:
  const ResourceKind& kind() const { return kind_; }
  /// Its handle, one and the same for as long as it lives.
  const Tensor& handle() const { return handle_; }

 protected:
  explicit Resource(const ResourceKind& kind) : kind_(kind), handle_(TensorRep::own_handle(this)) {}

 private:
  const ResourceKind& kind_;
  const Tensor handle_;
};

/// The handle to `resource`, which keeps it alive.
inline Tensor handle_to(const Ref<Resource>& resource) { return resource->handle(); }

/// What a handle leads to; null for what is no handle, and for one that only a run will know.
inline Resource* resource_behind(const Tensor& t) {
  bool leads = t.defined() && t.dtype() == DType::kResource && !t.is_symbolic();
  return leads ? static_cast<Resource*>(t.rep()->beyond.get()) : nullptr;
}
inline bool leads_to(const Tensor& t, const ResourceKind& kind) {
  const Resource* r = resource_behind(t);
  return r && &r->kind() == &kind;
}
/// What it leads to, where that is a T; else null.
template <class T>
T* resource_behind(const Tensor& t) {
  return leads_to(t, T::kKind) ? static_cast<T*>(resource_behind(t)) : nullptr;
}
/// Throws: `t` does not lead to a `wanted`.
[[noreturn]] HOLDFAST_API void wrong_resource(const Tensor& t, const ResourceKind& wanted);

}  // namespace holdfast
