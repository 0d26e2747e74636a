// Trained before it was said how.
PROGRAM(E1104_keras_not_compiled) {
  keras::Sequential model({keras::layers::Dense(1)}, {.name = "prices"});
  model.fit(ones({4, 2}), ones({4, 1}));
}
