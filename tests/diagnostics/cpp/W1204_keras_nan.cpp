// The logarithm of a number that training makes negative.
struct Logs : keras::Layer {
  Tensor call(const Tensor& inputs, const keras::CallOptions&) override { return log(inputs - 2); }
};
PROGRAM(W1204_keras_nan) {
  keras::Sequential model(
      {keras::layers::Dense(1, {.kernel_initializer = "ones", .name = "sum"}), keras::make<Logs>()},
      {.name = "logs"});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(constant({{1., 0.}, {0., 1.}}), ones({2, 1}), {.verbose = 0});
}
