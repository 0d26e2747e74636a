#include "python/bind/held.h"

#include <functional>
#include <unordered_set>

#include "holdfast/base/text.h"
#include "holdfast/graph/bodies.h"
#include "python/bind/call.h"
#include "python/bind/lent_variable.h"
#include "python/bind/nb.h"
#include "python/bind/object.h"

namespace nb = nanobind;

namespace holdfast::py {
namespace {

// A list that can be referred to weakly, and that the collector sees into.
PyObject* keeper_type() {
  static PyObject* type = [] {
    Object made = Object::steal(PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyType_Type),
                                                      "s(O){}", "Keeper", &PyList_Type));
    return made.release();  // for ever
  }();
  return type;
}

template <class F>
void each_held(const Graph& g, std::unordered_set<const Graph*>& seen, F&& f) {
  if (!seen.insert(&g).second) return;
  for (const CustomGradient& c : g.customs)
    if (auto* backward = c.backward.target<PyBackward>()) f(*backward->code);
  for (const Ref<Node>& n : g.nodes)
    for (const Arg& a : n->attrs) {
      if (auto* body = body_in(a)) each_held(*body, seen, f);
      auto* object = std::get_if<Ref<RefCounted>>(&a.value());
      if (auto* holder = object ? dynamic_cast<const HoldsPython*>(object->get()) : nullptr)
        for (Held* h : holder->held()) f(*h);
    }
}

// Gives a graph and its bodies handles that do not count for their variables.
template <class F>
void lend_variables(const Graph& g, std::unordered_set<const Graph*>& seen, F&& keep) {
  if (!seen.insert(&g).second) return;
  auto lend = [&](const Tensor& handle, auto&& replace) {
    LentHandle lent = lend_handle(handle);
    if (!lent.keeper) return;
    replace(lent.handle);
    keep(lent.keeper.get());
  };
  // Only who holds the variable changes, nothing of what the graph means.
  for (Capture& c : const_cast<Graph&>(g).captures)
    lend(c.outer, [&](const Tensor& t) { c.outer = t; });
  for (const Ref<Node>& n : g.nodes) {
    for (const Arg& a : n->attrs)
      if (auto* body = body_in(a)) lend_variables(*body, seen, keep);
    if (n->op == &handle_op())
      lend(constant_of(*n), [&](const Tensor& t) { n->attrs = Attrs{Arg(t)}; });
  }
}

template <class F>
void each_held(const Graph& g, F&& f) {
  std::unordered_set<const Graph*> seen;
  each_held(g, seen, f);
}

}  // namespace

Held::~Held() {
  if (WithGil gil; gil)
    object_ = Object();
  else
    object_.release();
}

Object Held::get() const {
  if (!lent_) return object_;
  return target_of(object_.get());
}

Object Held::lend() {
  if (lent_) return get();
  PyObject* weak = PyWeakref_NewRef(object_.get(), nullptr);
  if (!weak) {
    PyErr_Clear();  // of a kind that can't be referred to weakly: it stays here
    return {};
  }
  lent_ = true;
  return std::exchange(object_, Object::steal(weak));
}

void Held::take_back() {
  Object object = lent_ ? get() : Object();
  if (!object) return;
  object_ = std::move(object);
  lent_ = false;
}

std::vector<Tensor> PyBackward::operator()(const std::vector<Tensor>& upstream) const {
  NeedGil gil("a custom gradient of Python's");
  Object call = code->get();
  if (!call)
    fail(Code::E1105,
         "a custom gradient is asked for after the function or graph that it is part of is gone",
         "its code went with it",
         {manual_fix("keep the function or graph as long as its gradient is needed")});
  nb::list args;
  for (const Tensor& t : upstream) args.append(t);
  nb::object result = nb::borrow<nb::callable>(call.get())(args);
  std::vector<Tensor> out;
  for (nb::handle h : result) out.push_back(h.is_none() ? Tensor() : tensor_of(h.ptr()));
  return out;
}

Object lend_to_keeper(const Graph& g) {
  Object keeper;
  auto keep = [&](PyObject* lent) {
    if (!keeper) keeper = Object::steal(PyObject_CallNoArgs(keeper_type()));
    if (PyList_Append(keeper.get(), lent) < 0) throw PythonError{};
  };
  each_held(g, [&](Held& h) {
    if (Object lent = h.lend()) keep(lent.get());
  });
  std::unordered_set<const Graph*> seen;
  lend_variables(g, seen, keep);
  return keeper;
}

void take_back_code(const Graph& g) {
  each_held(g, [](Held& h) { h.take_back(); });
}

std::function<Ref<RefCounted>()> lease_on(PyObject* keeper) {
  auto weak = make_ref<Held>(Object::steal(PyWeakref_NewRef(keeper, nullptr)));
  return [weak]() -> Ref<RefCounted> {
    WithGil gil;
    if (!gil) return nullptr;
    Object now = target_of(weak->get().get());
    return now ? make_ref<Held>(std::move(now)) : nullptr;
  };
}

}  // namespace holdfast::py
