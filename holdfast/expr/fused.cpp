#include "holdfast/expr/fused.h"

#include <algorithm>
#include <string_view>

#include "holdfast/base/text.h"
#include "holdfast/expr/cpu_program.h"
#include "holdfast/expr/op_by_op.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"

namespace holdfast {
namespace {

// The kernel that would run on the CPU for a first input of this dtype.
const Kernel* first_kernel(const OpDef& op, DType d) {
  for (const Kernel& k : op.kernels)
    if (k.device == DeviceKind::kCpu && k.dtypes.has(d)) return &k;
  return nullptr;
}

struct ExpressionAttrs {
  Attr<RefCounted> expression;
};

std::optional<FusedForm> refused(const char* reason, const char*& why) {
  why = reason;
  return std::nullopt;
}

std::optional<FusedForm> scalar_form(const OpDef& op, const Attrs& attrs, std::span<const DType> in,
                                     const char*& why) {
  DType d = in[0];
  FusedForm form{Does::kScalar, op.scalar, {}};
  if (!loop_for(op.scalar, d)) return refused("no loop for this dtype", why);
  const Kernel* kernel = first_kernel(op, d);
  bool equality = op.scalar == Scalar::kEqual || op.scalar == Scalar::kNotEqual;
  if (equality && !op.attr(attrs, "incompatible_shape_error").b())
    return refused("shapes that do not broadcast are an answer", why);
  if (!kernel || (!equality && kernel->run != run_elementwise))
    return refused("its values are checked", why);
  auto arity = static_cast<size_t>(info(op.scalar).arity);
  for (size_t i = in.size(); i < arity; ++i)
    form.numbers.push_back(Tensor::scalar(number_in(attrs, i - in.size()), d));
  return form;
}

void infer_fused(Infer& s) { expr_of(s.attrs()).infer(s); }

Status run_fused(Call& c) {
  const Expr& e = expr_of(c.attrs());
  bool blocks = true;
  for (int i = 0; i < c.inputs(); ++i)
    blocks = blocks && c.in(i).device()->kind() == DeviceKind::kCpu;
  const Shape& shape = e.row() ? e.domain() : c.out_shape(0);
  for (int i = 0; i < c.outputs(); ++i)
    blocks = blocks && (e.per_row(static_cast<size_t>(i)) || c.out_shape(i) == shape);
  std::span<const Tensor> in(c.inputs() ? &c.in(0) : nullptr, static_cast<size_t>(c.inputs()));
  if (!blocks) {
    Tensors out;
    e.run_each(in, out);
    for (int i = 0; i < c.outputs(); ++i) c.set_out(i, out[static_cast<size_t>(i)]);
    return {};
  }
  InlineVector<Tensor, 4> out;
  Where asked = here();
  for (int i = 0; i < c.outputs(); ++i) {
    set_site(e.where_of(static_cast<size_t>(i)));
    out.push_back(c.out(i));
  }
  set_site(asked);
  cpu_program(e).run(in, out, shape);
  return {};
}

const Op fused =
    RAW_OP(Fused)
        .inputs("inputs: any*~")
        .attr("expression")
        .attrs<&ExpressionAttrs::expression>()
        .dtypes(kPlain, "any")
        .infer(infer_fused)
        .no_gradient()
        .doc("Several elementwise ops as one. Graphs hold it after they were optimised.")
        .kernel("blocks", run_fused)
        .kernel_for(DeviceKind::kCuda, kOpByOp, run_fused);

}  // namespace

const OpDef& fused_op() { return fused.def(); }

const Expr* expr_in(const Arg& a) {
  auto* object = std::get_if<Ref<RefCounted>>(&a.value());
  return object ? dynamic_cast<const Expr*>(object->get()) : nullptr;
}

const Expr& expr_of(const Attrs& attrs) {
  auto* e = expr_in(detail::attrs_at<ExpressionAttrs>(attrs.data()).expression.arg());
  if (!e)
    fail(Code::E1104, "Fused: `expression` is not one", "only the pass that fuses ops makes them");
  return *e;
}

std::optional<FusedForm> fused_form(const OpDef& op, const Attrs& attrs, std::span<const DType> in,
                                    DType out, const char*& why) {
  if (in.empty()) return refused("no operand", why);
  for (DType d : in)
    if (!kPlain.has(d)) return refused("not plain numbers", why);
  if (op.fuse) {
    FusedForm form;
    return op.fuse(op, attrs, in, out, form, why) ? std::optional(form) : std::nullopt;
  }
  return op.elementwise ? scalar_form(op, attrs, in, why) : refused("not element by element", why);
}

Expr::~Expr() {
  for (auto& kept : programs_) Ref<Program>::take(kept.load());
}

const Program& Expr::keep(DeviceKind kind, Ref<Program> made) const {
  Program* none = nullptr;
  auto& kept = programs_[static_cast<int>(kind)];
  // Of two threads that made one, the first keeps its own.
  if (kept.compare_exchange_strong(none, made.get(), std::memory_order_acq_rel))
    return *made.leak();
  return *none;
}

int Expr::input(DType d, bool per_row) {
  values_.push_back({.dtype = d, .per_row = per_row, .input = static_cast<int>(inputs_++)});
  return static_cast<int>(values_.size()) - 1;
}

int Expr::input_again(int value, bool per_row) {
  Value v = values_[static_cast<size_t>(value)];
  v.per_row = per_row;
  values_.push_back(std::move(v));
  return static_cast<int>(values_.size()) - 1;
}

int Expr::add(const OpDef& op, const Attrs& attrs, Where where, const FusedForm& form,
              std::span<const int> operands, DType out, bool per_row) {
  Instruction n{.op = &op,
                .attrs = attrs,
                .where = where,
                .operands = {},
                .inputs = static_cast<int>(operands.size()),
                .does = form.does,
                .scalar = form.scalar};
  n.operands.append(operands.begin(), operands.end());
  for (const Tensor& t : form.numbers) {
    n.operands.push_back(static_cast<int>(values_.size()));
    values_.push_back({.dtype = t.dtype(), .per_row = per_row, .number = t});
  }
  n.result = static_cast<int>(values_.size());
  values_.push_back(
      {.dtype = out, .per_row = per_row, .instruction = static_cast<int>(code_.size())});
  code_.push_back(std::move(n));
  return code_.back().result;
}

int Expr::constant(Tensor t) {
  values_.push_back({.dtype = t.dtype(), .number = t, .aside = true});
  return static_cast<int>(values_.size()) - 1;
}

int Expr::fold(int value, const OpDef& op, const Attrs& attrs, Where where, Tensor axes) {
  int operands[2] = {value, constant(std::move(axes))};
  int out = add(op, attrs, where, {}, operands, dtype(value), true);
  code_.back().does = Does::kFold;
  code_.back().fold = *op.fold;
  return out;
}

int Expr::reshaped(int value, const OpDef& op, const Attrs& attrs, Where where, Tensor shape,
                   bool per_row) {
  int operands[2] = {value, shape.defined() ? constant(shape) : -1};
  return add(op, attrs, where, {}, {operands, size_t{shape.defined() ? 2u : 1u}}, dtype(value),
             per_row);
}

std::vector<int> Expr::append(const Expr& other, bool per_row,
                              const std::function<int(int, bool)>& input) {
  std::vector<int> now;
  for (Value v : other.values_) {
    v.per_row = v.per_row || per_row;
    if (v.input >= 0) {
      now.push_back(input(v.input, v.per_row));
      continue;
    }
    if (v.instruction >= 0) v.instruction += static_cast<int>(code_.size());
    now.push_back(static_cast<int>(values_.size()));
    values_.push_back(std::move(v));
  }
  for (Instruction k : other.code_) {
    for (int& o : k.operands) o = now[static_cast<size_t>(o)];
    k.result = now[static_cast<size_t>(k.result)];
    code_.push_back(std::move(k));
  }
  std::vector<int> out;
  for (int s : other.stores_) out.push_back(now[static_cast<size_t>(s)]);
  return out;
}

Ref<Expr> Expr::reopened() const {
  auto out = make_ref<Expr>();
  out->values_ = values_;
  out->code_ = code_;
  out->inputs_ = inputs_;
  out->set_rows(domain_, row_);
  return out;
}

Ref<Expr> Expr::keeping(const std::vector<size_t>& outputs) const {
  Ref<Expr> out = reopened();
  for (size_t i : outputs) out->store(stores_[i]);
  out->drop_unread();
  return out;
}

// Takes out instructions that no output needs.
void Expr::drop_unread() {
  std::vector<bool> needed(values_.size(), false);
  for (int s : stores_) needed[static_cast<size_t>(s)] = true;
  for (size_t k = code_.size(); k-- > 0;)
    if (needed[static_cast<size_t>(code_[k].result)])
      for (int o : code_[k].operands) needed[static_cast<size_t>(o)] = true;
  std::vector<Instruction> kept;
  for (Instruction& k : code_) {
    Value& result = values_[static_cast<size_t>(k.result)];
    result.instruction = needed[static_cast<size_t>(k.result)] ? static_cast<int>(kept.size()) : -1;
    if (result.instruction >= 0) kept.push_back(std::move(k));
  }
  code_ = std::move(kept);
}

Ref<Expr> Expr::applied(const OpDef& op, Where where) const {
  Ref<Expr> out = reopened();
  DType d = dtype(stores_[0]);
  int operands[2] = {out->input(d), stores_[0]};
  FusedForm form{Does::kScalar, op.scalar, {}};
  out->store(out->add(op, {}, where, form, operands, d));
  return out;
}

void Expr::run_each(std::span<const Tensor> in, Tensors& out) const {
  std::vector<Tensor> values(values_.size());
  std::vector<int> last(values_.size(), -1);  // the instruction that reads it last
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].input >= 0)
      values[i] = in[static_cast<size_t>(values_[i].input)];
    else if (values_[i].aside)
      values[i] = values_[i].number;
  }
  for (size_t k = 0; k < code_.size(); ++k)
    for (int o : code_[k].operands) last[static_cast<size_t>(o)] = static_cast<int>(k);
  for (int s : stores_) last[static_cast<size_t>(s)] = static_cast<int>(code_.size());
  Where asked = here();
  for (size_t k = 0; k < code_.size(); ++k) {
    const Instruction& n = code_[k];
    Tensors operands, result;
    for (int i = 0; i < n.inputs; ++i)
      operands.push_back(values[static_cast<size_t>(n.operands[static_cast<size_t>(i)])]);
    set_site(n.where);
    eager()->run(*n.op, operands, n.attrs, result);
    values[static_cast<size_t>(n.result)] = result[0];
    for (int o : n.operands)
      if (last[static_cast<size_t>(o)] == static_cast<int>(k))
        values[static_cast<size_t>(o)] = Tensor();
  }
  for (int s : stores_) out.push_back(values[static_cast<size_t>(s)]);
  set_site(asked);
}

