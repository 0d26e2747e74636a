// Births, uses, opened and closed scopes are the lines of the program that called, whatever public
// function it called: this file is compiled as a user's is.
#include <gtest/gtest.h>
#include <holdfast/exec/session.h>
#include <holdfast/holdfast.h>
#include <holdfast/ops/strings.h>

#include <algorithm>

namespace holdfast {
namespace {

constexpr const char* kThisFile = __FILE__;

::testing::AssertionResult stands(Where where, int line) {
  Loc loc = locate(where);
  if (loc.line == line && loc.file == kThisFile) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "got " << loc.file << ":" << loc.line << ", expected line " << line;
}

// Each line makes one thing, and says that it was born there.
#define BORN_HERE(...) EXPECT_TRUE(stands((__VA_ARGS__).born(), __LINE__)) << #__VA_ARGS__
#define ALL_BORN_HERE(...) \
  for (const Tensor& t : (__VA_ARGS__)) EXPECT_TRUE(stands(t.born(), __LINE__)) << #__VA_ARGS__

template <class F>
Diagnostic refusal(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.diagnostic();
  }
  ADD_FAILURE() << "expected a refusal";
  return {};
}

::testing::AssertionResult used_in(const Diagnostic& d, int line) {
  for (const Label& l : d.labels)
    if (l.role == Role::kUsed) {
      if (l.loc.line == line && l.loc.file == kThisFile) return ::testing::AssertionSuccess();
      return ::testing::AssertionFailure()
             << "used at " << l.loc.file << ":" << l.loc.line << ", expected line " << line << "\n"
             << render(d);
    }
  return ::testing::AssertionFailure() << "no use is shown\n" << render(d);
}
#define USED_HERE(...) \
  EXPECT_TRUE(used_in(refusal([&] { (void)(__VA_ARGS__); }), __LINE__)) << #__VA_ARGS__

TEST(Lines, OfCreations) {
  std::vector<int> sizes{2, 3};
  std::vector<double> numbers{1, 2};
  BORN_HERE(zeros({2, 3}));
  BORN_HERE(zeros(Shape{2, 3}));
  BORN_HERE(zeros(sizes));
  BORN_HERE(zeros(3));
  BORN_HERE(zeros({}));
  BORN_HERE(zeros(std::array{2, 3}));
  BORN_HERE(zeros({sizes.size(), 3}));
  BORN_HERE(ones({2}, int32));
  BORN_HERE(fill({2}, 1.5));
  BORN_HERE(eye(3));
  BORN_HERE(eye(3, {.num_columns = 2, .dtype = float64}));
  BORN_HERE(range(5));
  BORN_HERE(range(1, 5, 2));
  BORN_HERE(linspace(0.0, 1.0, 5));
  BORN_HERE(constant(1));
  BORN_HERE(constant({1, 2}));
  BORN_HERE(constant({{1., 2.}, {3., 4.}}, float64));
  BORN_HERE(constant(numbers));
  BORN_HERE(constant("text"));
  BORN_HERE(Tensor::of({1.f, 2.f}));
  BORN_HERE(Tensor::of(std::span<const double>(numbers), {2}));
  BORN_HERE(Tensor::of(numbers, {1, 2}));
  BORN_HERE(Tensor::of({1, 2, 3, 4}, {2, 2}));
  BORN_HERE(Tensor::of(numbers));
  BORN_HERE(Tensor::of(std::array{1, 2}));
  BORN_HERE(Tensor::of(std::vector<bool>{true, false}, {2}));
  BORN_HERE(Tensor::scalar(1.5f));
  BORN_HERE(Tensor::scalar(1, int64));
  BORN_HERE(Tensor::wrap(std::vector<float>{1, 2}, {2}));
  BORN_HERE(one_hot(constant({0, 1}), 3));
  ALL_BORN_HERE(meshgrid({constant({1, 2}), constant({3, 4})}));
}

TEST(Lines, OfRandomNumbers) {
  Tensor seed = constant({1, 2}), logits = zeros({2, 3});
  random::Generator generator = random::Generator::from_seed(3);
  BORN_HERE(random::uniform({2}));
  BORN_HERE(random::uniform({2}, {.minval = 1, .maxval = 5, .dtype = int32}));
  BORN_HERE(random::normal({2, 3}));
  BORN_HERE(random::normal({4}, {.stddev = 0.1}));
  BORN_HERE(random::truncated_normal({2, 3}));
  BORN_HERE(random::shuffle(seed));
  BORN_HERE(random::categorical(logits, 4));
  BORN_HERE(random::gamma({2}, 1.5));
  BORN_HERE(random::poisson({2}, 1.5));
  BORN_HERE(random::stateless_uniform({2}, seed));
  BORN_HERE(random::stateless_normal({2}, seed));
  BORN_HERE(generator.normal({2}));
  BORN_HERE(generator.uniform({2}));
}

TEST(Lines, OfOps) {
  Tensor x = constant({{1., 2.}, {3., 4.}}), i = constant({0, 1});
  Variable v(x);
  std::vector<Tensor> list{x, x};
  Tensors short_list{x, x};
  BORN_HERE(x + 1);
  BORN_HERE(1 - x);
  BORN_HERE(x * v);
  BORN_HERE(-x);
  BORN_HERE(-v);
  BORN_HERE(x > v);
  BORN_HERE(x == x);
  BORN_HERE(matmul(x, v));
  BORN_HERE(exp(v));
  BORN_HERE(where(x > 1, x, 0));
  BORN_HERE(cast(x, int32));
  BORN_HERE(reduce_sum(x));
  BORN_HERE(reduce_sum(v, {.axis = 0}));
  BORN_HERE(reduce_sum(x, {0, 1}));
  BORN_HERE(reduce_mean(x, 0));
  BORN_HERE(reduce_max(x, -1, true));
  BORN_HERE(argmax(x, 1));
  BORN_HERE(concat({x, v}, 0));
  BORN_HERE(concat(list, 0));
  BORN_HERE(concat(short_list, 0));
  BORN_HERE(stack({x, x}));
  BORN_HERE(stack({v, x}, {.axis = 1}));
  BORN_HERE(stack(list));
  BORN_HERE(stack(list, 1));
  BORN_HERE(add_n({x, x}));
  BORN_HERE(x[0]);
  BORN_HERE(x(0, slice(0, 1)));
  BORN_HERE(x(all, newaxis));
  BORN_HERE(v[1].tensor());
  BORN_HERE(nn::relu(v[1]));
  BORN_HERE(nn::relu(Gradient{.dense = x}));
  BORN_HERE(linalg::diag_part(x));
  BORN_HERE(nn::conv2d_transpose(ones({1, 2, 2, 1}), ones({1, 1, 1, 1}), {1, 2, 2, 1}, 1));
  BORN_HERE(reshape(x, {4}));
  BORN_HERE(transpose(x));
  BORN_HERE(transpose(x, {1, 0}));
  BORN_HERE(expand_dims(x, 0));
  BORN_HERE(gather(x, i));
  BORN_HERE(slice(x, {0, 0}, {1, 1}));
  BORN_HERE(pad(x, constant({{1, 1}, {0, 0}})));
  BORN_HERE(tile(x, {2, 1}));
  BORN_HERE(nn::softmax(x));
  BORN_HERE(nn::relu(x));
  BORN_HERE(nn::dropout(x, 0.5));
  BORN_HERE(cumsum(x, 1));
  BORN_HERE(tensordot(x, x, 1));
  BORN_HERE(einsum("ij,jk->ik", {x, x}));
  BORN_HERE(einsum("ij,jk->ik", x, v));
  BORN_HERE(repeat(x, 2, 0));
  BORN_HERE(gather(x, {0, 1}));
  BORN_HERE(math::reduce_sum(x, {0, 1}));
  BORN_HERE(nn::embedding_lookup(v, {0, 1}));
  ALL_BORN_HERE(split(x, 2, 1));
  BORN_HERE(identity(x));
  BORN_HERE(stop_gradient(v));
  BORN_HERE(zeros_like(x));
  BORN_HERE(shape(x));
  ALL_BORN_HERE(split(x, 2));
  ALL_BORN_HERE(unstack(x));
}

TEST(Lines, OfRowsOfDifferentLengths) {
  std::vector<std::vector<int>> rows{{1}, {2, 3}};
  zeros({1});  // another line before
  USED_HERE(constant({{1., 2.}, {3.}}));
  USED_HERE(constant(rows));
}

TEST(Lines, OfInitializersRegularizersAndConstraints) {
  namespace initializers = keras::initializers;
  Config ragged = Config::List{Config::List{1.0, 2.0}, Config::List{3.0}};
  zeros({1});  // another line before each
  USED_HERE(initializers::Constant({.value = ragged}));
  USED_HERE(initializers::VarianceScaling({.mode = "fan_off"}));
  USED_HERE(initializers::RandomNormal({.stddev = -1}));
  USED_HERE(keras::regularizers::L1(-1));
  USED_HERE(keras::regularizers::OrthogonalRegularizer({.mode = "diagonals"}));
  USED_HERE(keras::constraints::MaxNorm({.max_value = -1}));
}

TEST(Lines, OfVariables) {
  Variable v(constant({1., 2.}));
  Variable made(zeros({2}));
  EXPECT_TRUE(stands(made.state()->born, __LINE__ - 1));
  Variable number(1.5);
  EXPECT_TRUE(stands(number.state()->born, __LINE__ - 1));
  BORN_HERE(v.read());
  BORN_HERE(identity(v));
  Tensor converted = v;
  EXPECT_TRUE(stands(converted.born(), __LINE__ - 1));
  converted = number;
  EXPECT_TRUE(stands(converted.born(), __LINE__ - 1));
  v.assign(constant({3., 4.}));
  USED_HERE(v.assign(zeros({3})));
  USED_HERE(v.assign_add(zeros({3})));
  USED_HERE(v.assign(constant("x")));
  USED_HERE(v[2] = 1.f);
  USED_HERE(v(0, 0).tensor());
}

TEST(Lines, OfReading) {
  Tensor x = constant({1., 2.}), nothing;
  USED_HERE(x.item<float>());
  USED_HERE(x.item<int>());
  USED_HERE(x.to_vector<int>());
  USED_HERE(x.span<int>());
  USED_HERE(x.data<double>());
  USED_HERE(x.to_double());
  USED_HERE(x.to_int());
  USED_HERE(nothing + 1);
  USED_HERE(concat({nothing, x}, 0));
  USED_HERE(matmul(x, x));
  USED_HERE(x[7]);
  USED_HERE(x(0, 0));
  USED_HERE(copy_to(x, nullptr));
  USED_HERE(zeros({-1}));
  USED_HERE(reduce_sum(x, 5));
  USED_HERE(reshape(x, {3}));
  USED_HERE(stack({x, zeros({3})}));
}

// What a gradient computes belongs to the line that is differentiated, what a function computes to
// the line inside of it: that is where a reader looks for the op.
TEST(Lines, OfTapes) {
  Tensor x = constant(3.);
  Variable v(2.);
  GradientTape tape;
  EXPECT_TRUE(stands(tape.opened(), __LINE__ - 1));
  tape.watch(x);
  Tensor y = x * x * v;
  EXPECT_TRUE(stands(tape.gradient(y, x).born(), __LINE__ - 1));
  EXPECT_TRUE(stands(tape.used(), __LINE__ - 1));
  USED_HERE(tape.gradient(y, x));
  USED_HERE(tape.gradients({y}, {x, v}));
  USED_HERE(tape.jacobian(y, {x}));

  GradientTape kept({.persistent = true});
  EXPECT_TRUE(stands(kept.opened(), __LINE__ - 1));
  kept.watch(x);
  y = x * x * v;
  std::vector<Source> sources{x, v};
  std::vector<Tensor> targets{y};
  Source source = v;
  kept.gradient(y, source);
  EXPECT_TRUE(stands(kept.used(), __LINE__ - 1));
  kept.gradients(targets, sources);
  EXPECT_TRUE(stands(kept.used(), __LINE__ - 1));
  kept.jacobian(y, sources);
  EXPECT_TRUE(stands(kept.used(), __LINE__ - 1));
  USED_HERE(kept.watch(Tensor()));
  USED_HERE(kept.watch(Variable()));
  USED_HERE(kept.gradient(Tensor(), v));
  USED_HERE(kept.gradient(y, Tensor()));
  USED_HERE(kept.gradients({y}, {x}, {constant(1)}));
  USED_HERE(kept.gradients({y}, {x}, {x, x}));
  USED_HERE(kept.gradient(y, x, {.output_gradients = constant(1)}));
  USED_HERE(kept.watch({x, Tensor()}));
  USED_HERE(kept.batch_jacobian(y, x));

  ForwardAccumulator moves({x}, {constant(1.)});
  y = x * x;
  EXPECT_TRUE(stands(moves.jvp(y).born(), __LINE__ - 1));
  USED_HERE(ForwardAccumulator({x}, {}));
}

TEST(Lines, OfFunctions) {
  auto f = function([](const Tensor& x, const Tensor& y) { return x * y; });
  int body = __LINE__ - 1;
  Variable v(2.);
  Tensor two = constant(2.);
  EXPECT_TRUE(stands(f(1., 2.).born(), body));
  EXPECT_TRUE(stands(f(two, v).born(), body));
  USED_HERE(f(Tensor(), two));
  auto read = function([](const Tensor& x) { return x + 1; });
  Tensor argument;
  auto g = function([&](const Tensor& x) {
    argument = x;
    return x * 2;
  });
  g(two);
  int called = __LINE__ - 1;
  g(two);  // until now it had the value of the first call
  Diagnostic lost = refusal([&] { (void)(argument + 1); });
  EXPECT_TRUE(used_in(lost, __LINE__ - 1));
  EXPECT_EQ(lost.subject.born.line, called) << render(lost);
}

TEST(Lines, OfBranchesAndLoops) {
  Tensor x = constant(2.);
  Tensors from{x};
  auto once = [&](Tensor y) { return Tensors{y}; };
  ALL_BORN_HERE(cond(x > 1, [&] { return Tensors{x * 2}; }, [&] { return Tensors{x}; }));
  ALL_BORN_HERE(while_loop([](auto v) { return Tensors{v[0] < 9}; },
                           [](auto v) { return Tensors{v[0] * 2}; }, from));
  BORN_HERE(map_fn([](const Tensor& row) { return row * 2; }, zeros({2, 3})));
  BORN_HERE(foldl([](const Tensor& sum, const Tensor& row) { return sum + row; }, zeros({2, 3})));
  ALL_BORN_HERE(switch_case(1, {[&] { return once(x); }, [&] { return once(x * 2); }}));
  USED_HERE(cond(zeros({2}), [&] { return once(x); }, [&] { return once(x); }));
  USED_HERE(while_loop([](auto v) { return Tensors{v[0]}; }, [](auto) { return Tensors{}; }, from));
  auto traced = function([&](const Tensor& y) {
    ALL_BORN_HERE(cond(y > 1, [&] { return once(y * 2); }, [&] { return once(y); }));
    ALL_BORN_HERE(while_loop([](auto v) { return Tensors{v[0] < 9}; },
                             [](auto v) { return Tensors{v[0] * 2}; }, Tensors{y}));
    return y;
  });
  traced(x);
}

TEST(Lines, OfGraphsAndSessions) {
  Ref<OpenGraph> graph = make_graph("written");
  EXPECT_TRUE(stands(graph->scope()->opened, __LINE__ - 1));
  Tensor x, y;
  int doubled = 0;
  {
    GraphScope in(graph);
    x = graph->placeholder(float32, {2}, "x");
    EXPECT_TRUE(stands(x.born(), __LINE__ - 1));
    BORN_HERE(graph->constant(1., "c"));
    y = x * 2;
    doubled = __LINE__ - 1;
    BORN_HERE(graph->placeholder_with_default(y, {2}));
  }
  Session session(graph);
  Tensor fed = constant({1., 2.});
  EXPECT_TRUE(stands(session.run(y, {{x, fed}}).born(), doubled));
  std::vector<Fetch> fetches{y};
  Session::Feeds feeds{{x, fed}};
  EXPECT_TRUE(stands(session.run(fetches, feeds)[0].born(), doubled));
  USED_HERE(session.run(y));
  USED_HERE(session.run(y, {{x, zeros({3})}}));
  USED_HERE(session.run(Tensor()));
  session.close();
  int closed = __LINE__ - 1;
  Diagnostic d = refusal([&] { session.run(y); });
  EXPECT_TRUE(used_in(d, __LINE__ - 1));
  std::vector<int> lines;
  for (const Label& l : d.labels) lines.push_back(l.loc.line);
  EXPECT_EQ(std::ranges::count(lines, closed), 1) << render(d);
  graph->finalize();
  int finalized = __LINE__ - 1;
  GraphScope in(graph);
  d = refusal([&] { (void)(x + 1); });
  EXPECT_TRUE(used_in(d, __LINE__ - 1));
  lines.clear();
  for (const Label& l : d.labels) lines.push_back(l.loc.line);
  EXPECT_EQ(std::ranges::count(lines, finalized), 1) << render(d);
}

struct Line : Module {
  Line() : Module("line"), w(variable("w", zeros({2}))), made(__LINE__) {}
  Tensor operator()(const Tensor& x) const { return x * w; }
  Variable w;
  int made;
};

TEST(Lines, OfModulesAndLayers) {
  Line module;
  EXPECT_TRUE(stands(module.w.state()->born, module.made));
  keras::layers::Dense dense({.units = 3});
  keras::Sequential model({keras::layers::Dense({.units = 4}), dense});
  Tensor x = zeros({1, 2});
  BORN_HERE(model(x));
  int first = __LINE__ - 1;
  BORN_HERE(model(x));
  EXPECT_TRUE(stands(dense->kernel.state()->born, first));
  USED_HERE(model(zeros({1, 7})));
  USED_HERE(dense(Tensor()));
}

// Also where an option is refused before the object is there, and where nothing else marks a line.
TEST(Lines, OfConstructors) {
  using namespace keras;
  constant(0);  // the line before, which must not be taken for the one that is refused
  USED_HERE(layers::Dense({.units = 2, .activation = "typo"}));
  USED_HERE(layers::Dense({.units = -2}));
  USED_HERE(layers::Dense(-2));
  USED_HERE(layers::Dense("many"));
  USED_HERE(layers::Dense(2, {.activation = "typo"}));
  USED_HERE(layers::Dense(2, {.kernel_initializer = "typo"}));
  USED_HERE(layers::Dense(2, {.kernel_constraint = "typo"}));
  USED_HERE(layers::Dense(2, {.kernel_regularizer = std::string("typo")}));
  USED_HERE(layers::Dense(2, {.dtype = "float33"}));
  USED_HERE(layers::Conv2D({.filters = 0, .kernel_size = 3}));
  USED_HERE(layers::Conv2D(1, {.kernel_size = {1, 2, 3}}));
  USED_HERE(layers::Embedding({.input_dim = 0, .output_dim = 1}));
  USED_HERE(optimizers::Adam({.learning_rate = 0.1, .clipnorm = 1, .clipvalue = 1}));
  USED_HERE(optimizers::SGD(0.1, {.momentum = 7}));
  USED_HERE(losses::MeanSquaredError({.reduction = "typo"}));
  USED_HERE(metrics::AUC({.num_thresholds = 0}));
  USED_HERE(metrics::MeanIoU({.num_classes = 0}));
  USED_HERE(callbacks::EarlyStopping({.mode = "typo"}));
  USED_HERE(callbacks::ModelCheckpoint({.filepath = "x.keras", .save_freq = "typo"}));
  USED_HERE(Sequential({layers::Dense(1)}, {.dtype = "float33"}));
  USED_HERE(CompileOptions{.optimizer = "typo"});
  USED_HERE(CompileOptions{.loss = "typo"});
  USED_HERE(data::Dataset::range(1, 5, 0));
  USED_HERE(data::Dataset::from_tensor_slices(constant(1)));
  USED_HERE(data::Dataset::from_tensor_slices({{1, 2}, {3}}));
  USED_HERE(data::Dataset::range(3).batch(0));
}

TEST(Lines, OfScopes) {
  auto f = function([&](const Tensor& x) {
    InitScope once;
    int line = __LINE__ - 1;
    Diagnostic d = refusal([&] { (void)(x + 1); });
    EXPECT_TRUE(used_in(d, __LINE__ - 1));
    bool shown = false;
    for (const Label& l : d.labels) shown |= l.loc.line == line;
    EXPECT_TRUE(shown) << render(d);
    return constant(1.);
  });
  f(constant(1.));
  USED_HERE(DeviceScope(nullptr), reshape(constant(1), {7}));
  USED_HERE(DeviceScope("CPU:77"));
  DeviceScope here("CPU:0");
  EXPECT_TRUE(stands(context().placed, __LINE__ - 1));
}

}  // namespace
}  // namespace holdfast
