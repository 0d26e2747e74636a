// A graph as text.
#include "holdfast/base/text.h"
#include "holdfast/graph/graph.h"

namespace holdfast {

std::string Graph::text() const {
  std::string out = cat("graph ", scope->name, " {\n");
  for (const Ref<Node>& n : nodes) {
    out += cat("  ", n->name, " = ", n->op->name, "(");
    for (size_t i = 0; i < n->inputs.size(); ++i) {
      const Edge& e = n->inputs[i];
      out += cat(i ? ", " : "", e.node ? e.output ? cat(e.node->name, ":", e.output) : e.node->name : "none");
    }
    out += ")";
    for (size_t i = 0; i < n->outputs.size(); ++i) out += cat(i ? ", " : " : ", name(n->outputs[i].dtype), n->outputs[i].shape.text());
    out += "\n";
  }
  out += "  return";
  for (const Edge& e : outputs) out += cat(" ", e.node ? e.node->name : "none");
  return out + "\n}\n";
}

}  // namespace holdfast
