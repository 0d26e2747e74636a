#include "holdfast/graph/graph.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/base/text.h"
#include "holdfast/graph/node_map.h"
#include "holdfast/op/op.h"

namespace holdfast {

struct ValueAttrs {
  Attr<Tensor> value;
};

namespace {

std::string lower(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return s;
}

// The graph's own ops have no kernel: the plan puts their values in place before the first step.
struct PlaceholderAttrs {
  Attr<DType> dtype;
  Attr<Shape> shape;
};

void infer_given(Infer& s) {
  auto a = s.attrs<PlaceholderAttrs>();
  s.output(a.dtype(), a.shape());
}
void infer_constant(Infer& s) {
  const Tensor& value = s.attrs<ValueAttrs>().value();
  s.output(value.dtype(), value.shape());
}

const Op placeholder = RAW_OP(Placeholder)
                           .doc("A value that is given from outside.")
                           .inputs("")
                           .attr("dtype")
                           .attr("shape", Shape::unknown())
                           .attrs<&PlaceholderAttrs::dtype, &PlaceholderAttrs::shape>()
                           .infer(infer_given)
                           .no_gradient();
const Op constant = RAW_OP(Const)
                        .doc("A value that is part of the graph.")
                        .inputs("")
                        .attr("value")
                        .attrs<&ValueAttrs::value>()
                        .infer(infer_constant)
                        .no_gradient();
const Op handle = RAW_OP(VarHandleOp)
                      .outputs("resource")
                      .doc("A variable.")
                      .inputs("")
                      .attr("value")
                      .attrs<&ValueAttrs::value>()
                      .infer(infer_constant)
                      .no_gradient();

}  // namespace

const Tensor& constant_of(const Node& n) { return attrs_of<ValueAttrs>(*n.op, n.attrs).value(); }

const OpDef& placeholder_op() { return placeholder.def(); }
const OpDef& const_op() { return constant.def(); }
const OpDef& handle_op() { return handle.def(); }

void Node::destroy() const noexcept {
  static thread_local std::vector<const Node*>* pending = nullptr;
  if (pending) return pending->push_back(this);
  std::vector<const Node*> list{this};
  pending = &list;
  while (!list.empty()) {
    const Node* next = list.back();
    list.pop_back();
    delete next;  // lets go of its inputs, which may join the list
  }
  pending = nullptr;
}

bool Node::is(const char* op_name) const { return op->name == op_name; }

struct Graph::Names {
  std::unordered_map<std::string, int> given;
  std::unordered_map<std::string, size_t> by_name;  // of the first `indexed` nodes
  size_t indexed = 0;
};

Graph::Graph(Ref<Scope> of) : scope(std::move(of)), names_(make_owned<Names>()) {}

Graph::~Graph() {
  outputs.clear();
  while (!nodes.empty()) nodes.pop_back();
}

std::string Graph::unique_name(const std::string& base) {
  auto& given = names_->given;
  auto [it, fresh] = given.try_emplace(lower(base), 0);
  if (fresh) return base;
  std::string name;
  do name = cat(base, "_", ++it->second);
  while (given.count(lower(name)));
  given.emplace(lower(name), 0);
  return name;
}

void Graph::add(Ref<Node> node, const std::string& base) {
  node->name = unique_name(base);
  nodes.push_back(std::move(node));
}

void Graph::rename(Node& node, const std::string& name) {
  auto& by_name = names_->by_name;
  auto it = by_name.find(node.name);
  if (it != by_name.end()) {
    by_name[name] = it->second;
    by_name.erase(it);
  }
  node.name = name;
}

Graph::Names& Graph::index() const {
  size_t& i = names_->indexed;
  for (; i < nodes.size(); ++i) names_->by_name.emplace(nodes[i]->name, i);
  return *names_;
}

Node* Graph::find(const std::string& name) const {
  const auto& by_name = index().by_name;
  auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : nodes[it->second].get();
}

size_t Graph::position(const Node& node) const { return index().by_name.at(node.name); }

void Graph::move_back(size_t from, size_t to) {
  auto begin = nodes.begin();
  std::rotate(begin + static_cast<std::ptrdiff_t>(to), begin + static_cast<std::ptrdiff_t>(from),
              nodes.end());
  for (Reading& r : readings)
    if (r.at >= to && r.at < from) r.at += nodes.size() - from;
  names_->by_name.clear();
  names_->indexed = 0;
}

Ref<Graph> Graph::continued() const {
  auto out = make_ref<Graph>(scope);
  out->nodes = nodes;
  out->inputs = inputs;
  out->outputs = outputs;
  out->captures = captures;
  out->customs = customs;
  out->originals = originals;
  out->names_->given = names_->given;
  return out;
}

Tensor symbol_for(const Edge& e, const Ref<Scope>& scope) {
  if (!e.node) fail(Code::E1104, "an edge that leads from no node was asked for its tensor");
  const Type& type = type_of(e);
  auto rep = make_ref<TensorRep>(type.dtype, type.shape, nullptr);
  rep->symbolic = true;
  rep->op = e.node->op->name.c_str();
  rep->born = e.node->where;
  rep->beyond = make_ref<Symbol>(scope, e.node, e.output);
  return Tensor(std::move(rep));
}

Ref<Node> copy_of(const Node& n) {
  auto copy = make_ref<Node>(n.op, n.attrs);
  copy->outputs = n.outputs;
  copy->where = n.where;
  copy->device = n.device;
  copy->placed = n.placed;
  copy->state = n.state;
  return copy;
}

Ref<Node> placeholder_for(const Type& type, Where where) {
  auto made = make_ref<Node>(&placeholder_op(), Attrs{Arg(type.dtype), Arg(type.shape)});
  made->outputs.push_back(type);
  made->where = where;
  return made;
}

std::vector<Ref<Node>> needed_for(const Edge& e) {
  std::vector<Ref<Node>> out;
  std::unordered_set<const Node*> seen{e.node.get()};
  std::vector<std::pair<Node*, size_t>> stack{
      {e.node.get(), 0}};  // a node and how many of its inputs are done
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == node->inputs.size()) {
      out.emplace_back(node);
      stack.pop_back();
      continue;
    }
    Node* input = node->inputs[next++].node.get();
    if (input && seen.insert(input).second) stack.push_back({input, 0});
  }
  return out;
}

Ref<Graph> clone(const Graph& g, NodeMap* map) {
  auto out = make_ref<Graph>(g.scope);
  NodeMap own;
  NodeMap& copies = map ? *map : own;
  auto moved = [&](const Edge& e) {
    return e.node ? Edge{copies.at(e.node.get()), e.output} : Edge{};
  };
  for (const Ref<Node>& n : g.nodes) {
    Ref<Node> copy = copy_of(*n);
    for (const Edge& e : n->inputs) copy->inputs.push_back(moved(e));
    for (const Ref<Node>& before : n->after) copy->after.push_back(copies.at(before.get()));
    out->add(copy, n->name);
    copies.emplace(n.get(), std::move(copy));
  }
  for (const Ref<Node>& n : g.inputs) out->inputs.push_back(copies.at(n.get()));
  for (const Capture& c : g.captures) out->captures.push_back({c.outer, copies.at(c.inner.get())});
  for (const Edge& e : g.outputs) out->outputs.push_back(moved(e));
  return out;
}

}  // namespace holdfast
