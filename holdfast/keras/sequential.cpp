#include "holdfast/keras/sequential.h"

#include "holdfast/base/text.h"

namespace holdfast::keras {

const ObjectClass SequentialLayer::kClass{"Sequential", &Layer::kClass};

namespace {

const bool registered = (registry::add_class("Sequential",
                                             [](const ConfigDict& c) {
                                               return Ref<Object>(SequentialLayer::from_config(c));
                                             }),
                         true);

}  // namespace

void SequentialLayer::visit(Visitor& see) const {
  Layer::visit(see);
  see.children(*layers_.read());
}

void SequentialLayer::clear() {
  Layer::clear();
  layers_.clear();
}

std::vector<Ref<Layer>> SequentialLayer::layers() const { return *layers_.read(); }

void SequentialLayer::add(const AnyLayer& layer) {
  Ref<Layer> held = layer.ref();
  for (const Ref<ModuleObject>& inside : held->submodules())
    if (inside.get() == this)
      fail(Code::E1103, cat(described(), " can't hold ", held->described(), ", which holds it"),
           "layers would call each other without end");
  if (held.get() == this) fail(Code::E1103, cat(described(), " can't hold itself"));
  layers_.change([&](std::vector<Ref<Layer>>& all) {
    for (const Ref<Layer>& there : all)
      if (there == held)
        fail(Code::E1104, cat(described(), " holds ", held->described(), " already"),
             "each layer of a Sequential is there once",
             {manual_fix("make another layer, or call this one yourself")});
    all.push_back(held);
  });
}

Tensor SequentialLayer::call(const Tensor& inputs, const CallOptions& o) {
  Tensor x = inputs;
  for (const Ref<Layer>& layer : layers()) x = (*layer)(x, o);
  return x;
}

ConfigDict SequentialLayer::get_config() const {
  ConfigDict out = Layer::get_config();
  Config::List inside;
  for (const Ref<Layer>& layer : layers()) inside.push_back(serialize(*layer));
  out.set("layers", std::move(inside));
  return out;
}

Ref<SequentialLayer> SequentialLayer::from_config(const ConfigDict& config) {
  ConfigReader read(config, "Sequential");
  LayerOptions o;
  if (auto* v = read.take("name"); v && !v->is_null()) o.name = v->as_text(read.argument("name"));
  if (auto* v = read.take("trainable")) o.trainable = v->as_bool(read.argument("trainable"));
  if (auto* v = read.take("dtype"); v && !v->is_null())
    o.dtype = dtype_from(*v, read.argument("dtype"));
  const Config* inside = read.take("layers");
  read.finish();
  auto out = make_ref<SequentialLayer>(o);
  if (inside)
    for (const Config& one : inside->as_list("`layers` of Sequential"))
      out->add(AnyLayer(deserialize(one)));
  return out;
}

Sequential::Sequential(const std::vector<AnyLayer>& layers, const LayerOptions& o) : Handle(o) {
  for (const AnyLayer& layer : layers) (*this)->add(layer);
}

std::vector<AnyLayer> Sequential::layers() const {
  std::vector<AnyLayer> out;
  for (const Ref<Layer>& layer : (*this)->layers()) out.push_back(AnyLayer(layer));
  return out;
}

ConfigObject serialize(const Layer& layer) {
  return {layer.class_name(), layer.get_config(), layer.registered_name()};
}

Ref<Layer> deserialize(const Config& described) {
  Ref<Object> made = registry::make_object(described.as_object("a layer's config"));
  auto* layer = dynamic_cast<Layer*>(made.get());
  if (!layer)
    fail(Code::E1104,
         cat("the class \"", described.as_object().class_name, "\" is registered, and no layer"));
  return Ref<Layer>(layer);
}

}  // namespace holdfast::keras
