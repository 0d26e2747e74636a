// Layers that disturb what they are given while training, and only then.
#pragma once

#include "holdfast/keras/built_at_once.h"
#include "holdfast/keras/handle.h"
#include "holdfast/keras/layers/spatial/spatial.h"
#include "holdfast/keras/seed_generator.h"

namespace holdfast::keras::layers {

struct DropoutOptions {
  double rate = 0;
  Shape noise_shape = Shape::unknown();  // drawn in this shape and broadcast; -1: the input's size
  Seed seed = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

/// What they share: the seeds. `O` are a layer's options, and have a `seed` and how much to
/// disturb.
template <class O>
class Noisy : public Declares<O>, public DrawsSeeds, public BuiltAtOnce {
 public:
  bool supports_masking() const override { return true; }

 protected:
  Start seed_start() const override {
    if constexpr (requires(O o) { o.rate; })
      return {this->options_.rate > 0, this->options_.seed};
    else
      return {this->options_.stddev > 0, this->options_.seed};
  }
};

class HOLDFAST_API DropoutLayer : public Noisy<DropoutOptions> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;

 private:
  void check() override;
};

class HOLDFAST_API AlphaDropoutLayer : public Noisy<DropoutOptions> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;

 private:
  void check() override;
};

struct SpatialDropout1DOptions {
  double rate = 0;
  Seed seed = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API SpatialDropout1DLayer : public Noisy<SpatialDropout1DOptions> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override { return InputSpec{.axes = 3}; }

 private:
  void check() override;
};

struct SpatialDropoutOptions {
  double rate = 0;
  DataFormat data_format = {};
  Seed seed = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API SpatialDropoutLayer : public Noisy<SpatialDropoutOptions> {
 public:
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override { return InputSpec{.axes = axes_ + 2}; }

 protected:
  explicit SpatialDropoutLayer(int axes) : axes_(axes) {}
  void check() override;

 private:
  const int axes_;
};
class HOLDFAST_API SpatialDropout2DLayer : public SpatialDropoutLayer {
 public:
  SpatialDropout2DLayer() : SpatialDropoutLayer(2) {}
  const ClassDef& definition() const override;
};
class HOLDFAST_API SpatialDropout3DLayer : public SpatialDropoutLayer {
 public:
  SpatialDropout3DLayer() : SpatialDropoutLayer(3) {}
  const ClassDef& definition() const override;
};

struct GaussianDropoutOptions {
  double rate = 0;
  Seed seed = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API GaussianDropoutLayer : public Noisy<GaussianDropoutOptions> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;

 private:
  void check() override;
};

struct GaussianNoiseOptions {
  double stddev = 0;
  Seed seed = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API GaussianNoiseLayer : public Noisy<GaussianNoiseOptions> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;

 private:
  void check() override;
};

/// Elements set to zero with probability `rate`, the others made larger by as much:
/// `Dropout({.rate = 0.5})`.
using Dropout = Handle<DropoutLayer>;
/// Dropout that keeps mean and variance of what a `selu` gives.
using AlphaDropout = Handle<AlphaDropoutLayer>;
/// Dropout of whole channels.
using SpatialDropout1D = Handle<SpatialDropout1DLayer>;
using SpatialDropout2D = Handle<SpatialDropout2DLayer>;
using SpatialDropout3D = Handle<SpatialDropout3DLayer>;
/// Times normal noise around 1.
using GaussianDropout = Handle<GaussianDropoutLayer>;
/// Plus normal noise around 0.
using GaussianNoise = Handle<GaussianNoiseLayer>;

}  // namespace holdfast::keras::layers
