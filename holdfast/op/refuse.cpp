#include "holdfast/op/refuse.h"

#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/context.h"
#include "holdfast/op/op.h"
#include "holdfast/op/words.h"
#include "holdfast/op/written_call.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {
namespace {

Naming g_naming;

const InputDef& input_def(const OpDef& op, size_t i) {
  size_t last = op.inputs.size() - 1;
  return op.inputs[i < last ? i : last];
}

// The edit that casts operand `i` to `want`, where the user's text for it is known.
Fix cast_fix(const OperandSource& source, DType want) {
  std::string cast = written(Advice::kCast, {source.text, written(want)});
  Fix fix{cat("cast `", source.text, "`: `", cast, "`"), Applicability::kMaybe, {}};
  if (source.loc.line > 0 && source.loc.col_begin >= 0)
    fix.edits.push_back(
        {source.loc.file, source.loc.line, source.loc.col_begin, source.text, cast});
  return fix;
}

// The symbol that a C++ program writes for an op of two operands.
std::string_view operator_of(std::string_view op) {
  constexpr std::pair<std::string_view, std::string_view> kSymbols[] = {
      {"AddV2", "+"},  {"Sub", "-"},        {"Mul", "*"},     {"RealDiv", "/"},
      {"Less", "<"},   {"LessEqual", "<="}, {"Greater", ">"}, {"GreaterEqual", ">="},
      {"Equal", "=="}, {"NotEqual", "!="}};
  for (const auto& [name, symbol] : kSymbols)
    if (name == op) return symbol;
  return {};
}

// The method of a Variable that an op is.
std::string_view method_of(std::string_view op) {
  if (op == "AssignVariableOp") return "assign";
  if (op == "AssignAddVariableOp") return "assign_add";
  return op == "AssignSubVariableOp" ? "assign_sub" : "";
}

// `matmul` and "MatMul": functions that are more than their op, and are called like it.
bool same_words(std::string_view function, std::string_view op) {
  if (op.starts_with("BatchMatMul")) op = "MatMul";
  return std::ranges::equal(function, op,
                            [](char a, char b) { return a == b || a == b + ('a' - 'A'); });
}

// What a C++ program wrote for input `i` on the line that calls us, where that is beyond doubt.
std::string in_cpp_words(const OpDef& op, size_t count, size_t i) {
  Where at = here();
  if (!at || at->origin != Origin::kCpp || at->backward) return {};
  const std::string line = locate(at).source;
  std::optional<WrittenCall> call;
  if (std::string_view symbol = operator_of(op.name); !symbol.empty())
    call = written_operands(line, symbol);
  auto shown = [](const std::string& text) {
    return text.empty() || text.front() == '{' || text.size() > 40 ? std::string() : text;
  };
  if (std::string_view method = method_of(op.name); !method.empty()) {
    call = written_call(line, method);
    if (!call || call->object.empty() || call->arguments.size() != 1) return {};
    return shown(i == 0 ? call->object : call->arguments[0]);
  }
  const FunctionDef* called = nullptr;
  for (const FunctionDef* f : all_functions())
    if (!call && (f->op == &op || same_words(f->name, op.name))) {
      call = written_call(line, f->name);
      called = f;
    }
  if (!call) return {};
  if (op.inputs.back().list) {
    size_t single = op.inputs.size() - 1;  // inputs before those of the list
    for (size_t p = 0; called && i >= single && p < called->params.size(); ++p)
      if (called->params[p].kind == Kind::kTensors && p < call->arguments.size())
        return shown(written_element(call->arguments[p], i - single));
    return {};
  }
  if (call->arguments.size() < count || i >= call->arguments.size()) return {};
  return shown(call->arguments[i]);
}

[[noreturn]] void dtypes_differ(const OpDef& op, std::span<const Tensor> in, size_t a, size_t b) {
  auto first = operand_source(op, in, static_cast<int>(a)),
       second = operand_source(op, in, static_cast<int>(b));
  DType da = in[a].dtype(), db = in[b].dtype();
  auto d = about_call(Code::E1101, op, in,
                      cat("`", first.text, "` is ", name(da), " but `", second.text, "` is ",
                          name(db), "; ", op.name, " takes one dtype"));
  d.why = cat(op.name, " computes in the dtype of its operands and never converts one on its own");
  // Cast towards the wider world: integers to floats, never a float to an integer.
  bool first_gives_way = (is_integer(da) || is_bool(da)) && !(is_integer(db) || is_bool(db));
  d.fixes.push_back(first_gives_way ? cast_fix(first, db) : cast_fix(second, da));
  raise(std::move(d));
}

[[noreturn]] void wrong_kind(const OpDef& op, std::span<const Tensor> in, size_t i,
                             const ResourceKind& wanted) {
  auto d = about_call(Code::E1101, op, in,
                      cat("`", operand_source(op, in, static_cast<int>(i)).text, "` is ",
                          type_text(in[i]), "; ", op.name, " takes a handle of a ", wanted.name));
  d.why = cat("argument `", input_def(op, i).name, "` of ", op.name, ": got ", type_text(in[i]),
              ", expected a handle of a ", wanted.name, " that is there while ops are called");
  d.fixes.push_back(manual_fix(cat("give the ", wanted.name, " itself")));
  raise(std::move(d));
}

// An operand that holds no tensor; in C++ that is one which was only declared.
[[noreturn]] void missing(const OpDef& op, std::span<const Tensor> in, size_t i) {
  const std::string& argument = input_def(op, i).name;
  if (language() != Language::kCpp)
    raise(about_call(Code::E1104, op, in, cat(op.name, ": `", argument, "` is missing")));
  std::string name = operand_source(op, in, static_cast<int>(i)).text;
  auto d = about_call(Code::E1104, op, in, cat(op.name, ": `", name, "` holds no tensor"));
  d.why = cat("argument `", argument, "` of ", op.name,
              ": got a `Tensor` that was only declared, expected one that was given a value");
  d.fixes.push_back(manual_fix(cat("give `", name, "` a value before this line")));
  raise(std::move(d));
}

std::string range_text(int64_t low, int64_t high, const std::string& behind) {
  return low < high ? cat("a value in [", low, ", ", high, ")", behind) : cat("none", behind);
}

}  // namespace

