// How an op is said: one expression that registers the op, its public function and its samples.
//
//   static const Op op = OP(Erf, &erf).args("x").doc("Gauss error function, element by element.")
//       .python("math.erf").dtypes(kFloats).elementwise(Scalar::kErf)
//       .gradient(+[](Grad& g) -> Tensors { ... }).samples("uniform(3,
//       4)").reference("scipy.special.erf(x)");
//   Tensor erf(In x) { return op(x); }
#pragma once

#include <memory>

#include "holdfast/op/context.h"
#include "holdfast/op/function.h"
#include "holdfast/op/grad.h"

namespace holdfast {

/// A registered op, ready to be called.
class HOLDFAST_API Op {
 public:
  explicit Op(const OpDef* def) : def_(def) {}

  /// Runs it on one or two inputs, no attributes.
  Tensor operator()(const In& x) const;
  Tensor operator()(const In& x, const In& y) const;
  /// Runs it on any inputs; missing attributes take their defaults.
  Tensor operator()(std::initializer_list<In> inputs, Attrs attrs = {}) const;
  Tensors many(std::initializer_list<In> inputs, Attrs attrs = {}) const;
  Tensors list(const Tensors& inputs, Attrs attrs = {}) const;
  const OpDef& def() const { return *def_; }

 private:
  const OpDef* def_;
};

/// Collects what is said of an op or a function; turning it into an Op registers it.
class HOLDFAST_API Builder {
 public:
  Builder(const char* op, const char* function, detail::Signature signature);
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // -- the public function
  /// Names of the parameters before the options, "a, b, indices: I"; the part after the colon is
  /// the dtype group, T where none is given. A list marked "&" takes a tensor that stands alone for
  /// all of it; others take it for the list of its rows.
  Builder& args(const char* names);
  /// Fields of the options struct and their names, in the order other languages see them.
  template <auto First, auto... Rest>
  Builder& options(const char* names) {
    const detail::OwnerOf<First> defaults{};
    option(&defaults, defaults.*First);
    (option(&defaults, defaults.*Rest), ...);
    return name_options(names);
  }
  Builder& doc(const char* text);
  /// Where other languages find it, "math.erf, erf". Without it the C++ name.
  Builder& python(const char* paths);
  /// Names of a tuple's members, "values, indices".
  Builder& returns(const char* names);
  /// Argument lists for the sweep of tests, in Python's words, and the NumPy expression they must
  /// equal.
  template <class... S>
  Builder& samples(S... texts) {
    (sample(texts), ...);
    return *this;
  }
  Builder& reference(const char* expression);
  Builder& checks(Checks c);

  // -- the op
  /// Inputs and attributes of the raw op where they differ from the function's: "input, axis:
  /// Tidx". A trailing `*` marks a list, `?` an optional input, `!` small integers that live on the
  /// host,
  /// `~` one number that may live anywhere and does not say where the op runs.
  Builder& inputs(const char* names);
  /// An attribute of the raw op with its default; a `required` one has none.
  Builder& attr(const char* name, Arg default_value);
  Builder& attr(const char* name);
  /// The struct by which attributes are read (op/attr.h): all its fields.
  template <auto First, auto... Rest>
  Builder& attrs() {
    using A = detail::OwnerOf<First>;
    static_assert(detail::kFields<A> == 1 + sizeof...(Rest), "some fields are not listed");
    op_->attr_structs.push_back(&detail::kAttrsOf<A>);
    const A fields{};
    field<First>(fields);
    (field<Rest>(fields), ...);
    return *this;
  }
  /// Names of the outputs, "values, indices". One `output` where it is not called.
  Builder& outputs(const char* names);
  /// What input dtypes it takes: of the group, or of all groups not named otherwise.
  Builder& dtypes(DTypes, const char* group = "T");
  /// Inputs of the group are handles of things of this kind; others are refused.
  Builder& resource(const ResourceKind& kind, const char* group = "R");
  /// The shape rule.
  Builder& infer(InferFn);
  /// Output 0 has the dtype and shape of input 0.
  Builder& same_as_input();
  /// Shape rule, kernels and fusion follow from a scalar instruction.
  Builder& elementwise(Scalar);
  Builder& kernel(const char* name, KernelFn, DTypes = kAll, RefuseFn = nullptr);
  Builder& kernel_for(DeviceKind, const char* name, KernelFn, DTypes = kAll, RefuseFn = nullptr);
  /// A kernel in two parts: what the types decide is done once, and each call goes by it.
  Builder& kernel(const char* name, PrepareFn, PreparedFn, DTypes = kAll);
  Builder& gradient(GradFn);
  /// No gradient flows, on purpose (comparisons, integers, argmax).
  Builder& no_gradient();
  /// What the gradient looks at, so that the tape can drop the rest: "x", "x, output".
  Builder& keeps(const char* names);
  /// Says which input its CPU kernels may find their output 0 in, given the attributes: they read
  /// what they need of it before they write there. -1: none.
  Builder& overwrites(OverwriteFn);
  /// Says which input's memory an output is a view of, where that is more than `view` can say.
  Builder& aliases(AliasFn);
  Builder& commutative();
  Builder& stateful();
  Builder& reads_state();
  Builder& view();
  Builder& rearranges();
  Builder& on_host();
  Builder& moves_between_devices();
  Builder& replaceable();
  Builder& reshapes();
  Builder& broadcasts();
  Builder& keeps_apart();
  Builder& order_shows();
  Builder& draws();
  Builder& reads_variable();
  Builder& asks_only();
  Builder& updates(Update);
  Builder& of_shape(OfShape);
  Builder& flat(Flat);
  Builder& control(Control);
  Builder& images(Images);
  Builder& folds(Fold);
  Builder& flops(FlopsFn);
  Builder& fuses(FuseFn);

