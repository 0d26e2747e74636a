// Arguments that make no sense, for every public function and every class: what
// is refused is refused with an Error, and nothing crashes. HOLDFAST_FUZZ_CALLS
// sets how many calls of each function, HOLDFAST_FUZZ_SEED which ones.
#include "bad_arguments.h"

#include <holdfast/op/op.h>

#include <limits>
#include <random>

namespace holdfast {
namespace {

using Random = std::mt19937_64;

class Arguments {
 public:
  explicit Arguments(uint64_t seed) : random_(seed) {
    Tensor some = random::stateless_normal({4, 4}, constant({1, 2}));
    tensors_ = {Tensor(),
                dead_symbol(),
                constant(1.5),
                constant(-1),
                constant(true),
                constant("text"),
                constant({1, 2, 3}),
                constant({"a", "b"}),
                zeros({0}),
                zeros({0, 3}, int32),
                zeros({2, 0, 3}),
                some,
                reshape(some, {1, 2, 2, 4}),
                cast(some, float64),
                cast(some, DType::kComplex64),
                cast(some, uint8),
                cast(some, float16),
                zeros({1, 1, 1, 1, 1, 1, 1, 1}),
                constant({INT64_MAX, INT64_MIN}),
                constant({-1, 9}),
                fill({2, 2}, std::numeric_limits<double>::quiet_NaN()),
                Variable(1.5).handle()};
  }

  const Tensor& tensor() { return tensors_[below(tensors_.size())]; }
  int64_t integer() {
    // Either small or beyond all memory: what lies between would be granted,
    // and take long.
    constexpr int64_t kSome[] = {0, 1, -1, 2, 3, -2, 7, 13, INT64_MAX, INT64_MIN};
    return kSome[below(std::size(kSome))];
  }
  Ints integers() {
    Ints out(below(5));
    for (int64_t& i : out) i = integer();
    return out;
  }
  double number() {
    constexpr double kSome[] = {0,
                                1,
                                -1,
                                0.5,
                                1e300,
                                -1e-300,
                                std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN()};
    return kSome[below(std::size(kSome))];
  }
  std::string text() {
    const char* some[] = {"",     "x",   "ij,jk->ik", "SAME", "VALID",
                          "NHWC", "...", "%s\n\xff",  "->",   "bilinear"};
    return some[below(std::size(some))];
  }
  DType dtype() { return static_cast<DType>(below(static_cast<size_t>(DType::kVariant) + 1)); }
  Tensors tensors() {
    Tensors out;
    for (size_t n = below(4); n > 0; --n) out.push_back(tensor());
    return out;
  }
  Arg anything() {
    switch (below(10)) {
      case 0: return {};
      case 1: return Arg(below(2) == 0);
      case 2: return Arg(integer());
      case 3: return Arg(number());
      case 4: return Arg(text());
      case 5: return Arg(dtype());
      case 6: return Arg(integers());
      case 7: return Arg(tensors());
      case 8: return Arg(std::vector<std::string>{text()});
      default: return Arg(tensor());
    }
  }
  // Of the kind that the parameter takes, mostly: what fits gets further.
  Arg for_param(const Param& p) {
    if (below(8) == 0) return anything();
    if (!p.required && below(2)) return p.default_value;
    switch (p.kind) {
      case Kind::kTensors: return Arg(tensors());
      case Kind::kSizes:
      case Kind::kAxes: return below(2) ? Arg(integers()) : Arg(integer());
      case Kind::kBool: return Arg(below(2) == 0);
      case Kind::kInt:
      case Kind::kOptInt: return Arg(integer());
      case Kind::kFloat:
      case Kind::kOptFloat: return Arg(number());
      case Kind::kString:
      case Kind::kOptString:
      case Kind::kPadding: return Arg(text());
      case Kind::kDType:
      case Kind::kOptDType: return Arg(dtype());
      case Kind::kShape: return below(2) ? Arg(Shape{2, 2}) : Arg(Shape::unknown());
      case Kind::kIntList:
      case Kind::kOptIntList: return Arg(integers());
      case Kind::kFloatList: return Arg(std::vector<double>{number(), number()});
      case Kind::kStringList: return Arg(std::vector<std::string>{text(), text()});
      case Kind::kAny: return anything();
      default: return Arg(tensor());
    }
  }
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }

