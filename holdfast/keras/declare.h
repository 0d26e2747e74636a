// A class of Keras is declared once: its options, its weights, what it is called. From that come
// its config, how it is made from one, and the classes of other languages.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

#include "holdfast/base/callback.h"
#include "holdfast/base/concepts.h"
#include "holdfast/base/config.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/held_weight.h"

namespace holdfast::keras {

class Layer;

/// How an option of type T is said in a config, and read from one. `set` refuses what it can't use
/// and names it by `what`.
template <class T>
struct OptionType;

/// How values of one type become configs and back: one for all options of the type.
struct OptionAccess {
  Config (*get)(const void* value);  // objects as themselves
  void (*set)(void* value, const Config& config, const std::string& what);
  Config (*written)(const void* value);  // as configs have it
};

/// One option of a class.
struct HOLDFAST_API Option {
  const char* name;
  void* (*place)(void* options);  // where its value is
  const OptionAccess* access;
  bool in_config = true;
  bool required = false;

  Config get(const void* options) const;
  void set(void* options, const Config& value, const std::string& what) const;
  Config written(const void* options) const;
};

/// A variable that objects of a class show under a name.
struct Weight {
  const char* name;
  const Variable& (*get)(const Object&);
  void (*set)(Object&, const Variable&);  // another one, or none
};

/// A value that is computed from an object and shown under a name.
struct Property {
  const char* name;
  Config (*get)(const Object&);
};

/// A method that takes and gives nothing.
struct Action {
  const char* name;
  void (*run)(Object&);
};

/// What is known of a class.
struct HOLDFAST_API ClassDef {
  ClassDef(std::string path_, std::string doc_, const ClassDef* base_);
  ClassDef(const ClassDef&) = delete;

  const std::string path;  // "layers.Dense"
  const std::string name;  // "Dense"
  const std::string doc;   // for whoever reads it in Python
  const ClassDef* const base;
  ObjectClass kind;
  std::vector<Option> options;  // in the order in which they may be given by position
  size_t by_position = 99;      // how many of them may
  std::vector<Weight> weights;
  std::vector<Property> properties;
  std::vector<Action> actions;
  std::vector<std::string> parameters;   // of `call`, besides `training` and `mask`
  std::vector<std::string> aliases;      // further paths
  std::vector<std::string> short_names;  // by which an option may name it: "mse"
  /// Keys that configs have elsewhere than the options: before another one, or last.
  std::vector<std::pair<std::string, std::string>> moved_keys;
  std::string inner_name;           // what Keras' class is called, if not as it is public
  Ref<Object> (*make)() = nullptr;  // null: a base, of which there are no objects
  /// One whose virtual methods another language may override.
  Ref<Object> (*make_foreign)() = nullptr;

  const Option* find(std::string_view option) const;

  // What `Declare` says of it, one by one.
  void add(const Option& option);
  void add(const Weight& weight);
  void add(const Property& property);
  void add(const Action& action);
  void add_alias(std::string path_);
  void move_key(std::string key, std::string other);
};

/// Base of objects whose class is declared. The object is an `Object` too.
class HOLDFAST_API Declared {
 public:
  virtual const ClassDef& definition() const = 0;
  /// Where its options are: what `Option::get` and `set` take.
  virtual void* option_place() = 0;
  const void* option_place() const { return const_cast<Declared*>(this)->option_place(); }
  /// Checks the options as a whole, and takes them over.
  virtual void configured() {}

