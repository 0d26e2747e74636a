// Who keeps the Python code alive that a graph written by hand calls.
#pragma once

#include "holdfast/graph/open_graph.h"
#include "python/bind/held.h"

namespace holdfast::py {

/// The Python object that keeps the code which a graph calls. The Graph, its tensors and its
/// operations hold it by references that Python's collector sees, so code that leads to one of them
/// is a cycle like any other, and stays as long as anybody may run it. With the GIL, as all here.
Object keeper_of(OpenGraph& graph);
/// Where the code of what is written now belongs to: the graph by hand that the thread's ops or
/// these tensors are of, else null.
OpenGraph* graph_by_hand(std::span<const Tensor> tensors);
/// Lends what a node of the graph calls to the graph's keeper.
void keep_with(OpenGraph& graph, Held& code);
void keep_with(OpenGraph& graph, PyObject* code);

}  // namespace holdfast::py
