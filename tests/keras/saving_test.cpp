// Files of Keras: what is written comes back, by the keys and paths that Keras has.
#include <holdfast/holdfast.h>
#include <holdfast/io/hdf5.h>
#include <holdfast/keras/saving/archive.h>

#include "tests/io/killed.h"
#include "tests/io/raw_bytes.h"
#include "tests/refused.h"

namespace holdfast::keras {
namespace {

using io::ByteSource;

std::vector<StoredWeights> some_weights() {
  std::vector<Tensor> many;
  for (int i = 0; i < 12; ++i) many.push_back(constant(i));
  return {
      StoredWeights::numbered("layers/dense", "dense_7", {ones({2, 3}), zeros({3})}),
      StoredWeights::numbered("layers/functional/layers/rough", "", {cast(ones({4}), bfloat16)}),
      StoredWeights::numbered("layers/dropout", "dropout", {}),
      StoredWeights::numbered("optimizer", "adam", many),
      {"own", "own", {{"table", constant({1, 2})}, {"0", constant(3)}}},
      StoredWeights::numbered("", "model", {constant(5)})};
}

TEST(KerasWeights, ComeBackByPathAndKey) {
  std::string bytes = weights_file(some_weights()).bytes();
  WeightsReader r(ByteSource::of_view("w", bytes));
  EXPECT_EQ(r.paths(),
            (std::vector<std::string>{"", "layers/dense", "layers/dropout",
                                      "layers/functional/layers/rough", "optimizer", "own"}));
  EXPECT_EQ(r.read("layers/dense").name, "dense_7");
  EXPECT_EQ(raw_bytes(r.read("layers/dense", "0")), raw_bytes(ones({2, 3})));
  EXPECT_EQ(r.shape("layers/dense", "1"), (Shape{3}));
  EXPECT_EQ(r.dtype("layers/functional/layers/rough", "0"), bfloat16);
  EXPECT_TRUE(r.keys("layers/dropout").empty());
  EXPECT_EQ(r.keys("optimizer").back(), "11") << "numbers in their order";
  EXPECT_EQ(r.read("optimizer").values[10].second.item<int>(), 10);
  EXPECT_EQ(r.keys("own"), (std::vector<std::string>{"0", "table"}));
  EXPECT_EQ(r.read("", "0").item<int>(), 5);
  EXPECT_TRUE(r.keys("layers/nothing").empty());
  EXPECT_FALSE(r.has("layers/nothing"));
  EXPECT_EQ(refused([&] { r.read("layers/dense", "2"); }), Code::E1301);
}

TEST(KerasWeights, OfOlderFilesAreFoundUnderTheirOldName) {
  io::H5Writer w;
  w.dataset("_layer_checkpoint_dependencies/dense/vars/0", constant(1));
  w.dataset("_layer_checkpoint_dependencies/model/_layer_checkpoint_dependencies/dense/vars/0",
            constant(2));
  std::string bytes = w.bytes();
  WeightsReader r(ByteSource::of_view("w", bytes));
  EXPECT_EQ(r.paths(), (std::vector<std::string>{"layers/dense", "layers/model/layers/dense"}));
  EXPECT_EQ(r.read("layers/dense", "0").item<int>(), 1);
  EXPECT_EQ(r.read("layers/model/layers/dense", "0").item<int>(), 2);
}

TEST(KerasArchive, ComesBack) {
  ModelArchive model{"{\"keras_version\": \"3\"}",
                     "{\"class_name\": \"Sequential\"}",
                     some_weights(),
                     {{"vocabulary/words.txt", "a\nb\n"}}};
  std::string bytes = archive_bytes(model);
  EXPECT_EQ(bytes, archive_bytes(model)) << "the same model is the same bytes";
  ArchiveReader r(ByteSource::of_view("m.keras", bytes));
  EXPECT_EQ(r.config(), model.config);
  EXPECT_EQ(r.metadata(), model.metadata);
  EXPECT_EQ(r.weights().read("layers/dense").values.size(), 2u);
  EXPECT_EQ(r.assets(), std::vector<std::string>{"vocabulary/words.txt"});
  EXPECT_EQ(r.asset("vocabulary/words.txt"), "a\nb\n");
}

std::string zipped(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string out;
  io::ZipWriter zip([&](std::string_view piece) { out += piece; });
  for (const auto& [name, bytes] : files) zip.add(name, bytes);
  zip.finish();
  return out;
}

TEST(KerasArchive, OthersAreRefusedByName) {
  auto why = [](const std::string& bytes) -> std::string {
    try {
      ArchiveReader(ByteSource::of_view("m.keras", bytes)).weights();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::E1301);
      return e.diagnostic().why;
    }
    return "nothing was refused";
  };
  EXPECT_EQ(why(zipped({{"x", ""}})), "it is no model of Keras: it holds no `config.json`");
  EXPECT_EQ(why(zipped({{"config.json", "{}"}})), "it holds no `model.weights.h5`");
  EXPECT_EQ(why(zipped({{"config.json", "{}"}, {"model.weights.npz", ""}})),
            "it keeps its weights in `model.weights.npz`; `model.weights.h5` is read");
  EXPECT_EQ(why(zipped({{"config.json", "{}"}, {"model.weights.h5", "none"}})),
            "it is no HDF5 file: the signature is missing");
}

struct KilledKeras : Killed {};

TEST_F(KilledKeras, Archive) {
  std::string path = folder + "/m.keras";
  killed_at_200_moments(
      [&](int n) {
        write_archive(
            path, {"{}",
                   std::to_string(n),
                   {StoredWeights::numbered("layers/dense", "d", {filled(n, 30000), filled(n, 3)})},
                   {}});
      },
      [&] {
        ArchiveReader r(ByteSource::of_file(path));
        WeightsReader w = r.weights();
        int n = only(w.read("layers/dense", "0"));
        EXPECT_EQ(only(w.read("layers/dense", "1")), n);
        EXPECT_EQ(r.config(), std::to_string(n));
        return n;
      });
}

}  // namespace
}  // namespace holdfast::keras