 protected:
  ~Declared() = default;
  /// Refuses options that make no sense.
  virtual void check() {}
};

/// All classes, bases before what derives from them.
HOLDFAST_API const std::vector<ClassDef*>& all_classes();
/// The class of a path ("layers.Dense") or of a name; null where there is none.
HOLDFAST_API const ClassDef* find_class(std::string_view path_or_name);
/// Makes an object with the options of a config. Unknown and missing ones are refused.
HOLDFAST_API Ref<Object> make_declared(const ClassDef& def, const ConfigDict& config);
/// Sets one option, by name.
HOLDFAST_API void set_option(Declared& object, const ClassDef& def, const std::string& name,
                             const Config& value);
/// Sets an option of a struct of a class's options by its place among those that Python takes
/// without a name.
HOLDFAST_API void set_option_at(const ClassDef& def, void* options, size_t place,
                                const Config& value);
/// What an object can be made from again. Objects inside become configs.
HOLDFAST_API ConfigDict declared_config(const Declared& object);
/// A config whose keys stand in the order that Keras has for the class.
HOLDFAST_API ConfigDict in_key_order(const ConfigDict& config, const ClassDef& def);
/// An object as its class's name and its config: of anything that has one.
HOLDFAST_API Config described(const Object& object);
/// The object that a config describes: by name ("relu", "glorot_uniform") below `folder`
/// ("activations"), by class and config, or itself. Null for null.
HOLDFAST_API Ref<Object> object_from(const Config& config, const std::string& folder,
                                     const std::string& what);
/// "glorot_uniform" for "GlorotUniform".
HOLDFAST_API std::string snake_case(std::string_view class_name);
HOLDFAST_API std::string lower_case(std::string_view s);
/// The name of a program's own class, without its namespace and its template's arguments.
HOLDFAST_API std::string plain_class_name(const std::type_info& type);
/// Refuses an identifier that nobody knows, with those nearest to it.
[[noreturn]] HOLDFAST_API void unknown_identifier(const std::string& kind, const std::string& name,
                                                  const std::vector<std::string>& known);

namespace detail {
/// A layer, a schedule or what else a handle holds.
template <class T>
concept HoldsObject = requires(const T& held) { Ref<Object>(held.ref()); };
/// What may stand for a first option: `Dense(64)`, `Adam(1e-3)`, `Activation("relu")`,
/// `Bidirectional(LSTM(8))`, `Reshape(Shape{2, 3})`.
template <class T>
concept FirstOption = std::is_arithmetic_v<T> || ConvertsTo<T, std::string> || HoldsObject<T> ||
                      std::is_same_v<T, Shape>;
template <FirstOption T>
Config as_config(const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    return value;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<int64_t>(value);
  else if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(value);
  else if constexpr (std::is_same_v<T, Shape>)
    return Config(Config::List(value.begin(), value.end()));
  else if constexpr (HoldsObject<T>)
    return Config(Ref<Object>(value.ref()));
  else
    return Config(std::string(value));
}
template <FirstOption T>
Config as_config(std::initializer_list<T> several) {
  Config::List out;
  for (const T& one : several) out.push_back(as_config(one));
  return out;
}

template <auto member>
struct MemberOf;
template <class C, class T, T C::* member>
struct MemberOf<member> {
  using Class = C;
  using Type = T;
};
/// The template that lets another language override methods of L; see foreign.h.
template <class L>
struct ForeignOf;
}  // namespace detail

namespace detail {
template <class T>
struct AccessOf {
  static Config get(const void* v) { return OptionType<T>::get(*static_cast<const T*>(v)); }
  static void set(void* v, const Config& config, const std::string& what) {
    OptionType<T>::set(*static_cast<T*>(v), config, what);
  }
  static Config written(const void* v) {
    if constexpr (requires(const T& value) { OptionType<T>::written(value); })
      return OptionType<T>::written(*static_cast<const T*>(v));
    else
      return get(v);
  }
  static constexpr OptionAccess kAccess{get, set, written};
};
template <auto member>
void* place_of(void* options) {
  return &(static_cast<typename MemberOf<member>::Class*>(options)->*member);
}
}  // namespace detail

/// A member of a struct of options, under a name.
template <auto member>
Option option_of(const char* name, bool in_config = true) {
  using T = typename detail::MemberOf<member>::Type;
  return {name, detail::place_of<member>, &detail::AccessOf<T>::kAccess, in_config};
}

/// Declares a class: `static Declare<DenseLayer> def{{"layers.Dense", "doc", &Layer::kDef}}`, then
/// options and weights.
template <class L>
class Declare {
 public:
  Declare(std::string path, std::string doc, const ClassDef* base = nullptr)
      : def_(new ClassDef(std::move(path), std::move(doc), base)) {
    if constexpr (std::is_default_constructible_v<L>) {
      def_->make = [] { return Ref<Object>(make_ref<L>()); };
      if constexpr (requires { typename detail::ForeignOf<L>::type; })
        def_->make_foreign = [] {
          return Ref<Object>(make_ref<typename detail::ForeignOf<L>::type>());
        };
    }
  }

