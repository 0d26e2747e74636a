#include "python/bind/object.h"

#include "holdfast/base/text.h"
#include "python/bind/call.h"

namespace nb = nanobind;

namespace holdfast::py {

PyTypeObject* shared_type = nullptr;

namespace {

PyShared* at(PyObject* o) { return reinterpret_cast<PyShared*>(o); }

// The Python objects of those that keep their own count, while there is one.
std::unordered_map<const Shared*, PyObject*>& faces() {
  static auto* all = new std::unordered_map<const Shared*, PyObject*>;
  return *all;
}

std::unordered_map<PyTypeObject*, Ref<Shared> (*)()>& makers() {
  static auto* all = new std::unordered_map<PyTypeObject*, Ref<Shared> (*)()>;
  return *all;
}

// What gives a module's attributes, in the order in which they are looked at.
Object& parts_of() {
  static auto* f = new Object;
  return *f;
}

// -- the count

void retain(void* o) noexcept {
  if (has_gil())
    Py_INCREF(static_cast<PyObject*>(o));
  else if (WithGil gil; gil)
    Py_INCREF(static_cast<PyObject*>(o));
}
void release(void* o) noexcept {
  // Most of the time others hold it too, and nothing but the count changes.
  if (has_gil() && Py_REFCNT(static_cast<PyObject*>(o)) > 1) {
    Py_DECREF(static_cast<PyObject*>(o));
    return;
  }
  if (WithGil gil; gil) {
    // It may be the end of the object, in the middle of an exception.
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    Py_DECREF(static_cast<PyObject*>(o));
    PyErr_Restore(type, value, trace);
  }
}

void attributes(void* o, Visitor& see) {
  WithGil gil;
  if (!gil || !parts_of()) return;
  Object keep = Object::share(static_cast<PyObject*>(o));
  Object all = called(parts_of().get(), keep.get());
  for (nb::handle part : nb::handle(all.get()))
    if (is_shared(part.ptr()) && at(part.ptr())->object) see.object(*at(part.ptr())->object);
}

// Shows Python's collector who holds whom. What Python does not know is looked through where only
// its holder holds it: once all references to it were shown.
struct Collector final : Visitor {
  Collector(visitproc f, void* given) : visit(f), arg(given) {}
  void object(const Shared& child) override {
    if (void* o = child.shared())
      foreign(o);
    else if (child.unique() || ++shown[&child] == child.use_count())
      child.visit(*this);
  }
  void foreign(void* o) override {
    if (!stopped) stopped = visit(static_cast<PyObject*>(o), arg);
  }
  visitproc visit;
  void* arg;
  int stopped = 0;
  std::unordered_map<const Shared*, int64_t> shown;
};

int traverse(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  if (!at(o)->object) return 0;
  if (at(o)->apart) {
    // Its one reference, where the object is Python's.
    Py_VISIT(static_cast<PyObject*>(at(o)->object->shared()));
    return 0;
  }
  Collector collector(visit, arg);
  at(o)->object->visit(collector);
  return collector.stopped;
}

int clear(PyObject* o) {
  if (at(o)->object && !at(o)->apart) at(o)->object->clear();
  return 0;
}

void dealloc(PyObject* o) {
  PyObject_GC_UnTrack(o);
  if (Shared* object = std::exchange(at(o)->object, nullptr)) {
    if (at(o)->apart) {
      if (auto face = faces().find(object); face != faces().end() && face->second == o)
        faces().erase(face);
      object->release();
    } else {
      object->end_sharing();
    }
  }
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
}

// An object of a type as Python makes its own: a class with methods yet to be written is refused,
// and attributes lie in the object itself until somebody asks for its `__dict__`.
Object fresh(PyTypeObject* type) {
  static PyObject* nothing = PyTuple_New(0);
  return Object::steal(PyBaseObject_Type.tp_new(type, nothing, nullptr));
}

// Arguments are for `__init__`, as with every Python class.
PyObject* make_new(PyTypeObject* type, PyObject*, PyObject*) {
  return method([&]() -> PyObject* {
    Object made = fresh(type);
    for (PyTypeObject* t = type; t; t = t->tp_base) {
      auto maker = makers().find(t);
      if (maker == makers().end()) continue;
      if (maker->second) adopt(made.get(), maker->second());
      break;
    }
    return made.release();
  });
}

PyTypeObject* type_of(const ObjectClass& kind) {
  for (const ObjectClass* k = &kind; k; k = k->base)
    if (k->type) return static_cast<PyTypeObject*>(k->type);
  return shared_type;
}

std::unordered_map<std::string, const ObjectClass*>& kinds() {
  static auto* all = new std::unordered_map<std::string, const ObjectClass*>;
  return *all;
}

PyTypeObject* make_type(PyObject* module, const char* name, PyTypeObject* base,
                        std::vector<PyType_Slot> slots) {
  // Only the first type says how the collector sees it; the others inherit that whole.
  unsigned long collected = base == &PyBaseObject_Type ? Py_TPFLAGS_HAVE_GC : 0;
  slots.push_back({0, nullptr});
  PyType_Spec spec{name, sizeof(PyShared), 0,
                   static_cast<unsigned>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | collected),
                   slots.data()};
  Object made = Object::steal(PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(base)));
  const char* dot = strrchr(name, '.');
  if (PyModule_AddObjectRef(module, dot ? dot + 1 : name, made.get()) < 0) throw PythonError{};
  return reinterpret_cast<PyTypeObject*>(made.release());  // for ever
}

}  // namespace

