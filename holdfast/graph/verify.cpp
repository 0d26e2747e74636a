#include "holdfast/graph/verify.h"

#include <unordered_map>
#include <unordered_set>

#include "holdfast/base/text.h"
#include "holdfast/graph/bodies.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"

namespace holdfast {
namespace {

class Verifier {
 public:
  Verifier(const Graph& g, const std::string& when, bool written)
      : graph_(g), when_(when), written_(written) {}

  void run() {
    for (const Capture& c : graph_.captures) {
      if (!c.inner || !c.outer.defined()) wrong(nullptr, "a capture has no inside or no outside");
      outer_[c.inner.get()] = c.outer;
    }
    for (const Ref<Node>& n : graph_.nodes) node(*n);
    for (const Ref<Node>& n : graph_.inputs) given(n.get(), "an input");
    for (const Capture& c : graph_.captures) given(c.inner.get(), "a capture");
    for (const Edge& e : graph_.outputs)
      if (e.node) edge(nullptr, e, "an output");
  }

 private:
  [[noreturn]] void wrong(const Node* n, std::string what) const {
    std::string said = cat("graph `", graph_.scope->name, "`", when_.empty() ? "" : " " + when_,
                           n ? cat(", node `", n->name, "`: ") : ": ", what);
    if (written_) fail(Code::E1103, cat("the text of ", said));
    bug(said);
  }

  void edge(const Node* user, const Edge& e, const char* what) const {
    if (!seen_.count(e.node.get()))
      wrong(user, cat(what, " is `", e.node->name, "`, which is not before it in the graph"));
    if (e.output < 0 || static_cast<size_t>(e.output) >= e.node->outputs.size())
      wrong(user, cat(what, " is output ", e.output, " of `", e.node->name, "`, which has ",
                      e.node->outputs.size()));
  }

  void given(const Node* n, const char* what) const {
    if (!seen_.count(n)) wrong(n, cat(what, " is not in the graph"));
    if (n->op != &placeholder_op())
      wrong(n, cat(what, " is a ", n->op->name, ", expected a Placeholder"));
  }

  // What an input is to the shape rules. A variable is known by its state, which only its handle
  // has.
  Tensor operand(const Edge& e) const {
    if (!e.node) return {};
    if (is_constant(*e.node)) return constant_of(*e.node);
    if (auto it = outer_.find(e.node.get());
        it != outer_.end() && type_of(e).dtype == DType::kResource)
      return it->second;
    return symbol_for(e, graph_.scope);
  }

  void node(const Node& n) {
    if (!names_.insert(n.name).second) wrong(&n, "another node has its name");
    if (n.attrs.size() != n.op->attrs.size())
      wrong(&n, cat(n.attrs.size(), " attributes, expected ", n.op->attrs.size()));
    for (const Edge& e : n.inputs)
      if (e.node) edge(&n, e, "an input");
    for (const Ref<Node>& b : n.after)
      if (!seen_.count(b.get()))
        wrong(&n, cat("comes before `", b->name, "`, after which it must run"));
    if (!seen_.insert(&n).second) wrong(&n, "is in the graph twice");
    for (const Arg& a : n.attrs)
      if (auto* body = body_in(a)) verify(*body, when_);
    std::vector<Tensor> in;
    for (const Edge& e : n.inputs) {
      in.push_back(operand(e));
      // Rules for state look into the handle; one that arrives as an argument has nothing in it
      // yet.
      if (in.back().defined() && in.back().dtype() == DType::kResource &&
          (in.back().is_symbolic() || !in.back().has_value()))
        return;
    }
    try {
      check_signature(*n.op, in);
      Infer infer(*n.op, in, n.attrs);
      n.op->infer(infer);
      types(n, infer);
    } catch (const Error& e) {
      if (e.code() == Code::E1599) throw;
      wrong(&n, cat(n.op->name, " refuses its operands: ", e.diagnostic().headline));
    }
  }

  void types(const Node& n, const Infer& infer) const {
    if (infer.dtypes.size() != n.outputs.size())
      wrong(&n,
            cat(n.outputs.size(), " outputs, and ", n.op->name, " gives ", infer.dtypes.size()));
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      const Type& t = n.outputs[i];
      if (t.dtype != infer.dtypes[i] || !t.shape.compatible(infer.shapes[i]))
        wrong(&n, cat("output ", i, " is ", name(t.dtype), t.shape.text(), ", and ", n.op->name,
                      " gives ", name(infer.dtypes[i]), infer.shapes[i].text()));
    }
  }

  const Graph& graph_;
  const std::string& when_;
  const bool written_;
  std::unordered_set<const Node*> seen_;
  std::unordered_set<std::string> names_;
  std::unordered_map<const Node*, Tensor> outer_;
};

}  // namespace

void verify(const Graph& g, const std::string& when) { Verifier(g, when, false).run(); }
void verify_text(const Graph& g) {
  const std::string no_pass;
  Verifier(g, no_pass, true).run();
}

}  // namespace holdfast