  template <auto member>
  Declare&& option(const char* name, bool in_config = true) && {
    def_->add(option_of<member>(name, in_config));
    return std::move(*this);
  }
  /// The same; it must be given.
  template <auto member>
  Declare&& required(const char* name) && {
    Option option = option_of<member>(name);
    option.required = true;
    def_->add(option);
    return std::move(*this);
  }
  /// What every layer has, after the class's own.
  Declare&& layer_options() && {
    using O = typename L::Options;
    def_->by_position = def_->options.size();
    return std::move(*this)
        .template option<&O::trainable>("trainable")
        .template option<&O::dtype>("dtype")
        .template option<&O::name>("name");
  }
  /// What every other object has: its name.
  Declare&& named() && { return std::move(*this).template option<&L::Options::name>("name"); }
  /// All options are given by name only.
  Declare&& keywords() && {
    def_->by_position = 0;
    return std::move(*this);
  }
  /// From here on options are given by name only.
  Declare&& by_name() && {
    def_->by_position = def_->options.size();
    return std::move(*this);
  }
  template <auto member>
  Declare&& weight(const char* name) && {
    static_assert(std::is_same_v<typename detail::MemberOf<member>::Type, HeldWeight>,
                  "a plain Variable tells nobody that it is assigned another one");
    def_->add(Weight{
        name, [](const Object& o) -> const Variable& { return dynamic_cast<const L&>(o).*member; },
        [](Object& o, const Variable& v) { dynamic_cast<L&>(o).*member = v; }});
    return std::move(*this);
  }
  Declare&& property(const char* name, Config (*get)(const Object&)) && {
    def_->add(Property{name, get});
    return std::move(*this);
  }
  Declare&& action(const char* name, void (*run)(Object&)) && {
    def_->add(Action{name, run});
    return std::move(*this);
  }
  Declare&& parameters(std::vector<std::string> names) && {
    def_->parameters = std::move(names);
    return std::move(*this);
  }
  Declare&& alias(std::string path) && {
    def_->add_alias(std::move(path));
    return std::move(*this);
  }
  /// Short names by which an option may name it.
  Declare&& known_as(std::vector<std::string> names) && {
    def_->short_names = std::move(names);
    return std::move(*this);
  }
  /// In configs a key stands before another one; last where none is named.
  Declare&& key_before(std::string key, std::string other = {}) && {
    def_->move_key(std::move(key), std::move(other));
    return std::move(*this);
  }
  /// What Keras' class is called where its public name is another: names and files have that.
  Declare&& inner_name(std::string name) && {
    def_->inner_name = std::move(name);
    return std::move(*this);
  }
  operator ClassDef&() && { return *def_; }
  ClassDef& def() const { return *def_; }

 private:
  ClassDef* def_;  // lives as long as the program
};

/// An object of class Base with options of its own: `class DenseLayer : public
/// Declares<DenseOptions>`.
template <class O, class Base = Layer>
class Declares : public Base {
 public:
  using Options = O;
  /// Sets all options at once.
  void configure(const O& o) {
    options_ = o;
    this->configured();
  }
  const O& options() const { return options_; }
  void* option_place() override { return &options_; }
  void configured() override {
    if constexpr (requires(Base& b, const O& o) { b.take_options(o); })
      this->take_options(options_);
    this->check();
  }

