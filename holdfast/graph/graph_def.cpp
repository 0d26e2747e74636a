// Nodes become NodeDefs; the bodies of branches and loops become functions of the GraphDef's
// library.
#include "holdfast/graph/graph_def.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/base/text.h"
#include "holdfast/base/wire.h"
#include "holdfast/device/device.h"
#include "holdfast/graph/bodies.h"
#include "holdfast/op/function.h"
#include "holdfast/op/op.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {
namespace {

constexpr int kProducer = 1882;  // the version of the format that a reader may expect

// Numbers of DataType.
uint64_t number_of(DType d) {
  switch (d) {
    case DType::kFloat32: return 1;
    case DType::kFloat64: return 2;
    case DType::kInt32: return 3;
    case DType::kUInt8: return 4;
    case DType::kInt16: return 5;
    case DType::kInt8: return 6;
    case DType::kString: return 7;
    case DType::kComplex64: return 8;
    case DType::kInt64: return 9;
    case DType::kBool: return 10;
    case DType::kBFloat16: return 14;
    case DType::kUInt16: return 17;
    case DType::kComplex128: return 18;
    case DType::kFloat16: return 19;
    case DType::kResource: return 20;
    case DType::kUInt32: return 22;
    case DType::kUInt64: return 23;
    default: return 21;  // variant: what TensorFlow keeps lists in
  }
}

// TensorShapeProto: dim = 2 {size = 1}, unknown_rank = 3.
Message shape_message(const Shape& s) {
  Message m;
  if (!s.has_rank()) return m.number(3, uint64_t{1});
  for (int i = 0; i < s.rank(); ++i) m.message(2, Message().number(1, s[i]));
  return m;
}

// TensorProto: dtype = 1, tensor_shape = 2, tensor_content = 4, string_val = 8.
Message tensor_message(const Tensor& t) {
  Message m;
  m.number(1, number_of(t.dtype())).message(2, shape_message(t.shape()));
  if (!t.rep()->buffer) return m;
  Tensor host = copy_to(t, cpu());
  if (t.dtype() == DType::kString) {
    for (int64_t i = 0; i < t.size(); ++i) m.bytes(8, host.raw<std::string>()[i]);
    return m;
  }
  return m.bytes(4, {static_cast<const char*>(host.raw()), static_cast<size_t>(t.bytes())});
}

// AttrValue: list = 1, s = 2, i = 3, f = 4, b = 5, type = 6, shape = 7, tensor = 8, func = 10.
struct ToAttr {
  Message operator()(std::monostate) const { return {}; }
  Message operator()(bool v) const { return Message().number(5, uint64_t{v}); }
  Message operator()(int64_t v) const { return Message().number(3, v); }
  Message operator()(double v) const { return Message().real(4, static_cast<float>(v)); }
  Message operator()(const std::string& v) const { return Message().bytes(2, v); }
  Message operator()(DType v) const { return Message().number(6, number_of(v)); }
  Message operator()(const Shape& v) const { return Message().message(7, shape_message(v)); }
  Message operator()(const Ints& v) const {
    Message list;
    for (int64_t i : v) list.number(3, i);
    return Message().message(1, list);
  }
  Message operator()(const std::vector<double>& v) const {
    Message list;
    for (double f : v) list.real(4, static_cast<float>(f));
    return Message().message(1, list);
  }
  Message operator()(const std::vector<std::string>& v) const {
    Message list;
    for (auto& s : v) list.bytes(2, s);
    return Message().message(1, list);
  }
  Message operator()(const Tensor& v) const {
    return v.defined() ? Message().message(8, tensor_message(v)) : Message();
  }
  Message operator()(const Tensors& v) const {
    Message list;
    for (const Tensor& t : v) list.message(8, tensor_message(t));
    return Message().message(1, list);
  }
  Message operator()(const Ref<RefCounted>& v) const {
    return Message().bytes(2, v ? v->text() : "");
  }
};

Message type_list(std::span<const Type> types) {
  Message list;
  for (const Type& t : types) list.number(6, number_of(t.dtype));
  return Message().message(1, list);
}

Message shape_list(std::span<const Type> types) {
  Message list;
  for (const Type& t : types) list.message(7, shape_message(t.shape));
  return Message().message(1, list);
}

// Our ops have their lists last. Where TensorFlow has a list first, so does the function that is
// called by users.
std::vector<size_t> written_order(const Node& n) {
  static const auto* lists_first = [] {
    auto* found = new std::unordered_set<const OpDef*>;
    for (const FunctionDef* f : all_functions()) {
      if (!f->op || f->op->inputs.size() != 2 || !f->op->inputs[1].list || f->params.size() < 2)
        continue;
      if (f->params[0].name == f->op->inputs[1].name && f->params[1].name == f->op->inputs[0].name)
        found->insert(f->op);
    }
    return found;
  }();
  std::vector<size_t> order;
  for (size_t i = 0; i < n.inputs.size(); ++i) order.push_back(i);
  if (lists_first->count(n.op)) std::rotate(order.begin(), order.begin() + 1, order.end());
  return order;
}

class Library;

// Writes the nodes of one graph: the outermost, or a function's body, where inputs are `arguments`
// and an edge is called by its output's name too.
class NodesWriter {
 public:
  using Arguments = std::unordered_map<const Node*, std::string>;
  NodesWriter(Library& library, const Arguments* arguments)
      : library_(library), arguments_(arguments) {}

