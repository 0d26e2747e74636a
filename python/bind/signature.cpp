#include "python/bind/signature.h"

#include <algorithm>

namespace holdfast::py {
namespace {

// Most names are interned, and so the same object.
template <class List>
size_t find(const List& list, size_t from, PyObject* name) {
  for (size_t i = from; i < list.size(); ++i)
    if (list[i].name.get() == name) return i;
  for (size_t i = from; i < list.size(); ++i)
    if (PyUnicode_Compare(list[i].name.get(), name) == 0) return i;
  return list.size();
}

}  // namespace

Signature::Signature(PyObject* names, Py_ssize_t nameless, PyObject* keywords, PyObject* defaults,
                     PyObject* none, bool any_positional, bool any_keyword)
    : nameless_(static_cast<size_t>(nameless)),
      any_positional_(any_positional),
      any_keyword_(any_keyword) {
  Py_ssize_t at = 0;
  auto take = [&](PyObject* list, std::vector<Parameter>& out) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list); ++i, ++at) {
      if (at >= PyTuple_GET_SIZE(defaults)) type_error("a parameter has no default, nor none");
      PyObject* fallback = PyTuple_GET_ITEM(defaults, at);
      Py_INCREF(PyTuple_GET_ITEM(list, i));
      PyObject* name = PyTuple_GET_ITEM(list, i);
      PyUnicode_InternInPlace(&name);
      out.push_back({Object::steal(name), fallback == none ? Object() : Object::share(fallback)});
    }
  };
  take(names, positional_);
  take(keywords, keywords_);
  std::sort(keywords_.begin(), keywords_.end(), [](const Parameter& a, const Parameter& b) {
    return PyUnicode_Compare(a.name.get(), b.name.get()) < 0;
  });
}

bool Signature::take_keyword(PyObject* name, PyObject* value, size_t given, Bound& out) const {
  size_t i = find(positional_, nameless_, name);
  if (i < positional_.size()) {
    if (i < given || out.positional[i]) return false;
    out.positional[i] = value;
    return true;
  }
  i = find(keywords_, 0, name);
  if (i < keywords_.size()) {
    // Those of `**kwargs` stand among them, and move the ones behind.
    while (out.names[i] != keywords_[i].name.get()) ++i;
    if (out.keywords[i]) return false;
    out.keywords[i] = value;
    return true;
  }
  if (!any_keyword_) return false;
  i = 0;
  while (i < out.names.size() && PyUnicode_Compare(out.names[i], name) < 0) ++i;
  if (i < out.names.size() && PyUnicode_Compare(out.names[i], name) == 0) return false;
  out.names.insert(i, name);
  out.keywords.insert(i, value);
  return true;
}

bool Signature::bind(PyObject* const* args, size_t n, PyObject* kwnames, Bound& out) const {
  size_t count = positional_.size();
  if (n > count && !any_positional_) return false;
  out.positional.resize(std::max(n, count), nullptr);
  for (size_t i = 0; i < n; ++i) out.positional[i] = args[i];
  for (const Parameter& p : keywords_) {
    out.names.push_back(p.name.get());
    out.keywords.push_back(nullptr);
  }
  for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k)
    if (!take_keyword(PyTuple_GET_ITEM(kwnames, k), args[n + static_cast<size_t>(k)], n, out))
      return false;
  for (size_t i = n; i < count; ++i)
    if (!out.positional[i] && !(out.positional[i] = positional_[i].fallback.get())) return false;
  for (size_t i = 0, own = 0; own < keywords_.size(); ++i) {
    if (out.names[i] != keywords_[own].name.get()) continue;
    if (!out.keywords[i] && !(out.keywords[i] = keywords_[own].fallback.get())) return false;
    ++own;
  }
  return true;
}

}  // namespace holdfast::py
