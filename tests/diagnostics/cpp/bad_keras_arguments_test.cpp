// Arguments that make no sense, for every class of Keras and all that programs call on models:
// what is refused is refused with an Error, and nothing crashes. HOLDFAST_FUZZ_CALLS sets how often
// each class is made, HOLDFAST_FUZZ_SEED from what.
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include "bad_arguments.h"

namespace holdfast::keras {
namespace {

using layers::Dense;

class Values {
 public:
  explicit Values(uint64_t seed) : random_(seed) {}
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }
  /// Either small or beyond all memory: what lies between would be granted, and take long.
  int64_t integer() {
    constexpr int64_t kSome[] = {0, 1, -1, 2, 3, -2, 5, INT64_MAX, INT64_MIN, int64_t{1} << 62};
    return kSome[below(std::size(kSome))];
  }
  double number() {
    constexpr double kSome[] = {0, 1, -1, 0.5, 1e300, -1e-300, HUGE_VAL, -HUGE_VAL};
    return below(9) == 0 ? std::numeric_limits<double>::quiet_NaN()
                         : kSome[below(std::size(kSome))];
  }
  std::string text() {
    const char* some[] = {"",       "x",     "relu",     "same",      "valid",   "causal",
                          "linear", "zeros", "%s\n\xff", "ij,jk->ik", "float32", "channels_first"};
    return some[below(std::size(some))];
  }
  Config value(int depth = 0) {
    switch (below(depth < 2 ? 8 : 6)) {
      case 0: return {};
      case 1: return Config(below(2) == 0);
      case 2:
      case 3: return Config(integer());
      case 4: return Config(number());
      case 5: return Config(text());
      case 6: {
        Config::List list;
        for (size_t n = below(4); n > 0; --n) list.push_back(value(depth + 1));
        return list;
      }
      default: {
        ConfigDict dict;
        dict.set(text(), value(depth + 1));
        return dict;
      }
    }
  }
  /// Options of a class. Those it must have are mostly small numbers: what fits gets further.
  ConfigDict options(const ClassDef& def) {
    ConfigDict out;
    for (const Option& o : def.options)
      if (o.required && below(4))
        out.set(o.name, Config(int64_t{1} + static_cast<int64_t>(below(3))));
      else if (o.required || below(3) == 0)
        out.set(o.name, value());
    if (below(20) == 0) out.set(text(), value());
    return out;
  }

