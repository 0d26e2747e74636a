#include "holdfast/keras/function.h"

#include <map>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/activations.h"
#include "holdfast/keras/layer_function.h"

namespace holdfast::keras {

const ObjectClass Activation::kClass{"Activation"};

ClassDef& Initializer::def() {
  static ClassDef& d =
      Declare<Initializer>("initializers.Initializer", "Makes the first value of a weight.");
  return d;
}
ClassDef& Regularizer::def() {
  static ClassDef& d = Declare<Regularizer>("regularizers.Regularizer",
                                            "A penalty on a weight or on what a layer gives.");
  return d;
}
ClassDef& DeclaredConstraint::def() {
  static ClassDef& d =
      Declare<DeclaredConstraint>("constraints.Constraint", "A rule that values of a weight keep.");
  return d;
}
std::string Initializer::text() const { return cat("the initializer ", definition().name); }
std::string Regularizer::text() const { return cat("the regularizer ", definition().name); }

namespace {

// A function of another language in one of the roles.
class ForeignActivation final : public Activation, public StandsFor {
 public:
  using StandsFor::StandsFor;
  void visit(Visitor& see) const override { see.child(function); }
  Tensor operator()(const Tensor& x) const override { return function->of({&x, 1}); }
  Config config() const override { return function->config(); }
};

class ForeignInitializer final : public Initializer, public HasConfig, public StandsFor {
 public:
  using StandsFor::StandsFor;
  void visit(Visitor& see) const override { see.child(function); }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    return function->first_value(shape, dtype);
  }
  Config config() const override { return function->config(); }
};

// Regularizers and constraints: functions of one tensor.
template <class Role>
class ForeignRule final : public Role, public HasConfig, public StandsFor {
 public:
  using StandsFor::StandsFor;
  void visit(Visitor& see) const override { see.child(function); }
  Tensor operator()(const Tensor& x) const override { return function->of({&x, 1}); }
  Config config() const override { return function->config(); }
};

template <class F, class Foreign>
Ref<F> in_role(const Ref<Object>& object, const std::string& what, const char* role) {
  if (!object) return {};
  if (auto* f = dynamic_cast<F*>(object.get())) return Ref<F>(f);
  if (auto* f = dynamic_cast<ForeignFunction*>(object.get()))
    return make_ref<Foreign>(Ref<ForeignFunction>(f));
  fail(Code::E1104, cat(what, " is ", object->text(), ", expected ", role));
}

}  // namespace

const ObjectClass LayerFunction::kClass{"LayerFunction"};

Tensor LayerFunction::of(std::span<const Tensor> inputs) const {
  CallOptions o;
  o.training = CallScope::training_now();
  return layer->run(inputs[0], o).tensor(cat("what ", layer->described(), " gave"));
}
Tensor LayerFunction::first_value(const Shape&, DType) const {
  fail(Code::E1104, cat(layer->described(), " can't be an initializer"));
}
Config LayerFunction::of_values(const Config::List&) const {
  fail(Code::E1104, cat(layer->described(), " can't be a function of numbers"));
}

Ref<Activation> Activation::from(const Ref<Object>& o, const std::string& what) {
  if (auto* layer = dynamic_cast<Layer*>(o.get()))
    return make_ref<ForeignActivation>(make_ref<LayerFunction>(Ref<Layer>(layer)));
  return in_role<Activation, ForeignActivation>(o, what, "an activation's name or a function");
}
Ref<Initializer> Initializer::from(const Ref<Object>& o, const std::string& what) {
  return in_role<Initializer, ForeignInitializer>(o, what, "an initializer's name or a function");
}
Ref<Regularizer> Regularizer::from(const Ref<Object>& o, const std::string& what) {
  return in_role<Regularizer, ForeignRule<Regularizer>>(o, what,
                                                        "a regularizer's name or a function");
}
void Choice<Constraint>::set(const Config& config, const std::string& what) {
  function = in_role<Constraint, ForeignRule<Constraint>>(
      object_from(config, DeclaredConstraint::kFolder, what), what,
      "a constraint's name or a function");
}

Ref<Activation> activation(const Config& described) {
  return Activation::from(object_from(described, Activation::kFolder, "an activation"),
                          "an activation");
}
Ref<Initializer> initializer(const Config& described) {
  return Initializer::from(object_from(described, Initializer::kFolder, "an initializer"),
                           "an initializer");
}

std::vector<std::string> function_names(const std::string& folder) {
  std::vector<std::string> out;
  if (folder == Activation::kFolder)
    for (const activations::Named& f : activations::all()) out.push_back(f.name);
  return out;
}

namespace {
// What the program wrote between braces, in the place of a function with a name.
class CodeFunction final : public ForeignFunction {
 public:
  static const ObjectClass kClass;
  explicit CodeFunction(TensorCode code) : code_(std::move(code)) {}
  const ObjectClass& object_class() const override { return kClass; }
  Tensor of(std::span<const Tensor> inputs) const override {
    Tensor out = code_(inputs);
    if (!out.defined()) fail(Code::E1104, "the code that was given gave no tensor");
    return out;
  }
  Tensor first_value(const Shape&, DType) const override { no("an initializer"); }
  Config of_values(const Config::List&) const override { no("a function of numbers"); }
  std::string name() const override { return "code"; }
  Config config() const override {
    fail(Code::E1105, "code of the program has no config",
         "a file holds names and numbers, and no code",
         {manual_fix("derive a class, register it, and give an object of it")});
  }

 private:
  [[noreturn]] static void no(const char* what) {
    fail(Code::E1104, cat("code of tensors can't be ", what));
  }
  TensorCode code_;
};
const ObjectClass CodeFunction::kClass{"CodeFunction"};
}  // namespace

Ref<Object> code_function(TensorCode code) { return make_ref<CodeFunction>(std::move(code)); }

Ref<Object> named_function(const std::string& folder, const std::string& name) {
  return folder == Activation::kFolder ? activations::find(name) : Ref<Object>();
}

}  // namespace holdfast::keras
