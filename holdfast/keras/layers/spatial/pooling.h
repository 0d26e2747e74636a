// Pools over windows of lines, images and volumes.
#pragma once

#include "holdfast/keras/built_at_once.h"
#include "holdfast/keras/handle.h"
#include "holdfast/keras/layers/spatial/spatial.h"

namespace holdfast::keras::layers {

struct PoolingOptions {
  NamedOnly named_only = NamedOnly();
  Sides pool_size = 2;
  std::optional<Sides> strides = {};  // none: the pool's size
  std::string padding = "valid";      // or "same"
  DataFormat data_format = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

enum class Pool : uint8_t { kMax, kAverage };

/// What all of them share.
class HOLDFAST_API PoolingLayer : public Declares<PoolingOptions>, public BuiltAtOnce {
 public:
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override { return InputSpec{.axes = axes_ + 2}; }

 protected:
  PoolingLayer(Pool pool, int axes);
  void check() override;

 private:
  const Pool pool_;
  const int axes_;
};

template <Pool pool, int axes>
class HOLDFAST_API PoolingOver : public PoolingLayer {
 public:
  PoolingOver() : PoolingLayer(pool, axes) {}
  const ClassDef& definition() const override { return def(); }
  static ClassDef& def();
};

using MaxPooling1D = Handle<PoolingOver<Pool::kMax, 1>>;
/// The largest element under each window: `MaxPooling2D({.pool_size = 2})`.
using MaxPooling2D = Handle<PoolingOver<Pool::kMax, 2>>;
using MaxPooling3D = Handle<PoolingOver<Pool::kMax, 3>>;
using AveragePooling1D = Handle<PoolingOver<Pool::kAverage, 1>>;
/// The mean of the elements under each window.
using AveragePooling2D = Handle<PoolingOver<Pool::kAverage, 2>>;
using AveragePooling3D = Handle<PoolingOver<Pool::kAverage, 3>>;

struct GlobalPoolingOptions {
  DataFormat data_format = {};
  bool keepdims = false;  // whether the axes stay, with the size 1
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

/// What pools over whole fields share. The mean over steps leaves out those that a mask does.
class HOLDFAST_API GlobalPoolingLayer : public Declares<GlobalPoolingOptions>, public BuiltAtOnce {
 public:
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override { return InputSpec{.axes = axes_ + 2}; }
  bool supports_masking() const override { return masked_; }
  Nested compute_mask(const Nested&, const Nested&) override { return {}; }

 protected:
  GlobalPoolingLayer(Pool pool, int axes)
      : pool_(pool), axes_(axes), masked_(pool == Pool::kAverage && axes == 1) {}
  void check() override;

 private:
  const Pool pool_;
  const int axes_;
  const bool masked_;
};

template <Pool pool, int axes>
class HOLDFAST_API GlobalPoolingOver : public GlobalPoolingLayer {
 public:
  GlobalPoolingOver() : GlobalPoolingLayer(pool, axes) {}
  const ClassDef& definition() const override { return def(); }
  static ClassDef& def();
};

using GlobalMaxPooling1D = Handle<GlobalPoolingOver<Pool::kMax, 1>>;
/// The largest element of each channel.
using GlobalMaxPooling2D = Handle<GlobalPoolingOver<Pool::kMax, 2>>;
using GlobalMaxPooling3D = Handle<GlobalPoolingOver<Pool::kMax, 3>>;
using GlobalAveragePooling1D = Handle<GlobalPoolingOver<Pool::kAverage, 1>>;
/// The mean of each channel.
using GlobalAveragePooling2D = Handle<GlobalPoolingOver<Pool::kAverage, 2>>;
using GlobalAveragePooling3D = Handle<GlobalPoolingOver<Pool::kAverage, 3>>;

}  // namespace holdfast::keras::layers
