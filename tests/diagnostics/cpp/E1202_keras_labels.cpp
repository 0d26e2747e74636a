// Numbers of classes for a loss that takes one-hot labels.
PROGRAM(E1202_keras_labels) {
  keras::Sequential model({keras::layers::Dense(3, {.activation = "softmax"})}, {.name = "kinds"});
  model.compile({.optimizer = "sgd", .loss = "categorical_crossentropy"});
  Tensor classes = constant({{0}, {2}, {1}, {1}});
  model.fit(ones({4, 2}), classes, {.verbose = 0});
}
