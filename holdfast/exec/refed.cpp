#include "holdfast/exec/refed.h"

#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/exec/control_ops.h"
#include "holdfast/exec/session_plan.h"
#include "holdfast/graph/bodies.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/refuse.h"

namespace holdfast {
namespace {

struct StillAttrs {
  Attr<Shape> sizes;
  Attr<Arg> numbers;  // none: only sizes count
  Attr<std::string> tensor;
  Attr<std::string> reader;
  Attr<std::string> fed;
};

std::string numbers_text(const Tensor& t) {
  std::string out;
  for (int64_t v : Sizes(t).ints()) out += cat(out.empty() ? "" : ", ", v);
  return t.rank() == 0 ? out : cat("[", out, "]");
}

bool same_numbers(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && Sizes(a).ints() == Sizes(b).ints();
}

void infer_still(Infer&) {}

Status run_still(Call& c) {
  const Tensor& t = c.in();
  auto a = c.attrs<StillAttrs>();
  const Shape& sizes = a.sizes();
  bool counts = !a.numbers().none();
  if (counts ? same_numbers(t, a.numbers().tensor()) : sizes.compatible(t.shape())) return {};
  const std::string &tensor = a.tensor(), &reader = a.reader(), &fed = a.fed();
  std::string now = counts ? numbers_text(t) : cat("of shape ", t.shape().text()),
              then = counts ? numbers_text(a.numbers().tensor()) : cat("of shape ", sizes.text());
  Diagnostic d;
  d.code = Code::E0804;
  d.op = reader;
  d.headline = fed == cat("`", tensor, "`")
                   ? cat("`", tensor, "` is fed ", now, ", and ", reader, " was written for ", then)
                   : cat("feeding ", fed, " makes `", tensor, "` ", now, ", and ", reader,
                         " was written for ", then);
  d.labels.push_back(used_here(cat(reader, " was written here, when `", tensor, "` was ", then)));
  d.why = cat(reader, " was written by code that went by what `", tensor,
              "` was; it computes nothing else");
  d.fixes.push_back(
      manual_fix(cat("make ", fed, " a placeholder, or a `placeholder_with_default`, before ",
                     reader, " is written: what may change is then left open")));
  raise(std::move(d));
}

const Op still_op = RAW_OP(StillHolds)
                        .doc("Refuses a value that the graph was not written for.")
                        .inputs("input")
                        .attr("sizes")
                        .attr("numbers")
                        .attr("tensor")
                        .attr("reader")
                        .attr("fed")
                        .attrs<&StillAttrs::sizes, &StillAttrs::numbers, &StillAttrs::tensor,
                               &StillAttrs::reader, &StillAttrs::fed>()
                        .outputs("")
                        .infer(infer_still)
                        .kernel("look", run_still)
                        .kernel_for(DeviceKind::kCuda, "look", run_still)
                        .on_host()
                        .stateful()
                        .no_gradient();

bool is_leaf(const Node& n) { return is_constant(n) || n.op == &placeholder_op(); }

bool has_bodies(const Node& n) {
  return std::any_of(n.attrs.begin(), n.attrs.end(), [](const Arg& a) { return body_in(a); });
}

// An op, with its name where the program gave it one.
std::string reader_text(const Node& n) {
  bool own =
      n.name == n.op->name || n.name.compare(0, n.op->name.size() + 1, n.op->name + "_") == 0;
  return own ? n.op->name : cat(n.op->name, " `", n.name, "`");
}

}  // namespace

Rests::Rests(const Graph& g) {
  const auto& nodes = g.nodes;
  auto next = [&](size_t i) {  // values that are simply there belong to nobody
    while (i < nodes.size() && is_leaf(*nodes[i])) ++i;
    return i;
  };
  for (size_t i = next(0); i < nodes.size();) {
    size_t after = next(i + 1);
    if (after < nodes.size() && nodes[i]->where && nodes[after]->where == nodes[i]->where) {
      together_.insert(nodes[i].get());
      together_.insert(nodes[after].get());
    }
    i = after;
  }
  for (size_t r = 0; r < g.readings.size(); ++r) {
    const Reading& reading = g.readings[r];
    size_t i = next(reading.at);
    if (!reading.where) {
      while (i < nodes.size() && !has_bodies(*nodes[i])) ++i;
      if (i < nodes.size()) readings_[nodes[i].get()].push_back(r);
      continue;
    }
    for (; i < nodes.size() && nodes[i]->where == reading.where; i = next(i + 1))
      readings_[nodes[i].get()].push_back(r);
  }
}

std::span<const size_t> Rests::readings(const Node& n) const {
  auto it = readings_.find(&n);
  return it == readings_.end() ? std::span<const size_t>() : std::span<const size_t>(it->second);
}

Refed::Refed(const Graph& from, Graph& to, std::string fed)
    : from_(from), to_(to), fed_(std::move(fed)) {
  if (fed_.empty()) return;
  rests_.emplace(from);
  for (const Capture& c : from.captures)
    if (resource_behind(c.outer)) handles_.emplace(c.inner.get(), c.outer);
}

void Refed::given(const Edge& original, const Ref<Node>& input, bool other) {
  inputs_.emplace(key_of(original), input);
  if (other) other_.insert({input.get(), 0});
  auto it = handles_.find(original.node.get());
  if (it != handles_.end()) symbols_[{input.get(), 0}] = it->second;
}

Edge Refed::at(const Edge& e) const {
  if (!e.node) return {};
  if (auto it = inputs_.find(key_of(e)); it != inputs_.end()) return {it->second, 0};
  return {copies_.at(e.node.get()), e.output};
}

// What an operand is to shape rules: a value, or a symbol with what is known of it.
Tensor Refed::operand(const Edge& e) {
  if (!e.node) return {};
  if (is_constant(*e.node)) return constant_of(*e.node);
  Tensor& t = symbols_[key_of(e)];
  if (!t.defined()) t = symbol_for(e, to_.scope);
  return t;
}

void Refed::add(const Node& n, Ref<Node> copy) {
  for (const Edge& e : n.inputs) copy->inputs.push_back(at(e));
  for (const Ref<Node>& before : n.after)
    if (auto it = copies_.find(before.get()); it != copies_.end())
      copy->after.push_back(it->second);  // else it is fed, or has run before
  copies_.emplace(&n, copy);
  if (!rests_) {
    to_.add(std::move(copy), n.name);
    return;
  }
  Tensors in, out;
  bool touched = false;
  for (const Edge& e : copy->inputs) {
    in.push_back(operand(e));
    touched = touched || (e.node && other(e));
  }
  if (touched) retype(n, *copy, in);
  hold(n, *copy);
  to_.add(copy, n.name);
  if (is_leaf(n)) return;
  for (size_t i = 0; i < copy->outputs.size(); ++i) {
    Edge e{copy, static_cast<int>(i)};
    out.push_back(operand(e));
    if (touched) other_.insert(key_of(e));
  }
  follow_known(*n.op, in, n.attrs, out);
}

// Its types, found again.
void Refed::retype(const Node& n, Node& copy, const Tensors& in) {
  rewrite_bodies(copy, in);
  AtSite line(n.where);
  Infer infer(*copy.op, in, copy.attrs);
  try {
    copy.op->infer(infer);
  } catch (Error& e) {
    e.name_op(n.op->name);
    throw;
  }
  for (size_t i = 0; i < copy.outputs.size(); ++i)
    copy.outputs[i] = {infer.dtypes[i], infer.shapes[i]};
}

// If(condition, captures of the one..., captures of the other...);
// While(variables..., captures of the condition..., captures of the body...)
void Refed::rewrite_bodies(Node& copy, const Tensors& in) {
  if (!has_bodies(copy)) return;
  auto [first, second] = bodies_in(*copy.op, copy.attrs);
  bool loop = copy.op->traits.control == Control::kLoop;
  size_t variables = loop ? second.inputs.size() : 0, from = loop ? variables : 1;
  std::vector<bool> others;
  for (const Edge& e : copy.inputs) others.push_back(e.node && other(e));
  std::span<const Tensor> all(in);
  auto captures = [&](const Graph& g, size_t begin) {
    return all.subspan(begin, g.captures.size());
  };
  size_t split = from + first.captures.size();
  std::unique_ptr<bool[]> loose(new bool[variables + 1]());
  std::span<const bool> open(loose.get(), variables);
  auto flags = [&](const Graph& g, size_t begin) {
    std::vector<bool> out(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(variables));
    auto at = others.begin() + static_cast<std::ptrdiff_t>(begin);
    out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(g.captures.size()));
    return out;
  };
  Ref<Graph> b;
  for (bool settled = false; !settled;) {
    b = rewritten(second, all.first(variables), captures(second, split), open,
                  flags(second, split));
    settled = true;
    for (size_t i = 0; i < variables; ++i) {
      const Type &has = b->inputs[i]->outputs[0], &gives = type_of(b->outputs[i]);
      bool changes = !others[i] && gives.shape != type_of(second.outputs[i]).shape;
      if (loose[i] || (has.shape == widened(has.shape, gives.shape) && !changes)) continue;
      loose[i] = others[i] = true;
      settled = false;
    }
  }
  Ref<Graph> a =
      rewritten(first, all.first(variables), captures(first, from), open, flags(first, from));
  copy.attrs = Attrs{Arg(Ref<RefCounted>(a)), Arg(Ref<RefCounted>(b))};
}

