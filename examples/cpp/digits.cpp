// The model that examples/python/digits.py has trained and saved, loaded and run without Python:
// the predictions are the same to the last bit.
//
//   example_digits MODEL.keras FILE      (both: written by digits.py --save MODEL.keras --export
//   FILE)
#include <holdfast/holdfast.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

namespace hf = holdfast;
namespace keras = holdfast::keras;

constexpr int64_t kSide = 8, kDigits = 10, kBatch = 50;

template <class T>
std::vector<T> numbers(std::istream& in, int64_t count) {
  std::vector<T> out(static_cast<size_t>(count));
  in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(count * sizeof(T)));
  return out;
}

int main(int argc, char** argv) try {
  if (argc != 3) return std::fprintf(stderr, "usage: example_digits MODEL.keras FILE\n"), 2;
  std::ifstream in(argv[2], std::ios::binary);
  int64_t count = numbers<int64_t>(in, 1)[0];
  if (!in || count < 1 || count > 10'000)
    return std::fprintf(stderr, "%s holds no digits\n", argv[2]), 1;
  auto images = numbers<float>(in, count * kSide * kSide);
  auto labels = numbers<int32_t>(in, count);
  auto wanted = numbers<float>(in, count * kDigits);
  if (!in) return std::fprintf(stderr, "%s ends too early\n", argv[2]), 1;

  keras::Model model = keras::load_model(argv[1]);
  hf::Tensor x = hf::Tensor::of<float>(images, {count, kSide, kSide, 1});
  hf::Tensor predicted = model.predict(x, {.batch_size = kBatch, .verbose = 0});

  hf::Tensor right = hf::argmax(predicted, {.axis = 1, .output_type = hf::int32}) ==
                     hf::Tensor::of<int32_t>(labels, {count});
  std::vector<float> got = predicted.to_vector<float>();
  bool same = got.size() == wanted.size() &&
              std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)) == 0;
  std::printf("%s: accuracy %.4f, predictions %s those of Python\n", argv[1],
              hf::reduce_mean(hf::cast(right, hf::float32)).to_double(),
              same ? "are to the last bit" : "differ from");
  return same ? 0 : 1;
} catch (const hf::Error& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
