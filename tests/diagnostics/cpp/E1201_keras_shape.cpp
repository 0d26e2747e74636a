// A layer gets another last size than its weights were made for.
PROGRAM(E1201_keras_shape) {
  keras::layers::Dense project(3, {.name = "project"});
  Tensor words = ones({2, 4}), pixels = ones({2, 5});
  Tensor first = project(words);
  Tensor second = project(pixels);
}
