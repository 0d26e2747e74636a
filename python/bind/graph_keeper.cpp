#include "python/bind/graph_keeper.h"

#include <unordered_map>

#include "holdfast/exec/init_scope.h"
#include "python/bind/collected.h"

namespace holdfast::py {
namespace {

struct PyKeeper {
  PyObject_HEAD PyObject* code;  // a list, null while there is none
  Ref<OpenGraph> graph;
};
PyKeeper& at(PyObject* o) { return *reinterpret_cast<PyKeeper*>(o); }

// Of each graph that Python knows; not owned.
std::unordered_map<const OpenGraph*, PyObject*>& keepers() {
  static auto* all = new std::unordered_map<const OpenGraph*, PyObject*>;
  return *all;
}

int traverse(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(at(o).code);
  return 0;
}

int clear(PyObject* o) {
  Py_CLEAR(at(o).code);
  return 0;
}

void dealloc(PyObject* o) {
  PyObject_GC_UnTrack(o);
  PyKeeper& self = at(o);
  keepers().erase(self.graph.get());
  // C++ alone still holds the graph, and may run it.
  if (self.code && !self.graph->unique()) take_back_code(*self.graph->graph());
  clear(o);
  self.graph.~Ref<OpenGraph>();
  free_collected(o);
}

PyTypeObject* keeper_type() {
  static PyTypeObject* type =
      collected_type("holdfast._holdfast.GraphKeeper", sizeof(PyKeeper), traverse, clear, dealloc);
  return type;
}

}  // namespace

Object keeper_of(OpenGraph& graph) {
  if (auto it = keepers().find(&graph); it != keepers().end()) return Object::share(it->second);
  Object made = Object::steal(PyType_GenericAlloc(keeper_type(), 0));
  new (&at(made.get()).graph) Ref<OpenGraph>(&graph);
  keepers().emplace(&graph, made.get());
  return made;
}

OpenGraph* graph_by_hand(std::span<const Tensor> tensors) {
  OpenGraph* found = root_graph();
  for (const Tensor& t : tensors)
    if (!found) found = graph_of(t);
  return found;
}

void keep_with(OpenGraph& graph, PyObject* code) {
  Object keeper = keeper_of(graph);
  PyObject*& list = at(keeper.get()).code;
  if (!list) list = Object::steal(PyList_New(0)).release();
  if (PyList_Append(list, code) < 0) throw PythonError{};
}

void keep_with(OpenGraph& graph, Held& code) {
  if (Object lent = code.lend()) keep_with(graph, lent.get());
}

}  // namespace holdfast::py
