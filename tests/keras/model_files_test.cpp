// Models in files, in a program without Python.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>
#include <holdfast/keras/functional.h>
#include <holdfast/keras/layers/dense.h>
#include <holdfast/keras/saving/model_files.h>
#include <holdfast/keras/saving/saveables.h>
#include <holdfast/keras/sequential.h>

#include <filesystem>

#include "tests/io/raw_bytes.h"
#include "tests/refused.h"

namespace holdfast::keras {
namespace {

struct ModelFiles : testing::Test {
  ModelFiles() {
    std::string pattern = testing::TempDir() + "holdfast_models_XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~ModelFiles() override { std::filesystem::remove_all(folder); }
  std::string path(const std::string& name) const { return folder + "/" + name; }
  std::string folder;
};

Sequential made(int64_t units) {
  Sequential model(
      {layers::Dense({.units = 4, .activation = "relu"}), layers::Dense({.units = units})});
  model(ones({2, 3}));
  return model;
}

TEST_F(ModelFiles, WeightsComeBack) {
  Sequential first = made(2), second = made(2);
  save_weights(*first, path("m.weights.h5"));
  load_weights(*second, path("m.weights.h5"));
  Tensor x = ones({5, 3});
  EXPECT_EQ(raw_bytes(first(x)), raw_bytes(second(x)));
  std::vector<std::string> paths;
  for (const Saveable& s : saveables(*first)) paths.push_back(s.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"", "layers/dense", "layers/dense_1"}));
}

TEST_F(ModelFiles, WholeModelsComeBack) {
  Sequential model = made(2);
  save_model(*model, path("m.keras"));
  Model again = load_model(path("m.keras"));
  Tensor x = ones({5, 3});
  EXPECT_EQ(raw_bytes(model(x)), raw_bytes(again(x)));
  EXPECT_TRUE(dynamic_cast<SequentialLayer*>(&*again));
}

TEST_F(ModelFiles, WhatDoesNotFitIsRefusedAndChangesNothing) {
  Sequential small = made(2), large = made(3);
  save_weights(*small, path("m.weights.h5"));
  std::string before = raw_bytes(large->variables()[0].read());
  EXPECT_EQ(refused([&] { load_weights(*large, path("m.weights.h5")); }), Code::E1301);
  EXPECT_EQ(raw_bytes(large->variables()[0].read()), before);
  load_weights(*large, path("m.weights.h5"), {.skip_mismatch = true});
  EXPECT_EQ(raw_bytes(large->variables()[0].read()), raw_bytes(small->variables()[0].read()));
  EXPECT_EQ(refused([&] { save_weights(*small, path("m.h5")); }), Code::E1104);
  EXPECT_EQ(refused([&] { save_model(*small, path("m.zip")); }), Code::E1104);
}

}  // namespace
}  // namespace holdfast::keras
