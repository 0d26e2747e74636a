#include "holdfast/keras/layers/dense.h"

#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/ops/conv.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {

const ObjectClass DenseLayer::kClass{"Dense", &Layer::kClass};

namespace {

const bool registered =
    (registry::add_class(
         "Dense", [](const ConfigDict& c) { return Ref<Object>(DenseLayer::from_config(c)); }),
     true);

// A config says null where it has nothing to say.
const Config* given(ConfigReader& read, const char* key) {
  const Config* found = read.take(key);
  return found && !found->is_null() ? found : nullptr;
}

}  // namespace

void DenseLayer::configure(const DenseOptions& o) {
  if (o.units < 1)
    fail(Code::E1103, cat("Dense: `units` is ", o.units, ", expected at least 1"),
         "units are the size of the last axis of what the layer gives");
  if (built()) fail(Code::E1104, cat(described(), " is built already, and its options are fixed"));
  options_ = o;
  set_options({.name = o.name, .trainable = o.trainable, .dtype = o.dtype});
}

void DenseLayer::visit(Visitor& see) const {
  Layer::visit(see);
  if (kernel_.defined()) see.object(*kernel_.state());
  if (bias_.defined()) see.object(*bias_.state());
  see.child(options_.activation.function);
  see.child(options_.kernel_initializer.function);
  see.child(options_.bias_initializer.function);
  see.child(options_.kernel_constraint);
  see.child(options_.bias_constraint);
}

void DenseLayer::clear() {
  Layer::clear();
  kernel_ = bias_ = Variable();
  options_ = DenseOptions{.units = options_.units};
}

void DenseLayer::need_inputs(const Shape& inputs) const {
  bool fits = !inputs.has_rank() || inputs.rank() >= 2;
  if (fits && inputs.has_rank() && inputs_ >= 0)
    fits = inputs[inputs.rank() - 1] == inputs_ || inputs[inputs.rank() - 1] < 0;
  if (fits) return;
  fail(Code::E1102,
       cat(described(), ": `inputs` has the shape ", inputs.text(), ", expected ",
           inputs_ >= 0 ? cat("[..., ", inputs_, "]") : "at least two axes"),
       inputs_ >= 0 ? cat("the layer was built for a last axis of ", inputs_,
                          ", which its kernel is multiplied with")
                    : "the last axis is multiplied with the kernel, those before it are the batch",
       {manual_fix(inputs_ >= 0 ? "give inputs of that size, or use a layer of their own"
                                : cat("give the inputs a batch axis: `",
                                      written(Advice::kNewAxis, {"x"}), "`"))});
}

void DenseLayer::build(const Shape& inputs) {
  if (options_.units < 1)
    fail(Code::E1104, cat(described(), " was never given its `units`"),
         "the constructor of Dense did not run",
         {manual_fix(cat("call `", written(Advice::kConstructLayer, {"Dense", "units"}), "`"))});
  need_inputs(inputs);
  int64_t last = inputs.has_rank() ? inputs[inputs.rank() - 1] : -1;
  if (last < 0)
    fail(Code::E1102,
         cat(described(), ": `inputs` has the shape ", inputs.text(),
             ", expected a known last axis"),
         "the kernel has one row for each element of the last axis");
  kernel_ = add_weight({.name = "kernel",
                        .shape = {last, options_.units},
                        .initializer = options_.kernel_initializer,
                        .constraint = options_.kernel_constraint});
  if (options_.use_bias)
    bias_ = add_weight({.name = "bias",
                        .shape = {options_.units},
                        .initializer = options_.bias_initializer,
                        .constraint = options_.bias_constraint});
  inputs_ = last;
}

void DenseLayer::set_kernel(Variable v) {
  kernel_ = std::move(v);
  inputs_ = kernel_.defined() && kernel_.shape().rank() == 2 ? kernel_.shape()[0] : -1;
}
void DenseLayer::set_bias(Variable v) { bias_ = std::move(v); }

Tensor DenseLayer::call(const Tensor& inputs, const CallOptions&) {
  if (!kernel_.defined())
    fail(Code::E1104, cat(described(), " has no kernel"),
         "`build` makes it, and a class that overrides `build` has to call the one it overrides",
         {manual_fix(cat("call `", written(Advice::kBuildBase, {"DenseLayer"}), "` in `build`"))});
  need_inputs(inputs.shape());
  if (inputs.dtype() != kernel_.dtype())
    fail(Code::E1101,
         cat(described(), ": `inputs` is ", holdfast::name(inputs.dtype()), ", expected ",
             holdfast::name(kernel_.dtype()), ", the dtype of its kernel"));
  Tensor y = matmul(inputs, kernel_.read());
  if (bias_.defined()) y = y + bias_.read();
  return options_.activation.function ? (*options_.activation.function)(y) : y;
}

ConfigDict DenseLayer::get_config() const {
  ConfigDict out = Layer::get_config();
  out.set("units", options_.units);
  const auto& activation = options_.activation.function;
  out.set("activation", activation ? activation->config() : Config("linear"));
  out.set("use_bias", options_.use_bias);
  out.set("kernel_initializer", options_.kernel_initializer.function->config());
  out.set("bias_initializer", options_.bias_initializer.function->config());
  if (options_.kernel_constraint || options_.bias_constraint)
    fail(Code::E1105, cat(described(), " has a constraint, which no config can say"),
         "constraints are functions, and have no name that a file could hold");
  for (const char* none : {"kernel_regularizer", "bias_regularizer", "activity_regularizer",
                           "kernel_constraint", "bias_constraint"})
    out.set(none, nullptr);
  return out;
}

Ref<DenseLayer> DenseLayer::from_config(const ConfigDict& config) {
  ConfigReader read(config, "Dense");
  DenseOptions o;
  auto what = [&](const char* key) { return read.argument(key); };
  if (auto* v = given(read, "name")) o.name = v->as_text(what("name"));
  if (auto* v = given(read, "trainable")) o.trainable = v->as_bool(what("trainable"));
  if (auto* v = given(read, "dtype")) o.dtype = dtype_from(*v, what("dtype"));
  auto* units = given(read, "units");
  if (!units) fail(Code::E1104, "the config of Dense has no `units`");
  o.units = units->as_integer(what("units"));
  if (auto* v = given(read, "activation")) o.activation = v->as_text(what("activation"));
  if (auto* v = given(read, "use_bias")) o.use_bias = v->as_bool(what("use_bias"));
  if (auto* v = given(read, "kernel_initializer")) o.kernel_initializer = initializer(*v);
  if (auto* v = given(read, "bias_initializer")) o.bias_initializer = initializer(*v);
  for (const char* none : {"kernel_regularizer", "bias_regularizer", "activity_regularizer",
                           "kernel_constraint", "bias_constraint"})
    if (given(read, none)) fail(Code::E1105, cat(what(none), " is not supported"), "only null is");
  read.finish();
  return make_ref<DenseLayer>(o);
}

}  // namespace holdfast::keras::layers
