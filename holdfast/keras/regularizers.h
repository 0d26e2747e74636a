// Regularizers: penalties on weights, or on what layers give.
#pragma once

#include "holdfast/keras/function.h"

namespace holdfast::keras::regularizers {

struct L1Options {
  double l1 = 0.01;
};
/// l1 times the sum of the distances from 0.
HOLDFAST_API Ref<Regularizer> L1(const L1Options& = {}, Caller = std::source_location::current());
template <class T>
  requires std::is_arithmetic_v<T>
Ref<Regularizer> L1(T l1, Caller at = std::source_location::current()) {
  return L1({.l1 = static_cast<double>(l1)}, at);
}

struct L2Options {
  double l2 = 0.01;
};
/// l2 times the sum of the squares.
HOLDFAST_API Ref<Regularizer> L2(const L2Options& = {}, Caller = std::source_location::current());
template <class T>
  requires std::is_arithmetic_v<T>
Ref<Regularizer> L2(T l2, Caller at = std::source_location::current()) {
  return L2({.l2 = static_cast<double>(l2)}, at);
}

struct L1L2Options {
  double l1 = 0, l2 = 0;
};
/// Both.
HOLDFAST_API Ref<Regularizer> L1L2(const L1L2Options& = {},
                                   Caller = std::source_location::current());

struct OrthogonalOptions {
  double factor = 0.01;
  std::string mode = "rows";  // or "columns"
};
/// How far the rows or columns of a matrix are from right angles, on average.
HOLDFAST_API Ref<Regularizer> OrthogonalRegularizer(const OrthogonalOptions& = {},
                                                    Caller = std::source_location::current());

}  // namespace holdfast::keras::regularizers
