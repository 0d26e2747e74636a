// Places where Python values live, read again at each call without a Python frame: a global, a
// cell, an attribute, an item. A chain such as `self.layers[2].w` is read from its beginning.
#pragma once

#include <vector>

#include "python/bind/signature.h"

namespace holdfast::py {

/// Values of places; empty where there is none.
using Places = InlineVector<Object, 16>;

class Locations {
 public:
  /// From Python: tuples (kind, index of the place whose value holds it, or -1, what).
  explicit Locations(PyObject* records);
  Locations() = default;

  /// The values there now; those among the arguments where there is a call. No code of the user's
  /// runs but what Python alone can read, which comes first.
  Places read(const Bound* call = nullptr) const;
  /// One of them, which may be among the arguments of a call.
  Object read(size_t index, const Bound& call) const;
  size_t size() const { return all_.size(); }

  template <class F>
  int visit(F&& f) const {
    for (const Location& l : all_)
      if (int r = f(l.what.get())) return r;
    return 0;
  }

 private:
  struct Location {
    enum Kind : uint8_t {
      kHeld,       // an object
      kWeak,       // an object that is not kept alive
      kArgument,   // an argument of the call
      kAsked,      // what Python alone can read, by `read()`
      kEntry,      // of a dict, by a plain key
      kCell,       // the content of a cell
      kAttribute,  // that an object holds itself, in its `__dict__` or a slot
      kItem,       // of a list, tuple or dict
      kOwner,      // the object of a bound method written in C
      kSpace,      // the `__dict__` of an object
    };
    Kind kind = kHeld;
    int within = -1;
    Object what;  // the object, a weak reference to it, the name, the key
    Py_ssize_t index = 0;
  };
  static Object value_of(const Location& l, PyObject* holder);
  static Object asked(const Location& l);
  static Object argument(const Location& l, const Bound& call);

  std::vector<Location> all_;
  bool some_asked_ = false;
};

/// The `__dict__` of an object, borrowed; null where it has none.
PyObject* space_of(PyObject* o);

void init_locations(PyObject* module);

}  // namespace holdfast::py
