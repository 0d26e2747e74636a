// Which line of the user's Python program is calling us.
#include <cstring>

#include "python/bind/object.h"
#include "python/bind/py.h"

namespace holdfast::py {
namespace {

// Whether a code object is part of this package, of Python's imports, which call us for `import
// tensorflow`, or of a library that calls us for the user: `contextlib`, NumPy. Asked for every op,
// so remembered per code object.
struct OwnCode {
  PyCodeObject* code = nullptr;
  PyCodeObject* lasting = nullptr;  // what stands for it in records
  bool ours = false, library = false;
};
constexpr size_t kCached = 512;
OwnCode own_cache[kCached];
std::string package_dir;

OwnCode known(PyCodeObject* code) {
  OwnCode& slot = own_cache[(reinterpret_cast<size_t>(code) >> 5) % kCached];
  if (slot.code == code) return slot;
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  if (!file) PyErr_Clear();
  auto begins = [&](std::string_view with) {
    return file && !with.empty() && std::strncmp(file, with.data(), with.size()) == 0;
  };
  bool ours = begins(package_dir) || begins("<frozen importlib");
  OwnCode found{code, ours ? code : lasting(code), ours, file && is_library(file)};
  Py_INCREF(code);  // a remembered address must not be given to another code object
  PyCodeObject* old = std::exchange(slot, found).code;
  Py_XDECREF(old);
  return found;
}

Object source_module() {
  static Object* module = new Object(Object::steal(
      PyImport_ImportModule("holdfast._messages.source")));  // outlives the interpreter
  return *module;
}

std::string text_of(PyObject* o) {
  const char* s = o && PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : nullptr;
  if (!s) PyErr_Clear();
  return s ? s : "";
}

Loc locate_python(const WhereRecord& w) noexcept {
  Loc loc;
  WithGil gil;
  if (!gil) return loc;  // a thread that Python left behind
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  try {
    Object place = Object::steal(PyObject_CallMethod(source_module().get(), "locate", "Oi",
                                                     const_cast<void*>(w.pointer),
                                                     static_cast<int>(w.offset)));
    auto part = [&](const char* name) {
      return Object::steal(PyObject_GetAttrString(place.get(), name));
    };
    auto number = [&](const char* name) {
      Object o = part(name);
      return PyLong_Check(o.get()) ? static_cast<int>(PyLong_AsLong(o.get())) : -1;
    };
    loc.file = text_of(part("file").get());
    loc.line = number("line");
    loc.col_begin = number("col_begin");
    loc.col_end = number("col_end");
    loc.qualname = text_of(part("qualname").get());
    loc.source = text_of(part("source_line").get());
  } catch (const PythonError&) {
    PyErr_Clear();
  }
  PyErr_Restore(type, value, trace);
  return loc;
}

}  // namespace

// A program that compiles the same text again and again (`exec`, `timeit`, a notebook's cell) makes
// a code object each time. Records would keep each of them; they speak of the first instead.
PyCodeObject* lasting(PyCodeObject* code) {
  static PyObject* all = PyDict_New();
  PyObject* key = PyTuple_Pack(3, code->co_filename, code->co_linetable, code);
  PyObject* found =
      all && key ? PyDict_SetDefault(all, key, reinterpret_cast<PyObject*>(code)) : nullptr;
  Py_XDECREF(key);
  if (!found) PyErr_Clear();  // constants that can't be hashed: `intern` keeps the code itself
  return found ? reinterpret_cast<PyCodeObject*>(found) : code;
}

void mark() {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  Where where = nullptr;  // a library's line is better than none
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    OwnCode of = known(code);
    bool theirs = !of.ours && !of.library;
    if (theirs || (!of.ours && !where))
      where = intern(Origin::kPython, of.lasting, static_cast<uint32_t>(PyFrame_GetLasti(frame)));
    Py_DECREF(code);
    if (theirs) break;
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  set_site(where);
}

void init_provenance() {
  Object package = Object::steal(PyImport_ImportModule("holdfast"));
  Object file = Object::steal(PyObject_GetAttrString(package.get(), "__file__"));
  std::string path = text_of(file.get());
  package_dir = path.substr(0, path.rfind('/') + 1);
  set_origin_reader(Origin::kPython, {&locate_python, [](const void* code) noexcept {
                                        Py_INCREF(static_cast<PyObject*>(const_cast<void*>(code)));
                                      }});
}

}  // namespace holdfast::py