 private:
  std::mt19937_64 random_;
};

std::vector<Tensor> odd_tensors() {
  return {Tensor(),
          dead_symbol(),
          constant(1.5),
          constant("text"),
          constant({1, 2}),
          zeros({0}),
          zeros({2, 0}),
          ones({2, 3}),
          ones({2, 4, 3}),
          ones({1, 4, 4, 3}),
          ones({1, 2, 4, 4, 3}),
          cast(ones({2, 3}), DType::kComplex64),
          cast(ones({2, 3}), float16),
          fill({2, 3}, std::numeric_limits<double>::quiet_NaN()),
          Variable(1.5).handle()};
}

// What an object of any of the classes is for.
void use(Object& made, const std::vector<Tensor>& odd, Values& values) {
  const Tensor a = odd[values.below(odd.size())], b = odd[values.below(odd.size())];
  if (auto* layer = dynamic_cast<Layer*>(&made)) {
    survives("call", [&] { (void)(*layer)(a); });
    survives("call", [&] { (void)(*layer)(Nested::list({a, b}), {.training = true}); });
    survives("shape", [&] { (void)layer->compute_output_shape({2, values.integer()}); });
    survives("config", [&] { (void)layer->get_config(); });
    survives("weights", [&] { layer->set_weights({a, b}); });
  } else if (auto* loss = dynamic_cast<Loss*>(&made)) {
    survives("loss", [&] { (void)(*loss)(a, b); });
    survives("loss", [&] { (void)(*loss)(a, b, b); });
  } else if (auto* metric = dynamic_cast<Metric*>(&made)) {
    survives("metric", [&] { metric->update_state(a, b, Tensor()); });
    survives("metric", [&] { metric->update_state(a, b, a); });
    survives("result", [&] { (void)metric->result(); });
    survives("reset", [&] { metric->reset_state(); });
  } else if (auto* optimizer = dynamic_cast<Optimizer*>(&made)) {
    Variable v(ones({2, 3}));
    survives("apply", [&] { optimizer->apply_gradients({a, b}, {v}); });
    survives("apply", [&] { optimizer->apply_gradients({a}, {v}); });
    survives("apply", [&] { optimizer->apply_gradients({a}, {Variable()}); });
    survives("apply", [&] { optimizer->apply_gradients({}, {}); });
    survives("build", [&] { optimizer->build({Variable(constant(1))}); });
    survives("rate", [&] { optimizer->set_learning_rate(values.number()); });
    survives("rate", [&] { (void)optimizer->learning_rate(); });
  } else if (auto* first = dynamic_cast<Initializer*>(&made)) {
    survives("first", [&] { (void)(*first)({2, values.integer()}, float32); });
    survives("first", [&] { (void)(*first)(Shape::unknown(), DType::kString); });
    survives("first", [&] { (void)(*first)({}, DType::kInvalid); });
  } else if (auto* penalty = dynamic_cast<Regularizer*>(&made)) {
    survives("penalty", [&] { (void)(*penalty)(a); });
  } else if (auto* schedule = dynamic_cast<Schedule*>(&made)) {
    survives("rate", [&] { (void)schedule->rate(a); });
  } else if (auto* callback = dynamic_cast<Callback*>(&made)) {
    Logs logs{{"loss", values.number()}};
    survives("model", [&] { (void)callback->model(); });
    survives("tell", [&] { callback->on_epoch_end(values.integer(), logs); });
  }
}

TEST(BadKerasArguments, OfEveryClassAreRefusedOrUsed) {
  auto calls = from_environment("HOLDFAST_FUZZ_CALLS", 12);
  Values values(static_cast<uint64_t>(from_environment("HOLDFAST_FUZZ_SEED", 7)));
  const std::vector<Tensor> odd = odd_tensors();
  size_t made = 0;
  for (const ClassDef* def : all_classes()) {
    if (!def->make) continue;
    // These write files where their options say.
    if (def->path.starts_with("callbacks.") && def->find("filepath")) continue;
    if (def->path.starts_with("callbacks.") && (def->find("filename") || def->find("log_dir")))
      continue;
    if (def->path.starts_with("callbacks.") && def->find("backup_dir")) continue;
    for (int64_t n = 0; n < calls; ++n) {
      ConfigDict options = values.options(*def);
      Ref<Object> object;
      survives(def->path + " " + Config(options).to_json(),
               [&] { object = make_declared(*def, options); });
      if (!object) continue;
      use(*object, odd, values);
      ++made;
    }
  }
  EXPECT_GE(made, all_classes().size());
}

Sequential small() { return Sequential({Dense(2), Dense(1)}); }

TEST(BadKerasArguments, OfModelsAreRefused) {
  const std::vector<Tensor> odd = odd_tensors();
  Tensor x = Input({.shape = {3}});
  Tensor y = Dense(2)(x);
  for (const Tensor& t : odd) {
    survives("model", [&] { Model made(t, t); });
    survives("model", [&] { Model made(x, t); });
    survives("model", [&] { Model made(t, y); });
    survives("model", [&] { Model made({x, t}, y); });
    survives("sequential", [&] { Sequential made({t, Dense(1)}); });
    survives("sequential", [&] { small().add(t); });
    survives("call", [&] { (void)Model(x, y)(t); });
    survives("call", [&] { (void)Model(x, y)({t, t}); });
    survives("merge", [&] { (void)layers::Concatenate()({t, x}); });
    survives("op", [&] { (void)(x + t); });
  }
  survives("model", [] { Model made{Nested(), Nested()}; });
  survives("model", [] { Model made{Ref<ModelLayer>()}; });
  survives("model", [&] { Model made(Nested::list({}), y); });
  survives("layer", [] { (void)small().get_layer("nothing"); });
  survives("layer", [] { (void)small().get_layer(SIZE_MAX); });
  survives("empty", [] { (void)Sequential()(ones({2, 3})); });
  survives("empty", [] { Sequential()->pop(); });
  for (int64_t n : {int64_t{0}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    survives("first", [&] { Dense made(n); });
    survives("first", [&] { layers::Embedding made(n, {.output_dim = n}); });
    survives("input", [&] { (void)Input({.shape = {n}}); });
    survives("build", [&] { small().build({n, n}); });
    survives("build", [&] { small().build(Shape::unknown()); });
    survives("adam", [&] { optimizers::Adam made(n); });
  }
  survives("first", [] { Dense made("three"); });
  survives("first", [] { layers::Activation made("nothing"); });
  survives("first", [] { AnyLayer made("nothing"); });
  survives("code",
           [] { (void)Dense(1, {.activation = [](Tensor) { return Tensor(); }})(ones({1, 1})); });
  survives("lambda", [] { (void)layers::Lambda()(ones({1})); });
  survives("clone", [] { (void)clone_model(small()); });
  survives("config", [] { (void)deserialize(Config()); });
  survives("config", [] { (void)deserialize(ConfigObject{"Dense", {}, ""}); });
}

TEST(BadKerasArguments, OfTrainingAreRefused) {
  const std::vector<Tensor> odd = odd_tensors();
  Tensor x = ones({4, 3}), y = ones({4, 1});
  survives("not compiled", [&] { small().fit(x, y); });
  survives("not compiled", [&] { (void)small().evaluate(x, y); });
  for (const char* loss : {"mse", "categorical_crossentropy", "sparse_categorical_crossentropy"}) {
    Sequential model = small();
    model.compile({.optimizer = "adam", .loss = loss, .metrics = {"accuracy"}});
    for (const Tensor& t : odd) {
      survives("fit", [&] { model.fit(t, t, {.verbose = 0}); });
      survives("fit", [&] { model.fit(x, t, {.verbose = 0}); });
      survives("fit", [&] { model.fit(t, y, {.verbose = 0}); });
      survives("fit", [&] { model.fit(x, y, {.verbose = 0, .sample_weight = t}); });
      survives("fit", [&] { model.fit(x, y, {.verbose = 0, .validation_data = Nested(t)}); });
      survives("fit", [&] { model.fit(x, y, {.verbose = 0, .validation_data = {t, t}}); });
      survives("evaluate", [&] { (void)model.evaluate(t, y, {.verbose = 0}); });
      survives("predict", [&] { (void)model.predict(t, {.verbose = 0}); });
      survives("one tensor", [&] { (void)Tensor(model.predict(x, {.verbose = 0})); });
    }
  }
  Sequential model = small();
  model.compile({.optimizer = "sgd", .loss = "mse"});
  for (int64_t n : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    survives("batch_size", [&] { model.fit(x, y, {.batch_size = n, .verbose = 0}); });
    survives("epochs", [&] { model.fit(x, y, {.epochs = n, .verbose = 0}); });
    survives("steps", [&] { model.fit(x, y, {.verbose = 0, .steps_per_epoch = n}); });
    survives("steps", [&] { (void)model.evaluate(x, y, {.verbose = 0, .steps = n}); });
    survives("freq", [&] {
      model.fit(x, y, {.verbose = 0, .validation_data = {x, y}, .validation_freq = n});
    });
    survives("classes", [&] { model.fit(x, y, {.verbose = 0, .class_weight = {{n, -1.0}}}); });
  }
  survives("batch_size", [&] { model.fit(x, y, {.batch_size = INT64_MAX, .verbose = 0}); });
  for (double share : {-1.0, 1.0, 2.0, std::numeric_limits<double>::quiet_NaN()})
    survives("split", [&] { model.fit(x, y, {.verbose = 0, .validation_split = share}); });
  survives("callback", [&] { model.fit(x, y, {.verbose = 0, .callbacks = {Ref<Callback>()}}); });
  survives("no end", [&] { model.fit(data::Dataset::from_tensors({x, y}).repeat()); });
  survives("no end", [&] { (void)model.predict(data::Dataset::from_tensors(x).repeat()); });
  survives("no batch", [&] { model.fit(data::Dataset::from_tensors({x, y}).take(0)); });
  survives("numbers", [&] { model.fit(data::Dataset::range(3), {.verbose = 0}); });
  survives("weights", [&] {
    model.fit(data::Dataset::from_tensors({x, y}), {.verbose = 0, .sample_weight = y});
  });
  survives("logs", [&] { (void)model.evaluate(x, y, {.verbose = 0})["nothing"]; });
  survives("history", [&] { (void)model.fit(x, y, {.verbose = 0})["nothing"]; });
  survives("compile", [&] { model.compile({.optimizer = "nothing"}); });
  survives("compile", [&] { model.compile({.optimizer = nullptr, .loss = "mse"}); });
  survives("compile", [&] { model.compile({.loss = {{"a", "mse"}, {"b", "mse"}}}); });
  survives("fit", [&] { model.fit(x, y, {.verbose = 0}); });
  survives("metrics", [&] { model.compile({.loss = "mse", .metrics = {"nothing"}}); });
  survives("fit", [&] { model.fit(x, y, {.verbose = 0}); });
  survives("step", [&] { (void)model->train_step(Nested()); });
  survives("step", [&] { (void)model->test_step(Nested(x, y, x)); });
  survives("source", [&] { (void)array_source(Nested(), Nested(), Nested(), {}); });
}

TEST(BadKerasArguments, OfFilesAreRefused) {
  Sequential model = small();
  model(ones({1, 3}));
  for (const char* path : {"", "/", "/nothing/there.keras", "a.keras", "a.weights.h5", "a.zip",
                           "a.safetensors", "\xff.keras", "/dev/null"}) {
    survives("load", [&] { (void)load_model(path); });
    survives("weights", [&] { model.load_weights(path); });
    survives("plot", [&] { plot_model(model, std::string("/nothing/") + path); });
    survives("save", [&] { model.save(std::string("/nothing/") + path); });
    survives("save", [&] { model.save_weights(std::string("/nothing/") + path); });
    survives("tensors", [&] { save({{"w", Tensor()}}, std::string("/nothing/") + path); });
    survives("tensors", [&] { (void)load(path); });
  }
}

}  // namespace
}  // namespace holdfast::keras
