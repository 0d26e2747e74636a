// Layers that make one tensor of several.
#pragma once

#include "holdfast/keras/handle.h"

namespace holdfast::keras::layers {

struct MergeOptions {
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

/// How tensors become one.
enum class Merging : uint8_t { kAdd, kSubtract, kMultiply, kAverage, kMaximum, kMinimum };

/// What those that go element by element share. Shapes broadcast; a mask is true where one is.
class HOLDFAST_API MergeLayer : public Declares<MergeOptions> {
 public:
  bool supports_masking() const override { return true; }
  void build_all(const std::vector<Shape>& inputs) override;
  Nested call_all(const Nested& inputs, const CallOptions&) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;

 protected:
  explicit MergeLayer(Merging how) : how_(how) {}

 private:
  const Merging how_;
};

template <Merging how>
class HOLDFAST_API MergeBy : public MergeLayer {
 public:
  MergeBy() : MergeLayer(how) {}
  const ClassDef& definition() const override { return def(); }
  static ClassDef& def();
};

struct ConcatenateOptions {
  int64_t axis = -1;
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API ConcatenateLayer : public Declares<ConcatenateOptions> {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  void build_all(const std::vector<Shape>& inputs) override;
  Nested call_all(const Nested& inputs, const CallOptions&) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;
};

struct DotOptions {
  Sides axes = {};         // one for both, or one for each
  bool normalize = false;  // to length 1 along them first
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API DotLayer : public Declares<DotOptions> {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  void build_all(const std::vector<Shape>& inputs) override;
  Nested call_all(const Nested& inputs, const CallOptions&) override;
  Nested compute_mask(const Nested&, const Nested&) override { return {}; }

 private:
  void check() override;
  std::pair<int, int> axes_for(const Shape& a, const Shape& b) const;
};

/// The sum: `Add()({a, b})`.
using Add = Handle<MergeBy<Merging::kAdd>>;
using Subtract = Handle<MergeBy<Merging::kSubtract>>;
using Multiply = Handle<MergeBy<Merging::kMultiply>>;
using Average = Handle<MergeBy<Merging::kAverage>>;
using Maximum = Handle<MergeBy<Merging::kMaximum>>;
using Minimum = Handle<MergeBy<Merging::kMinimum>>;
/// One after another along `axis`.
using Concatenate = Handle<ConcatenateLayer>;
/// Sums of products along `axes`, for each example.
using Dot = Handle<DotLayer>;

/// The same as functions: `add({a, b})` is `Add()({a, b})`.
HOLDFAST_API Tensor add(const std::vector<Tensor>& inputs, const MergeOptions& = {});
HOLDFAST_API Tensor subtract(const std::vector<Tensor>& inputs, const MergeOptions& = {});
HOLDFAST_API Tensor multiply(const std::vector<Tensor>& inputs, const MergeOptions& = {});
HOLDFAST_API Tensor average(const std::vector<Tensor>& inputs, const MergeOptions& = {});
HOLDFAST_API Tensor maximum(const std::vector<Tensor>& inputs, const MergeOptions& = {});
HOLDFAST_API Tensor minimum(const std::vector<Tensor>& inputs, const MergeOptions& = {});
HOLDFAST_API Tensor concatenate(const std::vector<Tensor>& inputs, const ConcatenateOptions& = {});
HOLDFAST_API Tensor dot(const std::vector<Tensor>& inputs, const DotOptions&);

}  // namespace holdfast::keras::layers
