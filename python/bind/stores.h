// What a call of a traced function leaves behind in Python objects, performed after it has run.
#pragma once

#include "python/bind/locations.h"
#include "python/bind/template.h"

namespace holdfast::py {

class Store {
 public:
  /// From Python: (how, place of the holder or -1, key, template of the value, output that says
  /// whether it happens or -1, performer). `performer(outputs)` does it where C can't.
  Store(PyObject* description, size_t places, size_t outputs);

  /// Performs it, with `outputs` of a call of `function`. `list` is them for Python, made when it
  /// is first needed.
  void perform(const Locations& places, const Bound& call, const Tensors& outputs, Object& list,
               PyObject* function) const;

  template <class F>
  int visit(F&& f) const {
    for (const Object* o : {&key_, &performer_})
      if (int r = f(o->get())) return r;
    return value_.visit(f);
  }

 private:
  enum Kind : uint8_t { kAttribute, kHeard, kEntry, kCell, kItem, kAppend, kAsked };
  bool put(PyObject* holder, PyObject* value) const;

  Kind kind_ = kAsked;
  int holder_ = -1, condition_ = -1;
  Object key_, performer_;
  Template value_;
};

/// All outputs of a call, for Python.
Object output_list(const Tensors& outputs);

/// Whether this thread writes down what is stored: then Python performs all stores.
bool journal_is_open();

void init_stores(PyObject* module);

}  // namespace holdfast::py