  // NodeDef: name = 1, op = 2, input = 3, device = 4, attr = 5 {key = 1, value = 2}.
  Message node(const Node& n) {
    Message m;
    m.bytes(1, n.name).bytes(2, n.op->name);
    for (size_t i : written_order(n))
      if (n.inputs[i].node) m.bytes(3, name_of(n.inputs[i]));
    for (const Ref<Node>& before : n.after)
      if (!arguments_ || !arguments_->count(before.get())) m.bytes(3, "^" + before->name);
    if (n.device) m.bytes(4, n.device->name());
    auto attr = [&](const std::string& name, const Message& value) {
      m.message(5, Message().bytes(1, name).message(2, value));
    };
    if (n.op == &handle_op())
      of_variable(n, attr);
    else if (std::any_of(n.attrs.begin(), n.attrs.end(),
                         [](const Arg& a) { return body_in(a) != nullptr; }))
      return of_control(n, attr), m;
    else
      of_op(n, attr);
    attr("_output_shapes", shape_list(n.outputs));
    return m;
  }

  std::string name_of(const Edge& e) const {
    if (!arguments_) return e.output ? cat(e.node->name, ":", e.output) : e.node->name;
    if (auto it = arguments_->find(e.node.get()); it != arguments_->end()) return it->second;
    const OpDef& op = *e.node->op;
    if (op.elementwise && op.outputs == std::vector<std::string>{"output"})
      return cat(e.node->name, op.inputs.size() == 1 ? ":y:0" : ":z:0");
    if (op.outputs.size() == e.node->outputs.size())
      return cat(e.node->name, ":", op.outputs[static_cast<size_t>(e.output)], ":0");
    return cat(e.node->name, ":", op.outputs.empty() ? "output" : op.outputs[0], ":", e.output);
  }

 private:
  template <class F>
  void of_variable(const Node& n, F&& attr) {
    auto* state = variable_behind(constant_of(n));
    if (!state) return;
    attr("dtype", ToAttr()(state->dtype));
    attr("shape", ToAttr()(state->shape));
    attr("shared_name", ToAttr()(state->name));
  }

  template <class F>
  void of_op(const Node& n, F&& attr) {
    for (size_t i = 0; i < n.op->attrs.size() && i < n.attrs.size(); ++i)
      if (!n.attrs[i].none()) attr(n.op->attrs[i].name, std::visit(ToAttr(), n.attrs[i].value()));
    if (n.op == &const_op()) attr("dtype", ToAttr()(n.outputs[0].dtype));
    // An attribute for each group of inputs that share a dtype, as TensorFlow's ops have them: not
    // where only one dtype is possible, nor for groups that have a letter of their own here.
    bool of_state = false, said = false;
    for (size_t i = 0; i < n.op->inputs.size() && i < n.inputs.size(); ++i) {
      const InputDef& def = n.op->inputs[i];
      if (def.first != i || !n.inputs[i].node) continue;
      DType d = type_of(n.inputs[i]).dtype;
      of_state = of_state || d == DType::kResource;
      std::string group = def.group == "I"               ? "Tindices"
                          : def.group == "T" && of_state ? "dtype"
                                                         : def.group;
      said = said || group == "dtype";
      if (d != DType::kResource && group != "any" && !(def.dtypes == DTypes{d}) &&
          (group == "T" || group.size() > 1))
        attr(group, ToAttr()(d));
      if (def.list) attr("N", ToAttr()(static_cast<int64_t>(n.inputs.size() - i)));
    }
    if (of_state && !said && !n.outputs.empty()) attr("dtype", ToAttr()(n.outputs[0].dtype));
  }

  template <class F>
  void of_control(const Node& n, F&& attr);

