#include "holdfast/graph/foreign.h"

#include <map>
#include <mutex>
#include <tuple>

#include "holdfast/base/text.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/op.h"

namespace holdfast {
namespace {

struct ForeignAttrs {
  Attr<Ints> dtypes;
};

void infer(Infer& s) {
  for (int64_t dtype : s.attrs<ForeignAttrs>().dtypes())
    s.output(static_cast<DType>(dtype), Shape::unknown());
}

Status refuse(Call& c) {
  return {Code::E1105, cat("the op ", c.op.name, " is not supported: it can only be written down")};
}

// Lives for ever, as all ops do: nodes point at it.
const OpDef& foreign(const std::string& type, size_t inputs, size_t outputs) {
  static std::mutex mutex;
  static auto* known = new std::map<std::tuple<std::string, size_t, size_t>, OpDef>;
  std::lock_guard lock(mutex);
  auto [it, fresh] = known->try_emplace({type, inputs, outputs});
  OpDef& op = it->second;
  if (!fresh) return op;
  op.name = type;
  op.doc = "An op of another program.";
  for (size_t i = 0; i < inputs; ++i) {
    InputDef in;
    in.name = cat("input_", i);
    in.group = cat("T", i);
    in.first = i;
    op.inputs.push_back(std::move(in));
  }
  op.outputs.clear();
  for (size_t i = 0; i < outputs; ++i) op.outputs.push_back(cat("output_", i));
  op.attrs.push_back({"dtypes", Arg(std::vector<int64_t>{}), true});
  op.attr_structs.push_back(&detail::kAttrsOf<ForeignAttrs>);
  op.infer = infer;
  op.kernels.push_back({"none", DeviceKind::kCpu, refuse});
  op.traits.stateful = op.traits.no_gradient = true;
  return op;
}

}  // namespace

Ref<Node> add_foreign(OpenGraph& graph, const std::string& type, const std::vector<Tensor>& inputs,
                      const std::vector<DType>& dtypes, const std::string& name) {
  const OpDef& op = foreign(type, inputs.size(), dtypes.size());
  std::vector<int64_t> kinds;
  for (DType d : dtypes) kinds.push_back(static_cast<int64_t>(d));
  InterpreterScope here(&graph.tracer());
  struct Named {
    explicit Named(const std::string& name) { context().op_name = name; }
    ~Named() { context().op_name.clear(); }
  } named(name);
  Tensors out;
  graph.tracer().run(op, inputs, Attrs{Arg(std::move(kinds))}, out);
  return graph.graph()->nodes.back();
}

}  // namespace holdfast
