#include "holdfast/keras/step_scope.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/refuse.h"
#include "holdfast/op/stand_in.h"

namespace holdfast::keras {
namespace {

thread_local StepScope* innermost = nullptr;
thread_local Where asked_line = nullptr;

bool replace_symbols(std::span<const Tensor> in, Tensors& out) {
  if (!innermost) return false;
  bool any = false;
  for (const Tensor& t : in) any = any || is_model_symbol(t);
  if (!any) return false;
  for (const Tensor& t : in) {
    Tensor now = is_model_symbol(t) ? innermost->value_of(t) : t;
    if (t.defined() && !now.defined()) return false;  // one of a model that is being made
    out.push_back(std::move(now));
  }
  return true;
}

// What was made elsewhere, of what lines of a file made of it, from `first` to `last`.
Tensor root_of(const Tensor& used, const std::string& file, int first, int last) {
  Tensor t = used;
  for (int i = 0; i < 100; ++i) {
    Loc born = locate(t.born());
    if (born.line < first || born.line > last || born.file != file) return t;
    Tensor from;
    for (const Tensor& operand : operands_of(*node_of(t)))
      if (is_model_symbol(operand)) from = operand;
    if (!from.defined()) return t;
    t = from;
  }
  return used;
}

Tensor made_before(const Tensor& used, Where line) {
  if (!is_model_symbol(used)) return used;
  const Loc from = locate(line);
  return root_of(used, from.file, from.line, locate(here()).line);
}

void refuse_symbol(const Tensor& used) {
  if (!is_model_symbol(used)) return;
  const Loc at = locate(here());
  const Tensor t = root_of(used, at.file, at.line, at.line);
  std::string name = stand_ins().name ? stand_ins().name(t) : "";
  if (name.empty()) name = source_text(t.born());
  if (name.empty()) name = node_of(t)->name;
  Tracer* writes = current_trace();
  std::string where = writes ? cat("`", writes->scope()->name, "`") : "code that runs";
  Diagnostic d;
  d.code = Code::E0206;
  d.headline = cat("`", name, "` is a symbol of a model, and has no value in ", where);
  d.subject = describe(t, name);
  d.subject.owner.kind = "keras_build";
  d.subject.owner.name = "model";
  d.labels.push_back({Role::kBorn, locate(t.born()),
                      cat("born here: ", type_text(t), ", a symbol for models to be made of"),
                      false});
  d.labels.push_back(used_here("used here, where no call of a model gives it a value"));
  d.why = cat("`", name, "` says what a model computes, once for each call; ", where,
              " runs apart from such a call, so no value can be meant");
  d.fixes.push_back(
      manual_fix("add the term where the value is: `add_loss` in the `call` of a layer"));
  d.fixes.push_back(manual_fix(
      cat("or make `", name, "` an output of the model, and use what a call of that gives")));
  raise(std::move(d));
}

[[maybe_unused]] const bool known =
    (stand_ins().replace = &replace_symbols, stand_ins().refuse = &refuse_symbol,
     stand_ins().made_before = &made_before, true);

}  // namespace

AskedHere::AskedHere(Where line) : was_(std::exchange(asked_line, line)) {}
AskedHere::~AskedHere() { asked_line = was_; }

StepScope::StepScope(bool trains)
    : asked_(asked_line ? asked_line : here()),
      trains_(trains),
      unwatched_(trains),
      around_(std::exchange(innermost, this)) {}
StepScope::~StepScope() { innermost = around_; }
StepScope* StepScope::current() { return innermost; }

// The calls between what has a value and the symbol are made again, each once.
Tensor StepScope::value_of(const Tensor& symbol) const {
  if (values_.empty()) return {};
  std::map<std::pair<const Node*, int>, Tensor> known;
  std::vector<std::pair<Ref<Node>, size_t>> stack;
  bool complete = true;
  auto find = [&](const Edge& e) -> Tensor {
    if (auto it = values_.find({e.node, e.output}); it != values_.end()) return it->second;
    if (is_constant(*e.node)) return constant_of(*e.node);
    auto it = known.find({e.node.get(), e.output});
    return it == known.end() ? Tensor() : it->second;
  };
  auto enter = [&](const Edge& e) {
    if (!e.node || find(e).defined()) return;
    if (is_input(*e.node) || stack.size() > 10000)
      complete = false;
    else
      stack.emplace_back(e.node, 0);
  };
  enter(edge_of(symbol));
  while (!stack.empty() && complete) {
    auto& [node, next] = stack.back();
    if (next < node->inputs.size()) {
      Edge e = node->inputs[next++];
      enter(e);
      continue;
    }
    Tensors in, out;
    for (const Edge& e : node->inputs) in.push_back(e.node ? find(e) : Tensor());
    if (LayerCall* call = layer_call(*node)) {
      for (Tensor& t : call->replay({in.data(), in.size()}, CallScope::training_now()).leaves())
        out.push_back(std::move(t));
    } else {
      apply(*node->op, {in.data(), in.size()}, node->attrs, out);
    }
    for (size_t i = 0; i < out.size(); ++i)
      known[{node.get(), static_cast<int>(i)}] = std::move(out[i]);
    stack.pop_back();
  }
  return complete ? find(edge_of(symbol)) : Tensor();
}

}  // namespace holdfast::keras
