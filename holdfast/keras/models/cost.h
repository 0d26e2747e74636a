// What a call of a layer computes, counted.
#pragma once

#include "holdfast/keras/symbol.h"

namespace holdfast::keras {

/// Floating point operations of one call; sizes that are not known count as 1, so for a batch of 1.
/// A product and its sum are two; other ops count one for each element.
struct HOLDFAST_API Cost {
  int64_t flops = 0;
  bool complete = true;  // false: there is more that could not be counted
  Cost& operator+=(const Cost& o) {
    flops += o.flops;
    complete = complete && o.complete;
    return *this;
  }
};

/// The cost of a call that was written down: of a layer, or of an op. Code of other languages is
/// not run for it.
HOLDFAST_API Cost cost_of(const Node& node);
/// The cost of calling a layer on inputs of such shapes.
HOLDFAST_API Cost cost_of(Layer& layer, const std::vector<Shape>& inputs);

}  // namespace holdfast::keras
