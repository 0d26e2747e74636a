#include "holdfast/keras/saving/model_files.h"

#include <ctime>
#include <set>

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/io/safetensors.h"
#include "holdfast/keras/known_class.h"
#include "holdfast/keras/model_handle.h"
#include "holdfast/keras/saving/archive.h"
#include "holdfast/keras/saving/saveables.h"
#include "holdfast/keras/symbol.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras {
namespace {

void check_ending(const std::string& path, std::string_view ending, const char* what) {
  if (path.ends_with(ending)) return;
  fail(Code::E1104, cat(what, " is called ", io::shown(path)),
       cat("the name of such a file ends in `", ending, "`"));
}

std::vector<StoredWeights> stored(const Layer& model) {
  std::vector<StoredWeights> out;
  for (const Saveable& s : saveables(model)) {
    if (auto* save = own_variables().save)
      if (std::optional<OwnVariables::Named> own = save(*s.object)) {
        out.push_back({s.path, s.object->name(), *std::move(own)});
        continue;
      }
    std::vector<Tensor> values;
    for (const Variable& v : s.variables) values.push_back(v.read());
    out.push_back(StoredWeights::numbered(s.path, s.object->name(), values));
  }
  return out;
}

// The files that parts of a model keep, by where those parts hang.
OwnAssets::Files kept_files(const Layer& model) {
  OwnAssets::Files out;
  if (!own_assets().save) return out;
  for (const Saveable& s : saveables(model))
    if (std::optional<OwnAssets::Files> files = own_assets().save(*s.object))
      for (auto& [name, bytes] : *files)
        out.emplace_back(s.path.empty() ? name : cat(s.path, "/", name), std::move(bytes));
  return out;
}

// Gives parts of a model the files below their place.
void load_files(const Layer& model, const ArchiveReader& archive) {
  const std::vector<std::string> names = archive.assets();
  if (names.empty() || !own_assets().takes) return;
  for (const Saveable& s : saveables(model)) {
    if (!own_assets().takes(*s.object)) continue;
    std::string place = s.path.empty() ? "" : cat(s.path, "/");
    OwnAssets::Files files;
    for (const std::string& name : names)
      if (name.starts_with(place) && !name.ends_with('/'))
        files.emplace_back(name.substr(place.size()), archive.asset(name));
    if (!files.empty()) own_assets().load(*s.object, files);
  }
}

std::string called(const Saveable& s) {
  auto* layer = dynamic_cast<const Layer*>(s.object.get());
  return layer ? layer->described() : cat("`", s.object->name(), "`");
}

// Why the weights of a file are not those of an object; empty if they are.
std::string misfit(const Saveable& s, const WeightsReader& file,
                   const std::vector<std::string>& keys) {
  if (keys.size() != s.variables.size()) {
    auto* layer = dynamic_cast<const Layer*>(s.object.get());
    bool unbuilt = layer && !layer->built() && s.variables.empty();
    return cat(called(s), " has ", s.variables.size(), " weights, and the file has ", keys.size(),
               " for it, at ", io::shown(s.path), unbuilt ? "; the layer is not built" : "");
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    const Variable& v = s.variables[i];
    Shape shape = file.shape(s.path, keys[i]);
    if (!v.shape().compatible(shape))
      return cat("weight ", i, " of ", called(s), " has shape ", v.shape().text(),
                 ", and the file has ", shape.text(), " for it, at ", io::shown(s.path));
  }
  return {};
}

// -- plain tensors

constexpr std::string_view kPlain = ".safetensors";

// The weights of a model by where their owners hang and what they are called there:
// "layers/dense/kernel". Optimizers and metrics are left out: these files hold weights.
std::vector<std::pair<std::string, Variable>> named_weights(const Layer& model) {
  std::vector<std::pair<std::string, Variable>> out;
  std::set<std::string> taken;
  for (const Saveable& s : saveables(model)) {
    if (!dynamic_cast<const Layer*>(s.object.get())) continue;
    if (auto* takes = own_variables().takes; takes && takes(*s.object))
      fail(Code::E1105, cat(called(s), " has a `load_own_variables` of its own"),
           cat("a file that ends in `", kPlain, "` holds the weights of layers as they are"),
           {manual_fix("save to a file that ends in `.weights.h5` or `.keras`")});
    for (const Variable& v : s.variables) {
      std::string plain = v.name().substr(0, v.name().find(':'));
      plain = plain.substr(plain.rfind('/') + 1);
      std::string base = s.path.empty() ? plain : cat(s.path, "/", plain), name = base;
      for (int i = 1; !taken.insert(name).second; ++i) name = cat(base, "_", i);
      out.emplace_back(name, v);
    }
  }
  return out;
}

void save_plain(const Layer& model, const std::string& path) {
  holdfast::ByName<Tensor> values;
  for (const auto& [name, v] : named_weights(model)) values[name] = copy_to(v.read(), cpu());
  io::write_safetensors(path, values);
}

void load_plain(const Layer& model, const std::string& path, const LoadOptions& options) {
  holdfast::ByName<Tensor> file = io::read_safetensors(path);
  auto refuse = [&](const std::string& why) {
    if (!options.skip_mismatch) fail(Code::E1301, cat(io::shown(path), " is refused"), why);
  };
  std::vector<std::pair<Variable, Tensor>> found;
  size_t known = 0;
  for (const auto& [name, v] : named_weights(model)) {
    auto at = file.find(name);
    if (at == file.end()) {
      refuse(cat("it has nothing for the weight ", io::shown(name), " of ", model.described()));
      continue;
    }
    ++known;
    const Tensor& value = at->second;
    if (v.shape().compatible(value.shape()))
      found.emplace_back(v, value.dtype() == v.dtype() ? value : cast(value, v.dtype()));
    else
      refuse(cat("the weight ", io::shown(name), " has shape ", v.shape().text(),
                 ", and the file has ", value.shape().text(), " for it"));
  }
  if (known != file.size())
    refuse(cat("it has ", file.size(), " tensors, of which ", known, " are weights of ",
               model.described()));
  for (auto& [variable, value] : found) variable.assign(value);
}

// Objects as dicts, with what Keras wants to know of them.
Config archived(const Config& c) {
  switch (c.kind()) {
    case Config::Kind::kList: {
      Config::List out;
      for (const Config& one : c.as_list()) out.push_back(archived(one));
      return out;
    }
    case Config::Kind::kDict: {
      ConfigDict out;
      for (const auto& [key, value] : c.as_dict()) out.set(key, archived(value));
      return out;
    }
    case Config::Kind::kObject: return archived(Config(spelled(c.as_object())));
    case Config::Kind::kLive: return archived(described(*c.live()));
    default: return c;
  }
}

// Options that a class does not have here, and that are not set: other versions of Keras know them.
Config without_unset(const Config& c) {
  if (c.kind() == Config::Kind::kList) {
    Config::List out;
    for (const Config& one : c.as_list()) out.push_back(without_unset(one));
    return out;
  }
  auto each = [](const ConfigDict& d, const ClassDef* def) {
    ConfigDict out;
    for (const auto& [key, value] : d)
      if (!def || !value.is_null() || def->find(key)) out.set(key, without_unset(value));
    return out;
  };
  if (c.kind() == Config::Kind::kDict) return each(c.as_dict(), nullptr);
  if (c.kind() != Config::Kind::kObject) return c;
  ConfigObject out = c.as_object();
  out.config = each(out.config, out.registered_name.empty() ? find_class(out.class_name) : nullptr);
  out.more = each(out.more, nullptr);
  return out;
}

std::string metadata() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d@%H:%M:%S", &parts);
  return Config(ConfigDict{
                    {"keras_version", "3.0.0"}, {"written_by", "holdfast"}, {"date_saved", date}})
      .to_json();
}

}  // namespace

