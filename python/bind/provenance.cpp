// Which line of the user's Python program is calling us.
#include <cstring>

#include "python/bind/py.h"

namespace holdfast::py {
namespace {

// Whether a code object is part of this package. Asked for every op, so remembered per code object.
struct OwnCode {
  PyCodeObject* code = nullptr;
  bool ours = false;
};
constexpr size_t kCached = 128;
OwnCode own_cache[kCached];
std::string package_dir;

bool is_ours(PyCodeObject* code) {
  OwnCode& slot = own_cache[(reinterpret_cast<size_t>(code) >> 5) % kCached];
  if (slot.code == code) return slot.ours;
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  if (!file) PyErr_Clear();
  bool ours = file && !package_dir.empty() && std::strncmp(file, package_dir.c_str(), package_dir.size()) == 0;
  Py_INCREF(code);  // a remembered address must not be given to another code object
  Py_XDECREF(slot.code);
  slot = {code, ours};
  return ours;
}

Object source_module() {
  static Object* module = new Object(Object::steal(PyImport_ImportModule("holdfast._source")));  // outlives the interpreter
  return *module;
}

std::string text_of(PyObject* o) {
  const char* s = o && PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : nullptr;
  if (!s) PyErr_Clear();
  return s ? s : "";
}

Loc locate_python(const WhereRecord& w) noexcept {
  Loc loc;
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  try {
    Object place = Object::steal(PyObject_CallMethod(source_module().get(), "locate", "Oi",
                                                     const_cast<void*>(w.pointer), static_cast<int>(w.offset)));
    auto part = [&](const char* name) { return Object::steal(PyObject_GetAttrString(place.get(), name)); };
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
  PyGILState_Release(gil);
  return loc;
}

}  // namespace

void mark() {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  Where where = nullptr;
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    bool ours = is_ours(code);
    if (!ours) where = intern(Origin::kPython, code, static_cast<uint32_t>(PyFrame_GetLasti(frame)));
    Py_DECREF(code);
    if (!ours) break;
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
