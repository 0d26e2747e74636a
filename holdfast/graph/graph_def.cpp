// Protobuf's wire format, as far as a GraphDef needs it: a message is a list of (field number, kind, value).
#include "holdfast/graph/graph_def.h"

#include <cstring>

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {
namespace {

constexpr int kProducer = 1882;  // the version of the format that a reader may expect

class Message {
 public:
  Message& number(int field, uint64_t v) { key(field, 0); varint(v); return *this; }
  Message& number(int field, int64_t v) { return number(field, static_cast<uint64_t>(v)); }
  Message& bytes(int field, std::string_view v) { key(field, 2); varint(v.size()); out_ += v; return *this; }
  Message& message(int field, const Message& m) { return bytes(field, m.out_); }
  Message& real(int field, float v) {
    key(field, 5);
    char raw[4];
    std::memcpy(raw, &v, 4);
    out_.append(raw, 4);
    return *this;
  }
  const std::string& text() const { return out_; }

 private:
  void key(int field, int kind) { varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(kind)); }
  void varint(uint64_t v) {
    for (; v >= 128; v >>= 7) out_ += static_cast<char>(v | 128);
    out_ += static_cast<char>(v);
  }
  std::string out_;
};

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
    for (int64_t i = 0; i < t.size(); ++i) m.bytes(8, host.data<std::string>()[i]);
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
  Message operator()(const Tensor& v) const { return v ? Message().message(8, tensor_message(v)) : Message(); }
  Message operator()(const Tensors& v) const {
    Message list;
    for (const Tensor& t : v) list.message(8, tensor_message(t));
    return Message().message(1, list);
  }
  Message operator()(const Ref<RefCounted>& v) const {
    auto* body = dynamic_cast<const Graph*>(v.get());
    return body ? Message().message(10, Message().bytes(1, body->scope->name)) : Message().bytes(2, v ? v->text() : "");
  }
};

// NodeDef: name = 1, op = 2, input = 3, device = 4, attr = 5 {key = 1, value = 2}.
class NodeWriter {
 public:
  explicit NodeWriter(const Node& n) : node_(n) {}

  Message write() {
    m_.bytes(1, node_.name).bytes(2, node_.op->name);
    for (const Edge& e : node_.inputs)
      if (e.node) m_.bytes(3, e.output ? cat(e.node->name, ":", e.output) : e.node->name);
    for (const Ref<Node>& before : node_.after) m_.bytes(3, "^" + before->name);
    if (node_.device) m_.bytes(4, node_.device->name());
    if (node_.op == &handle_op()) variable();
    else own();
    Message shapes;
    for (const Type& t : node_.outputs) shapes.message(7, shape_message(t.shape));
    attr("_output_shapes", Message().message(1, shapes));
    return m_;
  }

 private:
  void attr(const std::string& name, const Message& value) { m_.message(5, Message().bytes(1, name).message(2, value)); }

  void variable() {
    const Tensor& handle = constant_of(node_);
    auto* state = variable_behind(handle);
    if (!state) return;
    attr("dtype", ToAttr()(state->dtype));
    attr("shape", ToAttr()(state->shape));
    attr("shared_name", ToAttr()(state->name));
  }

  void own() {
    for (size_t i = 0; i < node_.op->attrs.size() && i < node_.attrs.size(); ++i)
      if (!node_.attrs[i].none()) attr(node_.op->attrs[i].name, std::visit(ToAttr(), node_.attrs[i].value()));
    if (node_.op == &const_op()) attr("dtype", ToAttr()(node_.outputs[0].dtype));
    // An attribute for each group of inputs that share a dtype, as TensorFlow's ops have them.
    for (size_t i = 0; i < node_.op->inputs.size() && i < node_.inputs.size(); ++i) {
      const InputDef& def = node_.op->inputs[i];
      if (def.first != i || !node_.inputs[i].node) continue;
      DType d = type_of(node_.inputs[i]).dtype;
      if (d != DType::kResource) attr(def.group, ToAttr()(d));
      if (def.list) attr("N", ToAttr()(static_cast<int64_t>(node_.inputs.size() - i)));
    }
  }

  const Node& node_;
  Message m_;
};

}  // namespace

std::string graph_def(const Graph& g) {
  Message m;
  for (const Ref<Node>& n : g.nodes) m.message(1, NodeWriter(*n).write());
  m.message(4, Message().number(1, uint64_t{kProducer}));
  return m.text();
}

}  // namespace holdfast
