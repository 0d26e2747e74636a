// Attention itself: what all layers of attention compute with.
#pragma once

#include <optional>

#include "holdfast/keras/layer.h"
#include "holdfast/keras/seed_generator.h"

namespace holdfast::keras::layers {

struct AttentionRun {
  double scale = 1;     // of the products
  Tensor mask = {};     // bool, broadcast to the scores: where it is false nothing is looked at
  bool causal = false;  // a place looks at none that comes after it
  std::optional<int64_t> window = {};  // and only at those nearer than this
  double dropout = 0;                  // of the weights; 0 where nothing is trained
  SeedSource* seeds = nullptr;         // of dropout
  bool spreads = false;  // a place that may look at nothing looks at all alike, not at none
};
struct Attended {
  Tensor output;   // [..., places, size of values]
  Tensor scores;   // [..., places, places looked at]: weights that add up to 1
  Tensor weights;  // what dropout left of them
};

/// Values weighted by softmax of scores [..., T, S]. A place that may look at nothing gets zeros,
/// or their mean.
Attended attend(const Tensor& scores, const Tensor& value, const AttentionRun&);
/// The same with the products of query [..., T, size] and key [..., S, size] as scores.
Attended scaled_dot_product(const Tensor& query, const Tensor& key, const Tensor& value,
                            const AttentionRun&);

/// Both masks, where there are two.
Tensor both(const Tensor& mask, const Tensor& other);
/// A further argument of a call that says yes or no.
bool said(const CallOptions&, const char* name, const Layer& of);
/// A further argument of a call that is a mask, as bools; or else the mask of a tensor.
Tensor mask_said(const CallOptions&, const char* name, const Tensor& of);

}  // namespace holdfast::keras::layers
