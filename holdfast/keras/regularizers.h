// Regularizers: penalties on weights, or on what layers give.
#pragma once

#include "holdfast/keras/function.h"

namespace holdfast::keras::regularizers {

struct L1Options {
  double l1 = 0.01;
};
/// l1 times the sum of the distances from 0.
HOLDFAST_API Ref<Regularizer> L1(const L1Options& = {});
template <class T>
  requires std::is_arithmetic_v<T>
Ref<Regularizer> L1(T l1) {
  return L1({.l1 = static_cast<double>(l1)});
}

struct L2Options {
  double l2 = 0.01;
};
/// l2 times the sum of the squares.
HOLDFAST_API Ref<Regularizer> L2(const L2Options& = {});
template <class T>
  requires std::is_arithmetic_v<T>
Ref<Regularizer> L2(T l2) {
  return L2({.l2 = static_cast<double>(l2)});
}

struct L1L2Options {
  double l1 = 0, l2 = 0;
};
/// Both.
HOLDFAST_API Ref<Regularizer> L1L2(const L1L2Options& = {});

struct OrthogonalOptions {
  double factor = 0.01;
  std::string mode = "rows";  // or "columns"
};
/// How far the rows or columns of a matrix are from right angles, on average.
HOLDFAST_API Ref<Regularizer> OrthogonalRegularizer(const OrthogonalOptions& = {});

}  // namespace holdfast::keras::regularizers
