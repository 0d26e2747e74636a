#include "holdfast/keras/sequential.h"

#include <algorithm>
#include <unordered_set>

#include "holdfast/base/text.h"
#include "holdfast/keras/functional.h"
#include "holdfast/keras/input_config.h"
#include "holdfast/keras/step_scope.h"
#include "holdfast/keras/watching.h"

namespace holdfast::keras {

ClassDef& SequentialLayer::def() {
  static ClassDef& d = Declare<SequentialLayer>("models.Sequential", "Layers one after the other.",
                                                &ModelLayer::def())
                           .layer_options()
                           .keywords();
  return d;
}

namespace {

// Its config has more than options: the layers inside.
[[maybe_unused]] const bool registered =
    (static_cast<void>(SequentialLayer::def()),
     registry::add_class(
         "Sequential",
         [](const ConfigDict& c) { return Ref<Object>(SequentialLayer::from_config(c)); }, true),
     true);

}  // namespace

void SequentialLayer::visit(Visitor& see) const {
  ModelLayer::visit(see);
  see.children(*layers_.read());
  visit_calls(see, inputs_, outputs_, {});
}

SequentialLayer::~SequentialLayer() { begins_with(inputs_, *this, false); }

void SequentialLayer::clear() {
  ModelLayer::clear();
  begins_with(inputs_, *this, false);
  inputs_ = outputs_ = Nested();
  layers_.clear();
}

std::vector<Ref<Layer>> SequentialLayer::layers() const { return *layers_.read(); }

std::vector<Ref<Node>> SequentialLayer::nodes() const {
  std::vector<Ref<Node>> out;
  std::unordered_set<const Node*> seen;
  std::vector<Node*> from;
  for (const Tensor& t : inputs_.leaves()) seen.insert(node_of(t));
  for (const Tensor& t : outputs_.leaves()) from.push_back(node_of(t));
  while (!from.empty()) {
    Node* n = from.back();
    from.pop_back();
    if (is_input(*n) || !seen.insert(n).second) continue;
    out.emplace_back(n);
    for (const Edge& e : n->inputs)
      if (e.node) from.push_back(e.node.get());
  }
  std::reverse(out.begin(), out.end());
  return out;
}

// Its weights carry the name of the model before that of the layer.
Nested SequentialLayer::run_inside(Layer& layer, const Nested& x) {
  name_it();
  const std::string around = context().name_scope;
  bool open = around == name() + "/" || around.ends_with(cat("/", name(), "/"));
  NameScope own(open ? around : scope_name());
  return layer.run(x, {});
}

void SequentialLayer::add(const AnyLayer& layer) {
  Ref<Layer> held = layer.ref();
  for (const Ref<ModuleObject>& inside : held->submodules())
    if (inside.get() == this)
      fail(Code::E1103, cat(described(), " can't hold ", held->described(), ", which holds it"),
           "layers would call each other without end");
  if (held.get() == this) fail(Code::E1103, cat(described(), " can't hold itself"));
  layers_.change([&](std::vector<Ref<Layer>>& all) {
    held->name_it();
    for (const Ref<Layer>& there : all) {
      if (there == held)
        fail(Code::E1104, cat(described(), " holds ", held->described(), " already"),
             "each layer of a Sequential is there once",
             {manual_fix("make another layer, or call this one yourself")});
      if (there->name() == held->name())
        fail(Code::E1103, cat(described(), " has a layer of the name `", held->name(), "` already"),
             cat(there->described(), " was added before ", held->described(),
                 ", and files and `get_layer` find layers by their names"),
             {manual_fix("give one of them another `name`")});
    }
    all.push_back(held);
  });
  note_change(*this);
  if (inputs_.is_none()) return begin_as_first();
  outputs_ = run_inside(*held, outputs_);
  if (!built()) set_built_for({inputs_.tensor().shape()});
}

// A model that knows what it is given says so for all that come after it.
void SequentialLayer::begin_as_first() {
  const std::vector<Ref<Layer>> all = layers();
  if (all.size() < 2) return;
  Nested known;
  if (auto* f = dynamic_cast<const FunctionalLayer*>(all[0].get())) known = f->inputs();
  if (auto* s = dynamic_cast<const SequentialLayer*>(all[0].get())) known = s->inputs();
  if (!known.is_tensor()) return;
  const Tensor& first = known.tensor();
  begin(make_input({.dtype = first.dtype(), .batch_shape = first.shape()}));
  set_built_for({first.shape()});
}

void SequentialLayer::begin(const Nested& symbol) {
  Nested x = inputs_ = symbol;
  begins_with(inputs_, *this, true);
  for (const Ref<Layer>& layer : layers()) x = run_inside(*layer, x);
  outputs_ = x;
}

void SequentialLayer::set_input(const Tensor& symbol) {
  if (!layers().empty() || !inputs_.is_none())
    fail(Code::E1104, cat(described(), " has an input or layers already"),
         "what a Sequential is given comes before its first layer");
  inputs_ = outputs_ = Nested(symbol);
  begins_with(inputs_, *this, true);
}

namespace {

[[noreturn]] void refuse_empty(const Layer& model) {
  fail(Code::E1104, cat(model.described(), " has no layers"),
       "a Sequential computes what its layers compute",
       {manual_fix("add one first: `model.add(layer)`")});
}

// What a model begins with says for which shapes its weights are.
void refuse_other_input(const Layer& model, const Shape& is, const Shape& wanted) {
  bool fits = !is.has_rank() || !wanted.has_rank() || is.rank() == wanted.rank();
  for (int i = 1; fits && is.has_rank() && wanted.has_rank() && i < is.rank(); ++i)
    fits = is[i] < 0 || wanted[i] < 0 || is[i] == wanted[i];
  if (!fits)
    fail(Code::E1201,
         cat(model.described(), " was built for ", is.text(), ", and got ", wanted.text()),
         "its Input says what it is given", {manual_fix("leave the Input out, or `build`")});
}

// The calls of a Sequential on its own symbol, the first one first.
std::vector<Ref<Node>> chain(const Nested& outputs) {
  std::vector<Ref<Node>> out;
  std::vector<Tensor> last = outputs.leaves();
  if (last.empty()) return out;
  for (Ref<Node> n(node_of(last[0])); n && layer_call(*n); n = Ref<Node>(n->inputs[0].node))
    out.push_back(n);
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

Ref<Layer> SequentialLayer::pop() {
  Ref<Layer> last;
  layers_.change([&](std::vector<Ref<Layer>>& all) {
    if (all.empty()) fail(Code::E1103, cat(described(), " has no layer that could be taken away"));
    last = all.back();
    all.pop_back();
  });
  note_change(*this);
  if (inputs_.is_none()) return last;
  // What the layer before gave is there: models may have been made of it.
  const std::vector<Ref<Node>> calls = chain(outputs_);
  if (calls.size() == layers().size() + 1 && calls.size() > 1) {
    outputs_ = outputs_of(*layer_call(*calls[calls.size() - 2]));
    return last;
  }
  outputs_ = inputs_;
  for (const Ref<Layer>& layer : layers()) outputs_ = run_inside(*layer, outputs_);
  return last;
}

void SequentialLayer::build(const Shape& inputs) {
  if (inputs_.is_none() && layers().empty()) refuse_empty(*this);
  if (!inputs_.is_none() && !layers().empty())
    refuse_other_input(*this, inputs_.tensor().shape(), inputs);
  if (inputs_.is_none() && inputs.has_rank())
    begin(make_input({.dtype = compute_dtype(), .batch_shape = inputs}));
}

// Several tensors go into the first layer as they are, and each layer is built when it is called.
std::vector<Shape> SequentialLayer::shapes_to_build(const Nested& inputs,
                                                    const CallOptions& o) const {
  return inputs.is_tensor() ? ModelLayer::shapes_to_build(inputs, o) : std::vector<Shape>();
}

namespace {

void keep(StepScope& step, const Ref<Node>& node, const Nested& values) {
  std::vector<Tensor> leaves = values.leaves();
  for (size_t i = 0; i < leaves.size() && i < node->outputs.size(); ++i)
    step.keep({node, static_cast<int>(i)}, leaves[i]);
}

}  // namespace

Nested SequentialLayer::call_all(const Nested& inputs, const CallOptions& o) {
  Nested x = inputs;
  const std::vector<Ref<Layer>> all = layers();
  if (all.empty() && inputs_.is_none()) refuse_empty(*this);
  if (inputs_.is_tensor() && x.is_tensor()) x = in_rank_of(inputs_.tensor().shape(), x.tensor());
  StepScope* step = inputs_.is_none() ? nullptr : StepScope::current();
  std::vector<Ref<Node>> symbols = step ? chain(outputs_) : std::vector<Ref<Node>>();
  if (symbols.size() != all.size()) step = nullptr;
  if (step) keep(*step, Ref<Node>(node_of(inputs_.tensor())), x);
  for (size_t i = 0; i < all.size(); ++i) {
    CallOptions with;
    with.training = o.training;
    x = all[i]->run(x, std::move(with));
    if (step) keep(*step, symbols[i], x);
  }
  return x;
}

Nested SequentialLayer::compute_mask(const Nested&, const Nested&) { return {}; }

ConfigDict SequentialLayer::get_config() const {
  ConfigDict out = Layer::get_config();
  Config::List inside;
  std::vector<Tensor> given = inputs_.leaves();
  if (given.size() == 1) {
    ConfigObject input = input_config(given[0]).as_object();
    input.more = {};  // who calls it is plain
    inside.emplace_back(std::move(input));
  }
  for (const Ref<Layer>& layer : layers()) inside.push_back(serialize(*layer));
  out.set("layers", std::move(inside));
  if (given.size() == 1) {
    out.set("build_input_shape", OptionType<Shape>::get(given[0].shape()));
  } else if (const auto& shapes = built_for(); shapes && shapes->size() == 1) {
    Dims sizes((*shapes)[0].begin(), (*shapes)[0].end());
    if (!sizes.empty()) sizes[0] = -1;  // a batch of any size
    out.set("build_input_shape", OptionType<Shape>::get(Shape(std::move(sizes))));
  }
  return out;
}

Ref<SequentialLayer> SequentialLayer::from_config(const ConfigDict& config) {
  ConfigReader read(config, "Sequential");
  LayerOptions o;
  if (auto* v = read.take("name"); v && !v->is_null()) o.name = v->as_text(read.argument("name"));
  if (auto* v = read.take("trainable")) o.trainable = v->as_bool(read.argument("trainable"));
  if (auto* v = read.take("dtype")) OptionType<Policy>::set(o.dtype, *v, read.argument("dtype"));
  const Config *inside = read.take("layers"), *built = read.take("build_input_shape");
  read.finish();
  auto out = make_ref<SequentialLayer>();
  out->set_options(o);
  if (inside)
    for (const Config& one : inside->as_list("`layers` of Sequential")) {
      if (const ConfigObject& first = one.as_object("a layer of Sequential");
          first.class_name == "InputLayer")
        out->set_input(input_from(first.config));
      else
        out->add(AnyLayer(deserialize(one)));
    }
  if (built && !built->is_null() && out->inputs_.is_none()) {
    Shape shape;
    OptionType<Shape>::set(shape, *built, read.argument("build_input_shape"));
    out->build_once(shape);
  }
  return out;
}

Sequential::Sequential(const std::vector<AnyLayer>& layers, const LayerOptions& o)
    : ModelHandle(o) {
  for (const AnyLayer& layer : layers) (*this)->add(layer);
}

void Sequential::add_part(const SequentialPart& part) const {
  SequentialLayer& model = **this;
  if (part.layer) return model.add(AnyLayer(part.layer));
  if (!is_model_symbol(part.input))
    fail(Code::E1104, cat(model.described(), " is made of a tensor, expected layers"),
         "what a model is given is an Input, which has no value yet",
         {manual_fix("begin with `keras::Input({.shape = ...})`")});
  model.set_input(part.input);
}

}  // namespace holdfast::keras
