// A small convolutional network tells horizontal bars from vertical ones.
#include <holdfast/holdfast.h>

#include <cstdio>

namespace hf = holdfast;

int main() {
  hf::random::set_seed(5);
  // 64 images of 8 x 8, each with one bar; the label says which way it lies.
  hf::Tensor at = hf::random::uniform({64}, {.maxval = 8, .dtype = hf::int32});
  hf::Tensor labels = hf::range(64) % 2;
  hf::Tensor bar = hf::one_hot(at, 8);  // one row of 8, repeated across or down
  hf::Tensor across = hf::tile(hf::expand_dims(bar, 2), {1, 1, 8}),
             down = hf::transpose(across, {0, 2, 1});
  hf::Tensor images =
      hf::expand_dims(hf::where(hf::reshape(labels == 1, {64, 1, 1}), across, down), -1);

  hf::Variable filters(hf::random::normal({3, 3, 1, 4}, {.stddev = 0.3}));
  hf::Variable weights(hf::random::normal({4, 2}, {.stddev = 0.3}));
  auto logits = [&](const hf::Tensor& x) {
    hf::Tensor h = hf::nn::relu(hf::nn::conv2d(x, filters, 1, "SAME"));
    return hf::matmul(hf::reduce_max(h, {1, 2}), weights);
  };
  auto step = hf::function([&](hf::Tensor x, hf::Tensor y) {
    hf::GradientTape tape;
    hf::Tensor loss =
        hf::reduce_mean(hf::nn::sparse_softmax_cross_entropy_with_logits(y, logits(x)));
    auto g = tape.gradients({loss}, {filters, weights});
    filters.assign_sub(g[0].dense * 0.5f);
    weights.assign_sub(g[1].dense * 0.5f);
    return loss;
  });
  for (int i = 0; i < 200; ++i) step(images, labels);
  hf::Tensor right = hf::argmax(logits(images), {.axis = 1, .output_type = hf::int32}) == labels;
  double accuracy = hf::reduce_mean(hf::cast(right, hf::float32)).to_double();
  std::printf("accuracy %.3f\n", accuracy);
  return accuracy > 0.95 ? 0 : 1;
}
