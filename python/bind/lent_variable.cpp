// A graph's handle of a variable is a reference that Python's collector does not see, so a variable
// from which Python leads to the graph again would live for ever. A finished trace therefore has
// handles of its own, which count for nothing; objects of the type here hold the variables.
#include "python/bind/lent_variable.h"

#include <unordered_map>

#include "python/bind/collected.h"

namespace holdfast::py {
namespace {

struct PyLent {
  PyObject_HEAD PyObject* variable;
  Tensor handle;
};
PyLent& at(PyObject* o) { return *reinterpret_cast<PyLent*>(o); }

// Who keeps the variable of a lent handle; not owned.
std::unordered_map<const TensorRep*, PyObject*>& keepers() {
  static auto* all = new std::unordered_map<const TensorRep*, PyObject*>;
  return *all;
}

int traverse(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(at(o).variable);
  return 0;
}

// Whoever still has the handle finds a variable without a value there.
int clear(PyObject* o) {
  Tensor handle = std::exchange(at(o).handle, Tensor());
  if (handle.defined()) {
    TensorRep& rep = *handle.rep();
    keepers().erase(&rep);
    auto* state = static_cast<VariableState*>(static_cast<Resource*>(rep.beyond.leak()));
    auto gone = make_ref<VariableState>(state->name, state->dtype, state->shape, state->trainable);
    gone->born = state->born;
    rep.beyond = std::move(gone);
  }
  Py_CLEAR(at(o).variable);
  return 0;
}

void dealloc(PyObject* o) {
  PyObject_GC_UnTrack(o);
  clear(o);
  at(o).handle.~Tensor();
  free_collected(o);
}

PyTypeObject* lent_type() {
  static PyTypeObject* type =
      collected_type("holdfast._holdfast.LentVariable", sizeof(PyLent), traverse, clear, dealloc);
  return type;
}

}  // namespace

LentHandle lend_handle(const Tensor& handle) {
  VariableState* state = variable_behind(handle);
  if (!state || state->graph) return {};  // one of a graph has its values in sessions
  if (auto known = keepers().find(handle.rep()); known != keepers().end())
    return {handle, Object::share(known->second)};
  if (handle.rep() != state->handle().rep()) return {};  // its keeper is gone
  Object variable = python_of(*state);
  Object keeper = Object::steal(PyType_GenericAlloc(lent_type(), 0));
  PyLent& lent = at(keeper.get());
  new (&lent.handle) Tensor;
  auto rep = make_ref<TensorRep>(DType::kResource, Shape{}, nullptr);
  rep->id = handle.id();  // to tapes both are the same
  rep->born = handle.rep()->born;
  rep->beyond = Ref<RefCounted>::take(state);  // not counted: `variable` is
  lent.handle = Tensor(std::move(rep));
  lent.variable = variable.release();
  keepers().emplace(lent.handle.rep(), keeper.get());
  return {lent.handle, std::move(keeper)};
}

}  // namespace holdfast::py
