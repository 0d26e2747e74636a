#include "holdfast/op/deferred.h"

#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"

namespace holdfast {
namespace {

Pullback g_pullback = nullptr;

// The attribute of a Deferred node.
class DeferredCode final : public RefCounted {
 public:
  DeferredCode(std::string called, Given given, Body code)
      : name(std::move(called)), outputs(std::move(given)), body(std::move(code)) {}
  std::string text() const override { return name; }

  const std::string name;
  const Given outputs;
  const Body body;
};

struct DeferredAttrs {
  Attr<RefCounted> code;
};

const DeferredCode& code_of(const DeferredAttrs& a) {
  auto* code = dynamic_cast<const DeferredCode*>(a.code());
  if (!code) fail(Code::E1104, "Deferred: `code` is no code of a traced function");
  return *code;
}

void infer(Infer& s) {
  for (auto& [dtype, shape] : code_of(s.attrs<DeferredAttrs>()).outputs) s.output(dtype, shape);
}

Status run(Call& c) {
  const DeferredCode& code = code_of(c.attrs<DeferredAttrs>());
  Tensors in;
  for (int i = 0; i < c.inputs(); ++i) in.push_back(c.in(i));
  Tensors out;
  {
    NoTapes alone;
    InterpreterScope values(nullptr);
    out = code.body(in);
  }
  if (out.size() != code.outputs.size())
    bug(cat(code.name, " gave ", out.size(), " results, not ", code.outputs.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].dtype() != c.out_dtype(static_cast<int>(i)))
      bug(cat(code.name, " gave a ", name(out[i].dtype()), ", not a ",
              name(c.out_dtype(static_cast<int>(i)))));
    if (!out[i].shape().compatible(code.outputs[i].second))
      return {Code::E1102, cat(code.name, " gave shape ", out[i].shape().text(), ", expected ",
                               code.outputs[i].second.text())};
    c.set_out(static_cast<int>(i), out[i]);
  }
  return {};
}

Tensors back(Grad& g) {
  const DeferredCode& code = code_of(g.attrs<DeferredAttrs>());
  Tensors in;
  Given results;
  std::vector<size_t> wanted;
  for (int i = 0; i < g.inputs(); ++i) {
    in.push_back(g.x(i));
    if (!is_differentiable(g.x(i).dtype())) continue;
    wanted.push_back(static_cast<size_t>(i));
    results.emplace_back(g.x(i).dtype(), g.x(i).shape());
  }
  std::vector<bool> arriving;
  for (int i = 0; i < g.outputs(); ++i) {
    arriving.push_back(g.has_dy(i));
    if (g.has_dy(i)) in.push_back(g.dy(i));
  }
  auto count = static_cast<size_t>(g.inputs());
  Tensors found =
      deferred(cat("gradient of ", code.name), in, results,
               [body = code.body, count, wanted, arriving](std::span<const Tensor> all) {
                 Tensors upstream, out;
                 size_t next = count;
                 for (bool there : arriving) upstream.push_back(there ? all[next++] : Tensor());
                 Tensors dx = g_pullback(body, all.first(count), upstream);
                 for (size_t i : wanted) out.push_back(dx[i]);
                 return out;
               });
  Tensors dx(count);
  for (size_t i = 0; i < wanted.size(); ++i) dx[wanted[i]] = found[i];
  return dx;
}

// A kernel holds what the body gave, not memory of its own; the body's ops choose their own
// devices.
const Op op = RAW_OP(Deferred)
                  .doc("Ops that can only be chosen once ranks and sizes are known.")
                  .inputs("input*: any")
                  .attr("code")
                  .attrs<&DeferredAttrs::code>()
                  .infer(infer)
                  .kernel("ops", run)
                  .kernel_for(DeviceKind::kCuda, "ops", run)
                  .gradient(back)
                  .keeps("input");

}  // namespace

bool ranks_known(const Tensors& list) {
  return std::all_of(list.begin(), list.end(),
                     [](const Tensor& t) { return t.shape().has_rank(); });
}
bool sizes_known(const Tensors& list) {
  return std::all_of(list.begin(), list.end(), [](const Tensor& t) { return t.shape().is_full(); });
}

void set_pullback(Pullback p) { g_pullback = p; }

Tensors deferred(std::string name, const Tensors& inputs, Given outputs, Body body) {
  return op.list(inputs, {Arg(Ref<RefCounted>(make_ref<DeferredCode>(
                             std::move(name), std::move(outputs), std::move(body))))});
}

Tensor deferred(std::string name, const Tensors& inputs, DType dtype, Shape shape,
                std::function<Tensor(std::span<const Tensor>)> body) {
  return deferred(
      std::move(name), inputs, {{dtype, std::move(shape)}},
      [body = std::move(body)](std::span<const Tensor> in) { return Tensors{body(in)}; })[0];
}

}  // namespace holdfast
