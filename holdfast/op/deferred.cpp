#include "holdfast/op/deferred.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <unordered_map>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/registry.h"

namespace holdfast {
namespace {

Pullback g_pullback = nullptr;
Formula g_formula = nullptr;

std::unordered_map<std::string_view, detail::CompositionDef>& compositions() {
  static auto* all = new std::unordered_map<std::string_view, detail::CompositionDef>;
  return *all;
}

// What arguments are kept as: enough for the attributes of any op.
constexpr size_t kMostArguments = 32;
// The composition that is an op's formula: its arguments are the op's name, what is among the
// inputs, and the op's attributes.
constexpr const char* kFormula = "formula";

// All of it is plain, so that the node can be written down, compared and read again.
struct DeferredAttrs {
  Attr<std::string> composition;
  Attr<std::vector<std::string>> dtypes;
  Attr<Ints> sizes;   // of each output its rank, -1 where that is not known, and its sizes
  Attr<Ints> pulled;  // of each time that a gradient was taken: inputs, outputs, which arrive
};
constexpr size_t kBefore = 4;  // attributes before the arguments

Given outputs_of(const DeferredAttrs& a) {
  const Ints& sizes = a.sizes();
  Given out;
  size_t at = 0;
  auto next = [&] { return at < sizes.size() ? sizes[at++] : kUnknown; };
  for (const std::string& named : a.dtypes()) {
    auto dtype = dtype_named(named);
    if (!dtype) fail(Code::E1103, cat("Deferred: `dtypes` holds '", named, "', which is no dtype"));
    int64_t rank = next();
    if (rank > kMaxRank) fail(Code::E1103, cat("Deferred: `sizes` holds a rank of ", rank));
    Dims dims;
    for (int64_t i = 0; i < rank; ++i) dims.push_back(next());
    out.emplace_back(*dtype, rank < 0 ? Shape::unknown() : Shape(dims));
  }
  return out;
}

std::string title(const DeferredAttrs& a, std::span<const Arg> arguments) {
  std::string name = a.composition();
  if (name == kFormula) name = cat("gradient of ", arguments[0].s());
  for (size_t i = 0; i + 2 < a.pulled().size(); i += 3) name = cat("gradient of ", name);
  return name;
}

Tensors run_plainly(const std::string& name, std::span<const Tensor> in,
                    std::span<const Arg> arguments) {
  if (name == kFormula) {
    const OpDef* op = find_op(arguments[0].s());
    if (!op || !op->gradient || op->attrs.size() + 2 > arguments.size())
      fail(Code::E1103, cat("Deferred: there is no formula of an op `", arguments[0].s(), "`"));
    Attrs attrs;
    for (size_t i = 0; i < op->attrs.size(); ++i) attrs.push_back(arguments[2 + i]);
    return g_formula(*op, attrs, in, arguments[1].ints());
  }
  auto it = compositions().find(name);
  if (it == compositions().end())
    fail(Code::E1103, cat("Deferred: there is no composition `", name, "`"),
         "it is written by a function of this library, and this one has no such function");
  if (in.size() < it->second.least)
    fail(Code::E1103, cat("Deferred: `", name, "` is given ", in.size(), " tensors, expected ",
                          it->second.least, " or more"));
  return it->second.run(it->second.code, in, arguments);
}

// What a step of `pulled` says: how many inputs and results there were, and which gradients arrive.
void check_pulled(std::span<const int64_t> step, size_t given) {
  bool fits = step[0] >= 0 && step[1] >= 0 && step[1] < 63 && step[2] >= 0 && !(step[2] >> step[1]);
  if (!fits || static_cast<size_t>(step[0]) +
                       static_cast<size_t>(std::popcount(static_cast<uint64_t>(step[2]))) !=
                   given)
    fail(Code::E1103, cat("Deferred: `pulled` does not fit its ", given, " inputs"));
}

// The code, or what gradients of it give.
Tensors evaluate(const std::string& name, std::span<const Tensor> in,
                 std::span<const Arg> arguments, std::span<const int64_t> pulled) {
  if (pulled.size() < 3) return run_plainly(name, in, arguments);
  auto last = pulled.last(3), before = pulled.first(pulled.size() - 3);
  check_pulled(last, in.size());
  auto count = static_cast<size_t>(last[0]);
  Tensors upstream, out;
  size_t next = count;
  for (int64_t i = 0; i < last[1]; ++i)
    upstream.push_back(last[2] >> i & 1 ? in[next++] : Tensor());
  Tensors dx =
      g_pullback([&](std::span<const Tensor> x) { return evaluate(name, x, arguments, before); },
                 in.first(count), upstream);
  for (size_t i = 0; i < count; ++i)
    if (is_differentiable(in[i].dtype())) out.push_back(dx[i]);
  return out;
}

void infer(Infer& s) {
  for (auto& [dtype, shape] : outputs_of(s.attrs<DeferredAttrs>())) s.output(dtype, shape);
}

std::span<const Arg> arguments_in(const Attrs& attrs) {
  return std::span<const Arg>(attrs.data(), attrs.size()).subspan(kBefore);
}

Status run(Call& c) {
  auto a = c.attrs<DeferredAttrs>();
  Given given = outputs_of(a);
  std::span<const Arg> arguments = arguments_in(c.attrs());
  Tensors in;
  for (int i = 0; i < c.inputs(); ++i) in.push_back(c.in(i));
  Tensors out;
  std::string name = title(a, arguments);
  {
    NoTapes alone;
    InterpreterScope values(nullptr);
    try {
      out = evaluate(a.composition(), in, arguments, a.pulled());
    } catch (Error& e) {
      const std::string& function = e.diagnostic().speaker;
      e.name_op(function.empty() ? name : std::string(function));
      throw;
    }
  }
  if (out.size() != given.size())
    return {Code::E1103, cat("Deferred: `dtypes` names ", given.size(), " results, and ", name,
                             " gave ", out.size())};
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].dtype() != c.out_dtype(static_cast<int>(i)))
      return {Code::E1101,
              cat("Deferred: ", name, " gave a ", holdfast::name(out[i].dtype()),
                  ", and `dtypes` says ", holdfast::name(c.out_dtype(static_cast<int>(i))))};
    if (!out[i].shape().compatible(given[i].second))
      return {Code::E1102, cat(name, " gave shape ", out[i].shape().text(), ", expected ",
                               given[i].second.text())};
    c.set_out(static_cast<int>(i), out[i]);
  }
  return {};
}