// `body` for operands of these types. A loose argument may have any shape.
Ref<Graph> Refed::rewritten(const Graph& body, std::span<const Tensor> arguments,
                            std::span<const Tensor> captures, std::span<const bool> loose,
                            const std::vector<bool>& others) {
  auto out = make_ref<Graph>(body.scope);
  Refed inside(body, *out, fed_);
  auto input = [&](const Ref<Node>& n, const Tensor& now, bool open, bool other) {
    const Type& was = n->outputs[0];
    Shape shape = open ? Shape::unknown() : was.shape;
    // A variable of a loop is as wide as all its iterations; a capture is what it is.
    if (!open && now.shape() != was.shape && !was.shape.compatible(now.shape()))
      shape = Shape::unknown();
    else if (!open && other)
      shape = widened(was.shape, now.shape());
    Ref<Node> made = placeholder_for({was.dtype, shape}, n->where);
    out->add(made, n->name);
    inside.given({n, 0}, made, other);
    return made;
  };
  for (size_t i = 0; i < body.inputs.size(); ++i)
    out->inputs.push_back(input(body.inputs[i], arguments[i], loose[i], others[i]));
  for (size_t i = 0; i < body.captures.size(); ++i) {
    const Capture& c = body.captures[i];
    out->captures.push_back(
        {c.outer, input(c.inner, captures[i], false, others[body.inputs.size() + i])});
  }
  for (const Ref<Node>& n : body.nodes)
    if (!inside.inputs_.count({n.get(), 0})) inside.add(*n, copy_of(*n));
  for (const Edge& e : body.outputs) out->outputs.push_back(inside.at(e));
  return out;
}

