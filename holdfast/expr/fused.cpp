#include "holdfast/expr/fused.h"

#include <algorithm>
#include <string_view>

#include "holdfast/base/text.h"
#include "holdfast/expr/cpu/select_table.h"
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

std::optional<FusedForm> refused(const char* reason, const char*& why) {
  why = reason;
  return std::nullopt;
}

std::optional<FusedForm> scalar_form(const OpDef& op, const Attrs& attrs, std::span<const DType> in, const char*& why) {
  DType d = in[0];
  FusedForm form{loop_for(op.scalar, d), {}};
  if (!form.loop) return refused("no loop for this dtype", why);
  const Kernel* kernel = first_kernel(op, d);
  bool equality = op.scalar == Scalar::kEqual || op.scalar == Scalar::kNotEqual;
  if (equality && !attrs[0].b()) return refused("shapes that do not broadcast are an answer", why);
  if (!kernel || (!equality && kernel->run != run_elementwise)) return refused("its values are checked", why);
  auto arity = static_cast<size_t>(info(op.scalar).arity);
  for (size_t i = in.size(); i < arity; ++i) form.numbers.push_back(Tensor::scalar(attrs[i - in.size()].f(), d));
  return form;
}

void infer_fused(Infer& s) { expr_of({s.attr(0)}).infer(s); }

Status run_fused(Call& c) {
  const Expr& e = expr_of({c.attr(0)});
  bool blocks = true;
  for (int i = 0; i < c.inputs(); ++i) blocks = blocks && c.in(i).device()->kind() == DeviceKind::kCpu;
  const Shape& shape = e.row() ? e.domain() : c.out_shape(0);
  for (int i = 0; i < c.outputs(); ++i) blocks = blocks && (e.folds(static_cast<size_t>(i)) || c.out_shape(i) == shape);
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
  e.run(in, out, shape);
  return {};
}

const Op fused = RAW_OP(Fused).inputs("inputs: any*").attr("expression").dtypes(kPlain, "any").infer(infer_fused).no_gradient()
                     .doc("Several elementwise ops as one. Graphs hold it after they were optimised.")
                     .kernel("blocks", run_fused).kernel_for(DeviceKind::kCuda, "each", run_fused);

}  // namespace

const OpDef& fused_op() { return fused.def(); }

const Expr& expr_of(const Attrs& attrs) {
  auto* e = dynamic_cast<const Expr*>(attrs[0].object());
  if (!e) fail(Code::E1104, "Fused: `expression` is not one", "only the pass that fuses ops makes them");
  return *e;
}

Loop select_loop(DType d) {
  static const SelectTable table = [] {
    SelectTable t;
    std::string_view isa = instruction_set();
    if (isa == "avx512") avx512::add_select_loops(t);
    else if (isa == "avx2") avx2::add_select_loops(t);
    else baseline::add_select_loops(t);
    return t;
  }();
  return kPlain.has(d) ? table.loops[size_of(d)] : nullptr;
}

std::optional<FusedForm> fused_form(const OpDef& op, const Attrs& attrs, std::span<const DType> in, DType out, const char*& why) {
  static const OpDef &cast = *find_op("Cast"), &select = *find_op("SelectV2"), &bias = *find_op("BiasAdd");
  if (in.empty()) return refused("no operand", why);
  for (DType d : in) if (!kPlain.has(d)) return refused("not plain numbers", why);
  if (&op == &cast) {
    Loop loop = in[0] == out ? nullptr : cast_loop(in[0], out);
    return loop ? std::optional(FusedForm{loop, {}}) : refused("nothing to compute", why);
  }
  if (&op == &select) return FusedForm{select_loop(out), {}};
  if (&op == &bias)
    return attrs[0].s() == "NHWC" ? std::optional(FusedForm{loop_for(Scalar::kAdd, out), {}}) : refused("channels are not last", why);
  return op.elementwise ? scalar_form(op, attrs, in, why) : refused("not element by element", why);
}

