// Computes what the graph alone decides: ops on constants, and sizes that are known.
#include <algorithm>

#include "holdfast/graph/trace.h"
#include "holdfast/passes/effects.h"
#include "holdfast/passes/passes.h"
#include "holdfast/passes/rewrite.h"

namespace holdfast {
namespace {

// A constant is kept as long as the function is: a large result is computed again at each call,
// unless it takes the place of something larger still.
constexpr int64_t kMostBytes = 1 << 20;

bool fits(int64_t v, DType d) { return d == int64 || v == static_cast<int32_t>(v); }

int64_t bytes_of(const Type& t) {
  auto n = t.shape.elements();
  return n ? *n * size_of(t.dtype) : INT64_MAX;
}

class Folder {
 public:
  explicit Folder(Graph& g) : graph_(g), rewriter_(g) {}

  bool run() {
    return rewriter_.walk([&](const Ref<Node>& n) { visit(n); });
  }

 private:
  void visit(const Ref<Node>& n) {
    // Simplify drops those that needn't keep results apart.
    if (is_constant(*n) || n->op->traits.keeps_apart || n->inputs.empty() || n->outputs.empty() ||
        !is_pure(*n) || rewriter_.uses(*n) == 0)
      return;
    for (const Edge& e : n->inputs)
      if (e.node && !kAll.has(type_of(e).dtype)) return;  // handles, lists
    for (const Type& t : n->outputs)
      if (!kAll.has(t.dtype)) return;
    try {
      if (!fold_constants(n) && !fold_shape(n)) fold_known(n);
    } catch (const Error&) {
      // An op that refuses its operands says so when it runs, if it does: its line is the
      // program's, not ours.
    }
  }

  bool worth(const Node& n) const {
    int64_t out = 0, in = 0;
    for (const Type& t : n.outputs) {
      int64_t bytes = bytes_of(t);
      if (bytes == INT64_MAX) return false;
      out += bytes;
    }
    for (const Edge& e : n.inputs)
      if (e.node && is_constant(*e.node)) in += bytes_of(type_of(e));
    return out <= std::max(kMostBytes, in);
  }

  // Runs the op as a plan would, so that the result has the same bits and lives on the same device.
  bool compute(const Ref<Node>& n, std::span<const Tensor> in) {
    InterpreterScope values(nullptr);
    DeviceScope there(n->device);
    Where asked = here();
    set_site(n->where);
    Tensors out;
    try {
      eager()->run(*n->op, in, n->attrs, out);
    } catch (const Error&) {
      set_site(asked);
      throw;
    }
    set_site(asked);
    for (size_t i = 0; i < out.size(); ++i)
      rewriter_.replace(rewriter_.constant(out[i]), static_cast<int>(i));
    return true;
  }

  bool fold_constants(const Ref<Node>& n) {
    std::vector<Tensor> in;
    for (const Edge& e : n->inputs) {
      if (e.node && e.node->op != &const_op()) return false;
      in.push_back(e.node ? constant_of(*e.node) : Tensor());
    }
    // Sizes that depend on the data are not in the node's types.
    for (const Type& t : n->outputs)
      if (!t.shape.is_full()) return false;
    return worth(*n) && compute(n, in);
  }

  bool fold_shape(const Ref<Node>& n) {
    const Type &in = type_of(n->inputs[0]), &out = n->outputs[0];
    switch (n->op->traits.of_shape) {
      case OfShape::kNothing: return false;
      case OfShape::kRank:
        return in.shape.has_rank() && rewriter_.replace(rewriter_.number(in.shape.rank()));
      case OfShape::kSize:
        return in.shape.elements() && fits(*in.shape.elements(), out.dtype) &&
               rewriter_.replace(rewriter_.number(*in.shape.elements(), out.dtype));
      case OfShape::kShape: return fold_sizes(*n);
      case OfShape::kFilled: break;
    }
    if (!in.shape.is_full() || bytes_of(in) > kMostBytes || !worth(*n)) return false;
    return compute(
        n, std::vector<Tensor>{empty(in.dtype, in.shape, cpu())});  // whose elements nobody reads
  }

  // True where nothing is left to fold.
  bool fold_sizes(const Node& n) {
    DType dtype = n.outputs[0].dtype;
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      const Shape& s = type_of(n.inputs[i]).shape;
      bool known =
          s.is_full() && std::all_of(s.begin(), s.end(), [&](int64_t d) { return fits(d, dtype); });
      if (known) rewriter_.replace(rewriter_.ints(s.dims(), dtype), static_cast<int>(i));
    }
    return n.outputs.size() > 1 || type_of(n.inputs[0]).shape.is_full();
  }

  // Sizes of which a part is known: `shape(x)[1]` of a [?,6].
  void fold_known(const Ref<Node>& n) {
    if (n->outputs.size() != 1 || !kIndices.has(n->outputs[0].dtype)) return;
    std::vector<Tensor> in;
    for (const Edge& e : n->inputs) in.push_back(symbol(e));
    Tensor out = symbol({n, 0});
    follow_known(*n->op, in, n->attrs, std::span<const Tensor>(&out, 1));
    const Symbol& s = *symbol_of(out);
    if (s.known.defined() && !s.unknown && s.known.shape() == n->outputs[0].shape)
      rewriter_.replace(rewriter_.constant(s.known));
  }

  Tensor symbol(const Edge& e) {
    if (!e.node || is_constant(*e.node)) return operand_of(e, graph_.scope);
    Tensor& t = symbols_[{e.node.get(), e.output}];
    if (!t.defined()) t = symbol_for(e, graph_.scope);
    return t;
  }

  Graph& graph_;
  Rewriter rewriter_;
  std::map<std::pair<const Node*, int>, Tensor> symbols_;
};

}  // namespace

bool fold(Graph& g) { return Folder(g).run(); }

}  // namespace holdfast
