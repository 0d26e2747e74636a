// Classes that configs name.
#pragma once

#include "holdfast/base/config.h"

namespace holdfast::keras {

struct ClassDef;

/// Refuses a config of a class that is not registered.
HOLDFAST_API void need_class(const ConfigObject& described);
/// An object as Keras writes it: the module of its class, the class, its config, and the rest. What
/// is inside stays as it is.
HOLDFAST_API ConfigDict spelled(const ConfigObject& described);
/// The module that Keras has a class in: "keras.layers".
HOLDFAST_API std::string module_path(const ClassDef& def);
/// A function of a program, which is written by its name: whoever reads it has to know it.
HOLDFAST_API Config function_config(const std::string& name);

}  // namespace holdfast::keras
