// Embedding: a vector for each whole number.
#pragma once

#include "holdfast/keras/handle.h"
#include "holdfast/keras/keeps_inputs.h"

namespace holdfast::keras::layers {

struct EmbeddingOptions {
  int64_t input_dim = 0, output_dim = 0;  // how many numbers, and how long a vector is
  InitializerOption embeddings_initializer = "uniform";
  RegularizerOption embeddings_regularizer = {};
  ConstraintOption embeddings_constraint = {};
  bool mask_zero = false;           // 0 stands for nothing: later layers leave it out
  Config quantization_config = {};  // none: others are not supported
  RegularizerOption activity_regularizer = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API EmbeddingLayer : public Declares<EmbeddingOptions>, public KeepsInputs {
 public:
  EmbeddingLayer() = default;
  explicit EmbeddingLayer(const EmbeddingOptions& o);
  const ClassDef& definition() const override;
  bool supports_masking() const override { return options_.mask_zero; }
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;

  HeldWeight embeddings{*this};

 private:
  void check() override;
};

/// Row `i` of `embeddings` for each number `i` of the inputs.
using Embedding = Handle<EmbeddingLayer>;

}  // namespace holdfast::keras::layers