void Expr::infer(Infer& s) const {
  if (static_cast<size_t>(s.inputs()) != inputs_)
    s.bad_value("inputs", cat(s.inputs(), " tensors"), cat(inputs_));
  std::vector<Tensor> values(values_.size());
  for (size_t i = 0; i < values_.size(); ++i) {
    int from = values_[i].input;
    if (values_[i].aside) values[i] = values_[i].number;
    if (from < 0) continue;
    values[i] = s.input(from);
    if (values[i].dtype() != values_[i].dtype)
      s.bad_dtype(from, std::string(name(values_[i].dtype)));
  }
  Where asked = here();
  for (const Instruction& n : code_) {
    Tensors operands;
    for (int i = 0; i < n.inputs; ++i)
      operands.push_back(values[static_cast<size_t>(n.operands[static_cast<size_t>(i)])]);
    set_site(n.where);
    Infer one(*n.op, operands, n.attrs);
    n.op->infer(one);
    auto rep = make_ref<TensorRep>(one.dtypes[0], one.shapes[0], nullptr);
    rep->op = n.op->name.c_str();
    values[static_cast<size_t>(n.result)] = Tensor(std::move(rep));
  }
  for (int o : stores_)
    s.output(values[static_cast<size_t>(o)].dtype(), values[static_cast<size_t>(o)].shape());
  set_site(asked);
}

