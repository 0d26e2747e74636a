// A model's own code asks for the truth of a tensor while its step is traced.
struct Halting : keras::ModelLayer {
  Tensor call(const Tensor& inputs, const keras::CallOptions&) override {
    Tensor h = dense(inputs);
    if (reduce_mean(h) > 0) return h;
    return h * 2;
  }
  keras::layers::Dense dense{1, {.kernel_initializer = "ones"}};
};
PROGRAM(E0201_keras_call) {
  auto model = keras::make<Halting>();
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(ones({4, 2}), ones({4, 1}), {.verbose = 0});
}
