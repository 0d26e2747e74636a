// Diagnostics into Python exceptions and back.
#include <new>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "python/bind/py.h"

namespace holdfast::py {
namespace {

Object text(const std::string& s) {
  return Object::steal(
      PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "replace"));
}

void put(PyObject* dict, const char* key, Object value) {
  if (PyDict_SetItemString(dict, key, value.get()) < 0) throw PythonError{};
}
void put(PyObject* dict, const char* key, const std::string& s) { put(dict, key, text(s)); }
void put(PyObject* dict, const char* key, int n) {
  put(dict, key, Object::steal(PyLong_FromLong(n)));
}

template <class List, class F>
Object list_of(const List& items, F&& f) {
  Object out = Object::steal(PyList_New(0));
  for (auto& item : items) {
    Object o = f(item);
    if (PyList_Append(out.get(), o.get()) < 0) throw PythonError{};
  }
  return out;
}

Object dict() { return Object::steal(PyDict_New()); }

Object to_dict(const ScopeInfo& s) {
  Object d = dict();
  put(d.get(), "kind", s.kind);
  put(d.get(), "name", s.name);
  put(d.get(), "state", s.state);
  put(d.get(), "trace_no", s.trace_no);
  put(d.get(), "defined", py::to_dict(s.defined));
  put(d.get(), "closed_at", py::to_dict(s.closed_at));
  return d;
}

Object to_dict(const TensorInfo& t) {
  Object d = dict();
  put(d.get(), "name", t.name);
  put(d.get(), "op", t.op);
  put(d.get(), "dtype", t.dtype);
  put(d.get(), "shape", t.shape);
  put(d.get(), "device", t.device);
  put(d.get(), "holder_path", t.holder_path);
  put(d.get(), "born", py::to_dict(t.born));
  put(d.get(), "owner", to_dict(t.owner));
  return d;
}

constexpr const char* kRoles[] = {"born",  "stored",  "closed", "used",  "first_use",
                                  "freed", "rebound", "cut",    "placed"};
constexpr const char* kApplicabilities[] = {"tested", "maybe", "manual"};
constexpr const char* kSeverities[] = {"error", "warning", "bug"};

// -- reading dicts
std::string get_text(PyObject* d, const char* key) {
  PyObject* o = d && PyDict_Check(d) ? PyDict_GetItemString(d, key) : nullptr;
  const char* s = o && PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : nullptr;
  if (!s) PyErr_Clear();
  return s ? s : "";
}
int get_int(PyObject* d, const char* key, int otherwise = 0) {
  PyObject* o = d && PyDict_Check(d) ? PyDict_GetItemString(d, key) : nullptr;
  return o && PyLong_Check(o) ? static_cast<int>(PyLong_AsLong(o)) : otherwise;
}
PyObject* get(PyObject* d, const char* key) {
  return d && PyDict_Check(d) ? PyDict_GetItemString(d, key) : nullptr;
}

template <class F>
void each(PyObject* list, F&& f) {
  if (!list || !PySequence_Check(list)) return;
  for (Py_ssize_t i = 0, n = PySequence_Size(list); i < n; ++i) {
    Object item = Object::steal(PySequence_GetItem(list, i));
    f(item.get());
  }
}

Loc loc_from(PyObject* d) {
  Loc loc;
  loc.file = get_text(d, "file");
  loc.line = get_int(d, "line");
  loc.col_begin = get_int(d, "col_begin", -1);
  loc.col_end = get_int(d, "col_end", -1);
  loc.qualname = get_text(d, "qualname");
  loc.source = get_text(d, "source");
  return loc;
}

ScopeInfo scope_from(PyObject* d) {
  ScopeInfo s;
  if (std::string kind = get_text(d, "kind"); !kind.empty()) s.kind = kind;
  if (std::string state = get_text(d, "state"); !state.empty()) s.state = state;
  s.name = get_text(d, "name");
  s.trace_no = get_int(d, "trace_no");
  s.defined = loc_from(get(d, "defined"));
  s.closed_at = loc_from(get(d, "closed_at"));
  return s;
}

TensorInfo info_from(PyObject* d) {
  TensorInfo t;
  t.name = get_text(d, "name");
  t.op = get_text(d, "op");
  t.dtype = get_text(d, "dtype");
  t.shape = get_text(d, "shape");
  t.device = get_text(d, "device");
  t.holder_path = get_text(d, "holder_path");
  t.born = loc_from(get(d, "born"));
  if (PyObject* owner = get(d, "owner")) t.owner = scope_from(owner);
  return t;
}

template <class E, size_t N>
E index_of(const char* const (&names)[N], const std::string& name, E otherwise) {
  for (size_t i = 0; i < N; ++i)
    if (name == names[i]) return static_cast<E>(i);
  return otherwise;
}

void set_from(const Diagnostic& d, const char* what) {
  const CodeInfo& code = info(d.code);
  if (!hooks().error_factory) {
    log_json(d);
    PyErr_SetString(PyExc_RuntimeError, what);
    return;
  }
  try {
    Object details = py::to_dict(d);
    Object e =
        Object::steal(PyObject_CallFunction(hooks().error_factory.get(), "OOsss", details.get(),
                                            text(what).get(), code.status, code.bases, code.name));
    log_json(py::from_dict(details.get()));  // with what the factory added to it
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(e.get())), e.get());
  } catch (const PythonError&) {
    // The factory itself failed: its exception is what the user sees.
  }
}

}  // namespace

