// Layers that make lines, images and volumes larger.
#pragma once

#include "holdfast/keras/handle.h"
#include "holdfast/keras/layers/spatial/spatial.h"

namespace holdfast::keras::layers {

struct UpSampling1DOptions {
  int64_t size = 2;
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};
struct UpSampling2DOptions {
  Sides size = {2, 2};
  DataFormat data_format = {};
  std::string interpolation = "nearest";  // or "bilinear"
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};
struct UpSampling3DOptions {
  Sides size = {2, 2, 2};
  DataFormat data_format = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API UpSampling1DLayer : public Declares<UpSampling1DOptions> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override { return InputSpec{.axes = 3}; }

 private:
  void check() override;
};
class HOLDFAST_API UpSampling2DLayer : public Declares<UpSampling2DOptions> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override { return InputSpec{.axes = 4}; }

 private:
  void check() override;
};
class HOLDFAST_API UpSampling3DLayer : public Declares<UpSampling3DOptions> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override { return InputSpec{.axes = 5}; }

 private:
  void check() override;
};

using UpSampling1D = Handle<UpSampling1DLayer>;
/// Each element `size` times, or values between them: `UpSampling2D({.size = 2})`.
using UpSampling2D = Handle<UpSampling2DLayer>;
using UpSampling3D = Handle<UpSampling3DLayer>;

}  // namespace holdfast::keras::layers
