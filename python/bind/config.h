// Configs between C++ and Python.
#pragma once

#include "holdfast/base/config.h"
#include "python/bind/object.h"

namespace holdfast::py {

/// A Python value as a config: None, bool, int, float, str, list, tuple, dict, or an object that
/// has a `get_config`. Anything else is refused; `what` names it in the message.
Config config_from(PyObject* value, const std::string& what = "a config");
/// The same, where objects may stay what they are: those of ours, and functions.
Config live_config(PyObject* value, const std::string& what);
/// The Python object of an object of ours; of a function of Python's that itself.
Object python_face(const Shared& object);
/// Plain Python values. An object is a dict with its class's name and its config.
Object python_from(const Config& config);
Object python_from(const ConfigDict& config);
void bind_config(nanobind::module_& m);

}  // namespace holdfast::py
