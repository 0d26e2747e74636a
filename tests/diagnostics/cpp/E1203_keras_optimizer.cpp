// The name of an optimizer, almost.
PROGRAM(E1203_keras_optimizer) {
  keras::Sequential model({keras::layers::Dense(1)}, {.name = "typo"});
  model.compile({.optimizer = "adma", .loss = "mse"});
}