void save_weights(const Layer& model, const std::string& path) {
  bool plain = path.ends_with(kPlain);
  if (!plain) check_ending(path, ".weights.h5", "a file of weights");
  if (!model.built())
    fail(Code::E1104, cat(model.described(), " is not built, so it has no weights to save"),
         "weights are made when the shape of the inputs is known",
         {manual_fix("call the model once, or its `build`")});
  if (plain) return save_plain(model, path);
  write_weights(path, stored(model));
}

void load_weights(const Layer& model, const WeightsReader& file, const LoadOptions& options) {
  std::vector<std::pair<Variable, Tensor>> found;
  std::vector<std::pair<Ref<ModuleObject>, OwnVariables::Named>> by_themselves;
  for (const Saveable& s : saveables(model)) {
    std::vector<std::string> keys = file.keys(s.path);
    if (auto* takes = own_variables().takes; takes && takes(*s.object)) {
      OwnVariables::Named values;
      for (const std::string& key : keys) values.emplace_back(key, file.read(s.path, key));
      by_themselves.emplace_back(s.object, std::move(values));
      continue;
    }
    std::string why = misfit(s, file, keys);
    bool layer = dynamic_cast<const Layer*>(s.object.get());
    if (!why.empty()) {
      // Of optimizers and metrics a file may have others, or none: they begin anew.
      if (options.skip_mismatch || !layer) continue;
      fail(Code::E1301, cat(io::shown(file.name()), " is refused"), why);
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      Tensor value = file.read(s.path, keys[i]);
      if (value.dtype() != s.variables[i].dtype()) value = cast(value, s.variables[i].dtype());
      found.emplace_back(s.variables[i], value);
    }
  }
  for (auto& [variable, value] : found) variable.assign(value);
  for (const auto& [object, values] : by_themselves) own_variables().load(*object, values);
}