// What the code that wrote `n` rests on, and what may have changed: checked before it runs.
void Refed::hold(const Node& n, Node& copy) {
  bool whole = rests_->together(n);
  for (const Edge& e : n.inputs) {
    if (!e.node || !other(at(e))) continue;
    const Shape &was = type_of(e).shape, &now = type_of(at(e)).shape;
    if (now == was || !was.has_rank()) continue;
    if (whole)
      still(e, was, Tensor(), n, copy);
    else if (!now.has_rank())
      still(e, Shape::of_rank(was.rank()), Tensor(), n, copy);
  }
  for (size_t r : rests_->readings(n)) {
    const Reading& reading = from_.readings[r];
    bool there = inputs_.count(key_of(reading.of)) || copies_.count(reading.of.node.get());
    if (!there || !other(at(reading.of))) continue;
    if (reading.numbers.defined())
      still(reading.of, reading.sizes, reading.numbers, n, copy);
    else if (type_of(at(reading.of)).shape != reading.sizes)
      still(reading.of, reading.sizes, Tensor(), n, copy);
  }
}

void Refed::still(const Edge& original, const Shape& sizes, const Tensor& numbers,
                  const Node& reader, Node& copy) {
  Edge e = at(original);
  auto& all = stills_[key_of(e)];
  for (const Ref<Node>& made : all) {
    auto a = attrs_of<StillAttrs>(*made->op, made->attrs);
    bool same = numbers.defined()
                    ? !a.numbers().none() && same_numbers(a.numbers().tensor(), numbers)
                    : a.numbers().none() && a.sizes() == sizes;
    if (same) return copy.after.push_back(made);
  }
  auto made = make_ref<Node>(
      &still_op.def(), Attrs{Arg(sizes), numbers.defined() ? Arg(numbers) : Arg(),
                             Arg(called(*original.node)), Arg(reader_text(reader)), Arg(fed_)});
  made->inputs.push_back(e);
  made->where = reader.where;
  to_.add(made, still_op.def().name);
  all.push_back(made);
  copy.after.push_back(made);
}

}  // namespace holdfast
