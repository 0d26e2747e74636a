#include "holdfast/exec/printing.h"

#include <ostream>

#include "holdfast/base/text.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/refuse.h"
#include "holdfast/tensor/scope.h"

namespace holdfast {

std::string to_string(const Tensor& t) {
  if (!t.defined()) return "a Tensor that refers to nothing";
  if (!t.is_symbolic()) {
    if (t.device()) return t.text();
    return cat("a tensor of dtype ", name(t.dtype()));
  }
  if (has_value(t)) return value(t).text();
  return cat(type_text(t), " that `", symbol_of(t)->scope->name, "` will compute");
}

std::string to_string(const Shape& shape) { return shape.text(); }

std::string to_string(DType dtype) { return name(dtype); }

std::string to_string(const Nested& nested) {
  if (nested.is_none()) return "None";
  if (nested.is_tensor()) return to_string(nested.tensor());
  std::string out;
  for (size_t i = 0; i < nested.size(); ++i) {
    if (i > 0) out += ", ";
    if (nested.is_dict()) out += cat("'", nested.key(i), "': ");
    out += to_string(nested[i]);
  }
  if (nested.is_dict()) return cat("{", out, "}");
  if (nested.kind() == Nested::Kind::kList) return cat("[", out, "]");
  return cat("(", out, nested.size() == 1 ? ",)" : ")");
}
std::string to_string(const Variable& v) {
  if (!v.defined()) return "a Variable that refers to nothing";
  VariableState* state = variable_behind(v.handle());
  if (!state) return "a Variable that only a run will know";
  std::string type = cat("Variable `", state->name, "`, ", name(state->dtype), state->shape.text());
  Tensor now = state->get();
  return now.defined() ? cat(type, ": ", to_string(now)) : type;
}

std::string to_string(const Module& module) {
  if (!module.object()) return "a Module that refers to nothing";
  std::vector<Variable> variables = module.variables();
  std::string out = cat("Module `", module.name(), "` with ", variables.size(),
                        variables.size() == 1 ? " variable" : " variables");
  for (const Variable& v : variables)
    out += cat("\n  ", v.name(), "  ", name(v.dtype()), v.shape().text(),
               v.trainable() ? "" : "  not trainable");
  return out;
}

namespace detail {

void put(std::ostream& out, const std::string& text) { out << text; }

}  // namespace detail
}  // namespace holdfast
