// Arguments that make no sense, for what brings tensors in from outside and hands them out, and for
// functions that only C++ has: files, records, memory of others, values kept, code of the program's
// own, functions of Keras.
#include <filesystem>
#include <fstream>

#include "bad_arguments.h"

namespace holdfast {
namespace {

std::vector<Tensor> no_good_tensors() {
  return {Tensor(),      dead_symbol(),    constant("a"),          zeros({0}),
          zeros({0, 3}), constant({1, 2}), Variable(1.5).handle(), constant(true)};
}

// A folder of its own for each test; it goes with it.
class Folder {
 public:
  explicit Folder(const char* name)
      : path_(std::filesystem::temp_directory_path() / (std::string("holdfast_bad_") + name)) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// Paths that can't be read or written: none, a folder, one that is not there, one with a zero
// inside.
std::vector<std::string> no_good_paths(const Folder& folder) {
  return {"",
          folder.file(""),
          folder.file("none/x"),
          std::string("a\0b", 3),
          std::string(5000, 'x'),
          "/proc/self/mem"};
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(BadOutsideArguments, OfSavedTensorsAreRefused) {
  Folder folder("saved");
  for (const Tensor& t : no_good_tensors()) {
    survives("save", [&] { save({{"t", t}}, folder.file("t")); });
    survives("save", [&] { save({{"", t}, {"", t}}, folder.file("t")); });
    survives("save", [&] { save({{"__metadata__", t}}, folder.file("t")); });
  }
  for (const std::string& path : no_good_paths(folder)) {
    survives("save", [&] { save({{"x", ones({2})}}, path); });
    survives("load", [&] { (void)load(path); });
  }
  survives("nothing", [&] { save(ByName<Tensor>(), folder.file("t")); });
  const std::string good = folder.file("good"), bad = folder.file("bad");
  save({{"x", ones({2, 3})}, {"y", constant({1, 2})}}, good);
  const std::string bytes = bytes_of(good);
  for (size_t n = 0; n < bytes.size(); n += 3) {
    write_bytes(bad, bytes.substr(0, n));
    survives("cut", [&] { (void)load(bad); });
    std::string changed = bytes;
    changed[n] = static_cast<char>(changed[n] ^ 0x5a);
    write_bytes(bad, changed);
    survives("changed", [&] { (void)load(bad); });
  }
}

TEST(BadOutsideArguments, OfRecordsAndExamplesAreRefused) {
  Folder folder("records");
  for (const std::string& path : no_good_paths(folder)) {
    survives("write", [&] { io::RecordWriter(path).write("x"); });
    survives("read", [&] {
      std::string out;
      while (io::RecordReader(path, io::Compression::kNone).next(out)) break;
    });
    for (const char* how : {"", "ZLIB", "none such"}) {
      auto through = [&](const char* what, auto make) {
        survives(what, [&] {
          int seen = 0;
          for (const Nested& element : make())
            if ((void)element.leaves(), ++seen == 3) break;
        });
      };
      through("records", [&] { return data::TFRecordDataset(path, {.compression_type = how}); });
      through("lines", [&] { return data::TextLineDataset(path, {.compression_type = how}); });
      through("csv", [&] { return data::CsvRecords(path, {.compression_type = how}); });
      for (int64_t size : {int64_t{0}, int64_t{-1}, int64_t{1}, INT64_MAX})
        through("pieces", [&] {
          return data::FixedLengthRecordDataset(
              path, size, {.header_bytes = -size, .footer_bytes = size, .compression_type = how});
        });
    }
  }
  survives("no name", [] { (void)data::TextLineDataset(static_cast<const char*>(nullptr)); });
  for (int number : {-100, 0, 100, INT32_MAX})
    survives("options", [&] {
      io::RecordWriter writer(folder.file("r"), {.compression = io::Compression::kZlib,
                                                 .level = number,
                                                 .window_bits = number,
                                                 .memory_level = number,
                                                 .strategy = number});
      writer.write("x");
      writer.close();
      writer.write("after the end");
    });
  const std::string good = io::serialize(io::Example{{{"label", std::vector<int64_t>{3, -3}},
                                                      {"text", std::vector<std::string>{"a", ""}},
                                                      {"x", std::vector<float>{1.5f}}}});
  for (size_t n = 0; n < good.size(); ++n) {
    survives("cut", [&] { (void)io::example_from(std::string_view(good).substr(0, n)); });
    std::string changed = good;
    changed[n] = static_cast<char>(changed[n] ^ 0x5a);
    survives("changed", [&] { (void)io::example_from(changed); });
    survives("changed", [&] { (void)io::sequence_example_from(changed); });
  }
}

TEST(BadOutsideArguments, OfMemoryOfOthersAreRefused) {
  for (const Tensor& t : no_good_tensors())
    for (bool copy : {false, true}) {
      survives("to_dlpack", [&] {
        if (dlpack::Managed* m = dlpack::to_dlpack(t, copy)) m->deleter(m);
      });
      survives("to_dlpack", [&] {
        if (auto* m = dlpack::to_dlpack_versioned(t, copy)) m->deleter(m);
      });
    }
  survives("none", [] { (void)dlpack::from_dlpack(static_cast<dlpack::Managed*>(nullptr)); });
  float numbers[6] = {};
  int64_t sizes[] = {2, 3}, huge[] = {INT64_MAX, INT64_MAX}, negative[] = {-2, 3};
  const dlpack::ElementType float32_type{dlpack::kFloat, 32, 1};
  const dlpack::Array cases[] = {
      {nullptr, {dlpack::kCPU, 0}, 2, float32_type, sizes, nullptr, 0},
      {numbers, {77, 0}, 2, float32_type, sizes, nullptr, 0},
      {numbers, {dlpack::kCPU, 0}, -1, float32_type, sizes, nullptr, 0},
      {numbers, {dlpack::kCPU, 0}, INT32_MAX, float32_type, nullptr, nullptr, 0},
      {numbers, {dlpack::kCPU, 0}, 2, {dlpack::kFloat, 33, 1}, sizes, nullptr, 0},
      {numbers, {dlpack::kCPU, 0}, 2, {dlpack::kFloat, 32, 4}, sizes, nullptr, 0},
      {numbers, {dlpack::kCPU, 0}, 2, float32_type, huge, nullptr, 0},
      {numbers, {dlpack::kCPU, 0}, 2, float32_type, negative, nullptr, 0},
      {numbers, {dlpack::kCPU, 0}, 2, float32_type, sizes, huge, 0},
      {numbers, {dlpack::kCPU, 0}, 2, float32_type, sizes, nullptr, UINT64_MAX},
  };
  for (const dlpack::Array& a : cases) {
    dlpack::Managed managed{a, nullptr, nullptr};
    EXPECT_THROW((void)dlpack::from_dlpack(&managed), Error);
  }
  survives("wrap", [&] { (void)Tensor::wrap(std::vector<float>{1, 2}, {3}); });
  survives("wrap", [&] { (void)Tensor::wrap(std::vector<float>{1, 2}, {-2}); });
  survives("wrap", [&] { (void)Tensor::wrap(std::vector<float>{}, Shape::unknown()); });
}

TEST(BadOutsideArguments, OfCodeOfTheProgramsOwnAreRefused) {
  for (const Tensor& t : no_good_tensors()) {
    survives("keep", [&] { (void)keep(t); });
    survives("keep",
             [&] { (void)function([&](const Tensor& x) { return keep(t), x; })(ones({2})); });
    survives("vectorized_map", [&] { (void)vectorized_map([](Tensor row) { return row; }, t); });
    survives("vectorized_map", [&] { (void)vectorized_map([&](Tensor) { return t; }, ones({2})); });
    survives("foldr",
             [&] { (void)foldr([&](const Tensor&, const Tensor&) { return t; }, ones({3}), t); });
    survives("foldr", [&] { (void)foldr(nullptr, t); });
    auto own =
        custom_gradient([&](Tensor x) { return std::pair(x * 2, [&](Tensor) { return t; }); });
    survives("custom_gradient", [&] {
      GradientTape tape;
      Tensor x = ones({2});
      tape.watch(x);
      (void)tape.gradient(own(x), x);
    });
    survives("custom_gradient", [&] { (void)own(t); });
    auto again = recompute_grad([&](Tensor x) { return x * t; });
    survives("recompute_grad", [&] {
      GradientTape tape;
      Tensor x = ones({2});
      tape.watch(x);
      (void)tape.gradient(again(x), x);
    });
    survives("exactly", [&] { (void)exactly<3>(Tensors{t}); });
    survives("split", [&] { (void)split<2>(t); });
    survives("unstack", [&] { (void)unstack<2>(t); });
  }
}

TEST(BadOutsideArguments, OfFunctionsOfKerasAreRefused) {
  using namespace keras::losses;
  namespace activations = keras::activations;
  using Of = Tensor (*)(const Tensor&);
  const Of plain[] = {activations::exponential, activations::hard_sigmoid, activations::hard_silu,
                      activations::hard_tanh,   activations::linear,       activations::log_sigmoid,
                      activations::mish,        activations::relu6,        activations::selu,
                      activations::sigmoid};
  using Loss = Tensor (*)(const In&, const In&);
  const Loss losses[] = {mean_squared_error,
                         mean_absolute_error,
                         mean_absolute_percentage_error,
                         mean_squared_logarithmic_error,
                         log_cosh,
                         kl_divergence,
                         poisson,
                         hinge,
                         squared_hinge,
                         categorical_hinge,
                         ctc};
  for (const Tensor& t : no_good_tensors()) {
    for (Of f : plain) survives("activation", [&] { (void)f(t); });
    survives("celu", [&] { (void)activations::celu(t, {.alpha = 0}); });
    survives("elu", [&] { (void)activations::elu(t, {.alpha = -1}); });
    survives("gelu", [&] { (void)activations::gelu(t); });
    survives("glu", [&] { (void)activations::glu(t, {.axis = 7}); });
    survives("hard_shrink", [&] { (void)activations::hard_shrink(t, {.threshold = -1}); });
    survives("leaky_relu", [&] { (void)activations::leaky_relu(t); });
    survives("log_softmax", [&] { (void)activations::log_softmax(t, {.axis = {9, 9}}); });
    survives("relu", [&] { (void)activations::relu(t, {.max_value = -1}); });
    for (const Tensor& other : {t, ones({2}), Tensor()}) {
      for (Loss f : losses) survives("loss", [&] { (void)f(t, other); });
      survives("binary", [&] { (void)binary_crossentropy(t, other); });
      survives("categorical", [&] { (void)categorical_crossentropy(other, t); });
      survives("sparse", [&] { (void)sparse_categorical_crossentropy(other, t); });
      survives("focal", [&] { (void)binary_focal_crossentropy(t, other); });
      survives("focal", [&] { (void)categorical_focal_crossentropy(t, other); });
      survives("generalized", [&] { (void)categorical_generalized_cross_entropy(t, other); });
      survives("dice", [&] { (void)dice(t, other); });
      survives("tversky", [&] { (void)tversky(t, other); });
      survives("circle", [&] { (void)circle(t, other); });
      survives("huber", [&] { (void)huber(t, other, {.delta = -1}); });
      survives("cosine", [&] { (void)cosine_similarity(t, other); });
    }
  }
}

}  // namespace
}  // namespace holdfast
