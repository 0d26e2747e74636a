#include "holdfast/keras/declare.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/name_list.h"
#include "holdfast/exec/module.h"
#include "holdfast/exec/watched.h"
#include "holdfast/keras/function.h"
#include "holdfast/keras/known_class.h"
#include "holdfast/keras/policy.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/refuse.h"

namespace holdfast::keras {
namespace {

std::vector<ClassDef*>& classes() {
  static auto* all = new std::vector<ClassDef*>;
  return *all;
}

std::string last_part(const std::string& path) {
  size_t dot = path.rfind('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}
std::string folder_of(const std::string& path) {
  size_t dot = path.find('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

// How many letters one has to change to come from one word to the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t corner = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1])});
      corner = above;
    }
  }
  return row[b.size()];
}

// Names below a folder: of classes as they are and in lower case, and of functions.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out = function_names(folder);
  for (const ClassDef* c : classes())
    if (c->path.substr(0, c->path.rfind('.')) == folder && c->make) {
      out.push_back(c->name);
      out.push_back(snake_case(c->name));
      out.insert(out.end(), c->short_names.begin(), c->short_names.end());
    }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

const ClassDef* class_in(const std::string& folder, const std::string& name) {
  for (const ClassDef* c : classes()) {
    auto is = [&](const std::string& path) {
      return folder_of(path) == folder &&
             (last_part(path) == name || snake_case(last_part(path)) == name);
    };
    if (is(c->path) || std::any_of(c->aliases.begin(), c->aliases.end(), is)) return c;
    const auto& known = c->short_names;
    if (folder_of(c->path) == folder && std::find(known.begin(), known.end(), name) != known.end())
      return c;
  }
  return nullptr;
}

}  // namespace

ClassDef::ClassDef(std::string path_, std::string doc_, const ClassDef* base_)
    : path(std::move(path_)),
      name(last_part(path)),
      doc(std::move(doc_)),
      base(base_),
      kind{path.c_str(), base_ ? &base_->kind : nullptr} {
  classes().push_back(this);
  // Layers have their plain names in files; others are looked for where they are expected.
  bool plain = folder_of(path) == "layers" || !registry::has_class(name);
  if (plain)
    registry::add_class(
        name, [this](const ConfigDict& c) { return make_declared(*this, c); }, true);
}

const Option* ClassDef::find(std::string_view option) const {
  for (const Option& o : options)
    if (option == o.name) return &o;
  return nullptr;
}

void ClassDef::add(const Option& option) { options.push_back(option); }
void ClassDef::add(const Weight& weight) { weights.push_back(weight); }
void ClassDef::add(const Property& property) { properties.push_back(property); }
void ClassDef::add(const Action& action) { actions.push_back(action); }
void ClassDef::add_alias(std::string path_) { aliases.push_back(std::move(path_)); }
void ClassDef::move_key(std::string key, std::string other) {
  moved_keys.emplace_back(std::move(key), std::move(other));
}

Config Option::get(const void* options) const {
  return access->get(place(const_cast<void*>(options)));
}
void Option::set(void* options, const Config& value, const std::string& what) const {
  access->set(place(options), value, what);
}
Config Option::written(const void* options) const {
  return access->written(place(const_cast<void*>(options)));
}

const std::vector<ClassDef*>& all_classes() { return classes(); }

const ClassDef* find_class(std::string_view wanted) {
  for (const ClassDef* c : classes())
    if (c->path == wanted || c->name == wanted) return c;
  return nullptr;
}

void set_option(Declared& object, const ClassDef& def, const std::string& name,
                const Config& value) {
  const Option* option = def.find(name);
  if (!option) {
    std::string known = name_list(def.options, [](const Option& o) { return o.name; }), near;
    for (const Option& o : def.options)
      if (distance(o.name, name) <= 2) near = o.name;
    fail(Code::E1104, cat(def.name, " has no option `", name, "`"), cat("it has ", known),
         near.empty() ? std::vector<Fix>{}
                      : std::vector<Fix>{manual_fix(cat("did you mean `", near, "`?"))});
  }
  option->set(object.option_place(), value, cat("`", name, "` of ", def.name));
  if (auto* changed = dynamic_cast<const Object*>(&object)) note_change(*changed);
}

void set_option_at(const ClassDef& def, void* options, size_t place, const Config& value) {
  size_t many = std::min(def.by_position, def.options.size());
  if (place >= many)
    fail(Code::E1104, cat(def.name, " got ", value.text(), ", expected ",
                          many == 0 ? "options by their names"
                                    : cat("at most ", many, many == 1 ? " option" : " options",
                                          " without a name, and the others by theirs")));
  const Option& option = def.options[place];
  option.set(options, value, cat("`", option.name, "` of ", def.name));
}

Ref<Object> make_declared(const ClassDef& def, const ConfigDict& config) {
  if (!def.make) fail(Code::E1104, cat(def.name, " is a base: there are no objects of it"));
  Ref<Object> made = def.make();
  auto& declared = dynamic_cast<Declared&>(*made);
  for (const auto& [key, value] : config) set_option(declared, def, key, value);
  for (const Option& o : def.options)
    if (o.required && !config.has(o.name))
      fail(Code::E1104, cat("the config of ", def.name, " has no `", o.name, "`"));
  declared.configured();
  return made;
}

namespace {

// Objects inside a value become what they can be made from.
Config without_objects(const Config& value) {
  if (Object* live = value.live()) return described(*live);
  if (value.kind() == Config::Kind::kList) {
    Config::List out;
    for (const Config& one : value.as_list()) out.push_back(without_objects(one));
    return out;
  }
  if (value.kind() == Config::Kind::kDict) {
    ConfigDict out;
    for (const auto& [key, one] : value.as_dict()) out.set(key, without_objects(one));
    return out;
  }
  return value;
}

}  // namespace

ConfigDict declared_config(const Declared& object) {
  ConfigDict out;
  for (const Option& o : object.definition().options)
    if (o.in_config) out.set(o.name, without_objects(o.written(object.option_place())));
  return in_key_order(out, object.definition());
}

ConfigDict in_key_order(const ConfigDict& config, const ClassDef& def) {
  if (def.moved_keys.empty()) return config;
  std::vector<ConfigDict::Entry> entries(config.begin(), config.end());
  auto place = [&](const std::string& key) {
    return std::find_if(entries.begin(), entries.end(), [&](auto& e) { return e.first == key; });
  };
  for (const auto& [key, other] : def.moved_keys) {
    auto from = place(key), to = place(other);
    if (from == entries.end() || (to == entries.end() && !other.empty())) continue;
    if (from < to)
      std::rotate(from, from + 1, to);
    else
      std::rotate(to, from, from + 1);
  }
  ConfigDict out;
  for (auto& [key, value] : entries) out.set(std::move(key), std::move(value));
  return out;
}

Config described(const Object& object) {
  if (auto* own = dynamic_cast<const HasConfig*>(&object)) return own->config();
  auto* declared = dynamic_cast<const Declared*>(&object);
  if (!declared)
    fail(Code::E1105, cat(object.text(), " has no config"),
         "a config is made of plain values, and of objects of classes that are known");
  return ConfigObject{declared->definition().name, declared_config(*declared), {}};
}

namespace {

// How a class or function of the program is made known to what reads a config.
std::vector<Fix> ways_to_register(const char* kind, const std::string& name) {
  if (language() == Language::kPython)
    return {manual_fix(cat("pass the ", kind, " `", name, "` by its name in `custom_objects`")),
            manual_fix(cat("or register it where it is defined: `@", module_alias(),
                           ".keras.utils.register_keras_serializable()`"))};
  return {manual_fix(cat("register it first: `registry::add_class(\"", name,
                         "\", ...)`, as `register_keras_serializable` does in Python and "
                         "`custom_objects` does for one file"))};
}

}  // namespace

void need_class(const ConfigObject& o) {
  const std::string& name = o.registered_name.empty() ? o.class_name : o.registered_name;
  if (registry::has_class(name) || registry::has_class(o.class_name)) return;
  Diagnostic d;
  d.code = Code::E1303;
  d.headline = cat("the class `", o.class_name, "` is not known");
  if (name != o.class_name) d.headline += cat(", nor is `", name, "` registered");
  d.labels.push_back(used_here("read here"));
  d.why =
      "a saved model names its classes, and holds no code: only what was registered or passed can "
      "be made";
  d.fixes = ways_to_register("class", o.class_name);
  raise(std::move(d));
}

namespace {

// The module that Keras has a class in.
Config module_of(const std::string& class_name) {
  // What is no class of C++'s: a symbol, a policy, or a class of Python's.
  static const auto& others = *new std::map<std::string, const char*>{
      {"DTypePolicy", "keras"},         {"Functional", "keras.src.models.functional"},
      {"InputLayer", "keras.layers"},   {"Lambda", "keras.layers"},
      {"Wrapper", "keras.layers"},      {"MeanMetricWrapper", "keras.metrics"},
      {"SeedGenerator", "keras.random"}};
  if (auto it = others.find(class_name); it != others.end()) return it->second;
  const ClassDef* def = find_class(class_name);
  return def ? Config(module_path(*def)) : Config();
}

// The name in what `function_config` writes.
std::optional<Config> function_name(const Config& c) {
  if (c.kind() != Config::Kind::kDict) return std::nullopt;
  const Config *kind = c.as_dict().find("class_name"), *name = c.as_dict().find("config");
  if (!kind || !name || !(*kind == Config("function"))) return std::nullopt;
  return *name;
}

}  // namespace

std::string module_path(const ClassDef& def) {
  std::string folder = def.path.substr(0, def.path.rfind('.'));
  return folder == "models" ? "keras" : cat("keras.", folder);
}

ConfigDict spelled(const ConfigObject& o) {
  if (o.class_name.starts_with("__"))  // no object: a symbol, or a value
    return {{"class_name", o.class_name}, {"config", o.config}};
  const Config* said = o.more.find("module");
  Config module = said && !said->is_null()    ? *said
                  : o.registered_name.empty() ? module_of(o.class_name)
                                              : Config();
  bool ours = !module.is_null() && o.registered_name.empty() && o.class_name != "Functional";
  std::string registered = o.registered_name.empty() ? o.class_name : o.registered_name;
  ConfigDict out{{"module", module},
                 {"class_name", o.class_name},
                 {"config", o.config},
                 {"registered_name", ours ? Config() : Config(registered)}};
  for (const auto& [key, value] : o.more)
    if (key != "module") out.set(key, value);
  return out;
}

Config function_config(const std::string& name) {
  return ConfigDict{{"module", "builtins"},
                    {"class_name", "function"},
                    {"config", name},
                    {"registered_name", "function"}};
}

Ref<Object> object_from(const Config& config, const std::string& folder, const std::string& what) {
  if (config.is_null()) return {};
  if (Object* live = config.live()) return Ref<Object>(live);
  if (config.kind() == Config::Kind::kObject) {
    // A loss and a metric may share a name: the folder tells them apart.
    const ConfigObject& o = config.as_object();
    // An array stands for itself, where there are values that stand for themselves: initializers.
    const bool array = o.class_name == "__numpy__" || o.class_name == "__tensor__";
    if (const ClassDef* constant = array ? class_in(folder, "Constant") : nullptr)
      return make_declared(*constant, {{"value", config}});
    const ClassDef* known = o.registered_name.empty() ? class_in(folder, o.class_name) : nullptr;
    if (known) return make_declared(*known, o.config);
    need_class(o);
    return registry::make_object(o);
  }
  const std::optional<Config> function = function_name(config);
  const Config said = function.value_or(config);
  const std::string& name = said.as_text(what);
  if (Ref<Object> f = named_function(folder, name)) return f;
  if (const ClassDef* def = class_in(folder, name)) return make_declared(*def, {});
  if (registry::has_class(name)) return registry::make_object({name, {}, name});
  if (function)
    fail(Code::E1303, cat(what, ": the function `", name, "` is not known"),
         "a config names the functions of a program, and holds no code: only what was registered "
         "or passed can be used",
         ways_to_register("function", name));
  unknown_identifier(what, name, names_in(folder));
}

void unknown_identifier(const std::string& what, const std::string& name,
                        const std::vector<std::string>& known) {
  constexpr size_t kShown = 12;
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& k : known)
    near.emplace_back(std::min(distance(k, name), distance(k, snake_case(name))), k);
  std::sort(near.begin(), near.end());
  std::string all;
  for (size_t i = 0; i < near.size() && i < kShown; ++i)
    all += cat(all.empty() ? "\"" : ", \"", near[i].second, "\"");
  if (near.size() > kShown) all += cat(" and ", near.size() - kShown, " more");
  bool meant = !near.empty() && near[0].first < 4;
  fail(Code::E1203, cat(what, ": \"", name, "\" is not known"), cat("known are ", all),
       {manual_fix(meant ? cat("did you mean \"", near[0].second, "\"?")
                         : "use one of these names, or give an object")});
}

std::string lower_case(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string plain_class_name(const std::type_info& type) {
  int status = 0;
  char* plain = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string out = status == 0 ? plain : type.name();
  std::free(plain);
  if (out.ends_with('>')) {  // arguments of a template are no part of the name
    size_t i = out.size();
    for (int depth = 0; i > 0;) {
      --i;
      depth += out[i] == '>' ? 1 : out[i] == '<' ? -1 : 0;
      if (depth == 0) break;
    }
    out.resize(i);
  }
  size_t end = out.rfind("::");
  return end == std::string::npos ? out : out.substr(end + 2);
}

std::string snake_case(std::string_view s) {
  auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  auto lower = [](char c) { return c >= 'a' && c <= 'z'; };  // a digit begins no word: conv2d
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    bool begins =
        i > 0 && upper(s[i]) && (lower(s[i - 1]) || (i + 1 < s.size() && lower(s[i + 1])));
    if (begins && s[i - 1] != '_') out += '_';
    out += upper(s[i]) ? static_cast<char>(s[i] - 'A' + 'a') : s[i];
  }
  return out;
}

void OptionType<bool>::set(bool& v, const Config& c, const std::string& what) {
  v = c.as_bool(what);
}
void OptionType<int64_t>::set(int64_t& v, const Config& c, const std::string& what) {
  // Python has integers that came out of a division as floats.
  if (c.kind() == Config::Kind::kNumber &&
      c.as_number() == static_cast<double>(static_cast<int64_t>(c.as_number())))
    v = static_cast<int64_t>(c.as_number());
  else
    v = c.as_integer(what);
}
void OptionType<double>::set(double& v, const Config& c, const std::string& what) {
  v = c.as_number(what);
}
void OptionType<std::string>::set(std::string& v, const Config& c, const std::string& what) {
  v = c.is_null() ? std::string() : c.as_text(what);
}

Config OptionType<DType>::get(DType v) {
  return v == DType::kInvalid ? Config() : Config(std::string(name(v)));
}
void OptionType<DType>::set(DType& v, const Config& c, const std::string& what) {
  v = DType::kInvalid;
  if (c.is_null()) return;
  std::string wanted;
  if (c.kind() == Config::Kind::kObject) {  // a policy: what it computes in
    Policy policy;
    OptionType<Policy>::set(policy, c, what);
    wanted = name(policy.compute);
  } else {
    wanted = c.as_text(what);
  }
  for (size_t i = 0; i < kNumDTypes; ++i)
    if (auto d = static_cast<DType>(i); d != DType::kInvalid && wanted == name(d)) v = d;
  if (v == DType::kInvalid)
    fail(Code::E1104, cat(what, " is ", c.text(), ", expected a dtype's name"));
}

Config OptionType<Shape>::get(const Shape& v) {
  if (!v.has_rank()) return {};
  Config::List out;
  for (int i = 0; i < v.rank(); ++i) out.push_back(v[i] < 0 ? Config() : Config(v[i]));
  return out;
}
void OptionType<Shape>::set(Shape& v, const Config& c, const std::string& what) {
  v = Shape::unknown();
  if (c.is_null()) return;
  std::vector<int64_t> sizes;
  if (c.kind() == Config::Kind::kInteger) {
    sizes.push_back(c.as_integer());
  } else {
    for (const Config& one : c.as_list(what))
      sizes.push_back(one.is_null() ? int64_t{kUnknown} : one.as_integer(what));
  }
  v = Shape(sizes);
}

std::vector<int64_t> Sides::over(size_t axes, const std::string& what) const {
  if (sizes.size() == axes) return sizes;
  if (sizes.size() == 1) return std::vector<int64_t>(axes, sizes[0]);
  fail(Code::E1103, cat(what, " has ", sizes.size(), " sizes, expected one, or ", axes));
}
Config OptionType<Sides>::get(const Sides& v) {
  if (v.single && v.sizes.size() == 1) return v.sizes[0];
  return OptionType<std::vector<int64_t>>::get(v.sizes);
}
void OptionType<Sides>::set(Sides& v, const Config& c, const std::string& what) {
  v.sizes.clear();
  v.single = c.kind() == Config::Kind::kInteger;
  if (v.single)
    v.sizes.push_back(c.as_integer());
  else
    OptionType<std::vector<int64_t>>::set(v.sizes, c, what);
  if (v.sizes.empty()) fail(Code::E1103, cat(what, " has no sizes"));
}

}  // namespace holdfast::keras