int Expr::input(DType d) {
  values_.push_back({d, static_cast<int>(inputs_++), -1, {}, -1, -1});
  return static_cast<int>(values_.size()) - 1;
}

int Expr::add(const OpDef& op, const Attrs& attrs, Where where, const FusedForm& form, std::span<const int> operands, DType out) {
  Instruction n{&op, attrs, where, {}, static_cast<int>(operands.size()), 0, form.loop};
  n.operands.append(operands.begin(), operands.end());
  for (const Tensor& t : form.numbers) {
    n.operands.push_back(static_cast<int>(values_.size()));
    values_.push_back({t.dtype(), -1, -1, t, -1, -1});
  }
  n.result = static_cast<int>(values_.size());
  values_.push_back({out, -1, static_cast<int>(code_.size()), {}, -1, -1});
  for (int v : n.operands) values_[static_cast<size_t>(v)].last = static_cast<int>(code_.size());
  code_.push_back(std::move(n));
  return code_.back().result;
}

void Expr::fold(int value, Folded f, const Shape& shape, int64_t row) {
  domain_ = shape;
  row_ = row;
  stores_.push_back(value);
  folds_.push_back(std::move(f));
}

Ref<Expr> Expr::keeping(const std::vector<size_t>& outputs) const {
  auto out = make_ref<Expr>();
  out->values_ = values_;
  for (Value& v : out->values_) v.slot = -1;
  out->code_ = code_;
  out->inputs_ = inputs_;
  for (size_t i : outputs) {
    if (folds_[i].op) out->fold(stores_[i], folds_[i], domain_, row_);
    else out->store(stores_[i]);
  }
  return out;
}

Ref<Expr> Expr::applied(const OpDef& op, Where where) const {
  auto out = make_ref<Expr>();
  out->values_ = values_;
  for (Value& v : out->values_) v.slot = -1;
  out->code_ = code_;
  out->inputs_ = inputs_;
  DType d = dtype(stores_[0]);
  int operands[2] = {out->input(d), stores_[0]};
  FusedForm form{loop_for(op.scalar, d), {}};
  out->store(out->add(op, {}, where, form, operands, d));
  out->finish();
  return out;
}

int Expr::slot_for(int64_t cell) {
  auto& free = free_[static_cast<size_t>(cell)];
  if (!free.empty()) {
    int s = free.back();
    free.pop_back();
    return s;
  }
  slots_.push_back(cell);
  return static_cast<int>(slots_.size()) - 1;
}

void Expr::finish() {
  free_.resize(17);
  for (size_t i = 0; i < stores_.size(); ++i)  // folds read their values when the block is done
    if (folds_[i].op) values_[static_cast<size_t>(stores_[i])].last = static_cast<int>(code_.size());
  for (Value& v : values_)
    if (v.number) v.slot = slot_for(size_of(v.dtype));  // filled once, so shared with nobody
  for (size_t k = 0; k < code_.size(); ++k) {
    // What dies here may be overwritten by the result: loops read an element before they write it.
    for (int o : code_[k].operands) {
      Value& v = values_[static_cast<size_t>(o)];
      if (v.instruction >= 0 && v.slot >= 0 && v.last == static_cast<int>(k)) {
        auto& list = free_[static_cast<size_t>(size_of(v.dtype))];
        if (std::find(list.begin(), list.end(), v.slot) == list.end()) list.push_back(v.slot);
      }
    }
    Value& r = values_[static_cast<size_t>(code_[k].result)];
    r.slot = slot_for(size_of(r.dtype));
  }
  free_.clear();
}

bool Expr::may_overwrite(size_t output, size_t input) const {
  for (const Value& v : values_)
    if (v.input == static_cast<int>(input))
      return size_of(v.dtype) == size_of(dtype(stores_[output])) && v.last <= values_[static_cast<size_t>(stores_[output])].instruction;
  return false;
}

