#include "holdfast/graph/parse.h"

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"

namespace holdfast {

Ref<Graph> parse_graph(std::string_view text, const Payload* payload) {
  return Parser(text, payload).file();
}

Ref<Graph> Parser::file() {
  if (!in_.take("holdfast")) in_.expected(cat("the line `", words::kGraphHeader, "`"));
  in_.expect("graph");
  if (Token version = in_.number("a version"); version.text != "1")
    Lexer::refuse(version,
                  cat("version ", version.text, " of the form; this library reads version 1"));
  Ref<Graph> g = graph(nullptr);
  if (in_.peek().kind != TokenKind::kEnd) in_.expected("the end");
  return g;
}

Ref<Graph> Parser::graph(Ref<Scope> parent) {
  ScopeKind kind;
  if (in_.peek().kind != TokenKind::kWord || !kind_of(in_.peek().text, kind))
    in_.expected("`function`, `graph` or another kind of graph");
  constexpr int kDeepest = 64;
  if (parent && parent->depth >= kDeepest)
    in_.expected(cat("at most ", kDeepest, " graphs inside one another"));
  in_.next();
  auto g = make_ref<Graph>(make_ref<Scope>(kind, in_.name("the graph's name"), parent));
  auto list = [&](std::vector<Token>& out) {
    in_.expect("(");
    while (!in_.at(")")) {
      out.push_back(in_.peek());
      in_.name("an input's name");
      if (!in_.take(",")) break;
    }
    in_.expect(")");
  };
  std::vector<Token> inputs, captures;
  list(inputs);
  if (in_.take("captures")) list(captures);
  size_t captured = captured_;
  captured_ += captures.size();
  in_.expect("{");
  Names names;
  while (!in_.at("return")) node(*g, names);
  in_.next();
  if (!in_.at("}"))
    for (Edge& e : edges(names, "}")) g->outputs.push_back(std::move(e));
  in_.expect("}");
  auto given = [&](const Token& t) {
    auto it = names.find(t.text);
    if (it == names.end()) Lexer::refuse(t, cat("the graph has no node `", t.text, "`"));
    if (it->second->op != &placeholder_op())
      Lexer::refuse(
          t, cat("`", t.text, "` is an input, expected a Placeholder, got ", it->second->op->name));
    return it->second;
  };
  for (const Token& t : inputs) g->inputs.push_back(given(t));
  for (const Token& t : captures) {
    Ref<Node> inner = given(t);
    bool there = payload_ && captured < payload_->captures.size();
    const Type& type = inner->outputs[0];
    Tensor outer = there ? payload_->captures[captured++]
                         : Tensor(make_ref<TensorRep>(type.dtype, type.shape, nullptr));
    g->captures.push_back({std::move(outer), std::move(inner)});
  }
  return g;
}

Ref<Node> Parser::known(const Names& names, const char* what) {
  Token at = in_.peek();
  auto it = names.find(in_.name(what));
  if (it == names.end()) Lexer::refuse(at, cat("no node `", at.text, "` comes before this one"));
  return it->second;
}

Edge Parser::edge(const Names& names) {
  if (in_.peek().kind == TokenKind::kWord && in_.take(words::kNone)) return {};
  Token at = in_.peek();
  Edge e{known(names, "a node's name"), 0};
  if (in_.take(":")) e.output = number<int32_t>("the number of an output");
  if (e.output < 0 || static_cast<size_t>(e.output) >= e.node->outputs.size())
    Lexer::refuse(at, cat("`", at.text, "` has ", e.node->outputs.size(),
                          " outputs, and no number ", e.output));
  return e;
}

std::vector<Edge> Parser::edges(const Names& names, std::string_view end) {
  std::vector<Edge> out;
  while (!in_.at(end)) {
    out.push_back(edge(names));
    if (!in_.take(",")) break;
  }
  return out;
}

void Parser::node(Graph& g, Names& names) {
  Token at = in_.peek();
  std::string name = in_.name("a node or `return`");
  if (at.kind == TokenKind::kWord && name == words::kNone)
    Lexer::refuse(at, cat("a node can be called `", words::kNone, "` in quotes only"));
  if (names.count(name)) Lexer::refuse(at, cat("two nodes are called `", name, "`"));
  in_.expect("=");
  Token op_at = in_.peek();
  const OpDef* op = find_op(in_.name("an op"));
  if (!op) Lexer::refuse(op_at, cat("there is no op `", op_at.text, "`"));
  auto n = make_ref<Node>(op, Attrs{});
  in_.expect("(");
  for (Edge& e : edges(names, ")")) n->inputs.push_back(std::move(e));
  in_.expect(")");
  attributes(*n, op_at, g.scope);
  types(*n);
  tail(*n, names);
  g.add(n, name);
  if (n->name != name)
    Lexer::refuse(at, cat("`", name, "` differs from another node's name in case only"));
  names.emplace(std::move(name), std::move(n));
}

void Parser::attributes(Node& n, const Token& at, const Ref<Scope>& scope) {
  std::vector<bool> given(n.op->attrs.size());
  for (const AttrDef& def : n.op->attrs) n.attrs.push_back(def.default_value);
  if (in_.take("{")) {
    do {
      Token where = in_.peek();
      int i = n.op->attr_index(in_.name("an attribute").c_str());
      if (i < 0) Lexer::refuse(where, cat(n.op->name, " has no attribute `", where.text, "`"));
      in_.expect("=");
      n.attrs[static_cast<size_t>(i)] = value(scope);
      given[static_cast<size_t>(i)] = true;
    } while (in_.take(","));
    in_.expect("}");
  }
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i] && n.op->attrs[i].required && n.op != &placeholder_op())
      Lexer::refuse(at, cat(n.op->name, " needs its attribute `", n.op->attrs[i].name, "`"));
}

void Parser::types(Node& n) {
  if (is_constant(n)) {
    const Arg& given = n.op->attr(std::as_const(n.attrs), "value");
    if (!std::holds_alternative<Tensor>(given.value()) || !given.tensor().defined())
      in_.expected("a value in the attribute before this");
    n.outputs.push_back({constant_of(n).dtype(), constant_of(n).shape()});
    return;
  }
  if (in_.take(":")) {
    do {
      DType d = dtype("a type");
      n.outputs.push_back({d, shape()});
    } while (in_.take(","));
  }
  if (n.op != &placeholder_op()) return;
  if (n.outputs.size() != 1) in_.expected("the type of a Placeholder, as in `: float32[2,?]`");
  n.op->attr(n.attrs, "dtype") = n.outputs[0].dtype;
  n.op->attr(n.attrs, "shape") = n.outputs[0].shape;
}

void Parser::tail(Node& n, const Names& names) {
  if (in_.take("after")) {
    in_.expect("(");
    do n.after.push_back(known(names, "a node's name"));
    while (in_.take(","));
    in_.expect(")");
  }
  if (!in_.take("on")) return;
  Token at = in_.peek();
  std::string wanted = in_.name("a device");
  for (Device* d : devices())
    if (d->short_name() == wanted) n.device = d;
  if (!n.device) Lexer::refuse(at, cat("there is no device `", wanted, "`"));
}

}  // namespace holdfast
