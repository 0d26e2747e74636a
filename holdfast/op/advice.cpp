#include "holdfast/op/advice.h"

#include <cctype>

#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"

namespace holdfast {
namespace {

Language g_language = Language::kCpp;
ScopeNaming g_naming = nullptr;

// $0, $1 stand for what is given; $tf for the name of our module in Python.
struct Forms {
  Advice advice;
  const char *cpp, *python;
};
constexpr Forms kForms[] = {
    {Advice::kEnterGraph, "GraphScope in($0);", "with $0.as_default():"},
    {Advice::kOpenSession, "Session session($0);", "$tf.compat.v1.Session(graph=$0)"},
    {Advice::kRunInSession, "session.run($0)", "sess.run($0)"},
    {Advice::kFeed, "session.run(fetch, {$0{$1, ...}})", "feed_dict={$0$1: ...}"},
    {Advice::kInsideBlock, "the block that the session lives in", "the `with`"},
    {Advice::kCloseSession, "$0.close()", "$0.close()"},
    {Advice::kCast, "holdfast::cast($0, $1)", "$tf.cast($0, $1)"},
    {Advice::kCopy, "holdfast::identity($0)", "$tf.identity($0)"},
    {Advice::kOnDevice, "DeviceScope on(\"/$0\");", "with $tf.device(\"/$0\"):"},
    {Advice::kZeros, "holdfast::zeros($0, $1)", "$tf.zeros($0, $1)"},
    {Advice::kKeep, "holdfast::keep($0)", "$tf.keep($0)"},
    {Advice::kCollect,
     "a list: `list = list_push(list, ...)` in the body, `list_stack(list, type)` after it",
     "a `$tf.TensorArray`: `ta = ta.write(i, ...)` in the body, `ta.stack()` after it"},
    {Advice::kLookAtNumbers,
     "return the tensor, and look at its numbers where the function is called",
     "run the code that needs the number in a `py_function`, with the dtypes of its results"},
    {Advice::kPersistent, "GradientTape tape({.persistent = true});", "persistent=True"},
    {Advice::kWatch, "$0.watch($1);", "$0.watch($1)"},
    {Advice::kTraced, "holdfast::function", "$tf.function"},
    {Advice::kNothing, "empty", "None"},
    {Advice::kOps, "ops", "`$tf` ops"},
    {Advice::kTakeNoNumbers, "take no numbers out", "stay off `numpy`"},
    {Advice::kOption, "{.$0 = $1}", "$0=$1"},
    {Advice::kFeedInput, "peek(symbol, {{\"$0\", ...}})", "feed={\"$0\": ...}"},
    {Advice::kSetSeed, "holdfast::random::set_seed(1);", "$tf.random.set_seed(1)"},
    {Advice::kDeterministic, "set_deterministic(true)",
     "$tf.config.experimental.enable_op_determinism()"},
    {Advice::kNewAxis, "holdfast::expand_dims($0, 0)", "$0[$tf.newaxis]"},
    {Advice::kLastAxis, "holdfast::expand_dims($0, -1)", "$0[..., $tf.newaxis]"},
    {Advice::kTranspose, "holdfast::transpose($0)", "$tf.transpose($0)"},
    {Advice::kReshape, "holdfast::reshape($0, $1)", "$tf.reshape($0, $1)"},
    {Advice::kConstructLayer, "$0({.$1 = ...})", "super().__init__($1)"},
    {Advice::kBuildBase, "$0::build(inputs);", "super().build(input_shape)"},
    {Advice::kGrows, "`list_set(list, index, value)`", "`dynamic_size=True` of a TensorArray"},
    {Advice::kSoftmax, "holdfast::nn::softmax", "$tf.nn.softmax"},
    {Advice::kStraightThrough, "x + holdfast::stop_gradient(step(x) - x)",
     "x + $tf.stop_gradient(step(x) - x)"},
    {Advice::kOneHot, "holdfast::one_hot($0, $1)", "$tf.one_hot($0, $1)"},
    {Advice::kArgmax, "holdfast::argmax($0, {.axis = -1})", "$tf.argmax($0, -1)"},
};

constexpr size_t kLongestName = 48;
constexpr size_t kLongestCall = 1000;

// Whether `text` is one call of a function that is named so, perhaps as part of a module.
bool calls(std::string_view text, std::string_view function) {
  size_t open = text.find('(');
  if (open == text.npos || !text.ends_with(')') || !text.substr(0, open).ends_with(function))
    return false;
  for (char c : text.substr(0, open))
    if (!(std::isalnum(static_cast<unsigned char>(c)) || c == '_') && c != '.') return false;
  if (open > function.size() && text[open - function.size() - 1] != '.') return false;
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '"' || text[i] == '\'') return false;  // parentheses may stand in a text
    depth += (text[i] == '(') - (text[i] == ')');
    if (depth == 0 && i + 1 < text.size()) return false;  // the call ends before the text
  }
  return depth == 0;
}