WithGil::WithGil() : there_(!ended()) {
  if (!there_ || has_gil()) return;
  wait_for_gil([](void* s) { *static_cast<PyGILState_STATE*>(s) = PyGILState_Ensure(); }, &state_);
  taken_ = true;
}
WithGil::~WithGil() {
  if (taken_ && ended()) stay_to_the_end();  // it was taken away in between
  if (taken_) PyGILState_Release(state_);
}

NeedGil::NeedGil(const char* what) {
  if (!*this) fail(Code::E1105, cat(what, " is asked for after Python has ended"));
}

WithoutGil::~WithoutGil() {
  wait_for_gil([](void* s) { PyEval_RestoreThread(static_cast<PyThreadState*>(s)); }, state_);
}

PyObject* call_python(PyObject* f, PyObject* const* args, size_t n) noexcept {
  struct Call {
    PyObject* f;
    PyObject* const* args;
    size_t n;
    PyObject* out = nullptr;
  } call{f, args, n};
  wait_for_gil(
      [](void* p) {
        auto* c = static_cast<Call*>(p);
        c->out = PyObject_Vectorcall(c->f, c->args, c->n, nullptr);
      },
      &call);
  return call.out;
}

void adopt(PyObject* self, const Ref<Shared>& object) {
  at(self)->object = object.get();
  // All references of C++ are references to `self` from here on, the one of `object` as well.
  Py_SET_REFCNT(self, Py_REFCNT(self) + object->share(self));
}

void adopt_beside(PyObject* self, const Ref<Shared>& object) {
  at(self)->apart = true;
  at(self)->object = Ref<Shared>(object).leak();
}

void adopt_apart(PyObject* self, const Ref<Shared>& object) {
  adopt_beside(self, object);
  faces()[object.get()] = self;
}

Object python_of(const Shared& object) {
  if (void* there = object.shared()) return Object::share(static_cast<PyObject*>(there));
  if (auto face = faces().find(&object); face != faces().end()) return Object::share(face->second);
  Ref<Shared> keep(const_cast<Shared*>(&object));
  PyTypeObject* type = type_of(object.object_class());
  Object made = fresh(type);
  // Making it may have run a collection, and with it anything: perhaps there is one now.
  if (void* there = object.shared()) return Object::share(static_cast<PyObject*>(there));
  adopt(made.get(), keep);
  return made;
}