 protected:
  O options_;
};

// -- kinds of options

template <>
struct HOLDFAST_API OptionType<bool> {
  static Config get(bool v) { return v; }
  static void set(bool& v, const Config& c, const std::string& what);
};
template <>
struct HOLDFAST_API OptionType<int64_t> {
  static Config get(int64_t v) { return v; }
  static void set(int64_t& v, const Config& c, const std::string& what);
};
template <>
struct HOLDFAST_API OptionType<double> {
  static Config get(double v) { return v; }
  static void set(double& v, const Config& c, const std::string& what);
};
template <>
struct HOLDFAST_API OptionType<std::string> {
  static Config get(const std::string& v) { return v; }
  static void set(std::string& v, const Config& c, const std::string& what);
};
template <>
struct HOLDFAST_API OptionType<DType> {
  static Config get(DType v);
  static void set(DType& v, const Config& c, const std::string& what);
};
/// A shape: a list of sizes, null for those that are open.
template <>
struct HOLDFAST_API OptionType<Shape> {
  static Config get(const Shape& v);
  static void set(Shape& v, const Config& c, const std::string& what);
};
/// Anything.
template <>
struct OptionType<Config> {
  static Config get(const Config& v) { return v; }
  static void set(Config& v, const Config& c, const std::string&) { v = c; }
};
template <class T>
struct OptionType<std::optional<T>> {
  static Config get(const std::optional<T>& v) { return v ? OptionType<T>::get(*v) : Config(); }
  static void set(std::optional<T>& v, const Config& c, const std::string& what) {
    v.reset();
    if (!c.is_null()) OptionType<T>::set(v.emplace(), c, what);
  }
};
template <class T>
struct OptionType<std::vector<T>> {
  static Config get(const std::vector<T>& v) {
    Config::List out;
    for (const T& one : v) out.push_back(OptionType<T>::get(one));
    return out;
  }
  static void set(std::vector<T>& v, const Config& c, const std::string& what) {
    v.clear();
    for (const Config& one : c.as_list(what))
      OptionType<T>::set(v.emplace_back(), one, cat(what, "[", v.size() - 1, "]"));
  }
};

/// Stands before the first two options where both take numbers and the first one several:
/// `MaxPooling2D({2, 3})` would be the first numbers of both, and does not compile.
struct NamedOnly {
  explicit NamedOnly() = default;
};

/// One size for all axes, or one for each: `{.kernel_size = 3}`, `{.strides = {2, 1}}`.
struct HOLDFAST_API Sides {
  Sides() = default;
  Sides(int64_t all) : sizes{all}, single(true) {}
  Sides(std::initializer_list<int64_t> each) : sizes(each) {}
  std::vector<int64_t> sizes;
  bool single = false;  // given as a number, not as a list of one
  /// For `axes` axes; another number of them is refused.
  std::vector<int64_t> over(size_t axes, const std::string& what) const;
};
template <>
struct HOLDFAST_API OptionType<Sides> {
  static Config get(const Sides& v);
  static void set(Sides& v, const Config& c, const std::string& what);
};

template <class T>
class Held;

/// Code of the program in the place of a function that has a name: an activation, a loss. No config
/// can say what it is.
using TensorCode = holdfast::Callback<Tensor(std::span<const Tensor>)>;
HOLDFAST_API Ref<Object> code_function(TensorCode code);

/// An option that takes an object by name ("relu"), by its config, itself, code that computes the
/// same, or nothing. `F` says in which folder its names are.
template <class F>
struct Choice {
  Choice() = default;
  Choice(std::nullptr_t) {}
  [[gnu::always_inline]] Choice(const char* name,
                                const std::source_location& at = std::source_location::current())
      : Choice(Config(name), at) {}
  [[gnu::always_inline]] Choice(const std::string& name,
                                const std::source_location& at = std::source_location::current())
      : Choice(Config(name), at) {}
  [[gnu::always_inline]] Choice(const Config& config,
                                const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    set(config, F::kFolder);
  }
  template <class G>
    requires ConvertsTo<G*, F*>
  Choice(Ref<G> object) : function(std::move(object)) {}
  template <class G>
    requires ConvertsTo<G*, F*>
  Choice(const Held<G>& object) : function(object.ref()) {}
  template <std::invocable<Tensor> C>
  Choice(C code)
      : Choice(code_function([code = std::move(code)](std::span<const Tensor> in) mutable {
          return Tensor(code(in[0]));
        })) {}
  template <std::invocable<Tensor, Tensor> C>
  Choice(C code)
      : Choice(code_function([code = std::move(code)](std::span<const Tensor> in) mutable {
          return Tensor(code(in[0], in[1]));
        })) {}
  explicit operator bool() const { return static_cast<bool>(function); }
  F* operator->() const { return function.get(); }
  F& operator*() const { return *function; }
  void set(const Config& config, const std::string& what) {
    function = F::from(object_from(config, F::kFolder, what), what);
  }
  Ref<F> function;
};
template <class F>
struct OptionType<Choice<F>> {
  static Config get(const Choice<F>& v) {
    return v.function ? Config(Ref<Object>(v.function)) : Config();
  }
  static void set(Choice<F>& v, const Config& c, const std::string& what) { v.set(c, what); }
};

}  // namespace holdfast::keras
