// Models in the making: symbols that hold the call which gives them.
#pragma once

#include "holdfast/graph/graph.h"
#include "holdfast/keras/layer.h"

namespace holdfast::keras {

/// The one scope of all symbols of models. Nodes own what they use and nobody owns nodes: what no
/// tensor and no model leads to is gone.
HOLDFAST_API const Ref<Scope>& model_scope();
inline bool is_model_symbol(const Tensor& t) {
  return t.defined() && t.is_symbolic() && symbol_of(t)->scope == model_scope();
}
/// Whether a call is one on symbols of models.
HOLDFAST_API bool uses_symbols(const Nested& inputs, const CallOptions&);

/// What a node uses: symbols and constants.
HOLDFAST_API std::vector<Tensor> operands_of(const Node& node);

/// A layer's call in a model: what is replayed.
class HOLDFAST_API LayerCall : public RefCounted {
 public:
  explicit LayerCall(Layer& layer);
  /// Takes a loss back that a layer was given in a branch.
  static void drop_loss(Layer& l, uint64_t id);
  ~LayerCall() override;
  /// Calls the layer again on other tensors, as many as the node has inputs.
  Nested replay(std::span<const Tensor> inputs, std::optional<bool> around) const {
    return replay_on(*layer, inputs, around);
  }
  /// The same call of another layer.
  virtual Nested replay_on(Layer& other, std::span<const Tensor> inputs,
                           std::optional<bool> around) const = 0;
  /// What it was called with: a tuple of arguments by position, and a dict of those by name.
  Nested arguments() const { return arguments_with(operands_of(*node)); }
  /// The same with other tensors.
  virtual Nested arguments_with(std::span<const Tensor> inputs) const = 0;
  /// Whether a replay runs code of another language, which may do more than compute.
  virtual bool runs_foreign_code() const { return false; }
  std::string text() const override { return layer->described(); }

  const Ref<Layer> layer;
  Nested outputs;                     // what it gave: types, without nodes
  std::optional<bool> training = {};  // what the call said itself
  Node* node = nullptr;               // which holds this
};

/// A tensor in the place of each that a call keeps the place of: symbols would keep what they come
/// from alive in ways that collectors can't see.
HOLDFAST_API const Tensor& kept_place();

/// The call behind a node; null where it is an op or an Input.
HOLDFAST_API LayerCall* layer_call(const Node& node);
/// Writes a call down and gives its symbols. `inputs` are what `replay` takes.
HOLDFAST_API Nested record(Ref<LayerCall> call, std::span<const Tensor> inputs,
                           const Nested& types);
/// The call of a layer on symbols.
HOLDFAST_API Nested call_on_symbols(Layer& layer, const Nested& inputs, const CallOptions&);
/// What a call gives, found by tracing it once and throwing the trace away. Masks are set.
HOLDFAST_API Nested output_types(Layer& layer, const Nested& inputs, const CallOptions&);
/// Runs `f` on symbols of the types of `tensors` in a trace that is thrown away.
HOLDFAST_API Nested traced_types(const std::string& name, std::span<const Tensor> tensors,
                                 const holdfast::Callback<Nested(std::span<const Tensor>)>& f);
/// A symbol that stands for nothing but its type.
HOLDFAST_API Tensor symbol_of_type(DType dtype, const Shape& shape);
/// What symbols of an output of a recorded call are.
HOLDFAST_API Nested outputs_of(const LayerCall& call);

/// Shows the layers that the calls behind `outputs` hold, if nobody but their owner holds those
/// calls: `held` says how often it holds each node besides. For collectors.
HOLDFAST_API void visit_calls(Visitor& see, const Nested& inputs, const Nested& outputs,
                              const std::vector<const Node*>& held);

/// Masks that go along with tensors, in the form of these.
HOLDFAST_API Nested masks_of(const Nested& tensors);
HOLDFAST_API void set_masks(const Nested& tensors, const Nested& masks);

struct InputOptions {
  Shape shape = Shape::unknown();  // without the batch
  std::optional<int64_t> batch_size = {};
  DType dtype = float32;
  std::string name = {};
  std::optional<Shape> batch_shape = {};  // with the batch
  bool optional = false;                  // a call may give None for it
};
/// A value that a model is given.
[[gnu::always_inline]] inline Tensor Input(
    const InputOptions& options, const std::source_location& at = std::source_location::current());

HOLDFAST_API Tensor make_input(const InputOptions& options);
inline Tensor Input(const InputOptions& options, const std::source_location& at) {
  mark_caller(at);
  return make_input(options);
}
/// The same by its shape alone, without the batch: `Input({28, 28, 1})`.
template <std::integral T>
[[gnu::always_inline]] inline Tensor Input(
    std::initializer_list<T> shape,
    const std::source_location& at = std::source_location::current()) {
  return Input({.shape = std::vector<T>(shape)}, at);
}
/// Whether the node is an Input.
HOLDFAST_API bool is_input(const Node& node);
/// Whether it is one that a call may leave out.
HOLDFAST_API bool is_optional_input(const Node& node);

}  // namespace holdfast::keras
