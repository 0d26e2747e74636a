#include "holdfast/data/functions.h"

#include <algorithm>
#include <unordered_set>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/inner.h"
#include "holdfast/data/position.h"
#include "holdfast/data/stages.h"
#include "holdfast/graph/bodies.h"
#include "holdfast/graph/trace.h"

namespace holdfast::data {
namespace {

thread_local int t_probing = 0;

class Plain final : public ElementFunction, public HoldsDatasets {
 public:
  Plain(detail::ElementCode code, Ref<ElementFunction> around, std::string facts)
      : code_(std::move(code)), around_(std::move(around)), facts_(std::move(facts)) {}
  void visit(Visitor& see) const override { see.child(around_); }
  void add_datasets(std::vector<Ref<DatasetObject>>& to) const override {
    for (Ref<DatasetObject>& each : held_by(around_.get())) to.push_back(std::move(each));
  }
  void add_facts(Saving& to) const override { to.text(facts_); }
  const Object& draws_as() const override { return around_ ? around_->draws_as() : *this; }
  Nested operator()(const Nested& element) override { return code_(element); }

 private:
  const detail::ElementCode code_;
  const Ref<ElementFunction> around_;
  const std::string facts_;
};

// The random nodes of a graph and of those in it, in their order.
void add_random_nodes(const Graph& g, std::vector<RefCounted*>& to) {
  for (const Ref<Node>& n : g.nodes) {
    if (n->op->traits.draws && n->state) to.push_back(n->state.get());
    if (n->op->traits.control == Control::kNone) continue;
    auto [first, second] = bodies_in(*n->op, n->attrs);
    add_random_nodes(first, to);
    add_random_nodes(second, to);
  }
}
std::vector<RefCounted*> random_nodes(const Graph& g) {
  std::vector<RefCounted*> out;
  add_random_nodes(g, out);
  return out;
}

// The datasets that loops of a graph go through.
void add_datasets_of(const Graph& g, std::vector<Ref<DatasetObject>>& to) {
  for (const Ref<Node>& n : g.nodes)
    for (const Arg& a : n->attrs) {
      if (const Graph* body = body_in(a)) add_datasets_of(*body, to);
      auto* object = std::get_if<Ref<RefCounted>>(&a.value());
      if (auto* open = object ? dynamic_cast<OpenDataset*>(object->get()) : nullptr)
        to.push_back(open->dataset);
    }
}

class Concrete final : public ElementFunction, public MayBeOpen, public HoldsDatasets {
 public:
  Concrete(Ref<ConcreteFunction> function, std::vector<Tensor> captured, ElementSpec gives,
           Ref<Object> held)
      : function_(std::move(function)),
        captured_(std::move(captured)),
        gives_(std::move(gives)),
        count_(gives_.leaves().size()),
        open_(std::any_of(captured_.begin(), captured_.end(),
                          [](const Tensor& t) { return t.is_symbolic(); })),
        held_(std::move(held)),
        random_(random_nodes(function_->graph())),
        place_(Making::next()) {}
  const Object& draws_as() const override {
    if (place_) return *place_;
    return *this;
  }
  void visit(Visitor& see) const override { see.child(held_); }
  void add_open(std::vector<Tensor>& to) const override { to = captured_; }
  void add_datasets(std::vector<Ref<DatasetObject>>& to) const override {
    add_datasets_of(graph(), to);
  }
  void add_facts(Saving& to) const override {
    to.text(graph().text());
    for (const Tensor& t : captured_) add_tensor(t, to);
  }
  /// Whether it captured tensors of a graph, which have other values in each iteration.
  bool open() const { return open_; }
  std::optional<ElementSpec> gives() const override { return gives_; }
  const Graph& graph() const { return function_->graph(); }
  Nested operator()(const Nested& element) override {
    DrawingForIteration draws(draws_as(), random_);
    return filled(function_->call(with_captured(element)));
  }
  /// Writes the graph again for other tensors: a batch.
  Nested written(const Nested& batch) const {
    return filled(replay(graph(), with_captured(batch)));
  }

