// Saving tensors and modules to files, and loading them: the safetensors format.
#pragma once

#include <source_location>
#include <string>

#include "holdfast/base/by_name.h"
#include "holdfast/exec/module.h"

namespace holdfast {

namespace detail {
HOLDFAST_API void save_tensors(const std::string& path, ByName<Tensor> tensors);
HOLDFAST_API ByName<Tensor> load_tensors(const std::string& path);
HOLDFAST_API void save_variables(const ModuleObject* module, const std::string& path);
HOLDFAST_API void load_variables(const ModuleObject* module, const std::string& path);
}  // namespace detail

/// Writes tensors under their names: `save({{"w", w}, {"b", b}}, "step.safetensors")`. The file is
/// there whole or not at all: a reader, or a crash, never meets half of one. What is saved comes
/// first and the path second, everywhere; here, where nothing can be taken for the other, the path
/// may also come first.
[[gnu::always_inline]] inline void save(
    const ByName<Tensor>& tensors, const std::string& path,
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  detail::save_tensors(path, tensors);
}
[[gnu::always_inline]] inline void save(
    const std::string& path, const ByName<Tensor>& tensors,
    const std::source_location& at = std::source_location::current()) {
  save(tensors, path, at);
}
/// The tensors of a file by their names. A file that is damaged is refused before memory is taken
/// for what it says it holds.
[[gnu::always_inline]] inline ByName<Tensor> load(
    const std::string& path, const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::load_tensors(path);
}

/// The name under which each variable of a module is saved, in the order of `variables()`: its own
/// name; where several have the same one, the second is `name_1`, the third `name_2`.
HOLDFAST_API ByName<Variable> saved_names(const ModuleObject& module);

/// Writes the variables of a module, with those of the modules it holds.
[[gnu::always_inline]] inline void save(
    const Module& module, const std::string& path,
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  detail::save_variables(module.object().get(), path);
}
/// Gives a module's variables the values that a file holds. Names, dtypes and shapes must be those
/// of the module, none missing and none left over; where they are not, nothing changes.
[[gnu::always_inline]] inline void load(
    const Module& module, const std::string& path,
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  detail::load_variables(module.object().get(), path);
}

}  // namespace holdfast
