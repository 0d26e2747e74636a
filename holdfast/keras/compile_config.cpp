// What `compile` was told as Keras writes it to files, and back.
#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/keras/known_class.h"
#include "holdfast/keras/losses/by_shapes.h"
#include "holdfast/keras/training.h"

namespace holdfast::keras {
namespace {

Config function_config(const ForeignFunction& f) {
  std::string registered = f.registered_name();
  return keras::function_config(registered.empty() ? f.name() : registered);
}

Config object_config(const Object& o) {
  if (auto* f = dynamic_cast<const ForeignFunction*>(&o)) return function_config(*f);
  if (auto* s = dynamic_cast<const StandsFor*>(&o)) return function_config(*s->function);
  Config out = described(o);
  auto* declared = dynamic_cast<const Declared*>(&o);
  if (!declared || out.kind() != Config::Kind::kObject) return out;
  // A loss and a metric may share a name: the folder tells them apart.
  ConfigObject whole = out.as_object();
  const std::string& path = declared->definition().path;
  whole.more.set("module", cat("keras.", path.substr(0, path.rfind('.'))));
  return whole;
}

Config::List list_config(const Metrics& all) {
  Config::List out;
  for (const Config& c : all) out.push_back(c.live() ? object_config(*c.live()) : c);
  return out;
}

// What stands at paths, as lists and dicts in each other: what `each_output` takes apart.
Config put_together(const std::vector<std::pair<std::string, Config>>& all) {
  if (all.size() == 1 && all[0].first.empty()) return all[0].second;
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, Config>>>> parts;
  for (const auto& [path, one] : all) {
    size_t end = path.find('/');
    std::string key = path.substr(0, end);
    auto part = std::find_if(parts.begin(), parts.end(), [&](auto& p) { return p.first == key; });
    if (part == parts.end()) part = parts.insert(parts.end(), {key, {}});
    part->second.emplace_back(end == std::string::npos ? "" : path.substr(end + 1), one);
  }
  Config::List listed;
  ConfigDict named;
  for (const auto& [key, inside] : parts) {
    if (key == cat(listed.size())) listed.push_back(put_together(inside));
    named.set(key, put_together(inside));
  }
  return listed.size() == parts.size() ? Config(listed) : Config(named);
}

// By the names of outputs, by their places, or one for all.
template <class T, class F>
Config per_output(const std::vector<std::pair<std::string, T>>& all, F config_of, bool alone) {
  if (all.empty()) return nullptr;
  if (alone && all.size() == 1 && all[0].first.empty()) return config_of(all[0].second);
  std::vector<std::pair<std::string, Config>> by_path;
  Config::List by_place;
  for (const auto& [name, one] : all) {
    by_place.push_back(config_of(one));
    by_path.emplace_back(name, by_place.back());
  }
  return all[0].first.empty() ? Config(by_place) : put_together(by_path);
}

// Calls `f(name, value)` for each output that a config names, or has at a place. Where lists and
// dicts lie in each other, a name is the path: "heads/0".
template <class F>
void each_output(const Config& c, F f, const std::string& inside = {}) {
  if (c.is_null()) return;
  auto below = [&](const std::string& key) { return inside.empty() ? key : cat(inside, "/", key); };
  auto nested = [](const Config& one) {
    return one.kind() == Config::Kind::kDict || one.kind() == Config::Kind::kList;
  };
  if (c.kind() == Config::Kind::kDict) {
    for (const auto& [name, one] : c.as_dict())
      nested(one) ? each_output(one, f, below(name)) : f(below(name), one);
  } else if (c.kind() == Config::Kind::kList) {
    const Config::List& list = c.as_list();
    bool by_path = !inside.empty() || std::any_of(list.begin(), list.end(), nested);
    for (size_t i = 0; i < list.size(); ++i)
      if (nested(list[i]))
        each_output(list[i], f, below(cat(i)));
      else
        f(by_path ? below(cat(i)) : std::string(), list[i]);
  } else {
    f(inside, c);
  }
}

Metrics metrics_from(const Config& c) {
  Metrics out;
  if (c.kind() == Config::Kind::kList)
    out.assign(c.as_list().begin(), c.as_list().end());
  else if (!c.is_null())
    out.push_back(c);
  return out;
}

using ByOutput = std::vector<std::pair<std::string, Metrics>>;

bool has_parts(const Config& c) {
  return c.kind() == Config::Kind::kDict || c.kind() == Config::Kind::kList;
}

// Lists of metrics by the paths of outputs.
void add_metrics(const Config& c, const std::string& path, ByOutput& to) {
  auto below = [&](const std::string& key) { return path.empty() ? key : cat(path, "/", key); };
  if (c.kind() == Config::Kind::kDict) {
    for (const auto& [name, one] : c.as_dict()) add_metrics(one, below(name), to);
    return;
  }
  if (c.kind() == Config::Kind::kList && !path.empty() &&
      std::any_of(c.as_list().begin(), c.as_list().end(), has_parts)) {
    for (size_t i = 0; i < c.as_list().size(); ++i) add_metrics(c.as_list()[i], below(cat(i)), to);
    return;
  }
  to.emplace_back(path, metrics_from(c));
}

// A list for all outputs, or lists by output.
void set_metrics(const Config& c, Metrics& listed, ByOutput& by_output) {
  if (c.kind() == Config::Kind::kDict) return add_metrics(c, {}, by_output);
  if (c.kind() != Config::Kind::kList ||
      std::none_of(c.as_list().begin(), c.as_list().end(), has_parts)) {
    listed = metrics_from(c);
    return;
  }
  const Config::List& list = c.as_list();
  bool deep = false;
  for (const Config& one : list) {
    deep = deep || one.kind() == Config::Kind::kDict;
    if (one.kind() == Config::Kind::kList)
      deep = deep || std::any_of(one.as_list().begin(), one.as_list().end(), has_parts);
  }
  for (size_t i = 0; i < list.size(); ++i)
    deep ? add_metrics(list[i], cat(i), by_output)
         : static_cast<void>(by_output.emplace_back(std::string(), metrics_from(list[i])));
}

Config metrics_config(const Metrics& listed, const ByOutput& by_output) {
  if (!by_output.empty())
    return per_output(by_output, [](const auto& list) { return Config(list_config(list)); }, false);
  return listed.empty() ? Config() : Config(list_config(listed));
}

}  // namespace

// The name of a class means what that class calls itself.
void LossItem::set(const Config& given, const std::string& what) {
  const bool named = given.kind() == Config::Kind::kText;
  if (named && is_crossentropy_by_shapes(given.as_text())) {
    function = crossentropy_by_shapes(given.as_text());
    return;
  }
  Choice<Loss>::set(given, what);
  if (!named || !function || given.as_text() == function->class_name() ||
      !function->definition().find("name"))
    return;
  ConfigDict config = function->get_config();
  config.set("name", given);
  Choice<Loss>::set(ConfigObject{function->class_name(), config, function->registered_name()},
                    what);
}

Config Compiled::config() const {
  const CompileOptions& o = options_;
  return ConfigDict{
      {"optimizer", o.optimizer.function ? object_config(*o.optimizer.function) : Config()},
      {"loss",
       per_output(
           o.loss.all,
           [](const LossItem& l) { return l.function ? object_config(*l.function) : Config(); },
           true)},
      {"loss_weights", per_output(
                           o.loss_weights, [](double w) { return Config(w); }, false)},
      {"metrics", metrics_config(o.metrics, o.output_metrics)},
      {"weighted_metrics", metrics_config(o.weighted_metrics, o.output_weighted_metrics)},
      {"run_eagerly", o.run_eagerly},
      {"steps_per_execution", o.steps_per_execution},
      {"auto_scale_loss", o.auto_scale_loss}};
}

CompileOptions compile_options(const ConfigDict& config) {
  ConfigReader read(config, "compile");
  const Config* wanted = read.take("optimizer");  // the usual one would take a name as well
  CompileOptions o{.optimizer = wanted ? Choice<Optimizer>() : Choice<Optimizer>("rmsprop")};
  if (wanted) o.optimizer.set(*wanted, "`optimizer`");
  if (auto* v = read.take("loss"))
    each_output(*v, [&](const std::string& name, const Config& one) {
      o.loss.all.emplace_back(name, LossItem()).second.set(one, "`loss`");
    });
  if (auto* v = read.take("loss_weights"))
    each_output(*v, [&](const std::string& name, const Config& one) {
      o.loss_weights.emplace_back(name, one.as_number("`loss_weights`"));
    });
  if (auto* v = read.take("metrics")) set_metrics(*v, o.metrics, o.output_metrics);
  if (auto* v = read.take("weighted_metrics"))
    set_metrics(*v, o.weighted_metrics, o.output_weighted_metrics);
  if (auto* v = read.take("run_eagerly")) o.run_eagerly = v->as_bool("`run_eagerly`");
  if (auto* v = read.take("steps_per_execution"))
    o.steps_per_execution = v->as_integer("`steps_per_execution`");
  if (auto* v = read.take("auto_scale_loss")) o.auto_scale_loss = v->as_bool("`auto_scale_loss`");
  read.take("jit_compile");  // steps are compiled in any case
  read.finish();
  return o;
}

Config ModelLayer::get_compile_config() const { return compiled_ ? compiled_->config() : Config(); }

void ModelLayer::compile_from_config(const Config& config) {
  if (config.is_null()) return;
  compile(compile_options(config.as_dict("`compile_config` of a model's file")));
  if (built() && compiled().optimizer()) compiled().optimizer()->build(trainable_variables());
}

}  // namespace holdfast::keras
