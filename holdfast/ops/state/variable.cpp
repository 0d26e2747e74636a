// Variables and the ops that read and write them.
#include "holdfast/op/variable.h"

#include <array>

#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/creation.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/op/variable_watcher.h"
#include "holdfast/ops/state/held.h"
#include "holdfast/tensor/last_reads.h"

namespace holdfast {
namespace {

struct ReadAttrs {
  Attr<DType> dtype;
};

void infer_read(Infer& s) {
  VariableState* v = variable_state(s.input(0));
  DType wanted = s.attrs<ReadAttrs>().dtype();
  if (wanted != DType::kInvalid && wanted != v->dtype)
    s.bad_value("dtype", name(wanted),
                cat(name(v->dtype), ", the dtype of variable `", v->name, "`"));
  s.output(v->dtype, v->shape);
}

Status run_read(Call& c) {
  VariableState* v = variable_state(c.in());
  Tensor out = v->update(
      [](const Tensor& now) { return now.defined() ? view_of(now, now.shape()) : Tensor(); });
  if (!out.defined()) return no_value(*v);
  out.rep()->variable_born = v->born;
  note_read(c.in(), out);
  c.set_out(0, std::move(out));
  return {};
}

// The value turned into the variable's shape, where that is certain to be possible.
std::vector<Fix> in_shape(const Infer& s, const Shape& wanted) {
  const Shape& got = s.shape(1);
  if (!got.is_full() || !wanted.is_full() || got.elements() != wanted.elements()) return {};
  std::string value = operand_source(s.op(), std::array{s.input(0), s.input(1)}, 1).text;
  bool turned = got.rank() == 2 && wanted.rank() == 2 && got[0] == wanted[1];
  std::string code =
      turned ? written(Advice::kTranspose, {value})
             : written(Advice::kReshape, {value, written(std::span<const int64_t>(
                                                     wanted.dims().data(), wanted.dims().size()))});
  return {manual_fix(cat("`", code, "` has as many elements in the variable's shape"))};
}

void infer_assign(Infer& s) {
  VariableState* v = variable_state(s.input(0));
  if (s.dtype(1) != v->dtype) {
    s.bad_dtype(1, cat(name(v->dtype), ", the dtype of variable `", v->name, "`"));
  }
  if (!v->shape.compatible(s.shape(1)))
    s.bad_shape(1, cat("shape ", v->shape.text(), ", as `", held_name(s, *v), "` has"),
                in_shape(s, v->shape));
}

Status run_assign(Call& c) {
  variable_state(c.in())->set(c.in(1));
  return {};
}

}  // namespace

static const Op read_op = RAW_OP(ReadVariableOp)
                              .outputs("value")
                              .doc("The value of a variable now.")
                              .inputs("resource: R")
                              .resource(VariableState::kKind)
                              .attr("dtype", DType::kInvalid)
                              .attrs<&ReadAttrs::dtype>()  // not said: the variable's own
                              .reads_state()
                              .reads_variable()
                              .infer(infer_read)
                              .kernel("read", run_read)
                              .kernel_for(DeviceKind::kCuda, "read", run_read)
                              .gradient(+[](Grad& g) -> Tensors { return {g.dy()}; })
                              .keeps("");

static const Op assign_op = RAW_OP(AssignVariableOp)
                                .doc("Gives a variable a new value.")
                                .inputs("resource: R, value")
                                .resource(VariableState::kKind)
                                .stateful()
                                .updates(Update::kSet)
                                .no_gradient()
                                .outputs("")
                                .infer(infer_assign)
                                .kernel("assign", run_assign)
                                .kernel_for(DeviceKind::kCuda, "assign", run_assign);

void Variable::refuse_undefined() {
  fail(Code::E1104, "a Variable that refers to nothing was used",
       "it was declared, or moved from, and no variable was assigned to it since",
       {manual_fix("assign one first: `v = Variable(initial)`; `defined()` tells whether there is "
                   "one")});
}

void Variable::make(const In& initial, VariableOptions o) {
  CreationWatcher* trace = context().interpreter ? creation_watcher() : nullptr;
  Tensor given = initial.tensor(o.dtype),
         value = trace && given.is_symbolic() ? trace->starting_value(given) : given;
  if (o.dtype != DType::kInvalid && value.dtype() != o.dtype)
    fail(Code::E1101, cat("Variable `", o.name, "`: the initial value is ", type_text(value),
                          ", expected dtype ", holdfast::name(o.dtype)));
  Shape shape = o.shape.value_or(value.shape());
  if (!shape.compatible(value.shape()))
    fail(Code::E1102, cat("Variable `", o.name, "`: the initial value is ", type_text(value),
                          ", expected shape ", shape.text()));
  state_ =
      make_ref<VariableState>(context().name_scope + o.name, value.dtype(), shape, o.trainable);
  state_->born = here();
  state_->constraint = std::move(o.constraint);
  // A variable lives where it was made, and assignments come to it.
  state_->set(copy_to(value, current_device()));
  if (VariableWatcher* watcher = variable_watcher()) watcher->made(*state_);
  if (trace)
    trace->created(*this, given);
  else if (CreationWatcher* around = creation_watcher())
    around->created_aside(*this);
}

CreationWatcher*& creation_watcher() {
  thread_local CreationWatcher* watcher = nullptr;
  return watcher;
}

// The variable holds its handle for the time of the call: no copy is counted, which all three do.
Tensor Variable::now() const {
  static const Attrs own_dtype{Arg(DType::kInvalid)};
  Tensors out;
  apply(read_op.def(), {&handle(), 1}, own_dtype, out);
  return std::move(out[0]);
}

const Variable& Variable::assign(const In& value) const {
  assign_op(handle(), value.tensor(dtype()));
  return *this;
}

}  // namespace holdfast
