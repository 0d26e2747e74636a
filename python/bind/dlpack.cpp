// DLPack's capsules: what Python hands from library to library.
#include "python/bind/dlpack.h"

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/device/dlpack.h"
#include "holdfast/op/refuse.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

using dlpack::Managed;
using dlpack::ManagedVersioned;

// A capsule that nobody consumed gives back what it holds.
template <class M>
void drop_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, M::kName)) return;
  auto* m = static_cast<M*>(PyCapsule_GetPointer(capsule, M::kName));
  if (m->deleter) m->deleter(m);
}

template <class M>
PyObject* capsule_of(M* m) {
  PyObject* capsule = PyCapsule_New(m, M::kName, &drop_capsule<M>);
  if (!capsule) {
    m->deleter(m);
    throw PythonError{};
  }
  return capsule;
}

PyObject* to_dlpack(PyObject* o, bool versioned, bool copy) {
  Tensor t = read(o, "buffer");
  return versioned ? capsule_of(dlpack::detail::exported<ManagedVersioned>(t, copy))
                   : capsule_of(dlpack::detail::exported<Managed>(t, copy));
}

template <class M>
Tensor import_from(PyObject* capsule) {
  auto* m = static_cast<M*>(PyCapsule_GetPointer(capsule, M::kName));
  Tensor t = dlpack::detail::imported(m);
  if (PyCapsule_SetName(capsule, M::kUsed) < 0) throw PythonError{};
  return t;
}

Tensor from_dlpack(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, ManagedVersioned::kName))
    return import_from<ManagedVersioned>(capsule);
  if (PyCapsule_IsValid(capsule, Managed::kName)) return import_from<Managed>(capsule);
  for (const char* used : {Managed::kUsed, ManagedVersioned::kUsed})
    if (PyCapsule_IsValid(capsule, used))
      type_error("`from_dlpack` got a capsule that was consumed already",
                 "a capsule hands its memory over once",
                 {manual_fix("ask for a new capsule: `tf.experimental.dlpack.to_dlpack`")});
  type_error(cat("`from_dlpack` got ", repr_of(capsule), " of type ", Py_TYPE(capsule)->tp_name,
                 ", expected a DLPack capsule or an object that makes one"));
}

}  // namespace

void bind_dlpack(nb::module_& m) {
  m.def(
      "to_dlpack",
      [](nb::handle tensor, bool versioned, bool copy) {
        return nb::steal(run([&] {
          mark();
          return to_dlpack(tensor.ptr(), versioned, copy);
        }));
      },
      "tensor"_a, "versioned"_a, "copy"_a);
  m.def(
      "from_dlpack",
      [](nb::handle capsule) {
        return run([&] {
          mark();
          return from_dlpack(capsule.ptr());
        });
      },
      "capsule"_a.none());
}

}  // namespace holdfast::py
