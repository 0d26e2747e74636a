#include "holdfast/keras/models/clone.h"

#include <map>
#include <unordered_map>

#include "holdfast/base/text.h"
#include "holdfast/keras/training.h"

namespace holdfast::keras {
namespace {

class Cloner {
 public:
  explicit Cloner(const CloneOptions& o) : options_(o) {}

  Ref<ModelLayer> model(ModelLayer& old, bool outermost) {
    if (auto* s = dynamic_cast<SequentialLayer*>(&old)) return sequential(*s, outermost);
    auto* f = dynamic_cast<FunctionalLayer*>(&old);
    if (f && f->has_graph()) return functional(*f, outermost);
    if (options_.clone_function || options_.call_function || !options_.input_tensors.is_none())
      fail(Code::E1104,
           cat("`clone_model` with functions or `input_tensors` takes a Sequential or a functional "
               "model, and ",
               old.described(), " is of a class of its own"));
    Ref<Layer> made = from_config(old);
    return Ref<ModelLayer>(dynamic_cast<ModelLayer*>(made.get()));
  }

 private:
  static Ref<Layer> from_config(const Layer& old) { return deserialize(Config(serialize(old))); }

  template <class M>
  Ref<M> fresh_model() const {
    if (!options_.foreign) return make_ref<M>();
    return Ref<M>(dynamic_cast<M*>(M::def().make_foreign().get()));
  }

  Ref<Layer> layer(Layer& old) {
    auto known = made_.find(&old);
    if (known != made_.end()) return known->second;
    auto* inner = options_.recursive ? dynamic_cast<ModelLayer*>(&old) : nullptr;
    auto* functional = dynamic_cast<FunctionalLayer*>(inner);
    bool cloned = dynamic_cast<SequentialLayer*>(inner) || (functional && functional->has_graph());
    Ref<Layer> made = cloned                    ? Ref<Layer>(model(*inner, false))
                      : options_.clone_function ? options_.clone_function(old)
                                                : from_config(old);
    if (!made) fail(Code::E1104, cat("`clone_function` gave no layer for ", old.described()));
    made_.emplace(&old, made);
    return made;
  }

  // What a model is given instead of its Inputs.
  Nested inputs(const Nested& old, bool outermost, const ModelLayer& model) const {
    const Nested& given = options_.input_tensors;
    if (!outermost || given.is_none())
      return old.map([](const Tensor& t) {
        return make_input({.dtype = t.dtype(), .name = node_of(t)->name, .batch_shape = t.shape()});
      });
    std::vector<Tensor> leaves = given.leaves();
    if (leaves.size() != old.leaves().size())
      fail(Code::E1104, cat("`input_tensors` has ", leaves.size(), " tensors, and ",
                            model.described(), " has ", old.leaves().size(), " inputs"));
    for (const Tensor& t : leaves)
      if (!is_model_symbol(t))
        fail(Code::E1104,
             "`input_tensors` has a tensor with a value in it, expected what `Input` "
             "gives");
    return old.with_leaves(leaves);
  }

  Ref<ModelLayer> sequential(SequentialLayer& old, bool outermost) {
    if (outermost && options_.call_function)
      fail(Code::E1104, cat("`call_function` is given, and ", old.described(), " is a Sequential"),
           "it says how the layers of a functional model are called");
    Ref<SequentialLayer> made = fresh_model<SequentialLayer>();
    made->set_options({.name = old.name(), .trainable = old.trainable(), .dtype = old.policy()});
    bool given = outermost && !options_.input_tensors.is_none();
    if (given) {
      if (options_.input_tensors.leaves().size() != 1)
        fail(Code::E1104, "`input_tensors` has several tensors, and a Sequential has one input");
      made->set_input(options_.input_tensors.leaves()[0]);
    } else if (!old.inputs().is_none()) {
      made->set_input(inputs(old.inputs(), false, old).tensor());
    }
    for (const Ref<Layer>& one : old.layers())
      if (one->class_name() != "InputLayer") made->add(AnyLayer(layer(*one)));
    return made;
  }

  Ref<ModelLayer> functional(FunctionalLayer& old, bool outermost) {
    using Place = std::pair<const Node*, int>;
    std::map<Place, Tensor> now;
    Nested fresh = inputs(old.inputs(), outermost, old);
    std::vector<Tensor> before = old.inputs().leaves(), after = fresh.leaves();
    for (size_t i = 0; i < before.size(); ++i)
      now[{node_of(before[i]), symbol_of(before[i])->output}] = after[i];
    for (const Ref<Node>& n : old.nodes()) {
      std::vector<Tensor> in = operands_of(*n);
      for (size_t i = 0; i < in.size(); ++i) {
        const Edge& e = n->inputs[i];
        auto found = e.node ? now.find({e.node.get(), e.output}) : now.end();
        if (found != now.end()) in[i] = found->second;
      }
      std::vector<Tensor> out;
      if (LayerCall* call = layer_call(*n)) {
        Ref<Layer> other = layer(*call->layer);
        out = (options_.call_function ? options_.call_function(*other, *call, in)
                                      : call->replay_on(*other, in, {}))
                  .leaves();
      } else {
        Tensors results, operands(in.begin(), in.end());
        apply(*n->op, {operands.data(), operands.size()}, n->attrs, results);
        out.assign(results.begin(), results.end());
      }
      if (out.size() != n->outputs.size())
        fail(Code::E1104, cat("the call of `", n->name, "` gave ", out.size(),
                              " tensors in the clone, and ", n->outputs.size(), " before"));
      for (size_t i = 0; i < out.size(); ++i) now[{n.get(), static_cast<int>(i)}] = out[i];
    }
    Nested outputs = old.outputs().map(
        [&](const Tensor& t) { return now.at({node_of(t), symbol_of(t)->output}); });
    Ref<FunctionalLayer> made = fresh_model<FunctionalLayer>();
    made->set_options({.name = old.name(), .trainable = old.trainable(), .dtype = old.policy()});
    made->set_graph(fresh, outputs);
    return made;
  }

  const CloneOptions& options_;
  std::unordered_map<const Layer*, Ref<Layer>> made_;
};

}  // namespace

Ref<ModelLayer> clone_model(ModelLayer& model, const CloneOptions& o) {
  Ref<ModelLayer> made = Cloner(o).model(model, true);
  if (made && o.compile && model.is_compiled() && !made->is_compiled())
    made->compile_from_config(model.get_compile_config());
  return made;
}

}  // namespace holdfast::keras