Tensors write(const std::string& composition, const Tensors& in, const Given& outputs,
              const Ints& pulled, std::span<const Arg> arguments);

Tensors back(Grad& g) {
  auto a = g.attrs<DeferredAttrs>();
  Tensors in;
  Given results;
  std::vector<size_t> wanted;
  for (int i = 0; i < g.inputs(); ++i) {
    in.push_back(g.x(i));
    if (!is_differentiable(g.x(i).dtype())) continue;
    wanted.push_back(static_cast<size_t>(i));
    results.emplace_back(g.x(i).dtype(), g.x(i).shape());
  }
  if (g.outputs() >= 63) bug("a deferred composition has more results than can be pulled back");
  int64_t arriving = 0;
  for (int i = 0; i < g.outputs(); ++i) {
    if (!g.has_dy(i)) continue;
    arriving |= int64_t{1} << i;
    in.push_back(g.dy(i));
  }
  Ints pulled = a.pulled();
  for (int64_t n : {int64_t{g.inputs()}, int64_t{g.outputs()}, arriving}) pulled.push_back(n);
  Tensors found = write(a.composition(), in, results, pulled, arguments_in(g.attrs()));
  Tensors dx(static_cast<size_t>(g.inputs()));
  for (size_t i = 0; i < wanted.size(); ++i) dx[wanted[i]] = found[i];
  return dx;
}

Builder& with_arguments(Builder& b) {
  for (size_t i = 0; i < kMostArguments; ++i) b.attr(cat("argument_", i).c_str(), Arg());
  return b;
}

// A kernel holds what the code gave, not memory of its own; the code's ops choose their own
// devices.
const Op op =
    with_arguments(RAW_OP(Deferred)
                       .doc("Ops that can only be chosen once ranks and sizes are known: a "
                            "composition by its name, with its arguments.")
                       .inputs("input*: any")
                       .attr("composition")
                       .attr("dtypes")
                       .attr("sizes")
                       .attr("pulled", Ints{}))
        .attrs<&DeferredAttrs::composition, &DeferredAttrs::dtypes, &DeferredAttrs::sizes,
               &DeferredAttrs::pulled>()
        .infer(infer)
        .kernel("ops", run)
        .kernel_for(DeviceKind::kCuda, "ops", run)
        .gradient(back)
        .keeps("input");

Tensors write(const std::string& composition, const Tensors& in, const Given& outputs,
              const Ints& pulled, std::span<const Arg> arguments) {
  std::vector<std::string> dtypes;
  Ints sizes;
  for (auto& [dtype, shape] : outputs) {
    dtypes.push_back(name(dtype));
    sizes.push_back(shape.has_rank() ? shape.rank() : -1);
    for (int i = 0; i < shape.rank(); ++i) sizes.push_back(shape[i]);
  }
  Attrs attrs{Arg(composition), Arg(dtypes), Arg(sizes), Arg(pulled)};
  for (const Arg& a : arguments) attrs.push_back(a);
  return op.list(in, std::move(attrs));
}

}  // namespace

bool ranks_known(const Tensors& list) {
  return std::all_of(list.begin(), list.end(),
                     [](const Tensor& t) { return t.shape().has_rank(); });
}
bool sizes_known(const Tensors& list) {
  return std::all_of(list.begin(), list.end(), [](const Tensor& t) { return t.shape().is_full(); });
}

void set_pullback(Pullback p, Formula f) {
  g_pullback = p;
  g_formula = f;
}

void detail::add_composition(const CompositionDef& c) {
  if (!compositions().emplace(c.name, c).second) bug(cat("two compositions are called ", c.name));
}

Tensors detail::deferred(const char* composition, const Tensors& in, const Given& outputs,
                         std::vector<Arg> arguments) {
  if (arguments.size() > kMostArguments) bug(cat(composition, " has too many arguments"));
  return write(composition, in, outputs, {}, arguments);
}

Tensors deferred_gradient(const OpDef& of, const Attrs& attrs, const Tensors& in,
                          const Given& outputs, const Ints& which) {
  if (attrs.size() + 2 > kMostArguments) bug(cat(of.name, " has too many attributes"));
  std::vector<Arg> arguments{Arg(of.name), Arg(which)};
  for (const Arg& a : attrs) arguments.push_back(a);
  return write(kFormula, in, outputs, {}, arguments);
}

}  // namespace holdfast
