// Datasets at the border: what the files share that bind their stages.
#pragma once

#include "holdfast/data/bound.h"
#include "holdfast/data/dataset.h"
#include "python/bind/call.h"
#include "python/bind/elements.h"
#include "python/bind/in_python.h"

namespace holdfast::py {

/// The dataset behind a Python object; anything else is refused.
data::Dataset dataset_of(nanobind::handle o);
nanobind::object face_of(const data::Dataset& d);
/// Specs in tuples and dicts.
data::ElementSpec spec_of(PyObject* o);

/// Runs one method: the user's line noted, our exceptions turned into Python's.
template <class F>
nanobind::object made(F&& f) {
  return run([&] {
    mark();
    return face_of(f());
  });
}

/// The datasets that a function of Python's uses.
void add_datasets_in(PyObject* function, std::vector<Ref<data::DatasetObject>>& to);
/// What tells a function of Python's from others.
void add_code_of(PyObject* function, data::Saving& to);

/// A Python object that a pipeline holds.
class HeldByData final : public Shared, public data::HoldsDatasets {
 public:
  explicit HeldByData(PyRef f) : held_(std::move(f)) {}
  const ObjectClass& object_class() const override { return data::ElementFunction::kClass; }
  void visit(Visitor& see) const override { see.foreign(held_.get()); }
  void add_datasets(std::vector<Ref<data::DatasetObject>>& to) const override {
    add_datasets_in(held_.get(), to);
  }
  void add_code(data::Saving& to) const override { add_code_of(held_.get(), to); }
  PyObject* get() const { return held_.get(); }

 private:
  Callable held_;
};

/// Calls Python from a pipeline, whichever thread runs it: what it raises is kept by the exception.
template <class F>
auto in_python(F&& f) {
  NeedGil gil("a function of Python's");
  try {
    return f();
  } catch (const PythonError&) {
    throw nanobind::python_error();
  }
}

/// A function of elements: a traced one with what it captured, or a callable that is called with
/// each element.
Ref<data::ElementFunction> function_from(nanobind::handle f, const std::vector<Tensor>& captured,
                                         nanobind::handle gives);

void bind_data_stages(nanobind::module_& m);
void bind_data_files(nanobind::module_& m);
void bind_data_iterators(nanobind::module_& m);
void bind_examples(nanobind::module_& m);

}  // namespace holdfast::py
