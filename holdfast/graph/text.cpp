// A graph as text.
#include "holdfast/graph/text.h"

#include "holdfast/base/text.h"
#include "holdfast/graph/words.h"

namespace holdfast {
namespace {

std::string edge_text(const Edge& e) {
  if (!e.node) return std::string(words::kNone);
  return e.output ? cat(name_text(e.node->name), ":", e.output) : name_text(e.node->name);
}

template <class List, class F>
std::string joined(const List& list, F&& text) {
  std::string out;
  for (const auto& x : list) out += cat(out.empty() ? "" : ", ", text(x));
  return out;
}

// Attributes that are not their defaults. A Placeholder's are its type.
std::string attributes(const Node& n, ValueWriter& values, int indent) {
  if (n.op == &placeholder_op()) return "";
  std::string out;
  for (size_t i = 0; i < n.attrs.size() && i < n.op->attrs.size(); ++i) {
    const AttrDef& def = n.op->attrs[i];
    if (!def.required && same(n.attrs[i], def.default_value)) continue;
    out += cat(out.empty() ? "" : ", ", def.name, "=", values.text(n.attrs[i], indent + 2));
  }
  return out.empty() ? "" : cat(" {", out, "}");
}

std::string node_text(const Node& n, ValueWriter& values, int indent) {
  std::string out = cat(name_text(n.name), " = ", n.op->name, "(", joined(n.inputs, edge_text), ")",
                        attributes(n, values, indent));
  if (!n.outputs.empty() && !is_constant(n))  // a constant's type is that of its value
    out += " : " + joined(n.outputs, [](const Type& t) { return name(t.dtype) + t.shape.text(); });
  if (!n.after.empty())
    out +=
        cat(" after(", joined(n.after, [](const Ref<Node>& b) { return name_text(b->name); }), ")");
  if (n.device) out += cat(" on ", quoted(n.device->short_name()));
  return out;
}

}  // namespace

std::string body_text(const Graph& g, ValueWriter& values, int indent) {
  std::string space(static_cast<size_t>(indent), ' ');
  std::string out =
      cat(word_of(g.scope->kind), " ", name_text(g.scope->name), "(",
          joined(g.inputs, [](const Ref<Node>& n) { return name_text(n->name); }), ")");
  if (!g.captures.empty())
    out += cat(" captures(",
               joined(g.captures, [](const Capture& c) { return name_text(c.inner->name); }), ")");
  for (const Capture& c : g.captures) values.capture(c.outer);
  out += " {\n";
  for (const Ref<Node>& n : g.nodes) out += cat(space, "  ", node_text(*n, values, indent), "\n");
  out += cat(space, "  return", g.outputs.empty() ? "" : " ", joined(g.outputs, edge_text), "\n",
             space, "}");
  return out;
}

std::string to_text(const Graph& g, const TextOptions& options) {
  ValueWriter values(options);
  return cat(words::kGraphHeader, "\n", body_text(g, values, 0), "\n");
}

std::string Graph::text() const { return to_text(*this); }

}  // namespace holdfast
