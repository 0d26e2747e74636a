// Datasets in Python: what the files of the binding share.
#pragma once

#include "holdfast/data/dataset.h"
#include "python/bind/in_python.h"
#include "python/bind/nb.h"

namespace holdfast::py {

/// The dataset behind a Python object; a TypeError where there is none.
data::Dataset dataset_of(nanobind::handle o);
/// The Python object of a dataset.
nanobind::object face_of(const data::Dataset& d);

/// Makes one: the user's line noted, our exceptions turned into Python's.
template <class F>
nanobind::object made(F&& f) {
  return run([&] {
    mark();
    return face_of(f());
  });
}

void bind_data_files(nanobind::module_& m);
void bind_examples(nanobind::module_& m);

}  // namespace holdfast::py
