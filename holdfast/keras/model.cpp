#include "holdfast/keras/model.h"

#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/keras/built_again.h"
#include "holdfast/keras/functional.h"
#include "holdfast/keras/known_class.h"

namespace holdfast::keras {

ClassDef& ModelLayer::def() {
  static ClassDef& d =
      Declare<ModelLayer>("models.Model", "A layer that can be trained.", &Layer::def())
          .layer_options()
          .keywords();
  return d;
}

std::vector<Ref<Layer>> ModelLayer::layers() const {
  struct Direct final : Visitor {
    void object(const Object& child) override {
      auto* layer = dynamic_cast<Layer*>(const_cast<Object*>(&child));
      bool known = std::any_of(layers.begin(), layers.end(),
                               [&](const Ref<Layer>& l) { return l.get() == layer; });
      if (layer && !known) layers.emplace_back(layer);
    }
    std::vector<Ref<Layer>> layers;
  } direct;
  visit_all(direct);
  return direct.layers;
}

Ref<Layer> ModelLayer::get_layer(const std::string& wanted) const {
  std::vector<std::string> known;
  for (const Ref<Layer>& l : layers()) {
    if (l->name() == wanted) return l;
    known.push_back(l->name());
  }
  unknown_identifier(cat("a layer of ", described()), wanted, known);
}

Ref<Layer> ModelLayer::get_layer(size_t index) const {
  std::vector<Ref<Layer>> all = layers();
  if (index >= all.size())
    fail(Code::E1103, cat(described(), " has ", all.size(), " layers, and none of index ", index));
  return all[index];
}

Config ModelLayer::get_build_config() const {
  Config::List each;
  for (const Shape& s : built_for().value_or(std::vector<Shape>())) {
    Dims sizes(s.begin(), s.end());
    if (s.has_rank() && !sizes.empty()) sizes[0] = -1;
    each.push_back(OptionType<Shape>::get(s.has_rank() ? Shape(std::move(sizes)) : s));
  }
  if (each.empty()) return nullptr;
  return ConfigDict{{"input_shape", each.size() == 1 ? each[0] : Config(each)}};
}

ConfigObject serialize(const Layer& layer) {
  // `Model(inputs, outputs)` is a class of its own in configs.
  auto* graph = dynamic_cast<const FunctionalLayer*>(&layer);
  std::string name = layer.class_name();
  if (graph && graph->has_graph() && name == "Model") name = graph->definition().name;
  ConfigObject out{name, layer.get_config(), layer.registered_name()};
  // A layer and an initializer may share a name: the module tells them apart.
  if (out.registered_name.empty() && find_class(name) != &layer.definition() &&
      name == layer.definition().name)
    out.more.set("module", module_path(layer.definition()));
  if (Config built = layer.get_build_config(); !built.is_null())
    out.more.set("build_config", std::move(built));
  return out;
}

namespace {
BuildAgain build_again = nullptr;
}  // namespace
void set_build_again(BuildAgain hook) { build_again = hook; }

Ref<Layer> deserialize(const Config& described) {
  Ref<Object> made =
      object_from(Config(described.as_object("a layer's config")), "layers", "a layer's config");
  auto* layer = dynamic_cast<Layer*>(made.get());
  if (!layer)
    fail(Code::E1104,
         cat("the class \"", described.as_object().class_name, "\" is registered, and no layer"));
  const Config* built = described.as_object().more.find("build_config");
  if (built && build_again) build_again(*layer, *built);
  return Ref<Layer>(layer);
}

void OptionType<LayerOption>::set(LayerOption& v, const Config& c, const std::string& what) {
  if (c.kind() == Config::Kind::kText)  // a class's name alone has no options
    fail(Code::E1104, cat(what, " is ", c.text(), ", expected a layer"));
  Ref<Object> made = object_from(c, "layers", what);
  auto* layer = dynamic_cast<Layer*>(made.get());
  if (made && !layer) fail(Code::E1104, cat(what, " is ", made->text(), ", expected a layer"));
  v.layer = Ref<Layer>(layer);
}

}  // namespace holdfast::keras