void Expr::run_each(std::span<const Tensor> in, Tensors& out) const {
  std::vector<Tensor> values(values_.size());
  for (size_t i = 0; i < values_.size(); ++i)
    if (values_[i].input >= 0) values[i] = in[static_cast<size_t>(values_[i].input)];
  std::vector<bool> kept(values_.size(), false);
  for (int s : stores_) kept[static_cast<size_t>(s)] = true;
  Where asked = here();
  for (size_t k = 0; k < code_.size(); ++k) {
    const Instruction& n = code_[k];
    Tensors operands, result;
    for (int i = 0; i < n.inputs; ++i) operands.push_back(values[static_cast<size_t>(n.operands[static_cast<size_t>(i)])]);
    set_site(n.where);
    eager()->run(*n.op, operands, n.attrs, result);
    values[static_cast<size_t>(n.result)] = result[0];
    for (int o : n.operands)
      if (values_[static_cast<size_t>(o)].last == static_cast<int>(k) && !kept[static_cast<size_t>(o)]) values[static_cast<size_t>(o)] = Tensor();
  }
  for (size_t i = 0; i < stores_.size(); ++i) {
    const Folded& f = folds_[i];
    out.push_back(values[static_cast<size_t>(stores_[i])]);
    if (!f.op) continue;
    Tensors operands{out.back(), f.axes}, result;
    set_site(f.where);
    eager()->run(*f.op, operands, f.attrs, result);
    out.back() = result[0];
  }
  set_site(asked);
}

void Expr::infer(Infer& s) const {
  if (static_cast<size_t>(s.inputs()) != inputs_) s.bad_value("inputs", cat(s.inputs(), " tensors"), cat(inputs_));
  std::vector<Tensor> values(values_.size());
  for (size_t i = 0; i < values_.size(); ++i) {
    int from = values_[i].input;
    if (from < 0) continue;
    values[i] = s.input(from);
    if (values[i].dtype() != values_[i].dtype) s.bad_dtype(from, std::string(name(values_[i].dtype)));
  }
  Where asked = here();
  for (const Instruction& n : code_) {
    Tensors operands;
    for (int i = 0; i < n.inputs; ++i) operands.push_back(values[static_cast<size_t>(n.operands[static_cast<size_t>(i)])]);
    set_site(n.where);
    Infer one(*n.op, operands, n.attrs);
    n.op->infer(one);
    auto rep = make_ref<TensorRep>(one.dtypes[0], one.shapes[0], nullptr);
    rep->op = n.op->name.c_str();
    values[static_cast<size_t>(n.result)] = Tensor(std::move(rep));
  }
  for (size_t i = 0; i < stores_.size(); ++i) {
    const Folded& f = folds_[i];
    const Tensor& v = values[static_cast<size_t>(stores_[i])];
    if (!f.op) { s.output(v.dtype(), v.shape()); continue; }
    Tensors operands{v, f.axes};
    set_site(f.where);
    Infer one(*f.op, operands, f.attrs);
    f.op->infer(one);
    s.output(one.dtypes[0], one.shapes[0]);
  }
  set_site(asked);
}

std::string Expr::text() const {
  auto named = [&](int v) {
    const Value& value = values_[static_cast<size_t>(v)];
    return value.number ? Arg(value.number.to_double()).text() : cat(value.input >= 0 ? "x" : "v", value.input >= 0 ? value.input : v);
  };
  std::string out;
  for (const Instruction& n : code_) {
    out += cat(out.empty() ? "" : "; ", named(n.result), " = ", n.op->name, "(");
    for (size_t i = 0; i < n.operands.size(); ++i) out += cat(i ? ", " : "", named(n.operands[i]));
    out += ")";
  }
  out += " ->";
  for (size_t i = 0; i < stores_.size(); ++i) out += folds_[i].op ? cat(" ", folds_[i].op->name, "(", named(stores_[i]), ")") : cat(" ", named(stores_[i]));
  return out;
}

}  // namespace holdfast
