// Conditions under which a trace may be used again: places still hold what was read there.
#pragma once

#include "python/bind/locations.h"
#include "python/bind/plain.h"

namespace holdfast::py {

class Guard {
 public:
  /// From Python: (how, place, expected, guard). `expected` is a weak reference where `how` is
  /// "weak", the other place where it is "same". `guard` is Python's own, which tells by `holds()`
  /// where C can't.
  Guard(PyObject* description, size_t places);

  Answer holds(const Places& now) const;
  /// Python's word. False where it raises an error: Python then asks again, and says so.
  bool ask() const;

  template <class F>
  int visit(F&& f) const {
    for (const Object* o : {&expected_, &python_})
      if (int r = f(o->get())) return r;
    return 0;
  }

 private:
  enum Kind : uint8_t {
    kWeak,
    kIdentity,
    kValue,
    kMissing,
    kSame,
    kLength,
    kKeys,
    kTuple,
    kClass,
    kOwnClass,  // of an object; of one that is gone nobody asks
    // Without a place:
    kFunction,     // the code and the defaults that a function has, if it is there
    kDefinitions,  // the version of a class
    kAsked
  };
  Kind kind_ = kAsked;
  size_t place_ = 0, other_ = 0;
  mutable Py_ssize_t count_ = 0;  // of a class, the version of which Python said that it will do
  Object expected_, python_;
};

}  // namespace holdfast::py