  operator Op();
  /// Registers a function that is a composition of ops.
  operator const FunctionDef*();

 private:
  template <class T>
  void option(const void* options, const T& field) {
    auto offset = reinterpret_cast<const char*>(&field) - static_cast<const char*>(options);
    option(ParamType<T>::kind, ParamType<T>::arg(field), static_cast<size_t>(offset),
           &ParamType<T>::put);
  }
  void option(Kind, const Arg& default_value, size_t offset, void (*put)(void*, const Arg&));
  template <auto Field, class A>
  void field(const A& fields) {
    auto offset =
        reinterpret_cast<const char*>(&(fields.*Field)) - reinterpret_cast<const char*>(&fields);
    using F = std::remove_cvref_t<decltype(fields.*Field)>;
    fields_.push_back(
        {detail::field_name<Field>(), static_cast<size_t>(offset) / sizeof(F), &F::takes});
  }
  void check_fields() const;
  Builder& name_options(const char* names);
  Builder& sample(const char* text);
  std::unique_ptr<OpDef> op_;
  std::unique_ptr<FunctionDef> function_;
  bool raw_inputs_ = false;
  // Fields of structs of attributes, compared with the attributes when all are known.
  struct Field {
    std::string_view name;
    size_t position;
    bool (*takes)(const Arg& default_value);
  };
  std::vector<Field> fields_;
  // What `elementwise` said; where it still holds in the end, the op is plain.
  const Loop* loops_ = nullptr;
  InferFn loops_infer_ = nullptr;
  KernelFn loops_run_ = nullptr;
  size_t loops_arity_ = 0;
};

/// An op with its public function.
#define OP(Name, Fn) \
  ::holdfast::Builder(#Name, #Fn + 1, ::holdfast::detail::Deduce<Fn, decltype(Fn)>::signature())
/// An op without one: reached by other functions and by `raw_ops`.
#define RAW_OP(Name) ::holdfast::Builder(#Name, nullptr, {})
/// A function that is written with other functions.
#define FUNCTION(Fn) \
  ::holdfast::Builder(nullptr, #Fn + 1, ::holdfast::detail::Deduce<Fn, decltype(Fn)>::signature())
/// Registers without keeping a handle.
#define REGISTER(...) \
  static const ::holdfast::FunctionDef* HOLDFAST_JOIN(registered_, __LINE__) = __VA_ARGS__
#define HOLDFAST_JOIN(a, b) HOLDFAST_JOIN_(a, b)
#define HOLDFAST_JOIN_(a, b) a##b

// -- registry

/// All ops and functions, by name. Frozen once the library is loaded.
HOLDFAST_API const std::vector<const OpDef*>& all_ops();
HOLDFAST_API const std::vector<const FunctionDef*>& all_functions();
HOLDFAST_API const OpDef* find_op(std::string_view name);
/// Adds a kernel to an op that exists; how plugins extend it. Before other threads run ops.
HOLDFAST_API void add_kernel(std::string_view op, Kernel kernel);

}  // namespace holdfast
