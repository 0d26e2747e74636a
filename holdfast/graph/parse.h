// The reader of graphs' text.
#pragma once

#include <map>
#include <unordered_map>

#include "holdfast/graph/lexer.h"
#include "holdfast/graph/words.h"

namespace holdfast {

class Parser {
 public:
  Parser(std::string_view text, const Payload* payload) : in_(text), payload_(payload) {}
  Ref<Graph> file();

 private:
  using Names = std::unordered_map<std::string, Ref<Node>>;

  // Graphs.
  Ref<Graph> graph(Ref<Scope> parent);
  void node(Graph& g, Names& names);
  Edge edge(const Names& names);
  Ref<Node> known(const Names& names, const char* what);
  std::vector<Edge> edges(const Names& names, std::string_view end);
  void attributes(Node& n, const Token& at, const Ref<Scope>& scope);
  void types(Node& n);
  void tail(Node& n, const Names& names);

  // Values.
  Arg value(const Ref<Scope>& scope);
  DType dtype(const char* what);
  Shape shape();
  Tensor tensor(DType dtype);
  Tensor left_out(DType dtype, const Shape& shape);
  Tensor variable();
  Tensor tensor_or_none();
  void fill(Tensor& t);
  template <class T>
  T number(const char* what);
  template <class F>
  void list(F&& item);
  size_t index(size_t size, const char* what);

  Lexer in_;
  const Payload* payload_;
  size_t captured_ = 0;
  std::map<int64_t, Tensor> variables_;  // made for numbers that no payload knows
};

template <class T>
T Parser::number(const char* what) {
  Token t = in_.number(what);
  T out{};
  if (!read_number(t.text, out))
    Lexer::refuse(t, "expected " + std::string(what) + ", got `" + t.text + "`");
  return out;
}

/// Items between brackets, with commas.
template <class F>
void Parser::list(F&& item) {
  in_.expect("[");
  if (in_.take("]")) return;
  do item();
  while (in_.take(","));
  in_.expect("]");
}

}  // namespace holdfast
