#include "holdfast/keras/layers/recurrent/rnn.h"

#include "holdfast/base/text.h"
#include "holdfast/keras/layers/checks.h"
#include "holdfast/keras/layers/recurrent/loop.h"
#include "holdfast/keras/layers/recurrent/stacked.h"
#include "holdfast/op/advice.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras {
namespace layers {
namespace {

using O = RNNOptions;
// None while there are none: the layer is not stateful, or not built.
Config shown_states(const Object& o) {
  Config::List out;
  for (const Variable& v : dynamic_cast<const RNNLayer&>(o).states())
    out.emplace_back(Ref<Object>(v.state()));
  return out.empty() ? Config() : Config(std::move(out));
}

// Made when it is first asked for: classes of other files derive from it.
ClassDef& make_class() {
  static ClassDef& d =
      Declare<RNNLayer>("layers.RNN", "Repeats a cell over the steps of sequences.", &Layer::def())
          .required<&O::cell>("cell")
          .option<&O::return_sequences>("return_sequences")
          .option<&O::return_state>("return_state")
          .option<&O::go_backwards>("go_backwards")
          .option<&O::stateful>("stateful")
          .option<&O::unroll>("unroll")
          .option<&O::zero_output_for_mask>("zero_output_for_mask")
          .layer_options()
          .key_before("cell")
          .option<&O::activity_regularizer>("activity_regularizer", false)
          .parameters({"sequences", "initial_state", "mask", "training"})
          .property("states", &shown_states)
          .action("reset_state", [](Object& o) { dynamic_cast<RNNLayer&>(o).reset_state(); })
          .action("reset_states", [](Object& o) { dynamic_cast<RNNLayer&>(o).reset_state(); });
  return d;
}
[[maybe_unused]] const ClassDef& declared = make_class();

// A step's shape: that of the sequences without time.
Shape step_shape(const Shape& s) {
  std::vector<int64_t> sizes{s[0]};
  for (int i = 2; i < s.rank(); ++i) sizes.push_back(s[i]);
  return Shape(sizes);
}

}  // namespace

CellOption::CellOption(const std::vector<LayerOption>& cells)
    : LayerOption(StackedRNNCells({.cells = cells})) {}

RNNLayer::RNNLayer(const RNNOptions& o) { configure(o); }
const ClassDef& RNNLayer::class_def() { return make_class(); }

void RNNLayer::repeat(const RNNOptions& o) {
  if (!o.cell) fail(Code::E1104, cat(class_name(), ": `cell` is not given"));
  state_size_of(*o.cell);
  repeats_ = o;
  hold(Ref<ModuleObject>(o.cell.layer));
  o.cell->name_it();
}

std::optional<InputSpec> RNNLayer::input_spec() const {
  if (&definition() == &class_def()) return {};  // a cell may take any steps
  return InputSpec{.axes = 3};
}

void RNNLayer::need_sequences(const Shape& s) const {
  int least = plain_gated_cell(*repeats_.cell) ? 3 : 2;
  bool fits = s.has_rank() && (least == 3 ? s.rank() == 3 : s.rank() >= 2);
  if (!fits)
    fail(Code::E1102,
         cat(described(), ": `sequences` is ", s.text(), ", expected [batch, time, size]"),
         "a recurrent layer goes over the second axis, one step after another",
         {manual_fix(cat("give the inputs a batch axis: `", written(Advice::kNewAxis, {"x"}),
                         "`, or an axis of features")),
          manual_fix(cat("or, where a recurrent layer gives them, let it give every step: `",
                         written(Advice::kOption, {"return_sequences", written(true)}), "`"))});
  if (s[1] == 0)
    fail(Code::E1102, cat(described(), ": `sequences` is ", s.text(), ", which has no steps"));
  if (repeats_.unroll && s[1] < 0)
    fail(Code::E1102, cat(described(), ": `sequences` is ", s.text(), ", expected a known time"),
         "`unroll` writes each step down, so there has to be a known number of them",
         {manual_fix("say the time axis in the Input's shape, or leave `unroll` out")});
}

void RNNLayer::build_all(const std::vector<Shape>& inputs) {
  if (inputs.empty()) fail(Code::E1102, cat(described(), " is built for no inputs"));
  const Shape& s = inputs[0];
  need_sequences(s);
  build_inner(*repeats_.cell, {step_shape(s)});
  if (!repeats_.stateful || !states_.empty()) return;
  if (s[0] < 0)
    fail(Code::E1102, cat(described(), ": `sequences` is ", s.text(), ", expected a known batch"),
         "the layer is stateful: its states are variables, with a row for each sequence of the "
         "batch",
         {manual_fix("say the batch size in the Input: `batch_size`, or `batch_shape`")});
  InterpreterScope eagerly(nullptr);
  NoTapes unseen;
  NameScope scope(scope_name());
  for (const Tensor& t :
       initial_state_of(*repeats_.cell, Tensor::scalar(static_cast<int32_t>(s[0]))).leaves())
    states_.emplace_back(cast(t, dtype()),
                         VariableOptions{.trainable = false, .name = "rnn_state"});
}

void RNNLayer::reset_state() {
  for (Variable& v : states_) v.assign(zeros_like(v.read()));
}

Nested RNNLayer::first_states(const Tensor& x, const CallOptions& o) {
  Nested form = initial_state_of(*repeats_.cell, at(shape(x), 0));
  std::vector<Tensor> zero = form.leaves(), given;
  if (const Nested* said = o.find("initial_state")) {
    given = said->leaves();
    if (given.size() != zero.size())
      fail(Code::E1104,
           cat(described(), ": `initial_state` has ", given.size(), " tensors, expected ",
               zero.size(), ", one for each state of its cell"));
    for (size_t i = 0; i < given.size(); ++i)
      if (!given[i].shape().compatible(zero[i].shape()))
        fail(Code::E1102, cat(described(), ": `initial_state[", i, "]` has the shape ",
                              given[i].shape().text(), ", expected ", zero[i].shape().text()));
  } else if (repeats_.stateful) {
    if (!states_.empty() && x.shape()[0] >= 0 && states_[0].shape()[0] != x.shape()[0])
      fail(Code::E1102,
           cat(described(), ": `sequences` is ", x.shape().text(), ", expected a batch of ",
               states_[0].shape()[0]),
           "the layer is stateful: it goes on from the states that the last batch left");
    for (const Variable& v : states_) given.push_back(v.read());
  } else {
    return form;
  }
  for (Tensor& t : given) t = repeats_.cell->as_input(t);
  return form.with_leaves(given);
}

TimeLoopResult RNNLayer::by_kernel(const GatedCellLayer& cell, const Tensor& x,
                                   const Tensors& states, const Tensor& mask, const CellWeights& w,
                                   bool given_states) const {
  auto in_order = [&](const Tensor& t) {
    return repeats_.go_backwards && t.defined() ? reverse(t, {1}) : t;
  };
  Tensor moving = in_order(mask);
  AllSteps made = cell.steps(in_order(x), states, moving, w);
  if (!made.all.defined()) return {};
  TimeLoopResult out{made.last[0], made.all, made.last};
  // A row that has not moved yet shows zeros, whatever its state is.
  bool zero = repeats_.zero_output_for_mask;
  if (!mask.defined() || !(zero || given_states)) return out;
  Tensor shows = zero ? moving : cumsum(cast(moving, int32), {.axis = 1}) > 0,
         at_last = zero ? at(moving, all, -1) : reduce_any(moving, {.axis = 1});
  out.all = select(expand_dims(shows, -1), out.all, zeros_like(out.all));
  out.last = select(expand_dims(at_last, -1), out.last, zeros_like(out.last));
  return out;
}

TimeLoopResult RNNLayer::by_steps(GatedCellLayer* gated, const Tensor& x, const Nested& form,
                                  const Tensor& mask, const CellWeights& w, bool training) const {
  Layer& cell = *repeats_.cell;
  std::vector<Tensor> first = form.leaves();
  Tensors states(first.begin(), first.end());
  TimeLoopOptions loop{.backwards = repeats_.go_backwards,
                       .unroll = repeats_.unroll,
                       .all = repeats_.return_sequences,
                       .zero_for_mask = repeats_.zero_output_for_mask};
  if (mask.defined()) loop.mask = swap_batch_and_time(mask);
  Tensor in_time = swap_batch_and_time(x);
  if (gated) {
    loop.output_like = states[0];
    return over_time(gated->project(in_time, w), states,
                     Step([&](const Tensor& projected, const Tensors& before) -> StepResult {
                       Tensors after = gated->step(projected, before, w);
                       return {after[0], after};
                     }),
                     loop);
  }
  Tensor dims = stack({at(shape(x), 0), static_cast<int32_t>(output_size_of(cell))});
  loop.output_like = zeros(Sizes(dims), cell.compute_dtype());
  auto step = [&](const Tensor& one, const Tensors& before) -> StepResult {
    CallOptions given{.training = training};
    given.named.emplace_back("states", form.with_leaves(before));
    Nested made = cell.run(Nested(one), std::move(given));
    if (!made.is_sequence() || made.size() != 2 || !made[0].is_tensor())
      fail(Code::E1104, cat(described(), ": its cell ", cell.described(), " gave ", made.form(),
                            ", expected an output and the new states"));
    std::vector<Tensor> after = made[1].leaves();
    if (after.size() != before.size())
      fail(Code::E1104, cat(described(), ": its cell ", cell.described(), " gave ", after.size(),
                            " states, expected ", before.size()));
    return {made[0].tensor(), Tensors(after.begin(), after.end())};
  };
  return over_time(in_time, states, Step(step), loop);
}

Nested RNNLayer::call_all(const Nested& inputs, const CallOptions& o) {
  GatedCellLayer* gated = plain_gated_cell(*repeats_.cell);
  Tensor x = inputs.tensor(cat(described(), ": `sequences`"));
  if (gated) x = as_factor(*gated, x);
  need_sequences(x.shape());
  // What is traced for any batch still goes on from states of one size.
  if (!states_.empty() && x.shape()[0] < 0 && !o.find("initial_state")) {
    std::vector<int64_t> wanted(static_cast<size_t>(x.rank()), -1);
    wanted[0] = states_[0].shape()[0];
    x = ensure_shape(x, Shape(wanted));
  }
  Nested form = first_states(x, o);
  std::vector<Tensor> masks = o.mask.leaves();
  Tensor mask;
  if (!masks.empty()) {
    const Shape& m = masks[0].shape();
    if (m.has_rank() && m.rank() != 2)
      fail(Code::E1102,
           cat(described(), ": `mask` has the shape ", m.text(), ", expected [batch, time]"));
    mask = cast(masks[0], boolean);
  }
  bool training = o.training.value_or(false);
  CellWeights w;
  if (gated) w = gated->begin(at(x, all, 0), training);
  TimeLoopResult result;
  if (gated && !repeats_.unroll) {
    std::vector<Tensor> first = form.leaves();
    bool given = repeats_.stateful || o.find("initial_state");
    result = by_kernel(*gated, x, Tensors(first.begin(), first.end()), mask, w, given);
  }
  if (!result.last.defined()) result = by_steps(gated, x, form, mask, w, training);
  if (repeats_.stateful)
    for (size_t i = 0; i < states_.size(); ++i) states_[i].assign(cast(result.states[i], dtype()));
  Tensor output = as_input(repeats_.return_sequences ? result.all : result.last);
  if (!repeats_.return_state) return output;
  // The states of a cell stand beside the output; those of stacked cells stay together.
  std::vector<Tensor> last;
  for (const Tensor& t : result.states) last.push_back(as_input(t));
  Nested after = form.with_leaves(last);
  std::vector<Nested> out{output};
  for (size_t i = 0; i < after.size(); ++i) {
    bool alone = after[i].is_sequence() && after[i].size() == 1;  // a cell of one state
    out.push_back(alone ? after[i][0] : after[i]);
  }
  return Nested::list(std::move(out));
}

Nested RNNLayer::compute_mask(const Nested&, const Nested& mask) {
  std::vector<Tensor> masks = mask.leaves();
  Nested own = repeats_.return_sequences && !masks.empty() ? Nested(masks[0]) : Nested();
  if (!repeats_.return_state) return own;
  std::vector<Nested> out{own};
  Config sizes = state_size_of(*repeats_.cell);
  size_t states = sizes.kind() == Config::Kind::kList ? sizes.as_list().size() : 1;
  out.resize(1 + states);
  return Nested::list(std::move(out));
}

}  // namespace layers

void OptionType<layers::CellOption>::set(layers::CellOption& v, const Config& c,
                                         const std::string& what) {
  if (c.kind() != Config::Kind::kList) return OptionType<LayerOption>::set(v, c, what);
  std::vector<LayerOption> cells;
  OptionType<std::vector<LayerOption>>::set(cells, c, what);
  v = layers::CellOption(cells);
}

}  // namespace holdfast::keras
