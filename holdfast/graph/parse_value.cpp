// Arguments of nodes, read from text.
#include <cstring>

#include "holdfast/base/text.h"
#include "holdfast/graph/name_scope.h"
#include "holdfast/graph/parse.h"
#include "holdfast/op/variable.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {

Arg Parser::value(const Ref<Scope>& scope) {
  const Token& t = in_.peek();
  ScopeKind kind;
  if (t.kind == TokenKind::kText) return Arg(in_.next().text);
  if (t.kind == TokenKind::kNumber) {
    if (int64_t i; read_number(t.text, i)) return in_.next(), Arg(i);
    return Arg(number<double>("a number"));
  }
  if (in_.at("[")) {
    Ints out;
    list([&] { out.push_back(number<int64_t>("an int")); });
    return Arg(std::move(out));
  }
  if (t.kind != TokenKind::kWord) in_.expected("a value");
  if (in_.take("None")) return Arg();
  if (in_.at("True") || in_.at("False")) return Arg(number<bool>("a bool"));
  if (in_.at("inf") || in_.at("nan")) return Arg(number<double>("a number"));
  if (in_.take("shape")) return Arg(shape());
  if (in_.take("floats")) {
    std::vector<double> out;
    list([&] { out.push_back(number<double>("a float")); });
    return Arg(std::move(out));
  }
  if (in_.take("strings")) {
    std::vector<std::string> out;
    list([&] { out.push_back(in_.name("a text")); });
    return Arg(std::move(out));
  }
  if (in_.take("tensors")) {
    Tensors out;
    list([&] { out.push_back(tensor_or_none()); });
    return Arg(std::move(out));
  }
  if (in_.at(words::kVariable) || in_.at("tensor")) return Arg(tensor_or_none());
  if (in_.take(words::kObject)) {
    size_t i = index(payload_ ? payload_->objects.size() : 0, "object");
    in_.name("the object in words");
    return Arg(payload_->objects[i]);
  }
  if (kind_of(t.text, kind)) return Arg(Ref<RefCounted>(graph(scope)));
  DType d = dtype("a value");
  return in_.at("[") ? Arg(tensor(d)) : Arg(d);
}

size_t Parser::index(size_t size, const char* what) {
  Token at = in_.peek();
  auto i = number<int64_t>("a number");
  if (i < 0 || static_cast<size_t>(i) >= size)
    Lexer::refuse(
        at, cat(what, " ", i, " was left out of the text, and is not among what came with it"));
  return static_cast<size_t>(i);
}

DType Parser::dtype(const char* what) {
  Token at = in_.peek();
  auto d = at.kind == TokenKind::kWord ? dtype_named(at.text) : std::nullopt;
  if (!d) in_.expected(what);
  in_.next();
  return *d;
}

Shape Parser::shape() {
  Dims dims;
  bool unknown = false;
  Token at = in_.peek();
  list([&] {
    if (!in_.take("?")) return dims.push_back(number<int64_t>("a size"));
    if (in_.take("...")) unknown = true;
    dims.push_back(kUnknown);
  });
  for (int64_t d : dims)
    if (d < kUnknown) Lexer::refuse(at, cat("a size of ", d));
  if (unknown && dims.size() == 1) return Shape::unknown();
  if (unknown || dims.size() > static_cast<size_t>(kMaxRank))
    Lexer::refuse(at, "expected sizes, `?`, or `?...` alone");
  return Shape(std::move(dims));
}

Tensor Parser::tensor_or_none() {
  if (in_.at(words::kVariable)) return variable();
  if (in_.take("tensor")) return in_.expect("None"), Tensor();
  return tensor(dtype("a tensor"));
}

Tensor Parser::tensor(DType d) {
  Token at = in_.peek();
  Shape s = shape();
  in_.expect("(");
  if (in_.take(words::kLeftOut)) return left_out(d, s);
  if (!s.is_full() || !kAll.has(d))
    Lexer::refuse(at, cat("a ", name(d), s.text(), " has no values to write out"));
  // Nothing is set aside for elements that the text does not have: the text may come from anywhere.
  auto n = s.elements();
  bool all = in_.at(words::kAllOf);
  if (!n || (!all && *n > static_cast<int64_t>(in_.left())))
    Lexer::refuse(at, cat("fewer elements follow than ", s.text(), " has"));
  Tensor t = empty(d, s, cpu());
  fill(t);
  in_.expect(")");
  return t;
}

void Parser::fill(Tensor& t) {
  bool all = t.size() > 0 && in_.take(words::kAllOf);
  auto each = [&](auto* p, auto&& read) {
    for (int64_t i = 0; i < t.size(); ++i) {
      if (all && i) {
        p[i] = p[0];
        continue;
      }
      if (i) in_.expect(",");
      p[i] = read();
    }
  };
  if (t.dtype() == DType::kString)
    return each(t.mutable_raw<std::string>(), [&] { return in_.name("a text"); });
  visit_plain(t.dtype(), [&]<class T>(T) {
    each(t.mutable_raw<T>(), [&] {
      if constexpr (is_complex_v<T>) {
        using Part = typename T::value_type;
        in_.expect("(");
        auto re = number<Part>("the real part");
        in_.expect(",");
        auto im = number<Part>("the imaginary part");
        in_.expect(")");
        return T(re, im);
      } else {
        return number<T>(name(t.dtype()));
      }
    });
  });
}

Tensor Parser::left_out(DType d, const Shape& s) {
  Token at = in_.peek();
  size_t i = index(payload_ ? payload_->tensors.size() : 0, "value");
  Tensor t = payload_->tensors[i];
  if (t.dtype() != d || !(t.shape() == s))
    Lexer::refuse(at, cat("value ", at.text, " is ", name(t.dtype()), t.shape().text(),
                          ", expected ", name(d), s.text()));
  if (in_.peek().kind == TokenKind::kText) in_.next();
  in_.expect(")");
  return t;
}

Tensor Parser::variable() {
  in_.expect(words::kVariable);
  auto i = number<int64_t>("the variable's number");
  std::string name = in_.name("the variable's name");
  DType d = dtype("the variable's type");
  Token at = in_.peek();
  Shape s = shape();
  bool trainable = !in_.take("frozen");
  if (payload_ && i >= 0 && static_cast<size_t>(i) < payload_->tensors.size())
    return payload_->tensors[static_cast<size_t>(i)];
  Tensor& handle = variables_[i];
  if (handle.defined()) return handle;
  Shape initial = s;
  if (!initial.has_rank()) initial = Shape{};
  for (int64_t& dim : initial.dims())
    if (dim == kUnknown) dim = 0;
  constexpr int64_t kMost = int64_t{1} << 28;
  if (!kPlain.has(d) || initial.elements().value_or(kMost) >= kMost)
    Lexer::refuse(at, "a variable of this type can't be made from text alone");
  InterpreterScope values(nullptr);
  NameScope as_written("");
  Tensor zeros = empty(d, initial, cpu());
  std::memset(zeros.mutable_raw(), 0, static_cast<size_t>(zeros.bytes()));
  handle = Variable(zeros, {.trainable = trainable, .name = name, .shape = s}).handle();
  return handle;
}

}  // namespace holdfast