void set_naming(Naming n) { g_naming = n; }

std::string module_alias() {
  std::string alias = g_naming.module_alias ? g_naming.module_alias() : "";
  return alias.empty() ? (g_naming.operand ? "tf" : "holdfast") : alias;
}

OperandSource operand_source(const OpDef& op, std::span<const Tensor> in, int i) {
  auto at = static_cast<size_t>(i);
  OperandSource s;
  if (g_naming.operand && at < in.size() && in[at].defined()) s = g_naming.operand(in[at], i);
  if (s.text.empty() && at < in.size() && !op.inputs.empty())
    s.text = in_cpp_words(op, in.size(), at);
  if (s.text.empty() && !op.inputs.empty()) {
    const InputDef& def = input_def(op, at);
    int item = i - static_cast<int>(op.inputs.size()) + 1;
    if (def.list && g_naming.operand && at < in.size() && in[at].defined())
      s = g_naming.operand(in[at], -1 - item);
    if (s.text.empty()) s.text = def.list ? cat(def.name, "[", item, "]") : def.name;
  }
  return s;
}

std::string words_for(const Tensor& t) {
  // No operand stands that far behind: a name is found by what it means, not by its position.
  constexpr int kFar = 63;
  return g_naming.operand && t.defined() ? g_naming.operand(t, kFar).text : std::string();
}

Holder holder_of(const Tensor& t, const std::string& name, const Loc& used) {
  return g_naming.holder ? g_naming.holder(t, name, used) : Holder();
}

std::string placeholder_words(const Tensor& t, const std::string& name) {
  std::string words = g_naming.placeholder ? g_naming.placeholder(t, name) : "";
  return words.empty() ? name : words;
}

std::string layer_words(const std::string& name) {
  std::string words = g_naming.layer ? g_naming.layer(name) : "";
  return words.empty() ? name : words;
}

std::string receiver_words(const std::string& otherwise) {
  std::string words = g_naming.receiver ? g_naming.receiver() : "";
  return words.empty() ? otherwise : words;
}

std::vector<Fix> nearest_allowed(int64_t got, int64_t low, int64_t high) {
  if (low >= high) return {};
  return {manual_fix(cat("`", got < low ? low : high - 1, "` is the nearest allowed value"))};
}

Status outside(const std::string& what, int64_t got, int64_t low, int64_t high,
               const std::string& behind, std::string why) {
  return {Code::E1103, cat(what, " ", got, ", expected ", range_text(low, high, behind)),
          std::move(why), nearest_allowed(got, low, high)};
}