void load_weights(const Layer& model, const std::string& path, const LoadOptions& options) {
  if (path.ends_with(".keras")) {
    ArchiveReader archive(io::ByteSource::of_file(path));
    load_weights(model, archive.weights(), options);
    return load_files(model, archive);
  }
  if (path.ends_with(kPlain)) return load_plain(model, path, options);
  check_ending(path, ".weights.h5", "a file of weights");
  load_weights(model, WeightsReader(io::ByteSource::of_file(path)), options);
}

Config archived_config(const Layer& model) {
  Config out = archived(serialize(model));
  ConfigDict whole = out.as_dict();
  auto* trained = dynamic_cast<const ModelLayer*>(&model);
  if (Config how = trained ? trained->get_compile_config() : Config(); !how.is_null())
    whole.set("compile_config", archived(how));
  return whole;
}

void compile_from(const Config& config, Layer& model) {
  auto* trained = dynamic_cast<ModelLayer*>(&model);
  if (!trained || config.kind() != Config::Kind::kObject) return;
  const Config* how = config.as_object().more.find("compile_config");
  if (how && how->kind() == Config::Kind::kDict && how->as_dict().size() > 0)
    trained->compile_from_config(*how);
}

void build_from(const Config& config, Layer& model) {
  if (config.kind() != Config::Kind::kObject || model.built()) return;
  const Config* build = config.as_object().more.find("build_config");
  if (!build || build->kind() != Config::Kind::kDict) return;
  const Config* said = build->as_dict().find("input_shape");
  if (!said || said->kind() != Config::Kind::kList || said->as_list().empty()) return;
  const Config::List& list = said->as_list();
  std::vector<Shape> shapes;
  bool several = list[0].kind() == Config::Kind::kList;
  for (const Config& one : several ? list : Config::List{*said})
    OptionType<Shape>::set(shapes.emplace_back(), one, "`input_shape` of a model's file");
  if (!dynamic_cast<const ModelLayer*>(&model)) return model.build_once(shapes);
  // The layers of a model are built where it calls them.
  std::vector<Nested> inputs;
  for (const Shape& s : shapes)
    inputs.push_back(make_input({.dtype = model.compute_dtype(), .batch_shape = s}));
  model.run(several ? Nested::list(inputs) : inputs[0], {});
}

void save_model(const Layer& model, const std::string& path, const ConfigDict& more) {
  check_ending(path, ".keras", "a model's file");
  ConfigDict config = archived_config(model).as_dict();
  for (const auto& [key, value] : more) config.set(key, archived(value));
  write_archive(path, {metadata(), Config(config).to_json(), stored(model), kept_files(model)});
}

Config config_of(const ArchiveReader& file) {
  return without_unset(Config::from_json(file.config()));
}

Model load_model(const std::string& path, const LoadModelOptions& options) {
  check_ending(path, ".keras", "a model's file");
  ArchiveReader file(io::ByteSource::of_file(path));
  Config config = config_of(file);
  Ref<Layer> model = deserialize(config);
  build_from(config, *model);
  if (options.compile) compile_from(config, *model);
  load_weights(*model, file.weights());
  load_files(*model, file);
  auto* loaded = dynamic_cast<ModelLayer*>(model.get());
  if (!loaded) fail(Code::E1104, cat("`", path, "` holds ", model->described(), ", no model"));
  return Model(Ref<ModelLayer>(loaded));
}

}  // namespace holdfast::keras
