// nanobind, taught our Tensor.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/bind/py.h"

namespace nanobind::detail {

template <>
struct type_caster<holdfast::Tensor> {
  NB_TYPE_CASTER(holdfast::Tensor, const_name("holdfast.Tensor"))
  bool from_python(handle src, uint8_t, cleanup_list*) noexcept {
    if (!holdfast::py::is_tensor(src.ptr())) return false;
    value = holdfast::py::tensor_of(src.ptr());
    return true;
  }
  static handle from_cpp(const holdfast::Tensor& t, rv_policy, cleanup_list*) noexcept {
    return holdfast::py::wrap(t);
  }
};

}  // namespace nanobind::detail

namespace holdfast::py {

/// Runs `f`, turning our exceptions into Python's.
template <class F>
auto run(F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const PythonError&) {
    throw nanobind::python_error();
  } catch (const Error& e) {
    set_python_error(e);
    throw nanobind::python_error();
  }
}

/// A reference of ours as one of nanobind's.
inline nanobind::object given(Object o) { return nanobind::steal(o.release()); }

void bind_variable(nanobind::module_& m);
void bind_tape(nanobind::module_& m);
void bind_retracing(nanobind::module_& m);
void bind_device(nanobind::module_& m);
void bind_random(nanobind::module_& m);
void bind_graph(nanobind::module_& m);
void bind_trace_host(nanobind::module_& m);
void bind_session(nanobind::module_& m);
void bind_control(nanobind::module_& m);
void bind_pycall(nanobind::module_& m);
void bind_graph_text(nanobind::module_& m);
void bind_registry(nanobind::module_& m);
void bind_live(nanobind::module_& m);

}  // namespace holdfast::py