namespace {
bool objects_have_methods = false;  // with the GIL
}

void Method::ask_objects() { objects_have_methods = true; }

bool Method::on_object(PyObject* self) {
  PyObject* space = PyObject_GenericGetDict(self, nullptr);
  if (!space) PyErr_Clear();  // a class without a dict
  bool there = space && PyDict_GetItemWithError(space, interned_.get()) != nullptr;
  Py_XDECREF(space);
  return there;
}

bool Method::overridden(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (!interned_) interned_ = Object::steal(PyUnicode_InternFromString(name_));
  if (objects_have_methods && on_object(self)) return true;
  if (PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG)) {
    auto it = known_.find(type);
    if (it != known_.end() && it->second.tag == type->tp_version_tag) return it->second.own;
  }
  PyObject* found = _PyType_Lookup(type, interned_.get());
  // Ours are written in C, in a type of ours.
  bool in_c =
      found && (Py_IS_TYPE(found, &PyMethodDescr_Type) || Py_IS_TYPE(found, &PyGetSetDescr_Type) ||
                Py_IS_TYPE(found, &PyWrapperDescr_Type));
  bool ours = in_c && PyType_IsSubtype(PyDescr_TYPE(found), shared_type);
  bool own = found && !ours;
  if (known_.size() > 4096) known_.clear();  // of classes that are long gone
  if (PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG))
    known_[type] = {type->tp_version_tag, own};
  return own;
}

Object Method::of(const Shared& object) {
  auto* self = static_cast<PyObject*>(object.shared());
  if (!self || !overridden(self)) return {};
  PyObject* found = PyObject_GetAttrString(self, name_);
  if (!found) throw nb::python_error();
  return Object::steal(found);
}

PyTypeObject* add_object_type(PyObject* module, const ObjectTypeSpec& s) {
  std::vector<PyType_Slot> slots{{Py_tp_doc, const_cast<char*>(s.doc)}};
  if (s.methods) slots.push_back({Py_tp_methods, s.methods});
  if (s.getset) slots.push_back({Py_tp_getset, s.getset});
  if (s.call) slots.push_back({Py_tp_call, reinterpret_cast<void*>(s.call)});
  slots.insert(slots.end(), s.slots.begin(), s.slots.end());
  PyTypeObject* type = make_type(module, s.name, s.base ? s.base : shared_type, std::move(slots));
  makers()[type] = s.make;
  s.kind->type = type;
  kinds()[s.kind->name] = s.kind;
  return type;
}

void init_object(nb::module_& m) {
  shared_type = make_type(m.ptr(), "holdfast._holdfast.Object", &PyBaseObject_Type,
                          {{Py_tp_dealloc, reinterpret_cast<void*>(&dealloc)},
                           {Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                           {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                           {Py_tp_new, reinterpret_cast<void*>(&make_new)},
                           {Py_tp_doc, const_cast<char*>("What C++ and Python hold together.")}});
  Shared::set_hooks({&retain, &release, &attributes});
  m.def(
      "set_class",
      [](const std::string& kind, nb::type_object type) {
        auto it = kinds().find(kind);
        if (it == kinds().end() ||
            !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()), shared_type))
          throw nb::value_error("no such class of objects");
        it->second->type = nb::object(type).release().ptr();  // for ever
      },
      "The Python class that C++ objects of a class appear as.");
  m.def(
      "set_parts", [](nb::object f) { parts_of() = Object::share(f.ptr()); },
      "What lists the objects that a module has as attributes.");
  m.def(
      "held_by_cpp",
      [](nb::handle o) -> int64_t {
        if (!is_shared(o.ptr())) return 0;
        Shared* object = at(o.ptr())->object;
        return object && object->shared() ? object->use_count() : 0;
      },
      "How many of an object's references are C++'s.");
}

}  // namespace holdfast::py