 private:
  std::vector<Tensor> with_captured(const Nested& element) const {
    std::vector<Tensor> inputs = element.leaves();
    for (const Tensor& t : captured_) inputs.push_back(open_ ? bound(t, "map") : t);
    return inputs;
  }
  Nested filled(const Tensors& out) const {
    if (gives_.form().is_tensor()) return out[0];
    return gives_.form().with_leaves({out.data(), count_});
  }
  const Ref<ConcreteFunction> function_;
  const std::vector<Tensor> captured_;
  const ElementSpec gives_;
  const size_t count_;
  const bool open_;
  const Ref<Object> held_;
  const std::vector<RefCounted*> random_;
  const Ref<Place> place_;
};

// C++ code: each call takes what it captured as it is then.
class Traced final : public ElementFunction, public HoldsDatasets {
 public:
  Traced(detail::ElementCode code, const ElementSpec& takes, const char* name)
      : code_(make_ref<Code>(std::move(code), takes.form())),
        traces_(make_ref<TracedCode>(code_, code_.get(), FunctionOptions{.name = name})),
        place_(Making::next()) {
    std::vector<Type> signature;
    for (const ElementType& t : takes.leaves()) signature.push_back({t.dtype, t.shape});
    function_ = traces_->concrete(kTyped, signature.size(), signature);
    random_ = random_nodes(graph());
  }
  const Object& draws_as() const override {
    if (place_) return *place_;
    return *this;
  }
  std::optional<ElementSpec> gives() const override { return code_->gives; }
  void add_datasets(std::vector<Ref<DatasetObject>>& to) const override {
    add_datasets_of(graph(), to);
  }
  const Graph& graph() const { return function_->graph(); }
  void add_facts(Saving& to) const override { to.text(graph().text()); }
  bool stateless() const { return !function_->state() && graph().captures.empty(); }
  Nested written(const Nested& batch) const {
    Tensors out = replay(graph(), batch.leaves());
    return code_->gives.form().with_leaves({out.data(), out.size()});
  }
  Nested operator()(const Nested& element) override {
    DrawingForIteration draws(draws_as(), random_);
    Tensors out = function_->call_as_traced(element.leaves());
    return code_->gives.form().with_leaves({out.data(), out.size()});
  }

 private:
  struct Code final : RefCounted {
    Code(detail::ElementCode of, Nested given) : code(std::move(of)), takes(std::move(given)) {}
    const detail::ElementCode code;
    const Nested takes;
    ElementSpec gives;
  };
  static Tensors run(void* code, const void*, std::span<const Tensor> tensors, TracedCode::Form&) {
    auto& c = *static_cast<Code*>(code);
    Nested out = c.code(c.takes.with_leaves(tensors));
    c.gives = ElementSpec::of(out);
    std::vector<Tensor> leaves = out.leaves();
    return {leaves.begin(), leaves.end()};
  }
  static void name_parts(const void*, holdfast::detail::PartNames&) {}
  static constexpr TracedCode::Typed kTyped{&run, &name_parts};