  Library& library_;
  const Arguments* arguments_;
};

// FunctionDefLibrary: function = 1.
class Library {
 public:
  // The name of a body as a function of all that its op passes on, from input `first` on; `before`:
  // how many captures of other bodies come before its own.
  std::string add(const Graph& body, const Node& op, size_t first, size_t before, bool passes_on);
  bool empty() const { return functions_.text().empty(); }
  const Message& functions() const { return functions_; }

 private:
  std::string unique(std::string name) {
    for (char& c : name)
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.') c = '_';
    if (name.empty() || !std::isalpha(static_cast<unsigned char>(name[0]))) name = "body" + name;
    std::string out = name;
    for (int i = 1; !names_.insert(out).second; ++i) out = cat(name, "_", i);
    return out;
  }

  Message functions_;
  std::unordered_set<std::string> names_;
};

template <class F>
void NodesWriter::of_control(const Node& n, F&& attr) {
  bool branches = n.op->inputs.size() == 2;  // the first decides, and is not passed on
  std::vector<Type> in;
  for (size_t i = branches; i < n.inputs.size(); ++i)
    in.push_back(n.inputs[i].node ? type_of(n.inputs[i]) : Type{});
  if (!branches)
    std::copy(n.outputs.begin(), n.outputs.end(),
              in.begin());  // a variable's shape may be wider than what it begins with
  size_t before = 0;
  for (size_t i = 0; i < n.attrs.size(); ++i) {
    const Graph* body = body_in(n.attrs[i]);
    if (!body) continue;
    std::string name = library_.add(*body, n, branches, before, !branches && i > 0);
    attr(n.op->attrs[i].name, Message().message(10, Message().bytes(1, name)));
    before += body->captures.size();
  }
  if (branches) {
    attr("Tcond", ToAttr()(type_of(n.inputs[0]).dtype));
    attr("Tin", type_list(in));
    attr("Tout", type_list(n.outputs));
  } else {
    attr("T", type_list(in));
  }
  for (const char* name : {"output_shapes", "_output_shapes"})
    attr(name, branches ? shape_list(n.outputs) : shape_list(in));
}

// FunctionDef: signature = 1 {name = 1, input_arg = 2, output_arg = 3 {name = 1, type = 3},
// is_stateful = 17}, node_def = 3, ret = 4 {key = 1, value = 2}.
std::string Library::add(const Graph& body, const Node& op, size_t first, size_t before,
                         bool passes_on) {
  std::string name = unique(body.scope->name);
  NodesWriter::Arguments arguments;
  size_t variables = body.inputs.size();
  for (size_t i = 0; i < variables; ++i) arguments[body.inputs[i].get()] = cat("arg", i);
  for (size_t i = 0; i < body.captures.size(); ++i)
    arguments[body.captures[i].inner.get()] = cat("arg", variables + before + i);
  Message signature, function, nodes, results;
  signature.bytes(1, name);
  auto argument = [](const std::string& called, DType d) {
    return Message().bytes(1, called).number(3, number_of(d));
  };
  for (size_t i = first; i < op.inputs.size(); ++i)
    signature.message(2, argument(cat("arg", i - first),
                                  op.inputs[i].node ? type_of(op.inputs[i]).dtype : float32));
  NodesWriter writer(*this, &arguments);
  bool stateful = false;
  for (const Ref<Node>& n : body.nodes) {
    if (arguments.count(n.get())) continue;
    stateful = stateful || n->op->traits.stateful;
    nodes.message(3, writer.node(*n));
  }
  size_t made = 0;
  auto result = [&](const std::string& from, DType d) {
    std::string called = cat("result", made++);
    signature.message(3, argument(called, d));
    results.message(4, Message().bytes(1, called).bytes(2, from));
  };
  for (const Edge& e : body.outputs)
    if (e.node) result(writer.name_of(e), type_of(e).dtype);
  // TensorFlow's loops give back what they only look at, too.
  for (size_t i = variables; passes_on && first + i < op.inputs.size(); ++i)
    result(cat("arg", i), type_of(op.inputs[first + i]).dtype);
  if (stateful) signature.number(17, uint64_t{1});
  function.message(1, signature).append(nodes).append(results);
  functions_.message(1, function);
  return name;
}

}  // namespace

std::string graph_def(const Graph& g) {
  Message m;
  Library library;
  NodesWriter writer(library, nullptr);
  for (const Ref<Node>& n : g.nodes) m.message(1, writer.node(*n));
  if (!library.empty()) m.message(2, library.functions());
  m.message(4, Message().number(1, uint64_t{kProducer}));
  return m.text();
}

}  // namespace holdfast
