// Two batches, where each epoch is to have three.
PROGRAM(W1403_keras_ended) {
  keras::Sequential model({keras::layers::Dense(1)}, {.name = "short"});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  auto batches = data::Dataset::from_tensor_slices({ones({4, 2}), ones({4, 1})}).batch(2);
  model.fit(batches, {.epochs = 2, .verbose = 0, .steps_per_epoch = 3});
}
