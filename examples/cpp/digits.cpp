// The C++ twin of examples/python/digits.py: the same data, the same network, the same numbers.
//
//   example_digits FILE        (FILE: written by `python examples/python/digits.py --export FILE`)
#include <holdfast/holdfast.h>

#include <cstdio>
#include <fstream>
#include <vector>

namespace hf = holdfast;
using hf::Tensor;
using hf::Variable;

constexpr int kEpochs = 20;
constexpr int64_t kBatch = 50, kTrain = 1500;
constexpr float kRate = 0.2f;

struct Network {
  Variable w1{hf::random::stateless_normal({64, 48}, Tensor::of({1, 0})) * 0.18f, {.name = "w1"}};
  Variable b1{hf::zeros({48}), {.name = "b1"}};
  Variable w2{hf::random::stateless_normal({48, 10}, Tensor::of({2, 0})) * 0.2f, {.name = "w2"}};
  Variable b2{hf::zeros({10}), {.name = "b2"}};

  Tensor operator()(const Tensor& x) const {
    return hf::matmul(hf::nn::relu(hf::matmul(x, w1) + b1), w2) + b2;
  }
};

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: example_digits FILE\n"), 2;
  std::ifstream in(argv[1], std::ios::binary);
  int64_t size[2] = {};
  in.read(reinterpret_cast<char*>(size), sizeof size);
  if (!in || size[0] <= kTrain || size[1] != 64)
    return std::fprintf(stderr, "%s holds no digits\n", argv[1]), 1;
  std::vector<float> images(static_cast<size_t>(size[0] * size[1]));
  std::vector<int32_t> labels(static_cast<size_t>(size[0]));
  in.read(reinterpret_cast<char*>(images.data()),
          static_cast<std::streamsize>(images.size() * sizeof(float)));
  in.read(reinterpret_cast<char*>(labels.data()),
          static_cast<std::streamsize>(labels.size() * sizeof(int32_t)));
  Tensor x = Tensor::of<float>(images, {size[0], size[1]}),
         y = Tensor::of<int32_t>(labels, {size[0]});

  Network net;
  const std::vector<Variable> variables{net.w1, net.b1, net.w2, net.b2};
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at < kTrain; at += kBatch) {
      hf::GradientTape tape;
      Tensor logits = net(hf::slice(x, {at, 0}, {kBatch, -1}));
      Tensor loss = hf::reduce_mean(
          hf::nn::sparse_softmax_cross_entropy_with_logits(hf::slice(y, {at}, {kBatch}), logits));
      auto slopes = tape.gradients({loss}, {variables.begin(), variables.end()});
      for (size_t i = 0; i < variables.size(); ++i)
        variables[i].assign_sub(slopes[i].tensor() * kRate);
      total += loss.item<float>();
    }
    std::printf("\repoch %2d of %d  loss %.4f", epoch, kEpochs, total * kBatch / kTrain);
    std::fflush(stdout);
  }
  Tensor guess =
      hf::argmax(net(hf::slice(x, {kTrain, 0}, {-1, -1})), {.axis = 1, .output_type = hf::int32});
  Tensor right = hf::cast(hf::equal(guess, hf::slice(y, {kTrain}, {-1})), hf::float32);
  std::printf("  accuracy %.4f\n", hf::reduce_mean(right).item<float>());
} catch (const hf::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