bool Expr::same_code(const Expr& o) const {
  auto equal = [](const Value& a, const Value& b) {
    return a.dtype == b.dtype && a.per_row == b.per_row && a.input == b.input &&
           a.instruction == b.instruction && a.aside == b.aside;
  };
  auto does = [](const Instruction& a, const Instruction& b) {
    return a.does == b.does && a.scalar == b.scalar && a.fold == b.fold && a.result == b.result &&
           std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end());
  };
  return row_ == o.row_ && inputs_ == o.inputs_ && stores_ == o.stores_ &&
         std::equal(values_.begin(), values_.end(), o.values_.begin(), o.values_.end(), equal) &&
         std::equal(code_.begin(), code_.end(), o.code_.begin(), o.code_.end(), does);
}

uint64_t Expr::hash() const {
  uint64_t h = 0;
  auto mix = [&](uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  };
  mix(static_cast<uint64_t>(row_));
  for (const Value& v : values_)
    mix(static_cast<uint64_t>(v.dtype) << 8 | static_cast<uint64_t>(v.per_row) << 1 | v.aside);
  for (const Instruction& k : code_) {
    mix(static_cast<uint64_t>(k.does) << 16 | static_cast<uint64_t>(k.scalar) << 8 |
        static_cast<uint64_t>(k.fold));
    for (int o : k.operands) mix(static_cast<uint64_t>(o));
  }
  for (int s : stores_) mix(static_cast<uint64_t>(s));
  return h;
}

std::string Expr::text() const {
  auto named = [&](int v) {
    const Value& value = values_[static_cast<size_t>(v)];
    return value.number.defined()
               ? Arg(value.number.to_double()).text()
               : cat(value.input >= 0 ? "x" : "v", value.input >= 0 ? value.input : v);
  };
  std::string out;
  for (const Instruction& n : code_) {
    out += cat(out.empty() ? "" : "; ", named(n.result), " = ", n.op->name, "(");
    for (size_t i = 0; i < n.operands.size(); ++i)
      if (!values_[static_cast<size_t>(n.operands[i])].aside)
        out += cat(i ? ", " : "", named(n.operands[i]));
    out += ")";
  }
  out += " ->";
  for (int s : stores_) out += cat(" ", named(s));
  return out;
}

}  // namespace holdfast
