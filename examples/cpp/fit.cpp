// A model of Keras' from calls on symbols: compiled, fit on a dataset, stopped by a callback,
// saved.
#include <holdfast/holdfast.h>

#include <cstdio>
#include <iostream>

namespace hf = holdfast;
namespace keras = hf::keras;
using keras::layers::Dense;

int main() {
  hf::random::set_seed(2);
  hf::Tensor x = hf::random::uniform({512, 2}, {.minval = -1, .maxval = 1});
  hf::Tensor inside =
      hf::cast(hf::reduce_sum(x * x, {.axis = 1, .keepdims = true}) < 0.5, hf::int32);

  hf::Tensor input = keras::Input({.shape = {2}});
  hf::Tensor hidden = Dense(32, {.activation = "relu"})(input);
  keras::Model model(input, Dense(1, {.activation = "sigmoid"})(hidden));
  model.compile({.optimizer = keras::optimizers::Adam(0.02),
                 .loss = "binary_crossentropy",
                 .metrics = {"accuracy", keras::metrics::AUC({.num_thresholds = 50})}});

  auto batches = hf::data::Dataset::from_tensor_slices({x, inside}).shuffle(512).batch(32);
  keras::History history = model.fit(
      batches,
      {.epochs = 30,
       .verbose = 0,
       .callbacks = {keras::callbacks::EarlyStopping({.monitor = "loss", .patience = 3})}});
  keras::Logs logs = model.evaluate(x, inside, {.verbose = 0});
  std::printf("%zu epochs, accuracy %.2f\n", history.epoch.size(), logs["accuracy"]);

  model.save("circle.keras");
  keras::Model loaded = keras::load_model("circle.keras");
  std::remove("circle.keras");
  hf::Tensor p = loaded.predict(hf::constant({{0.1, 0.1}, {0.9, 0.9}}), {.verbose = 0});
  std::cout << hf::reshape(p, {2}) << '\n';
  return p[0] > 0.5 && p[1] < 0.5 && logs["auc"] > 0.9 ? 0 : 1;
}
