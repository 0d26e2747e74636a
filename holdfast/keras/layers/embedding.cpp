#include "holdfast/keras/layers/embedding.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/layers/checks.h"
#include "holdfast/ops/embedding.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {
namespace {

using O = EmbeddingOptions;
ClassDef& declared =
    Declare<EmbeddingLayer>("layers.Embedding", "A vector for each whole number.", &Layer::def())
        .required<&O::input_dim>("input_dim")
        .required<&O::output_dim>("output_dim")
        .option<&O::embeddings_initializer>("embeddings_initializer")
        .option<&O::embeddings_regularizer>("embeddings_regularizer")
        .option<&O::embeddings_constraint>("embeddings_constraint")
        .option<&O::mask_zero>("mask_zero")
        .layer_options()
        .option<&O::quantization_config>("quantization_config")
        .option<&O::activity_regularizer>("activity_regularizer")
        .key_before("activity_regularizer", "embeddings_constraint")
        .weight<&EmbeddingLayer::embeddings>("embeddings");

// Says of an id that has no row what the lookup can't know: whose rows they are.
void refuse_ids(const Layer& layer, int64_t rows, const Tensor& ids, const Error& said) {
  if (said.code() != Code::E1103 || !ids.has_value()) return;
  for (int64_t id : cast(ids, int64).to_vector<int64_t>())
    if (id < 0 || id >= rows)
      fail(Code::E1103, cat(layer.described(), ": an id is ", id, ", expected 0 to ", rows - 1),
           cat("`input_dim` is ", rows, ": there are so many rows, one for each id"),
           {manual_fix(id < 0 ? "ids count from 0: give none below it"
                              : cat("make it larger: `input_dim=", id + 1,
                                    "` at least, or map ids that are not known to one that is"))});
}

}  // namespace

EmbeddingLayer::EmbeddingLayer(const EmbeddingOptions& o) { configure(o); }
const ClassDef& EmbeddingLayer::definition() const { return declared; }

void EmbeddingLayer::check() {
  auto positive = [](int64_t v, const char* option) {
    if (v < 1) fail(Code::E1103, cat("Embedding: `", option, "` is ", v, ", expected at least 1"));
  };
  positive(options_.input_dim, "input_dim");
  positive(options_.output_dim, "output_dim");
  refuse_quantized("Embedding", options_.quantization_config);
}

void EmbeddingLayer::build(const Shape&) {
  embeddings = add_weight({.name = "embeddings",
                           .shape = {options_.input_dim, options_.output_dim},
                           .initializer = options_.embeddings_initializer,
                           .regularizer = options_.embeddings_regularizer,
                           .constraint = options_.embeddings_constraint});
}

Tensor EmbeddingLayer::call(const Tensor& inputs, const CallOptions&) {
  if (!embeddings.defined())
    fail(Code::E1104, cat(described(), " has no embeddings"),
         "`build` makes them, and a class that overrides `build` has to call the one it overrides");
  bool numbers = inputs.dtype() == int32 || inputs.dtype() == int64;
  Tensor ids = numbers ? inputs : cast(inputs, int32), rows;
  try {
    rows = nn::embedding_lookup({embeddings}, ids);
  } catch (const Error& e) {
    refuse_ids(*this, options_.input_dim, ids, e);
    throw;
  }
  // The rows alone are cast, not all that there are.
  return is_floating(compute_dtype()) && rows.dtype() != compute_dtype()
             ? cast(rows, compute_dtype())
             : rows;
}

Nested EmbeddingLayer::compute_mask(const Nested& inputs, const Nested&) {
  return options_.mask_zero ? Nested(not_equal(inputs.tensor("`inputs`"), 0)) : Nested();
}

}  // namespace holdfast::keras::layers
