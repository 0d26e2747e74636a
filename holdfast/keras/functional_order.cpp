// The order in which files and configs list what a functional model is made of: Keras', because
// files find weights by their places in it.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/keras/depth_first.h"
#include "holdfast/keras/functional.h"
#include "holdfast/keras/layers/input_layer.h"

namespace holdfast::keras {
namespace {

// Calls of one layer are one operation; an op or an Input is one of its own.
const void* operation_of(const Node& node) {
  LayerCall* call = layer_call(node);
  return call ? static_cast<const void*>(call->layer.get()) : &node;
}

class Order {
 public:
  explicit Order(const FunctionalLayer& model) : model_(model) {
    std::vector<Tensor> inputs = model.inputs().leaves();
    for (const Tensor& t : inputs) given_.insert({node_of(t), symbol_of(t)->output});
    for (const Tensor& t : model.outputs().leaves()) walk(edge_of(t));
    find_depths();
    for (const Tensor& t : inputs)  // an Input that nothing uses
      if (is_input(*node_of(t)) && depth_.try_emplace(operation_of(*node_of(t)), 0).second) {
        first_[operation_of(*node_of(t))] = -1;
        sorted_.push_back(edge_of(t).node);
      }
  }
  std::vector<FunctionalLayer::Operation> all() const {
    std::vector<FunctionalLayer::Operation> out;
    std::unordered_set<const void*> seen;
    for (const Ref<Node>& node : sorted_) {
      if (!seen.insert(operation_of(*node)).second) continue;
      LayerCall* call = layer_call(*node);
      out.push_back({call ? call->layer.get() : nullptr, node.get()});
    }
    std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) {
      const void *x = operation_of(*a.node), *y = operation_of(*b.node);
      int by_depth = depth_.at(y) - depth_.at(x);
      return by_depth != 0 ? by_depth < 0 : first_.at(x) < first_.at(y);
    });
    return out;
  }

 private:
  void walk(const Edge& from) {
    auto enter = [&](const Edge& written, const WalkedPath&) {
      const Edge e = model_.meant(written);
      if (!e.node || is_constant(*e.node) || done_.contains(e.node.get())) return Ref<Node>();
      if (!is_input(*e.node) && given_.contains({e.node.get(), e.output})) {
        done_.insert(e.node.get());
        return Ref<Node>();
      }
      first_.try_emplace(operation_of(*e.node), static_cast<int>(first_.size()));
      return e.node;
    };
    depth_first(from, enter, [&](const Ref<Node>& complete) {
      if (done_.insert(complete.get()).second) sorted_.push_back(complete);
    });
  }
  // How far each lies from the outputs at most.
  void find_depths() {
    std::unordered_map<const Node*, int> of_node;
    std::unordered_set<const Node*> inside;
    for (const Ref<Node>& n : sorted_) inside.insert(n.get());
    for (size_t i = sorted_.size(); i-- > 0;) {
      const Node* node = sorted_[i].get();
      int& known = depth_[operation_of(*node)];
      int depth = known = std::max(of_node[node], known);
      for (const Edge& written : node->inputs) {
        const Edge e = model_.meant(written);
        if (!e.node || !inside.contains(e.node.get())) continue;
        int& below = of_node[e.node.get()];
        below = std::max(depth + 1, below);
      }
    }
  }

  const FunctionalLayer& model_;
  std::set<std::pair<const Node*, int>> given_;
  std::unordered_set<const Node*> done_;
  std::vector<Ref<Node>> sorted_;  // what others need comes first
  std::unordered_map<const void*, int> first_, depth_;
};

}  // namespace

void FunctionalLayer::find_operations() {
  operations_ = Order(*this).all();
  layers_.clear();
  layers_and_inputs_.clear();
  std::vector<Tensor> given = inputs_.leaves();
  for (const Tensor& t : given)  // a symbol within another model is where this one begins
    if (!is_input(*node_of(t))) layers_and_inputs_.push_back(layers::InputLayerLayer::of(t));
  for (const Operation& o : operations_) {
    if (o.layer) layers_and_inputs_.push_back(layers_.emplace_back(o.layer));
    if (o.layer || !is_input(*o.node)) continue;
    for (const Tensor& t : given)
      if (node_of(t) == o.node) {
        layers_and_inputs_.push_back(layers::InputLayerLayer::of(t));
        break;
      }
  }
}

}  // namespace holdfast::keras
