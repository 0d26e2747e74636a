// Layers that give the same elements in another order or shape.
#pragma once

#include "holdfast/keras/built_at_once.h"
#include "holdfast/keras/handle.h"
#include "holdfast/keras/layers/spatial/spatial.h"

namespace holdfast::keras::layers {

struct FlattenOptions {
  DataFormat data_format = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API FlattenLayer : public Declares<FlattenOptions> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override { return InputSpec{.at_least = 1}; }

 private:
  void check() override;
};

struct ReshapeOptions {
  std::vector<int64_t> target_shape = {};  // without the batch; one size may be -1
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API ReshapeLayer : public Declares<ReshapeOptions>, public BuiltAtOnce {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;

 private:
  void check() override;
};

struct PermuteOptions {
  std::vector<int64_t> dims = {};  // counted from 1, the first axis behind the batch
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API PermuteLayer : public Declares<PermuteOptions> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override {
    return InputSpec{.axes = static_cast<int>(options_.dims.size()) + 1};
  }

 private:
  void check() override;
};

struct RepeatVectorOptions {
  int64_t n = 0;
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API RepeatVectorLayer : public Declares<RepeatVectorOptions> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override { return InputSpec{.axes = 2}; }

 private:
  void check() override;
};

/// All but the batch in one axis.
using Flatten = Handle<FlattenLayer>;
/// Another shape behind the batch: `Reshape({.target_shape = {4, -1}})`.
using Reshape = Handle<ReshapeLayer>;
/// The axes behind the batch in another order: `Permute({.dims = {2, 1}})`.
using Permute = Handle<PermuteLayer>;
/// Each row `n` times: [batch, features] becomes [batch, n, features].
using RepeatVector = Handle<RepeatVectorLayer>;

}  // namespace holdfast::keras::layers