void refuse_outside(const Infer& s, const std::string& argument, int64_t got, int64_t low,
                    int64_t high, const std::string& behind) {
  s.bad_value(argument, cat(got), range_text(low, high, behind), nearest_allowed(got, low, high));
}

std::string type_text(const Tensor& t) {
  if (!t.defined()) return "nothing";
  if (t.dtype() == DType::kResource) {
    if (auto* v = variable_behind(t)) return cat("Variable ", name(v->dtype), v->shape.text());
    const Resource* r = resource_behind(t);
    return r ? cat("a handle of a ", r->kind().name) : "a handle that leads to nothing yet";
  }
  return type_text(t.dtype(), t.shape());
}

std::string type_text(DType dtype, const Shape& shape) { return cat(name(dtype), shape.text()); }

TensorInfo describe(const Tensor& t, std::string tensor_name) {
  TensorInfo info;
  info.name = std::move(tensor_name);
  if (!t.defined()) return info;
  info.op = t.rep()->op;
  info.dtype = name(t.dtype());
  info.shape = t.shape().text();
  if (t.device()) info.device = t.device()->short_name();
  info.born = locate(t.rep()->variable_born ? t.rep()->variable_born : t.born());
  return info;
}

Diagnostic about_call(Code code, const OpDef& op, std::span<const Tensor> in,
                      std::string headline) {
  Diagnostic d;
  d.code = code;
  d.op = op.name;
  d.headline = std::move(headline);
  Label used = context().interpreter ? used_here("used here") : used_here();
  for (size_t i = 0; i < in.size() && i < 4; ++i) {
    if (!in[i].defined()) continue;
    TensorInfo info = describe(in[i], operand_source(op, in, static_cast<int>(i)).text);
    bool known =
        info.born.line > 0 && !(info.born.file == used.loc.file && info.born.line == used.loc.line);
    if (known) {
      bool variable = in[i].rep()->variable_born;
      d.labels.push_back({.role = Role::kBorn,
                          .loc = info.born,
                          .text = cat("`", info.name, "` born here: ", variable ? "Variable " : "",
                                      type_text(in[i])),
                          .value = info.name,
                          .op = variable ? "" : in[i].rep()->op});
    }
    if (i == 0)
      d.subject = info;
    else
      d.others.push_back(info);
  }
  d.labels.push_back(std::move(used));
  return d;
}

// A list of inputs that need not share a dtype: what goes into a branch or a loop.
constexpr const char* kMixed = "any";

void check_signature(const OpDef& op, std::span<const Tensor> in) {
  size_t declared = op.inputs.size();
  bool list = declared && op.inputs.back().list;
  if (list ? in.size() + 1 < declared : in.size() != declared) {
    auto d = about_call(Code::E1104, op, in,
                        cat(op.name, " got ", in.size(), " inputs, expected ",
                            list ? "at least " : "", list ? declared - 1 : declared));
    raise(std::move(d));
  }
  for (size_t i = 0; i < in.size(); ++i) {
    const InputDef& def = input_def(op, i);
    if (!in[i].defined()) {
      if (def.optional) continue;
      missing(op, in, i);
    }
    DType d = in[i].dtype();
    if (!def.dtypes.has(d)) {
      // Few dtypes are told at once; a line that is to be complete has no room for many.
      constexpr size_t kFew = 40;
      std::string taken = to_text(def.dtypes);
      auto diag =
          about_call(Code::E1101, op, in,
                     cat("`", operand_source(op, in, static_cast<int>(i)).text, "` is ", name(d),
                         taken.size() <= kFew ? cat("; ", op.name, " takes ", taken)
                                              : cat(", which ", op.name, " does not take")));
      diag.why = cat("argument `", def.name, "` of ", op.name, ": got ", type_text(in[i]),
                     ", expected dtype ", taken);
      DType want = def.dtypes.has(float32) ? float32
                   : def.dtypes.has(int32) ? int32
                                           : DType::kInvalid;
      if (want != DType::kInvalid && d != DType::kString && d != DType::kResource)
        diag.fixes.push_back(cast_fix(operand_source(op, in, static_cast<int>(i)), want));
      raise(std::move(diag));
    }
    if (def.resource && !leads_to(in[i], *def.resource)) wrong_kind(op, in, i, *def.resource);
    for (size_t k = 0; k < i; ++k) {
      if (in[k].defined() && def.group != kMixed && input_def(op, k).group == def.group &&
          in[k].dtype() != d)
        dtypes_differ(op, in, k, i);
    }
  }
}

}  // namespace holdfast
