// Sequential: layers one after the other.
#pragma once

#include "holdfast/keras/model_handle.h"
#include "holdfast/keras/symbol.h"

namespace holdfast::keras {

class HOLDFAST_API SequentialLayer : public ModelLayer {
 public:
  static ClassDef& def();
  SequentialLayer() = default;
  ~SequentialLayer() override;
  static Ref<SequentialLayer> from_config(const ConfigDict&);

  const ClassDef& definition() const override { return def(); }
  void visit(Visitor&) const override;
  void clear() override;
  /// Calls the layers on a symbol, which makes their weights and lets `output` be asked for.
  void build(const Shape& inputs) override;
  std::vector<Shape> shapes_to_build(const Nested& inputs, const CallOptions&) const override;
  Nested call_all(const Nested& inputs, const CallOptions&) override;
  bool supports_masking() const override { return true; }
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;
  ConfigDict get_config() const override;

  void add(const AnyLayer& layer);
  /// Says what the model is given: what comes first.
  void set_input(const Tensor& symbol);
  /// Takes the last layer away.
  Ref<Layer> pop();
  std::vector<Ref<Layer>> layers() const override;
  /// What it is given and gives, once its shape is known; else None.
  const Nested& inputs() const { return inputs_; }
  const Nested& outputs() const { return outputs_; }
  /// The calls of its layers on what it is given, in their order; none before that is known.
  std::vector<Ref<Node>> nodes() const;

 private:
  Nested run_inside(Layer& layer, const Nested& x);
  void begin(const Nested& symbol);
  void begin_as_first();
  SharedList<Ref<Layer>> layers_;
  Nested inputs_, outputs_;
};

/// What a Sequential is made of: layers, and an `Input` before the first of them.
struct SequentialPart {
  template <class L>
  SequentialPart(const Handle<L>& handle) : layer(handle.ref()) {}
  SequentialPart(Tensor symbol) : input(std::move(symbol)) {}
  Ref<Layer> layer = {};
  Tensor input = {};
};

/// `Sequential({layers::Dense(64), make<Mine>()})`
class HOLDFAST_API Sequential : public ModelHandle<SequentialLayer> {
 public:
  Sequential() : Sequential(std::vector<AnyLayer>()) {}
  Sequential(std::initializer_list<SequentialPart> parts, const LayerOptions& o = {},
             const std::source_location& at = std::source_location::current())
      : ModelHandle(o, at) {
    for (const SequentialPart& part : parts) add_part(part);
  }
  explicit Sequential(const std::vector<AnyLayer>& layers, const LayerOptions& o = {});
  explicit Sequential(Ref<SequentialLayer> made) : ModelHandle(std::move(made)) {}
  void add(const SequentialPart& part,
           const std::source_location& at = std::source_location::current()) const {
    mark_caller(at);
    add_part(part);
  }

 private:
  void add_part(const SequentialPart& part) const;
};

}  // namespace holdfast::keras