const Forms& forms_of(Advice advice) {
  for (const Forms& f : kForms)
    if (f.advice == advice) return f;
  return kForms[0];
}

}  // namespace

std::string written(Advice advice, std::initializer_list<std::string_view> with) {
  const Forms& forms = forms_of(advice);
  bool python = language() == Language::kPython;
  std::string_view form = python ? forms.python : forms.cpp;
  std::string out;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '$') {
      out += form[i];
    } else if (form.substr(i + 1).starts_with("tf")) {
      out += module_alias();
      i += 2;
    } else {
      auto which = static_cast<size_t>(form[++i] - '0');
      if (which < with.size()) out += *(with.begin() + which);
    }
  }
  return out;
}

std::string written(bool value) {
  bool python = language() == Language::kPython;
  return value ? (python ? "True" : "true") : (python ? "False" : "false");
}

std::string written(DType dtype) {
  if (language() == Language::kPython) return cat(module_alias(), ".", name(dtype));
  if (dtype == DType::kComplex64) return "holdfast::DType::kComplex64";
  if (dtype == DType::kComplex128) return "holdfast::DType::kComplex128";
  return cat("holdfast::", dtype == DType::kBool ? "boolean" : name(dtype));
}

std::string written(std::span<const int64_t> sizes) {
  bool python = language() == Language::kPython;
  std::string out = python ? "[" : "{";
  for (size_t i = 0; i < sizes.size(); ++i) out += cat(i ? ", " : "", sizes[i]);
  return out + (python ? "]" : "}");
}

Fix argument_fix(const MissingArgument& a) {
  std::string argument = written(Advice::kOption, {a.name, a.value});
  Fix fix = manual_fix(cat("`", argument, "`: ", a.reason));
  fix.argument = a.name;
  Where at = here();
  std::string call = at && at->origin == Origin::kPython ? source_text(at, kLongestCall) : "";
  if (a.function.empty() || !calls(call, a.function) || call.find(a.name) != call.npos) return fix;
  Loc loc = locate(at);
  call.pop_back();
  if (call.ends_with(',')) return fix;
  fix.applicability = Applicability::kTested;
  fix.edits.push_back({loc.file, loc.line, loc.col_begin, cat(call, ")"),
                       cat(call, call.ends_with('(') ? "" : ", ", argument, ")")});
  return fix;
}

std::vector<Fix> sizes_to_check(std::span<const TensorInfo> tensors) {
  constexpr size_t kNamed = 2;
  std::string named;
  size_t count = 0;
  for (bool scalars : {false, true}) {  // an axis is seldom the trouble
    if (count) break;
    for (const TensorInfo& t : tensors) {
      if (t.name.empty() || t.shape.empty() || count == kNamed || (!scalars && t.shape == "[]"))
        continue;
      named += cat(count++ ? " and `" : "`", t.name, "` ", t.shape);
    }
  }
  if (!count) return {};
  return {manual_fix(cat("check the sizes of ", named, " where they are made"))};
}

void set_language(Language l, ScopeNaming naming) {
  g_language = l;
  g_naming = naming;
}

Language language() {
  // A C++ line that is executing is the program's own, also below Python.
  Where at = here();
  return at && at->origin == Origin::kCpp ? Language::kCpp : g_language;
}

std::string visible_name(const Scope& s) {
  if (language() == Language::kCpp) return s.name;
  return g_naming ? g_naming(s) : "";
}

std::string source_text(Where at) { return source_text(at, kLongestName); }

std::string in_code(Where born, const std::string& found) {
  std::string words = found.empty() ? source_text(born) : found;
  return words.empty() ? "the_tensor" : words;
}

std::string source_text(Where at, size_t longest) {
  Loc loc = locate(at);
  if (loc.col_begin < 0 || loc.col_end <= loc.col_begin) return "";
  auto begin = static_cast<size_t>(loc.col_begin), end = static_cast<size_t>(loc.col_end);
  if (end > loc.source.size() || end - begin > longest) return "";
  return loc.source.substr(begin, end - begin);
}

}  // namespace holdfast
