// Models that are calls of layers and ops on symbols, written down and replayed.
#pragma once

#include <utility>
#include <vector>

#include "holdfast/keras/model.h"
#include "holdfast/keras/symbol.h"

namespace holdfast::keras {

/// What `Model(inputs, outputs)` makes: a DAG of calls. Calling the model makes those calls again
/// on other tensors, so `training`, overridden methods and new shapes mean what they should.
class HOLDFAST_API FunctionalLayer : public ModelLayer {
 public:
  static ClassDef& def();
  ~FunctionalLayer() override;
  const ClassDef& definition() const override { return def(); }
  /// Says what the model computes. An output that needs an Input which is not given is refused with
  /// the path that leads to it.
  void set_graph(Nested inputs, Nested outputs);
  bool has_graph() const { return !steps_.empty() || !outputs_.is_none(); }

  void visit(Visitor&) const override;
  void clear() override;
  Nested call_all(const Nested& inputs, const CallOptions&) override;
  bool supports_masking() const override { return true; }
  /// Masks go along with the tensors that the layers inside gave.
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;
  std::vector<Ref<Layer>> layers() const override;
  /// The same, and an InputLayer for each Input: what Keras lists.
  std::vector<Ref<Layer>> layers_and_inputs() const;
  /// A layer with all its calls, or a call of an op, or an Input: what Keras lists.
  struct Operation {
    Layer* layer;      // null: an op or an Input
    const Node* node;  // of a layer: one of its calls
  };
  /// What the model is made of, in the order of Keras' files.
  const std::vector<Operation>& operations() const { return operations_; }
  const Nested& inputs() const { return inputs_; }
  const Nested& outputs() const { return outputs_; }
  /// The calls, in an order in which they may be made.
  std::vector<Ref<Node>> nodes() const;
  ConfigDict get_config() const override;
  static Ref<FunctionalLayer> from_config(const ConfigDict& config);
  /// The tensors of a call, in the order of the model's inputs: by the same form, or a dict by the
  /// inputs' names.
  std::vector<Tensor> matched(const Nested& inputs) const;
  /// The same, with empty tensors where it has None, whether or not the Input may be left out.
  std::vector<Tensor> matched_or_none(const Nested& inputs) const;
  /// What an edge stands for in this model: itself, unless it is one of a model inside that was
  /// taken apart because something in it is an output.
  Edge meant(Edge e) const;

 private:
  struct Step {
    Ref<Node> node;
    std::vector<size_t> in;        // places of operands; SIZE_MAX: not given
    size_t out;                    // place of the first result
    std::vector<size_t> done;      // places that nobody needs afterwards
    std::optional<bool> training;  // as the call of a model that was taken apart said
  };
  friend class Wiring;
  void find_operations();

  Nested inputs_, outputs_;
  std::vector<Operation> operations_;
  std::vector<Ref<Layer>> layers_;             // those among the operations
  std::vector<Ref<Layer>> layers_and_inputs_;  // the same, with an InputLayer for each Input
  std::vector<Step> steps_;
  std::vector<std::pair<size_t, Tensor>> constants_;
  std::vector<size_t> output_places_;
  size_t places_ = 0;
  // Which edges stand for others. Few, and a map would be a heavy header.
  std::vector<std::pair<std::pair<const Node*, int>, Edge>> meant_;
};

/// Inputs that outputs of a model need and that it is not given, what it is given, and what of that
/// no output uses.
struct MissingInputs {
  std::vector<Tensor> missing, given, unused;
};
/// Adds to a message about them what a language knows of its names.
using CompleteMissing = void (*)(Diagnostic&, const MissingInputs&);
HOLDFAST_API CompleteMissing& complete_missing();

/// Says that a model's calls begin with these Inputs; or that it is no more.
HOLDFAST_API void begins_with(const Nested& inputs, ModelLayer& model, bool there);

/// What `output` of a layer means that was called several times: in a model, the one of its calls
/// that what the model is given leads to.
HOLDFAST_API Nested any_output(const Layer& layer);

}  // namespace holdfast::keras
