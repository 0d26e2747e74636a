// Objects with one count for both languages: Python's side of `holdfast/base/object.h`.
#pragma once

#include <unordered_map>

#include "holdfast/base/object.h"
#include "python/bind/nb.h"

namespace holdfast::py {

/// `Object` is a Python reference in this namespace; this is the counted object of C++.
using Shared = holdfast::Object;
using PyRef = Object;  // for classes that derive from that one, where `Object` means it

/// The Python object of a Shared. It has no dict of its own: the Python class that derives from a
/// type of ours gives it one.
struct PyShared {
  PyObject_HEAD Shared* object;  // null for a Variable that was not given a value yet
  bool apart;  // two counts: the Python object holds a reference, and dies by itself
};

extern PyTypeObject* shared_type;  // `_holdfast.Object`, the base of all of them
inline bool is_shared(PyObject* o) { return PyObject_TypeCheck(o, shared_type); }

/// What a type is made of.
struct ObjectTypeSpec {
  const char* name;              // "holdfast._holdfast.ModuleBase"
  const ObjectClass* kind;       // of which C++ class
  PyTypeObject* base = nullptr;  // null: shared_type
  PyMethodDef* methods = nullptr;
  PyGetSetDef* getset = nullptr;
  Ref<Shared> (*make)() = nullptr;  // what `__new__` makes; null: nothing yet
  const char* doc = "";
  ternaryfunc call = nullptr;
  std::vector<PyType_Slot> slots = {};  // further ones
};
/// Makes a type and puts it into the module. C++ objects of that class appear as instances of it,
/// until Python says which class of its own they are (`set_class`).
PyTypeObject* add_object_type(PyObject* module, const ObjectTypeSpec& spec);
void init_object(nanobind::module_& m);

/// The Python object of an object, the same one as long as anybody holds it. With the GIL.
Object python_of(const Shared& object);
/// The object behind a Python object, if it is a T; else null.
template <class T>
T* object_behind(PyObject* o) {
  return is_shared(o) ? dynamic_cast<T*>(reinterpret_cast<PyShared*>(o)->object) : nullptr;
}
/// Gives a Python object that has none yet the object it stands for.
void adopt(PyObject* self, const Ref<Shared>& object);
/// Likewise, and each keeps its own count: for what belongs to a graph, which holds it in ways that
/// Python's collector can't see.
void adopt_apart(PyObject* self, const Ref<Shared>& object);
/// Likewise, and `self` is not the object's own face: a second one beside it.
void adopt_beside(PyObject* self, const Ref<Shared>& object);

/// A method that Python classes may override: asks a class once whether it does, and again once an
/// attribute of the class was set.
class Method {
 public:
  explicit Method(const char* name) : name_(name) {}
  /// Whether the class of `self` has a method of its own by this name.
  bool overridden(PyObject* self);
  /// That method, bound; empty where C++'s own is in force, or where Python does not know `object`.
  Object of(const Shared& object);
  const char* name() const { return name_; }
  /// From now on objects are asked too: a program has put a method on one of them.
  static void ask_objects();

 private:
  bool on_object(PyObject* self);
  struct Answer {
    unsigned tag;
    bool own;
  };
  const char* name_;
  Object interned_;
  std::unordered_map<PyTypeObject*, Answer> known_;
};

/// Whether this thread holds the GIL. (`PyGILState_Check` says yes to everybody once there was a
/// second interpreter.)
inline bool has_gil() {
  PyThreadState* now = _PyThreadState_UncheckedGet();
  return now && now == PyGILState_GetThisThreadState();
}
/// Whether the interpreter is there no more, or ends without waiting for this thread.
bool ended();
/// Takes the GIL for a while. False once the interpreter has ended: then nothing may be touched.
class WithGil {
 public:
  WithGil();
  ~WithGil();
  WithGil(const WithGil&) = delete;
  explicit operator bool() const { return there_; }

 private:
  bool there_, taken_ = false;
  PyGILState_STATE state_{};
};

/// The GIL for what can't do without Python: `what` is refused once the interpreter has ended.
class NeedGil : WithGil {
 public:
  explicit NeedGil(const char* what);
};

/// Gives the GIL away for a while.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// Calls Python from code that Python called. Python ends a thread that waits for the GIL after the
/// interpreter has ended by unwinding it, which frames of C++ don't stand: the thread stays inside
/// until the process ends. Null with an error set.
PyObject* call_python(PyObject* f, PyObject* const* args, size_t n) noexcept;
/// The same; an error is thrown.
template <class... A>
PyRef called(PyObject* f, A*... args) {
  PyObject* all[] = {args..., nullptr};
  PyObject* out = call_python(f, all, sizeof...(A));
  if (!out) throw nanobind::python_error();
  return PyRef::steal(out);
}

/// A Python callable that C++ holds, seen by the collector through its holder. It is let go of with
/// the GIL, and never after the interpreter ended.
class Callable {
 public:
  explicit Callable(PyRef f) : function_(std::move(f)) {}
  Callable(const Callable&) = delete;
  ~Callable() {
    PyObject* held = function_.release();
    if (WithGil gil; gil) Py_XDECREF(held);
  }
  PyObject* get() const { return function_.get(); }

 private:
  PyRef function_;
};

/// Runs `f` as a method of a type written against CPython; also Python's own exceptions pass.
template <class F>
PyObject* method(F&& f) noexcept {
  return guarded([&]() -> PyObject* {
    try {
      return f();
    } catch (nanobind::python_error& e) {
      e.restore();
      throw PythonError{};
    }
  });
}

/// Likewise as the setter of an attribute, which `del` can't take away: Python gives no value then.
template <class F>
int setter(PyObject* value, const char* name, F&& f) noexcept {
  PyObject* done = method([&]() -> PyObject* {
    if (!value) {
      PyErr_Format(PyExc_AttributeError, "`%s` can be set, not deleted", name);
      throw PythonError{};
    }
    f();
    return Py_None;
  });
  return done ? 0 : -1;
}

}  // namespace holdfast::py