  const Ref<Code> code_;
  const Ref<TracedCode> traces_;
  const Ref<Place> place_;
  Ref<ConcreteFunction> function_;
  std::vector<RefCounted*> random_;
};

int rank_of(const Edge& e) { return type_of(e).shape.rank(); }

// Whether the graph may be given rows side by side in place of one: then a new first axis goes
// through all ops on what depends on the element, and what does not is repeated along it.
bool elementwise(const Graph& g, size_t wanted) {
  std::unordered_set<const Node*> varies;
  for (const Ref<Node>& in : g.inputs) varies.insert(in.get());
  for (const Ref<Node>& n : g.nodes) {
    if (n->op == &placeholder_op() || n->op == &const_op()) continue;
    if (n->device || !(n->op->elementwise || n->is("Cast")) || n->outputs.size() != 1) return false;
    if (!n->outputs[0].shape.has_rank()) return false;
    int rank = n->outputs[0].shape.rank();
    bool any = false;
    for (const Edge& e : n->inputs) {
      if (!e.node || !type_of(e).shape.has_rank()) return false;
      bool of_element = varies.contains(e.node.get());
      if (of_element ? rank_of(e) != rank : rank_of(e) > rank) return false;
      any |= of_element;
    }
    if (any) varies.insert(n.get());
  }
  return g.outputs.size() >= wanted &&
         std::all_of(g.outputs.begin(), g.outputs.begin() + static_cast<ptrdiff_t>(wanted),
                     [&](const Edge& e) { return varies.contains(e.node.get()); });
}

}  // namespace

bool is_elementwise(const ElementFunction& f) {
  size_t wanted = f.gives() ? f.gives()->leaves().size() : 0;
  if (wanted == 0) return false;
  if (auto* concrete = dynamic_cast<const Concrete*>(&f))
    return !concrete->open() && elementwise(concrete->graph(), wanted);
  auto* traced = dynamic_cast<const Traced*>(&f);
  return traced && traced->stateless() && elementwise(traced->graph(), wanted);
}

Ref<ElementFunction> for_batches(const ElementFunction& f, const ElementSpec& takes) {
  Ref<const ElementFunction> held(&f);
  auto code = [held](const Nested& batch) {
    if (auto* concrete = dynamic_cast<const Concrete*>(held.get())) return concrete->written(batch);
    return dynamic_cast<const Traced&>(*held).written(batch);
  };
  return traced_function(code, takes.batched(kUnknown), "map");
}

std::vector<Tensor> detail::as_arguments(const Nested& element, size_t n) {
  std::vector<Tensor> out;
  if (element.is_tensor()) {
    out.push_back(element.tensor());
  } else {
    for (size_t i = 0; i < element.size(); ++i) {
      if (!element[i].is_tensor())
        fail(Code::E1104,
             cat("a function of tensors is called with an element of the form ", element.form()),
             "", {manual_fix("let it take a `const Nested&`")});
      out.push_back(element[i].tensor());
    }
  }
  if (out.size() != n)
    fail(Code::E1104, cat("a function of ", n, " tensors is called with an element of ", out.size(),
                          ": ", element.form()));
  return out;
}

Ref<ElementFunction> traced_function(detail::ElementCode code, const ElementSpec& takes,
                                     const char* name) {
  return make_ref<Traced>(std::move(code), takes, name);
}

Ref<ElementFunction> plain_function(detail::ElementCode code, Ref<ElementFunction> around,
                                    std::string facts) {
  return make_ref<Plain>(std::move(code), std::move(around), std::move(facts));
}

Ref<ElementFunction> concrete_function(Ref<ConcreteFunction> function, std::vector<Tensor> captured,
                                       const ElementSpec& gives, Ref<Object> held) {
  return make_ref<Concrete>(std::move(function), std::move(captured), gives, std::move(held));
}

bool probing() { return t_probing > 0; }

ElementSpec spec_of_made(const Callback<ElementSpec(const Nested&)>& make, const ElementSpec& takes,
                         const char* name) {
  Tracer* around = current_trace();
  Ref<Scope> parent = around ? around->graph()->scope : nullptr;
  Tracer tracer(make_ref<Graph>(make_ref<Scope>(ScopeKind::kDataset, name, parent)));
  struct Depth {
    Depth() { ++t_probing; }
    ~Depth() { --t_probing; }
  } depth;
  Tracing in(tracer, true);
  std::vector<Tensor> symbols;
  for (const Tensor& t : takes.form().leaves())  // a dataset is a promise of one already
    symbols.push_back(dataset_in(t) ? t : tracer.input(t.dtype(), t.shape(), "element"));
  return make(takes.form().with_leaves(symbols));
}

}  // namespace holdfast::data