 private:
  Random random_;
  std::vector<Tensor> tensors_;
};

std::string written(const FunctionDef& f, const std::vector<Arg>& args) {
  std::string out = f.name + "(";
  for (const Arg& a : args) out += (out.back() == '(' ? "" : ", ") + a.text();
  return out + ")";
}

TEST(BadArguments, OfEveryFunctionAreRefusedOrComputed) {
  auto calls = from_environment("HOLDFAST_FUZZ_CALLS", 12);
  Arguments arguments(static_cast<uint64_t>(from_environment("HOLDFAST_FUZZ_SEED", 7)));
  size_t made = 0;
  for (const FunctionDef* f : all_functions()) {
    for (int64_t n = 0; n < calls; ++n) {
      std::vector<Arg> args;
      for (const Param& p : f->params) args.push_back(arguments.for_param(p));
      survives(written(*f, args), [&] { f->call(args); });
      ++made;
    }
  }
  EXPECT_GE(made, all_functions().size());
  random::set_seed(std::nullopt);  // one of the functions has set it, and later tests count on none
}

// Each of these is handed something that refers to nothing, is of the wrong
// kind, or is over.
TEST(BadArguments, OfTensorsAreRefused) {
  const Tensor nothing, dead = dead_symbol(), x = constant({1., 2.}), text = constant("a");
  Tensor moved_from = x;
  Tensor taken = std::move(moved_from);
  for (const Tensor& t : {nothing, dead, text, moved_from, zeros({0}), Variable(1.5).handle()}) {
    survives("rank", [&] { (void)t.rank(); });
    survives("shape", [&] { (void)t.shape().text(); });
    survives("dtype", [&] { (void)t.dtype(); });
    survives("dim", [&] { (void)t.dim(7); });
    survives("dim", [&] { (void)t.dim(std::numeric_limits<int>::min()); });
    survives("size", [&] { (void)t.size(); });
    survives("bytes", [&] { (void)t.bytes(); });
    survives("id", [&] { (void)t.id(); });
    survives("born", [&] { (void)locate(t.born()); });
    survives("device", [&] { (void)t.device(); });
    survives("has_value", [&] { (void)t.has_value(); });
    survives("text", [&] { (void)t.text(); });
    survives("item", [&] { (void)t.item<float>(); });
    survives("item", [&] { (void)t.item<std::string>(); });
    survives("to_vector", [&] { (void)t.to_vector<int64_t>(); });
    survives("to_double", [&] { (void)t.to_double(); });
    survives("to_int", [&] { (void)t.to_int(); });
    survives("span", [&] { (void)t.span<float>(); });
    survives("data", [&] { (void)t.data<double>(); });
    survives("mutable_data", [&] { (void)Tensor(t).mutable_data<float>(); });
    survives("truth", [&] { (void)static_cast<bool>(t); });
    survives("copy_to", [&] { (void)copy_to(t, cpu(9)); });
    survives("copy_to", [&] { (void)copy_to(t, cpu()); });
    survives("view_of", [&] { (void)view_of(t, {2}); });
    survives("operators", [&] { (void)(t + 1); });
    survives("operators", [&] { (void)(x * t); });
    survives("operators", [&] { (void)-t; });
    survives("operators", [&] { (void)(t == x); });
    survives("concat", [&] { (void)concat({t, x}, 0); });
    survives("stack", [&] { (void)stack({x, t}); });
    survives("where", [&] { (void)where(t, x, x); });
    survives("reshape", [&] { (void)reshape(x, t); });
    survives("zeros", [&] { (void)zeros(t); });
    survives("print", [&] { print({.output_stream = "file:///dev/null"}, t, t); });
    survives("peek", [&] { (void)peek(t); });
    survives("cond", [&] { (void)cond(t, [&] { return Tensors{t}; }, [] { return Tensors{}; }); });
    survives("cond", [&] { (void)cond(t, nullptr, nullptr); });
    survives("while_loop", [&] {
      (void)while_loop([&](auto) { return Tensors{t}; }, [&](auto) { return Tensors{t}; },
                       Tensors{t});
    });
    survives("while_loop", [&] {
      (void)while_loop([&](auto) { return Tensors{constant(true)}; },
                       [&](auto) { return Tensors{t, t}; }, Tensors{x});
    });
    survives("while_loop", [&] { (void)while_loop(nullptr, nullptr, Tensors{t}); });
    survives("map_fn", [&] { (void)map_fn([&](const Tensor&) { return t; }, t); });
    survives("map_fn", [&] { (void)map_fn([&](const Tensor&) { return t; }, x); });
    survives("map_fn", [&] { (void)map_fn(nullptr, x); });
    survives("foldl", [&] { (void)foldl([&](const Tensor&, const Tensor&) { return t; }, x, t); });
    survives("foldl", [&] { (void)foldl(nullptr, x); });
    survives("scan", [&] { (void)scan([&](const Tensor&, const Tensor&) { return t; }, x); });
    survives("switch_case", [&] { (void)switch_case(t, {[&] { return Tensors{t}; }}); });
    survives("switch_case", [&] { (void)switch_case(0, {nullptr}); });
    survives("switch_case", [&] { (void)switch_case(0, {}); });
    survives("case_of", [&] { (void)case_of({{t, [&] { return Tensors{t}; }}}); });
    survives("case_of", [&] { (void)case_of({}); });
    survives("custom", [&] { GradientTape::record_custom("mine", {t}, {t}, nullptr); });
  }
  survives("empty", [&] { (void)empty(float32, {2}, nullptr); });
  survives("empty", [&] { (void)empty(DType::kInvalid, {2}, cpu()); });
  survives("empty", [&] { (void)empty(float32, Shape::unknown(), cpu()); });
  survives("of", [&] { (void)Tensor::of(std::span<const float>(), {7}); });
  survives("of", [&] { (void)Tensor::of(std::span<const float>(), {-7}); });
  survives("tensors", [&] { (void)Tensors()[0]; });
  survives("tensors", [&] { (void)Tensors().back(); });
  survives("shape", [&] { (void)Shape({2, 3})[9]; });
  survives("shape", [&] { (void)Shape::unknown()[0]; });
  EXPECT_THROW((void)Shape({INT64_MAX, INT64_MAX}).size(), Error);
  EXPECT_EQ(Shape({INT64_MAX, INT64_MAX, 0}).size(), 0);
  survives("shape", [&] { (void)Shape({INT64_MAX, INT64_MAX}).elements(); });
  EXPECT_EQ(taken.size(), 2);
}

TEST(BadArguments, OfVariablesAreRefused) {
  const Tensor dead = dead_symbol();
  Variable v(constant({1., 2.}));
  for (const Tensor& t :
       {Tensor(), dead, constant("a"), zeros({0}), constant({1, 2}), v.handle()}) {
    survives("make", [&] { Variable made(t); });
    survives("assign", [&] { v.assign(t); });
    survives("assign_add", [&] { v.assign_add(t); });
    survives("assign_sub", [&] { v.assign_sub(t); });
    survives("from_handle", [&] { (void)Variable::from_handle(t).read(); });
    survives("of_dtype", [&] { Variable made(t, {.dtype = DType::kResource}); });
    survives("of_shape", [&] { Variable made(t, {.shape = Shape{7}}); });
  }
  EXPECT_EQ(v.read().to_vector<float>(), (std::vector<float>{1, 2}));
  const Variable nothing;
  survives("read", [&] { (void)nothing.read(); });
  survives("convert", [&] { (void)Tensor(nothing); });
  survives("assign", [&] { nothing.assign(1.5); });
  survives("assign_add", [&] { nothing.assign_add(1.5); });
  survives("dtype", [&] { (void)nothing.dtype(); });
  survives("shape", [&] { (void)nothing.shape(); });
  survives("name", [&] { (void)nothing.name(); });
  survives("trainable", [&] { (void)nothing.trainable(); });
  survives("device", [&] { (void)nothing.device(); });
  survives("constraint", [&] { (void)nothing.constraint(); });
  survives("handle", [&] { (void)nothing.handle(); });
  survives("equal", [&] { (void)(nothing == v); });
  survives("equal", [&] { (void)(v == nothing); });
  survives("add", [&] { (void)(nothing + v); });
  survives("print", [&] { print(nothing); });
  survives("is_initialized", [&] { (void)is_initialized(nothing); });
}

TEST(BadArguments, OfTapesAreRefused) {
  Variable v(constant({1., 2.}));
  const Variable no_variable;
  const Tensor dead = dead_symbol();
  for (bool persistent : {false, true})
    for (const Tensor& t :
         {Tensor(), dead, constant("a"), zeros({0}), constant({1, 2}), v.handle()}) {
      auto with_tape = [&](auto use) {
        GradientTape tape({.persistent = persistent});
        Tensor y = v * v;
        survives("tape", [&] { use(tape, y); });
        survives("again", [&] { use(tape, y); });
      };
      with_tape([&](GradientTape& tape, const Tensor&) { tape.watch(t); });
      with_tape([&](GradientTape& tape, const Tensor&) { tape.watch(no_variable); });
      with_tape([&](GradientTape& tape, const Tensor&) { (void)tape.gradient(t, v); });
      with_tape([&](GradientTape& tape, const Tensor& y) { (void)tape.gradient(y, t); });
      with_tape([&](GradientTape& tape, const Tensor& y) { (void)tape.gradient(y, no_variable); });
      with_tape([&](GradientTape& tape, const Tensor& y) { (void)tape.gradients({y, t}, {v, t}); });
      with_tape([&](GradientTape& tape, const Tensor& y) { (void)tape.gradients({y}, {v}, {t}); });
      with_tape(
          [&](GradientTape& tape, const Tensor& y) { (void)tape.gradients({y}, {v}, {t, t, t}); });
      with_tape([&](GradientTape& tape, const Tensor&) { (void)tape.gradients({}, {}); });
      with_tape([&](GradientTape& tape, const Tensor&) { (void)tape.jacobian(t, {v}); });
      with_tape([&](GradientTape& tape, const Tensor& y) { (void)tape.jacobian(y, {t}); });
      with_tape([&](GradientTape& tape, const Tensor& y) { (void)tape.batch_jacobian(y, t); });
      with_tape([&](GradientTape& tape, const Tensor&) { (void)tape.batch_jacobian(t, v); });
      with_tape([&](GradientTape& tape, const Tensor& y) { (void)tape.explain(y, t); });
      with_tape([&](GradientTape& tape, const Tensor&) { (void)tape.explain(t, v); });
      with_tape([&](GradientTape& tape, const Tensor& y) { (void)jvp(tape, y, {v}, {t}); });
      with_tape([&](GradientTape& tape, const Tensor&) { (void)jvp(tape, t, {v}, {}); });
      survives("forward", [&] {
        ForwardAccumulator moves({t}, {t});
        (void)moves.jvp(t);
      });
      survives("forward", [&] {
        ForwardAccumulator moves({v}, {t});
        (void)moves.jvp(t);
      });
      survives("forward", [&] {
        ForwardAccumulator moves({v}, {v.read()});
        (void)moves.jvp(t);
      });
    }
}

TEST(BadArguments, OfFunctionsAreRefused) {
  Variable v(1.5);
  const Tensor dead = dead_symbol();
  auto twice = function([](const Tensor& x) { return x * 2; });
  auto nothing = function([](const Tensor&) { return Tensor(); });
  auto many = function([](const Tensor& x) { return Tensors{x, Tensor()}; });
  auto pair = function([](const Tensor& x) { return std::tuple<Tensor, Tensor>{x, Tensor()}; });
  Tensor left;
  auto leaves = function([&](const Tensor& x) { return left = x + 1; });
  auto uses = function([&](const Tensor& x) { return x + left; });
  for (const Tensor& t :
       {Tensor(), dead, constant("a"), zeros({0}), constant({1, 2}), v.handle()}) {
    survives("call", [&] { (void)twice(t); });
    survives("call", [&] { (void)nothing(t); });
    survives("call", [&] { (void)many(t); });
    survives("call", [&] { (void)pair(t); });
    survives("call", [&] { (void)leaves(t); });
    survives("call", [&] { (void)uses(t); });
    survives("use", [&] { (void)(left + t); });
    survives("call", [&] { twice.concrete({Type{float32, Shape::unknown()}})->call({{t}}); });
  }
  survives("call", [&] { (void)twice(Variable()); });
  survives("concrete", [&] { (void)twice.concrete({}); });
  survives("concrete", [&] { (void)twice.concrete({Type{}, Type{}}); });
  survives("concrete", [&] { (void)twice.concrete({Type{DType::kInvalid, Shape{-3}}}); });
  (void)twice.trace_report();
}

TEST(BadArguments, OfGraphsAndSessionsAreRefused) {
  const Ref<OpenGraph> none;
  survives("session", [&] { Session session(none); });
  survives("scope", [&] { GraphScope in(none); });
  auto graph = make_graph("first"), other = make_graph("second");
  Tensor x, y, elsewhere;
  {
    GraphScope in(graph);
    x = graph->placeholder(float32, {2}, "x");
    y = x * 2;
  }
  {
    GraphScope in(other);
    elsewhere = other->placeholder(float32, {2}, "x") + 1;
  }
  const Tensor dead = dead_symbol();
  Session session(graph);
  for (const Tensor& t :
       {Tensor(), dead, elsewhere, constant("a"), zeros({0}), Variable(1.5).handle(), x, y}) {
    survives("run", [&] { (void)session.run(t); });
    survives("run", [&] { (void)session.run({Fetch(t), Fetch(Ref<Node>()), Fetch(y)}); });
    survives("run", [&] { (void)session.run(y, {{x, t}}); });
    survives("run", [&] { (void)session.run(y, {{t, t}}); });
    survives("run", [&] { (void)session.run(t, {{x, constant({1., 2.})}, {x, t}}); });
    survives("default", [&] { (void)graph->placeholder_with_default(t, {2}); });
    survives("constant", [&] { (void)graph->constant(t); });
    survives("variable", [&] { (void)graph->variable(t); });
    survives("find", [&] { (void)graph->find_variable(t); });
    survives("graph_of", [&] { (void)graph_of(t); });
  }
  survives("placeholder", [&] { (void)graph->placeholder(DType::kInvalid); });
  survives("bare", [&] { (void)graph->bare_variable(DType::kInvalid, {-4}, ""); });
  survives("group", [&] { (void)graph->group({Ref<Node>()}); });
  survives("tensor", [&] { (void)graph->tensor("nothing:9999999999999999999999"); });
  survives("tensor", [&] { (void)graph->tensor(Edge{}); });
  survives("value", [&] { (void)session.value(Variable()); });
  survives("value", [&] { (void)session.value(Variable(1.5)); });
  survives("set_value", [&] { session.set_value(Variable(1.5), Tensor()); });
  survives("text", [&] { (void)graph_from_text("graph {"); });
  session.close();
  session.close();
  survives("closed", [&] { (void)session.run(y); });
  survives("closed", [&] { (void)session.value(Variable(1.5)); });
}

struct Holds : Module {
  explicit Holds(const Tensor& t) : w(variable("w", t)) { (void)attribute("a", t); }
  explicit Holds(const Variable& v) : w(variable(v)) {}
  Variable w;
};

TEST(BadArguments, OfModulesAndLayersAreRefused) {
  const Tensor dead = dead_symbol();
  using keras::layers::Dense;
  for (const Tensor& t :
       {Tensor(), dead, constant("a"), zeros({0}), constant({1, 2}), zeros({2, 3})}) {
    survives("module", [&] { (void)Holds(t).variables(); });
    for (int64_t units : {int64_t{0}, int64_t{-1}, int64_t{3}, INT64_MAX}) {
      survives("dense", [&] { (void)Dense({.units = units})(t); });
      survives("sequential", [&] { (void)keras::Sequential({Dense({.units = units})})(t); });
    }
  }
  survives("module", [&] {
    Holds holds{Variable()};
    (void)holds.variables();
    (void)holds.trainable_variables();
  });
  survives("handle", [&] { Dense none{Ref<keras::layers::DenseLayer>()}; });
  survives("sequential",
           [&] { (void)keras::Sequential(std::vector<keras::AnyLayer>{})(zeros({2})); });
  survives("device", [&] {
    DeviceScope in(cpu(9));
    (void)zeros({2});
  });
}

}  // namespace
}  // namespace holdfast
