// Arguments that make no sense, for functions that are no entries of the registry: those that
// change variables, lists, checks, steps of optimizers, and what makes objects of Keras.
// tests/python/test_cpp_bad_arguments.py says which function no test of these files calls.
#include <limits>

#include "bad_arguments.h"

namespace holdfast {
namespace {

std::vector<Tensor> no_good_tensors() {
  return {Tensor(),
          dead_symbol(),
          constant("a"),
          zeros({0}),
          zeros({0, 3}),
          constant({1, 2}),
          constant({-1, 99}),
          constant({INT64_MAX, INT64_MIN}),
          Variable(1.5).handle(),
          constant(true),
          constant(1.5)};
}
std::vector<Variable> variables() {
  return {Variable(), Variable(ones({2})), Variable(ones({2, 3})), Variable(constant({1, 2})),
          Variable(constant("a"))};
}
constexpr double kNumbers[] = {0, -1, 1e300, std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};

TEST(BadFurtherArguments, OfChangesOfVariablesAreRefused) {
  using Change = decltype(&scatter_add);
  using ChangeAt = decltype(&scatter_nd_add);
  const Change rows[] = {batch_scatter_update, scatter_add, scatter_div, scatter_max,
                         scatter_min,          scatter_mul, scatter_sub, scatter_update};
  const ChangeAt places[] = {scatter_nd_add, scatter_nd_max, scatter_nd_min, scatter_nd_sub,
                             scatter_nd_update};
  const Tensor good = ones({2});
  const std::vector<IndexItem> items[] = {
      {}, {{.kind = IndexItem::kInt, .start = 7}}, {{.kind = IndexItem::kTensor}}};
  for (const Variable& v : variables())
    for (const Tensor& t : no_good_tensors())
      for (const Tensor& u : {t, good}) {
        for (Change f : rows)
          for (const IndexedSlices& s :
               {IndexedSlices{t, u, {}}, IndexedSlices{u, t, t}, IndexedSlices{}})
            survives("scatter", [&] { (void)f(v, s); });
        for (ChangeAt f : places) {
          survives("scatter_nd", [&] { (void)f(v, t, u); });
          survives("scatter_nd", [&] { (void)f(v, u, t); });
        }
        for (const auto& item : items) {
          survives("index", [&] { (void)index(t, item); });
          survives("index_assign", [&] { (void)index_assign(v, item, t); });
          survives("index_update", [&] { (void)index_update(t, item, u); });
        }
        survives("to_dense", [&] { (void)to_dense({t, u, t}); });
        survives("concat_slices", [&] { (void)concat_slices({{t, u, u}, {u, t, {}}}); });
      }
  survives("concat_slices", [&] { (void)concat_slices({}); });
}

TEST(BadFurtherArguments, OfStepsOfOptimizersAreRefused) {
  using namespace train;
  const Tensor good = ones({2});
  for (const Variable& v : variables())
    for (const Tensor& t : no_good_tensors())
      for (const In& g : {In(t), In(good)}) {
        const In x = 0.5;
        const IndexedSlices s{t, good, {}};
        survives("ada_max", [&] { (void)apply_ada_max(v, v, v, x, t, x, x, x, g); });
        survives("adadelta", [&] { (void)apply_adadelta(v, v, v, t, x, x, g); });
        survives("adadelta", [&] { (void)apply_adadelta(v, v, v, x, x, x, s); });
        survives("adagrad", [&] { (void)apply_adagrad(v, v, t, g); });
        survives("adagrad", [&] { (void)apply_adagrad(v, v, x, s); });
        survives("adagrad_da", [&] { (void)apply_adagrad_da(v, v, v, g, x, x, t, x); });
        survives("adagrad_v2", [&] { (void)apply_adagrad_v2(v, v, x, t, g); });
        survives("adagrad_v2", [&] { (void)apply_adagrad_v2(v, v, x, x, s); });
        survives("adam", [&] { (void)apply_adam(v, v, v, x, x, t, x, x, x, g); });
        survives("amsgrad",
                 [&] { (void)apply_adam_with_amsgrad(v, v, v, v, x, x, t, x, x, x, g); });
        survives("add_sign", [&] { (void)apply_add_sign(v, v, x, t, x, x, g); });
        survives("centered", [&] { (void)apply_centered_rms_prop(v, v, v, v, x, t, x, x, g); });
        survives("ftrl", [&] { (void)apply_ftrl(v, v, v, g, t, x, x, x); });
        survives("ftrl_v2", [&] { (void)apply_ftrl_v2(v, v, v, g, t, x, x, x, x); });
        survives("descent", [&] { (void)apply_gradient_descent(v, t, g); });
        survives("momentum", [&] { (void)apply_keras_momentum(v, v, x, g, t); });
        survives("momentum", [&] { (void)apply_keras_momentum(v, v, x, s, x); });
        survives("momentum", [&] { (void)apply_momentum(v, v, t, g, x); });
        survives("momentum", [&] { (void)apply_momentum(v, v, x, s, x); });
        survives("power_sign", [&] { (void)apply_power_sign(v, v, x, t, x, x, g); });
        survives("proximal", [&] { (void)apply_proximal_adagrad(v, v, x, t, x, g); });
        survives("proximal", [&] { (void)apply_proximal_gradient_descent(v, x, t, x, g); });
        survives("rms_prop", [&] { (void)apply_rms_prop(v, v, v, x, t, x, x, g); });
        survives("rms_prop", [&] { (void)apply_rms_prop(v, v, v, x, x, x, x, s); });
      }
}

TEST(BadFurtherArguments, OfListsAreRefused) {
  const Tensor list = list_reserve({}, 2);
  std::vector<Tensor> all = no_good_tensors();
  all.push_back(list);
  const ElementType types[] = {
      {}, {int32, Shape{2}}, {string, Shape{-1}}, {DType::kInvalid, Shape::unknown()}};
  for (const Tensor& t : all)
    for (const Tensor& u : {t, list, constant(0), constant(-7), constant({1., 2.})}) {
      survives("list_add", [&] { (void)list_add(t, u); });
      survives("list_keep", [&] { (void)list_keep(t, u); });
      survives("list_length", [&] { (void)list_length(t); });
      survives("list_push", [&] { (void)list_push(t, u); });
      survives("list_resize", [&] { (void)list_resize(t, u); });
      survives("list_set", [&] { (void)list_set(t, u, t, false); });
      survives("list_set", [&] { (void)list_set(t, 1, u, true); });
      survives("list_split_like", [&] { (void)list_split_like(t, u); });
      survives("list_unstack", [&] { (void)list_unstack(t); });
      survives("list_zeros_like", [&] { (void)list_zeros_like(t); });
      for (const ElementType& of : types) {
        survives("list_reserve", [&] { (void)list_reserve(of, t); });
        survives("list_concat", [&] { (void)list_concat(t, of); });
        survives("list_get", [&] { (void)list_get(t, u, of); });
        survives("list_kept", [&] { (void)list_kept(t, u, of); });
        survives("list_stack", [&] { (void)list_stack(t, of); });
      }
    }
  survives("list_reserve", [&] { (void)list_reserve({}, INT64_MIN); });
  survives("list_get", [&] { (void)list_get(list, INT64_MAX, {}); });
}

TEST(BadFurtherArguments, OfChecksAreRefused) {
  using namespace debugging;
  using OfTwo = decltype(&assert_equal);
  using OfOne = decltype(&assert_negative);
  const OfTwo two[] = {assert_equal, assert_greater,    assert_greater_equal,
                       assert_less,  assert_less_equal, assert_none_equal};
  const OfOne one[] = {assert_negative, assert_non_negative, assert_non_positive, assert_positive};
  for (const Tensor& t : no_good_tensors()) {
    for (OfTwo f : two)
      for (const Tensor& u : {t, ones({2})})
        survives("two", [&] { (void)f(t, u, {.message = "%s", .summarize = -9}); });
    for (OfOne f : one) survives("one", [&] { (void)f(t, {}); });
    for (double n : kNumbers)
      survives("assert_near", [&] { (void)assert_near(t, ones({2}), {.rtol = n, .atol = n}); });
    survives("Assert", [&] { (void)Assert(t, {t, ones({2})}); });
    survives("assert_all_finite", [&] { (void)assert_all_finite(t, ""); });
    survives("check_numerics", [&] { (void)check_numerics(t, ""); });
    survives("assert_integer", [&] { (void)assert_integer(t); });
    survives("assert_scalar", [&] { (void)assert_scalar(t); });
    for (int64_t rank : {int64_t{-1}, int64_t{1}, INT64_MAX}) {
      survives("assert_rank", [&] { (void)assert_rank(t, rank); });
      survives("assert_rank_at_least", [&] { (void)assert_rank_at_least(t, rank); });
      survives("assert_rank_in", [&] { (void)assert_rank_in(t, {rank, -rank}); });
    }
    survives("assert_shapes", [&] { (void)assert_shapes({{t, {"N", "N"}}, {t, {}}}); });
    survives("to_string", [&] { (void)to_string(t); });
  }
  survives("assert_shapes", [&] { (void)assert_shapes({}); });
}

TEST(BadFurtherArguments, OfParsersAreRefused) {
  for (const Tensor& t : no_good_tensors()) {
    survives("decode_csv", [&] { (void)io::decode_csv(t, {t, 1.f}); });
    survives("decode_csv", [&] {
      (void)io::decode_csv("a,b", {"x"}, {.field_delim = "", .select_cols = {{-3}}});
    });
    for (DType d : {float32, string, DType::kResource}) {
      const io::FeatureRules rules{{"x", {.dtype = d, .shape = Shape{-2}}},
                                   {"x", {.dtype = d, .default_value = t}},
                                   {"", {}}};
      survives("parse_example", [&] { (void)io::parse_example(t, rules); });
      survives("parse_sequence_example",
               [&] { (void)io::parse_sequence_example(t, rules, rules); });
    }
  }
}

TEST(BadFurtherArguments, OfActivationsAndSequencesAreRefused) {
  namespace act = keras::activations;
  for (const Tensor& t : no_good_tensors()) {
    survives("soft_shrink", [&] { (void)act::soft_shrink(t, {.threshold = -1}); });
    survives("sparse_plus", [&] { (void)act::sparse_plus(t); });
    survives("sparse_sigmoid", [&] { (void)act::sparse_sigmoid(t); });
    survives("sparsemax", [&] { (void)act::sparsemax(t, {.axis = INT64_MIN}); });
    survives("squareplus", [&] { (void)act::squareplus(t, {.b = -1}); });
    survives("tanh_shrink", [&] { (void)act::tanh_shrink(t); });
    for (const Tensor& u : {t, ones({2, 3}), ones({2, 3, 4})}) {
      survives("gru_sequence", [&] { (void)nn::gru_sequence(u, t, t, t, t); });
      survives("lstm_sequence", [&] { (void)nn::lstm_sequence(u, t, t, t, t); });
      survives("average", [&] { (void)keras::layers::average({t, u}); });
      survives("dot", [&] { (void)keras::layers::dot({t, u}, {.axes = 9}); });
    }
    for (const keras::ClassWeights& weights :
         {keras::ClassWeights{}, keras::ClassWeights{{INT64_MIN, -1}, {0, 1e300}, {0, 2}}})
      survives("weights_by_class", [&] { (void)keras::weights_by_class(t, weights); });
    survives("set_global_generator", [&] {
      random::set_global_generator(random::Generator::from_state(t, random::Algorithm::kPhilox));
    });
    survives("rng_state", [&] { (void)random::rng_state(t, random::Algorithm::kPhilox); });
  }
  survives("average", [&] { (void)keras::layers::average({}); });
  survives("dot", [&] { (void)keras::layers::dot({}, {}); });
  for (const char* name : {"", "no such", "relu\xff"})
    survives("named", [&] { (void)act::named(name); });
}

// What an initializer, a constraint or a regularizer of bad numbers does, is asked of it too.
TEST(BadFurtherArguments, OfInitializersConstraintsAndRegularizersAreRefused) {
  using namespace keras;
  auto tried = [](const char* what, auto make) {
    survives(what, [&] {
      auto made = make();
      layers::Dense layer(2, {.kernel_initializer = made});
      (void)layer(ones({1, 3}));
    });
  };
  auto bounded = [](const char* what, auto make) {
    survives(what, [&] {
      layers::Dense layer(2, {.kernel_constraint = make()});
      (void)layer(ones({1, 3}));
    });
  };
  auto regularized = [](const char* what, auto make) {
    survives(what, [&] {
      layers::Dense layer(2, {.kernel_regularizer = make()});
      (void)layer(ones({1, 3}));
    });
  };
  for (double n : kNumbers) {
    namespace init = initializers;
    tried("Constant", [&] { return init::Constant(n); });
    tried("Identity", [&] { return init::Identity({.gain = n}); });
    tried("Orthogonal", [&] { return init::Orthogonal({.gain = n, .seed = -1}); });
    tried("RandomNormal", [&] { return init::RandomNormal({.mean = n, .stddev = n}); });
    tried("RandomUniform", [&] { return init::RandomUniform({.minval = n, .maxval = -n}); });
    tried("TruncatedNormal", [&] { return init::TruncatedNormal({.mean = n, .stddev = -n}); });
    tried("VarianceScaling",
          [&] { return init::VarianceScaling({.scale = n, .mode = "", .distribution = "none"}); });
    bounded("MaxNorm", [&] { return constraints::MaxNorm({.max_value = n, .axis = 9}); });
    bounded("MinMaxNorm", [&] {
      return constraints::MinMaxNorm({.min_value = n, .max_value = -n, .rate = n, .axis = -9});
    });
    bounded("UnitNorm", [&] { return constraints::UnitNorm({.axis = 7}); });
    regularized("L1", [&] { return regularizers::L1({.l1 = n}); });
    regularized("L2", [&] { return regularizers::L2({.l2 = n}); });
    regularized("L1L2", [&] { return regularizers::L1L2({.l1 = n, .l2 = n}); });
    regularized("OrthogonalRegularizer", [&] {
      return regularizers::OrthogonalRegularizer({.factor = n, .mode = "diagonals"});
    });
  }
  for (const std::optional<int64_t>& seed : {std::optional<int64_t>(), std::optional(INT64_MIN)}) {
    namespace init = initializers;
    const std::optional<std::vector<int64_t>> axes{{9, -9, 9}};
    tried("GlorotNormal", [&] { return init::GlorotNormal({seed, axes, axes}); });
    tried("GlorotUniform", [&] { return init::GlorotUniform({seed, axes, {}}); });
    tried("HeNormal", [&] { return init::HeNormal({seed, {}, axes}); });
    tried("HeUniform", [&] { return init::HeUniform({seed, axes, axes}); });
    tried("LecunNormal", [&] { return init::LecunNormal({seed, axes, axes}); });
    tried("LecunUniform", [&] { return init::LecunUniform({seed, axes, axes}); });
  }
  for (const Config& window : {Config("no such"), Config(nullptr), Config(7), Config("")})
    tried("STFT", [&] {
      return initializers::STFT({.side = "none", .window = window, .scaling = "twice"});
    });
}

TEST(BadFurtherArguments, OfPicturesOfModelsAreRefused) {
  keras::Sequential empty, model({keras::layers::Dense(1)});
  for (keras::ModelLayer* m : {&*empty, &*model}) {
    survives("model_to_dot", [&] { (void)keras::model_to_dot(*m, {.rankdir = "?", .dpi = -1}); });
    survives("model_to_svg", [&] { (void)keras::model_to_svg(*m, {.rankdir = "", .dpi = 0}); });
    survives("summary_text",
             [&] { (void)keras::summary_text(*m, {.line_length = -7, .positions = {2, -1, 0}}); });
    survives("save_model", [&] { keras::save_model(*m, ""); });
    survives("save_model", [&] { keras::save_model(*m, "/no/such/folder/m.keras"); });
    survives("saved_names", [&] { (void)saved_names(*m); });
    survives("archived_config", [&] { (void)keras::archived_config(*m); });
    survives("any_output", [&] { (void)keras::any_output(*m); });
  }
  for (const char* name : {"", "no such", "\xff>"}) {
    EXPECT_FALSE(registry::has_class(name));
    survives("remove_class", [&] { registry::remove_class(name); });
    survives("make_object", [&] {
      ConfigObject described;
      described.class_name = name;
      (void)registry::make_object(described);
    });
  }
  survives("broadcast_static_shape", [] { (void)broadcast_static_shape(Shape{2}, Shape{3}); });
  survives("broadcast_static_shape",
           [] { (void)broadcast_static_shape(Shape::unknown(), Shape{INT64_MAX, -5}); });
  survives("name_scope_prefix", [] { (void)name_scope_prefix("\xff/ //"); });
  survives("find_device", [] { (void)find_device(DeviceKind::kCpu, -1); });
  survives("find_device", [] { (void)find_device(DeviceKind::kCpu, INT32_MAX); });
  const int threads = num_threads();
  survives("set_num_threads", [] { set_num_threads(-3); });
  set_num_threads(threads);
  survives("set_logical_cpus", [] { set_logical_cpus(-3); });
  survives("set_logical_cpus", [] { set_logical_cpus(INT32_MAX); });
}

}  // namespace
}  // namespace holdfast
