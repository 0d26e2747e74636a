// Constraints: rules that weights keep while they are trained.
#pragma once

#include "holdfast/keras/function.h"

namespace holdfast::keras {
namespace constraints {

/// The axes whose elements make one vector: one number, or several.
struct Along {
  Along(int64_t axis) : axes{axis} {}
  Along(std::initializer_list<int64_t> several) : axes(several) {}
  std::vector<int64_t> axes;
};

struct MaxNormOptions {
  double max_value = 2;
  Along axis = 0;
};
/// Vectors that are longer than `max_value` are made that long.
HOLDFAST_API Ref<Constraint> MaxNorm(const MaxNormOptions& = {},
                                     Caller = std::source_location::current());

/// What is below 0 becomes 0.
HOLDFAST_API Ref<Constraint> NonNeg(Caller = std::source_location::current());

struct UnitNormOptions {
  Along axis = 0;
};
/// Every vector is made one long.
HOLDFAST_API Ref<Constraint> UnitNorm(const UnitNormOptions& = {},
                                      Caller = std::source_location::current());

struct MinMaxNormOptions {
  double min_value = 0, max_value = 1;
  double rate = 1;  // how much of the way is gone at once
  Along axis = 0;
};
/// Vectors are kept between two lengths.
HOLDFAST_API Ref<Constraint> MinMaxNorm(const MinMaxNormOptions& = {},
                                        Caller = std::source_location::current());

}  // namespace constraints

template <>
struct HOLDFAST_API OptionType<constraints::Along> {
  static Config get(const constraints::Along& v) {
    return v.axes.size() == 1 ? Config(v.axes[0]) : OptionType<std::vector<int64_t>>::get(v.axes);
  }
  static void set(constraints::Along& v, const Config& c, const std::string& what) {
    if (c.kind() == Config::Kind::kList)
      OptionType<std::vector<int64_t>>::set(v.axes, c, what);
    else
      v.axes = {c.as_integer(what)};
  }
};

}  // namespace holdfast::keras
