// The parameters of a Python function, and how the arguments of a call are put to them.
#pragma once

#include "holdfast/base/inline_vector.h"
#include "python/bind/py.h"

namespace holdfast::py {

/// The arguments of a call in the order a trace knows them: positional ones with defaults and those
/// of `*args`, then keyword-only ones and those of `**kwargs` by name. All borrowed.
struct Bound {
  InlineVector<PyObject*, 8> positional;
  InlineVector<PyObject*, 4> names, keywords;  // sorted by name
};

class Signature {
 public:
  /// `names`: all that may be given by position, the first `nameless` of them only so. `keywords`:
  /// keyword-only ones. `defaults`: one for each of both, `none` where there is none.
  Signature(PyObject* names, Py_ssize_t nameless, PyObject* keywords, PyObject* defaults,
            PyObject* none, bool any_positional, bool any_keyword);

  /// False where the call does not suit the parameters; Python then says why.
  bool bind(PyObject* const* args, size_t n, PyObject* kwnames, Bound& out) const;

  template <class F>
  int visit(F&& f) const {
    for (auto* list : {&positional_, &keywords_})
      for (const Parameter& p : *list)
        if (int r = f(p.fallback.get())) return r;
    return 0;
  }

 private:
  struct Parameter {
    Object name;      // interned
    Object fallback;  // empty where an argument has to be given
  };
  bool take_keyword(PyObject* name, PyObject* value, size_t given, Bound& out) const;

  std::vector<Parameter> positional_, keywords_;  // the latter sorted by name
  size_t nameless_ = 0;
  bool any_positional_ = false, any_keyword_ = false;
};

}  // namespace holdfast::py
