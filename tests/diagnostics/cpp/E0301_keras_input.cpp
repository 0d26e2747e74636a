// An output that needs an Input which the model is not given.
PROGRAM(E0301_keras_input) {
  Tensor photo = keras::Input({.shape = {4}, .name = "photo"});
  Tensor text = keras::Input({.shape = {3}, .name = "text"});
  Tensor both = keras::layers::Concatenate({.name = "both"})({photo, text});
  Tensor score = keras::layers::Dense(1, {.name = "score"})(both);
  keras::Model model(photo, score, {.name = "scorer"});
}
