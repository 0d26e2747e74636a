// Models in files, and what Python has put on them.
#include "holdfast/keras/built_again.h"
#include "holdfast/keras/made.h"
#include "holdfast/keras/saving/archive.h"
#include "holdfast/keras/saving/model_files.h"
#include "holdfast/keras/saving/saveables.h"
#include "python/bind/call.h"
#include "python/bind/keras.h"

namespace nb = nanobind;

namespace holdfast::py {
namespace {

using keras::Part;

// Gives an object's attributes as pairs of a name and an object, or a list of such.
Object& parts_hook() {
  static auto* f = new Object;
  return *f;
}

Part part_from(std::string name, nb::handle value) {
  Part out{std::move(name), {}, {}};
  if (auto* module = object_behind<ModuleObject>(value.ptr())) {
    if (dynamic_cast<keras::Declared*>(module)) out.object = Ref<ModuleObject>(module);
    return out;
  }
  if (PyList_Check(value.ptr()))
    for (nb::handle one : nb::borrow<nb::list>(value)) {
      Part inside = part_from("", one);
      if (inside.object || !inside.list.empty()) out.list.push_back(std::move(inside));
    }
  return out;
}

std::vector<Part> python_parts(const Shared& o) {
  WithGil gil;
  std::vector<Part> out;
  if (!gil || !parts_hook()) return out;
  Object self = python_of(o);
  Object all = called(parts_hook().get(), self.get());
  for (nb::handle pair : nb::handle(all.get())) {
    Part part = part_from(nb::cast<std::string>(pair[0]), pair[1]);
    if (part.object || !part.list.empty()) out.push_back(std::move(part));
  }
  return out;
}

nb::object python_part(const Part& part) {
  if (part.object) return given(python_of(*part.object));
  nb::list out;
  for (const Part& one : part.list) out.append(python_part(one));
  return out;
}

// Ask the class of an object how it keeps its variables.
struct OwnHooks {
  Object save, takes, load;
};
OwnHooks& own_hooks() {
  static auto* hooks = new OwnHooks;
  return *hooks;
}
std::optional<keras::OwnVariables::Named> own_save(const ModuleObject& o) {
  WithGil gil;
  if (!gil || !o.shared()) return std::nullopt;
  Object self = python_of(o), kept = called(own_hooks().save.get(), self.get());
  if (kept.get() == Py_None) return std::nullopt;
  keras::OwnVariables::Named out;
  for (nb::handle pair : nb::handle(kept.get()))
    out.emplace_back(nb::cast<std::string>(pair[0]), nb::cast<Tensor>(pair[1]));
  return out;
}
bool own_takes(const ModuleObject& o) {
  WithGil gil;
  if (!gil || !o.shared()) return false;
  Object self = python_of(o);
  return called(own_hooks().takes.get(), self.get()).get() == Py_True;
}
void own_load(const ModuleObject& o, const keras::OwnVariables::Named& values) {
  WithGil gil;
  if (!gil) return;
  nb::dict store;
  for (const auto& [key, value] : values) store[key.c_str()] = nb::cast(value);
  Object self = python_of(o);
  called(own_hooks().load.get(), self.get(), store.ptr());
}

OwnHooks& asset_hooks() {
  static auto* hooks = new OwnHooks;
  return *hooks;
}
std::optional<keras::OwnAssets::Files> assets_save(const ModuleObject& o) {
  WithGil gil;
  if (!gil || !o.shared()) return std::nullopt;
  Object self = python_of(o), kept = called(asset_hooks().save.get(), self.get());
  if (kept.get() == Py_None) return std::nullopt;
  keras::OwnAssets::Files out;
  for (nb::handle pair : nb::handle(kept.get())) {
    auto bytes = nb::cast<nb::bytes>(pair[1]);
    out.emplace_back(nb::cast<std::string>(pair[0]), std::string(bytes.c_str(), bytes.size()));
  }
  return out;
}
bool assets_taken(const ModuleObject& o) {
  WithGil gil;
  if (!gil || !o.shared()) return false;
  Object self = python_of(o);
  return called(asset_hooks().takes.get(), self.get()).get() == Py_True;
}
void assets_load(const ModuleObject& o, const keras::OwnAssets::Files& files) {
  WithGil gil;
  if (!gil) return;
  nb::dict given;
  for (const auto& [name, bytes] : files)
    given[nb::handle(text_object(name).get())] = nb::bytes(bytes.data(), bytes.size());
  Object self = python_of(o);
  called(asset_hooks().load.get(), self.get(), given.ptr());
}

// Told of objects of Python's that have made their variables.
Object& made_hook() {
  static auto* f = new Object;
  return *f;
}
void python_made(ModuleObject& made) {
  WithGil gil;
  if (!gil || !made_hook()) return;
  Object self = python_of(made);
  called(made_hook().get(), self.get());
}

Object& build_hook() {
  static auto* f = new Object;
  return *f;
}
void python_build_again(keras::Layer& layer, const Config& config) {
  WithGil gil;
  if (!gil || !build_hook() || !layer.shared()) return;  // else its class is C++'s
  Object self = python_of(layer), said = python_from(config);
  called(build_hook().get(), self.get(), said.get());
}

}  // namespace

void bind_keras_saving(nb::module_& m) {
  keras::set_attribute_parts(&python_parts);
  keras::set_build_again(&python_build_again);
  m.def("set_build_again", [](nb::handle f) { build_hook() = Object::share(f.ptr()); });
  m.def("set_saved_parts", [](nb::handle f) { parts_hook() = Object::share(f.ptr()); });
  m.def("set_own_variables", [](nb::handle save, nb::handle takes, nb::handle load) {
    own_hooks() = {Object::share(save.ptr()), Object::share(takes.ptr()),
                   Object::share(load.ptr())};
    keras::set_own_variables({&own_save, &own_takes, &own_load});
  });
  m.def("set_own_assets", [](nb::handle save, nb::handle takes, nb::handle load) {
    asset_hooks() = {Object::share(save.ptr()), Object::share(takes.ptr()),
                     Object::share(load.ptr())};
    keras::set_own_assets({&assets_save, &assets_taken, &assets_load});
  });
  m.def("keras_parts", [](nb::handle object) {
    return run([&] {
      nb::list out;
      auto* module = object_behind<ModuleObject>(object.ptr());
      if (module)
        for (const Part& p : keras::named_parts(*module))
          out.append(nb::make_tuple(p.name, python_part(p)));
      return out;
    });
  });
  m.def("set_made_listener", [](nb::handle f) {
    made_hook() = Object::share(f.ptr());
    keras::set_made_listener(&python_made);
  });
  m.def("has_class", [](const std::string& name) { return registry::has_class(name); });
  m.def("unregister_class", [](const std::string& name) { registry::remove_class(name); });
  m.def("keras_save_weights", [](nb::handle model, const std::string& path) {
    run([&] {
      mark();
      keras::save_weights(layer_of(model.ptr()), path);
      return 0;
    });
  });
  m.def("keras_load_weights", [](nb::handle model, const std::string& path, bool skip_mismatch) {
    run([&] {
      mark();
      keras::load_weights(layer_of(model.ptr()), path, {.skip_mismatch = skip_mismatch});
      return 0;
    });
  });
  m.def("keras_save_model", [](nb::handle model, const std::string& path, nb::handle more) {
    run([&] {
      mark();
      ConfigDict beside;
      for (auto [key, value] : nb::borrow<nb::dict>(more))
        beside.set(nb::cast<std::string>(key),
                   live_config(value.ptr(), "how a model was compiled or built"));
      keras::save_model(layer_of(model.ptr()), path, beside);
      return 0;
    });
  });
  m.def("keras_archived_config", [](const std::string& path) {
    return run([&] {
      mark();
      keras::ArchiveReader file(io::ByteSource::of_file(path));
      return given(python_from(keras::config_of(file)));
    });
  });
  m.def("keras_build_from", [](nb::handle config, nb::handle model) {
    run([&] {
      mark();
      keras::build_from(config_from(config.ptr(), "a model's config"), layer_of(model.ptr()));
      return 0;
    });
  });
}

}  // namespace holdfast::py
