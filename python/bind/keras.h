// What the files that bind Keras share.
#pragma once

#include "holdfast/keras/foreign.h"
#include "holdfast/keras/model.h"
#include "holdfast/keras/seed.h"
#include "python/bind/config.h"
#include "python/bind/nested.h"
#include "python/bind/object.h"

namespace holdfast::py {

/// A Python function in whatever role C++ uses it.
Ref<keras::ForeignFunction> foreign_function(PyObject* f);

/// Python's `SeedGenerator` as C++ draws from it; null where an object is none.
Ref<keras::SeedSource> seed_stream(PyObject* o);
/// A stream of seeds as Python's `SeedGenerator`; empty where an object is none.
Object python_stream(const Shared& object);

/// What training says as a dict: numbers, and arrays of NumPy's for metrics that have several.
Object logs_object(const keras::Logs& logs);

/// The layer behind a Python object; anything else is refused.
template <class L = keras::Layer>
L& layer_of(PyObject* o) {
  auto* layer = object_behind<L>(o);
  if (!layer) type_error("expected a layer, got " + repr_of(o));
  return *layer;
}

/// A method by its name, which a class of Python's may have of its own.
Method& overridable(const char* name);

std::optional<bool> truth_from(PyObject* o);

/// A function that takes keywords, as tables of methods have it.
template <class F>
PyCFunction with_keywords(F* f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

void bind_keras(nanobind::module_& m);
void bind_keras_layers(nanobind::module_& m);
void bind_keras_calls(nanobind::module_& m);
void bind_keras_models(nanobind::module_& m);
void bind_keras_callbacks(nanobind::module_& m);
void bind_keras_views(nanobind::module_& m);
void bind_keras_classes(nanobind::module_& m);
void bind_keras_fit(nanobind::module_& m);
void bind_keras_backend(nanobind::module_& m);
void bind_keras_training(nanobind::module_& m);
void bind_keras_features(nanobind::module_& m);
void bind_keras_metrics(nanobind::module_& m);
void bind_keras_saving(nanobind::module_& m);

}  // namespace holdfast::py