Object Object::steal(PyObject* p) {
  if (!p) throw PythonError{};
  Object o;
  o.p_ = p;
  return o;
}

Object to_dict(const Loc& l) {
  Object d = dict();
  put(d.get(), "file", l.file);
  put(d.get(), "line", l.line);
  put(d.get(), "col_begin", l.col_begin);
  put(d.get(), "col_end", l.col_end);
  put(d.get(), "qualname", l.qualname);
  put(d.get(), "source", l.source);
  return d;
}

Object to_dict(const Diagnostic& g) {
  Object d = dict();
  put(d.get(), "code", std::string(info(g.code).name));
  put(d.get(), "severity", std::string(kSeverities[static_cast<int>(g.severity)]));
  put(d.get(), "headline", g.headline);
  put(d.get(), "speaker", g.speaker);
  put(d.get(), "op", g.op);
  put(d.get(), "why", g.why);
  put(d.get(), "hidden_frames", g.hidden_frames);
  put(d.get(), "thread", g.thread);
  put(d.get(), "subject", to_dict(g.subject));
  put(d.get(), "others", list_of(g.others, [](auto& t) { return to_dict(t); }));
  put(d.get(), "path", list_of(g.path, [](auto& t) { return to_dict(t); }));
  put(d.get(), "labels", list_of(g.labels, [](const Label& l) {
        Object x = dict();
        put(x.get(), "role", std::string(kRoles[static_cast<int>(l.role)]));
        put(x.get(), "loc", to_dict(l.loc));
        put(x.get(), "text", l.text);
        put(x.get(), "value", l.value);
        put(x.get(), "op", l.op);
        put(x.get(), "place", l.place);
        put(x.get(), "primary", Object::share(l.primary ? Py_True : Py_False));
        return x;
      }));
  put(d.get(), "fixes", list_of(g.fixes, [](const Fix& f) {
        Object x = dict();
        put(x.get(), "title", f.title);
        put(x.get(), "argument", f.argument);
        put(x.get(), "applicability",
            std::string(kApplicabilities[static_cast<int>(f.applicability)]));
        put(x.get(), "edits", list_of(f.edits, [](const Edit& e) {
              Object y = dict();
              put(y.get(), "file", e.file);
              put(y.get(), "line", e.line);
              put(y.get(), "col", e.col);
              put(y.get(), "old", e.old_text);
              put(y.get(), "new", e.new_text);
              return y;
            }));
        return x;
      }));
  return d;
}

Diagnostic from_dict(PyObject* o) {
  Diagnostic d;
  std::string name = get_text(o, "code");
  const auto& codes = all_codes();
  size_t i = 0;
  while (i < codes.size() && name != codes[i].name) ++i;
  if (i == codes.size()) type_error(cat("`", name, "` is no diagnostic code"));
  d.code = static_cast<Code>(i);
  d.severity = index_of(kSeverities, get_text(o, "severity"), codes[i].severity);
  d.headline = get_text(o, "headline");
  d.speaker = get_text(o, "speaker");
  d.op = get_text(o, "op");
  d.why = get_text(o, "why");
  d.hidden_frames = get_int(o, "hidden_frames");
  d.thread = get_text(o, "thread");
  d.subject = info_from(get(o, "subject"));
  each(get(o, "others"), [&](PyObject* t) { d.others.push_back(info_from(t)); });
  each(get(o, "path"), [&](PyObject* t) { d.path.push_back(info_from(t)); });
  each(get(o, "labels"), [&](PyObject* l) {
    PyObject* primary = get(l, "primary");
    d.labels.push_back({index_of(kRoles, get_text(l, "role"), Role::kUsed), loc_from(get(l, "loc")),
                        get_text(l, "text"), primary && PyObject_IsTrue(primary) == 1,
                        get_text(l, "value"), get_text(l, "op"), get_text(l, "place")});
  });
  each(get(o, "fixes"), [&](PyObject* f) {
    Fix fix{get_text(f, "title"),
            index_of(kApplicabilities, get_text(f, "applicability"), Applicability::kManual),
            {},
            get_text(f, "argument")};
    each(get(f, "edits"), [&](PyObject* e) {
      fix.edits.push_back({get_text(e, "file"), get_int(e, "line"), get_int(e, "col"),
                           get_text(e, "old"), get_text(e, "new")});
    });
    d.fixes.push_back(std::move(fix));
  });
  return d;
}

void set_python_error(const std::exception& e) {
  if (PyErr_Occurred()) return;
  if (auto* error = dynamic_cast<const Error*>(&e))
    return set_from(error->diagnostic(), error->what());
  if (dynamic_cast<const std::bad_alloc*>(&e)) {
    PyErr_NoMemory();
    return;
  }
  PyErr_SetString(PyExc_RuntimeError, e.what());
}

void type_error(std::string headline, std::string why, std::vector<Fix> fixes) {
  fail(Code::E1104, std::move(headline), std::move(why), std::move(fixes));
}

}  // namespace holdfast::py
