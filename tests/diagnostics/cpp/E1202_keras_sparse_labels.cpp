// One-hot labels for a loss that takes numbers of classes.
PROGRAM(E1202_keras_sparse_labels) {
  keras::Sequential model({keras::layers::Dense(3, {.activation = "softmax"})}, {.name = "sorts"});
  model.compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy"});
  Tensor one_hot_labels = one_hot(constant({0, 2, 1, 1}), 3);
  model.fit(ones({4, 2}), one_hot_labels, {.verbose = 0});
}
