#include "holdfast/keras/layers/recurrent/bidirectional.h"

#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {
namespace {

using O = BidirectionalOptions;
Config shown(const Ref<RNNLayer>& layer) { return layer ? Config(Ref<Object>(layer)) : Config(); }
ClassDef& declared =
    Declare<BidirectionalLayer>("layers.Bidirectional",
                                "A recurrent layer that goes over sequences from both ends.",
                                &Layer::def())
        .required<&O::layer>("layer")
        .option<&O::merge_mode>("merge_mode")
        .option<&O::backward_layer>("backward_layer")
        .layer_options()
        .key_before("merge_mode", "layer")
        .option<&O::activity_regularizer>("activity_regularizer", false)
        .parameters({"sequences", "initial_state", "mask", "training"})
        .property("forward_layer",
                  [](const Object& o) {
                    return shown(dynamic_cast<const BidirectionalLayer&>(o).forward_layer());
                  })
        .property("backward_layer",
                  [](const Object& o) {
                    return shown(dynamic_cast<const BidirectionalLayer&>(o).backward_layer());
                  })
        .action("reset_state",
                [](Object& o) { dynamic_cast<BidirectionalLayer&>(o).reset_state(); })
        .action("reset_states",
                [](Object& o) { dynamic_cast<BidirectionalLayer&>(o).reset_state(); });

// A copy of a layer under a name of its own, perhaps going the other way.
Ref<RNNLayer> copied(const Layer& layer, const std::string& prefix, bool backwards) {
  ConfigObject config = serialize(layer);
  std::string name = layer.name();
  config.config.set("name", name.starts_with(prefix) ? name : prefix + name);
  if (backwards) config.config.set("go_backwards", true);
  Ref<Layer> made = deserialize(config);
  auto* rnn = dynamic_cast<RNNLayer*>(made.get());
  if (!rnn) fail(Code::E1104, cat("a config of ", layer.described(), " gave ", made->described()));
  return Ref<RNNLayer>(rnn);
}

}  // namespace

BidirectionalLayer::BidirectionalLayer(const BidirectionalOptions& o) { configure(o); }
const ClassDef& BidirectionalLayer::definition() const { return declared; }

void BidirectionalLayer::check() {
  const O& o = options_;
  auto recurrent = [](const LayerOption& l, const char* option) {
    if (!l) fail(Code::E1104, cat("Bidirectional: `", option, "` is not given"));
    auto* rnn = dynamic_cast<RNNLayer*>(l.layer.get());
    if (!rnn)
      fail(Code::E1104,
           cat("Bidirectional: `", option, "` is ", l->described(), ", expected a recurrent layer"),
           "the layer goes over the steps of sequences, once from each end",
           {manual_fix("give an RNN, an LSTM, a GRU, or a class that derives from one")});
    return rnn;
  };
  if (o.merge_mode && *o.merge_mode != "concat" && *o.merge_mode != "sum" &&
      *o.merge_mode != "mul" && *o.merge_mode != "ave")
    unknown_identifier("`merge_mode` of Bidirectional", *o.merge_mode,
                       {"concat", "sum", "mul", "ave"});
  RNNLayer* given = recurrent(o.layer, "layer");
  given->name_it();
  forward_ = copied(*given, "forward_", false);
  backward_ = o.backward_layer ? Ref<RNNLayer>(recurrent(o.backward_layer, "backward_layer"))
                               : copied(*given, "backward_", true);
  const RNNOptions &f = forward_->repeats(), &b = backward_->repeats();
  if (f.go_backwards == b.go_backwards)
    fail(Code::E1104, cat("Bidirectional: both layers have `go_backwards` ",
                          f.go_backwards ? "true" : "false", ", expected one of each"));
  auto same = [](bool one, bool other, const char* option) {
    if (one != other)
      fail(Code::E1104,
           cat("Bidirectional: `", option, "` differs between `layer` and `backward_layer`"));
  };
  same(f.stateful, b.stateful, "stateful");
  same(f.return_sequences, b.return_sequences, "return_sequences");
  same(f.return_state, b.return_state, "return_state");
  // What the step before gave means nothing beside outputs that come from the other end.
  forward_->set_zero_output_for_mask(f.return_sequences);
  backward_->set_zero_output_for_mask(b.return_sequences);
  hold(Ref<ModuleObject>(forward_));
  hold(Ref<ModuleObject>(backward_));
}

void BidirectionalLayer::build_all(const std::vector<Shape>& inputs) {
  build_inner(*forward_, inputs);
  build_inner(*backward_, inputs);
}

Tensor BidirectionalLayer::merged(const Tensor& y, const Tensor& z) const {
  const std::string& mode = *options_.merge_mode;
  if (mode == "concat") return concat({y, z}, -1);
  if (mode == "mul") return y * z;
  return mode == "ave" ? (y + z) / 2 : y + z;
}

Nested BidirectionalLayer::call_all(const Nested& inputs, const CallOptions& o) {
  CallOptions forward{.training = o.training, .mask = o.mask, .named = {}}, backward = forward;
  if (const Nested* states = o.find("initial_state")) {
    if (!states->is_sequence() || states->size() % 2 != 0)
      fail(Code::E1104, cat(described(), ": `initial_state` is ", states->form(),
                            ", expected a list: the states of the one layer, then of the other"));
    std::vector<Nested> first, second;
    for (size_t i = 0; i < states->size(); ++i)
      (i < states->size() / 2 ? first : second).push_back((*states)[i]);
    forward.named.emplace_back("initial_state", Nested::list(first));
    backward.named.emplace_back("initial_state", Nested::list(second));
  }
  Nested y = forward_->run(inputs, forward), z = backward_->run(inputs, backward);
  bool states = forward_->repeats().return_state;
  Tensor there = as_input(states ? y[0].tensor() : y.tensor());
  Tensor back = as_input(states ? z[0].tensor() : z.tensor());
  if (forward_->repeats().return_sequences) back = reverse(back, {1});
  std::vector<Nested> out;
  if (options_.merge_mode)
    out = {merged(there, back)};
  else
    out = {there, back};
  if (states)
    for (const Nested* one : {&y, &z})
      for (size_t i = 1; i < one->size(); ++i) out.push_back((*one)[i]);
  if (out.size() == 1) return out[0];
  return Nested::tuple(std::move(out));
}

Nested BidirectionalLayer::compute_mask(const Nested&, const Nested& mask) {
  std::vector<Tensor> masks = mask.leaves();
  bool all = forward_->repeats().return_sequences;
  Nested own = all && !masks.empty() ? Nested(masks[0]) : Nested();
  size_t outputs = options_.merge_mode ? 1 : 2;
  if (outputs == 1 && !forward_->repeats().return_state) return own;
  return Nested::list(std::vector<Nested>(outputs, own));
}

// The layers that it runs are what it can be made from, not the one that it was made with.
ConfigDict BidirectionalLayer::get_config() const {
  ConfigDict out = Layer::get_config();
  out.set("layer", Config(serialize(*forward_)));
  out.set("backward_layer", Config(serialize(*backward_)));
  return out;
}

void BidirectionalLayer::reset_state() {
  forward_->reset_state();
  backward_->reset_state();
}

}  // namespace holdfast::keras::layers
