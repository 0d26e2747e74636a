// Layers that take borders away, add them, or repeat elements.
#pragma once

#include <utility>

#include "holdfast/keras/handle.h"
#include "holdfast/keras/layers/spatial/spatial.h"

namespace holdfast::keras::layers {

/// How much before and after each axis: one number for all, one for each axis, or pairs:
/// `{{1, 2}, {0, 0}}`.
struct HOLDFAST_API Borders {
  Borders() = default;
  Borders(int64_t all) : value(all) {}
  Borders(std::initializer_list<std::pair<int64_t, int64_t>> each);
  Config value;
  std::vector<std::pair<int64_t, int64_t>> amounts;  // after `settle`
  /// Brings it to a pair for each axis; what can't be is refused.
  void settle(int axes, const char* option, const std::string& of);
};

}  // namespace holdfast::keras::layers

namespace holdfast::keras {
template <>
struct OptionType<layers::Borders> {
  static Config get(const layers::Borders& v) { return v.value; }
  static void set(layers::Borders& v, const Config& c, const std::string&) { v.value = c; }
};
}  // namespace holdfast::keras

namespace holdfast::keras::layers {

struct Cropping1DOptions {
  Borders cropping = {{1, 1}};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};
struct CroppingOptions {
  Borders cropping = {};
  DataFormat data_format = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};
struct ZeroPaddingOptions {
  Borders padding = 1;
  DataFormat data_format = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API Cropping1DLayer : public Declares<Cropping1DOptions> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override { return InputSpec{.axes = 3}; }

 private:
  void check() override;
};

class HOLDFAST_API CroppingLayer : public Declares<CroppingOptions> {
 public:
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override { return InputSpec{.axes = axes_ + 2}; }

 protected:
  CroppingLayer(int axes, int64_t usual) : axes_(axes), usual_(usual) {}
  void check() override;

 private:
  const int axes_;
  const int64_t usual_;  // what is cut where nothing is said
};
class HOLDFAST_API Cropping2DLayer : public CroppingLayer {
 public:
  Cropping2DLayer();
  const ClassDef& definition() const override;
};
class HOLDFAST_API Cropping3DLayer : public CroppingLayer {
 public:
  Cropping3DLayer();
  const ClassDef& definition() const override;
};

class HOLDFAST_API ZeroPaddingLayer : public Declares<ZeroPaddingOptions> {
 public:
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override { return InputSpec{.axes = axes_ + 2}; }

 protected:
  explicit ZeroPaddingLayer(int axes) : axes_(axes) {}
  void check() override;

 private:
  const int axes_;
};
class HOLDFAST_API ZeroPadding1DLayer : public ZeroPaddingLayer {
 public:
  ZeroPadding1DLayer() : ZeroPaddingLayer(1) {}
  const ClassDef& definition() const override;
};
class HOLDFAST_API ZeroPadding2DLayer : public ZeroPaddingLayer {
 public:
  ZeroPadding2DLayer();
  const ClassDef& definition() const override;
};
class HOLDFAST_API ZeroPadding3DLayer : public ZeroPaddingLayer {
 public:
  ZeroPadding3DLayer();
  const ClassDef& definition() const override;
};

using Cropping1D = Handle<Cropping1DLayer>;
/// Without its borders: `Cropping2D({.cropping = {{1, 0}, {2, 2}}})`.
using Cropping2D = Handle<Cropping2DLayer>;
using Cropping3D = Handle<Cropping3DLayer>;
using ZeroPadding1D = Handle<ZeroPadding1DLayer>;
/// With a border of zeros.
using ZeroPadding2D = Handle<ZeroPadding2DLayer>;
using ZeroPadding3D = Handle<ZeroPadding3DLayer>;

}  // namespace holdfast::keras::layers
