#include "holdfast/keras/constraints.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::constraints {
namespace {

constexpr double kEpsilon = 1e-7;  // beside a length that may be 0

Tensor lengths(const Tensor& w, const Along& axis) {
  return sqrt(reduce_sum(square(w), {.axis = axis.axes, .keepdims = true}));
}

class Max final : public Declares<MaxNormOptions, DeclaredConstraint> {
 public:
  const ClassDef& definition() const override;
  Tensor operator()(const Tensor& w) const override {
    Tensor norms = lengths(w, options_.axis);
    return w * (clip_by_value(norms, 0, options_.max_value) / (kEpsilon + norms));
  }

 protected:
  void check() override {
    if (!(options_.max_value >= 0))
      fail(Code::E1103,
           cat("MaxNorm: `max_value` is ", options_.max_value, ", expected at least 0"));
  }
};
ClassDef& max_class =
    Declare<Max>("constraints.MaxNorm", "Vectors of a weight are at most so long.",
                 &DeclaredConstraint::def())
        .option<&MaxNormOptions::max_value>("max_value")
        .option<&MaxNormOptions::axis>("axis");
const ClassDef& Max::definition() const { return max_class; }

struct NoOptions {};
class Positive final : public Declares<NoOptions, DeclaredConstraint> {
 public:
  const ClassDef& definition() const override;
  Tensor operator()(const Tensor& w) const override { return maximum(w, 0); }
};
ClassDef& positive_class = Declare<Positive>(
    "constraints.NonNeg", "Elements of a weight are at least 0.", &DeclaredConstraint::def());
const ClassDef& Positive::definition() const { return positive_class; }

class Unit final : public Declares<UnitNormOptions, DeclaredConstraint> {
 public:
  const ClassDef& definition() const override;
  Tensor operator()(const Tensor& w) const override {
    return w / (kEpsilon + lengths(w, options_.axis));
  }
};
ClassDef& unit_class = Declare<Unit>("constraints.UnitNorm", "Vectors of a weight are one long.",
                                     &DeclaredConstraint::def())
                           .option<&UnitNormOptions::axis>("axis");
const ClassDef& Unit::definition() const { return unit_class; }

class MinMax final : public Declares<MinMaxNormOptions, DeclaredConstraint> {
 public:
  const ClassDef& definition() const override;
  Tensor operator()(const Tensor& w) const override {
    const MinMaxNormOptions& o = options_;
    Tensor norms = lengths(w, o.axis);
    Tensor wanted = o.rate * clip_by_value(norms, o.min_value, o.max_value);
    if (o.rate != 1) wanted = wanted + (1 - o.rate) * norms;
    return w * (wanted / (kEpsilon + norms));
  }

 protected:
  void check() override {
    const MinMaxNormOptions& o = options_;
    if (!(o.min_value <= o.max_value))
      fail(Code::E1103, cat("MinMaxNorm: `min_value` is ", o.min_value, " and `max_value` is ",
                            o.max_value, ", expected one that is not larger"));
  }
};
ClassDef& min_max_class =
    Declare<MinMax>("constraints.MinMaxNorm", "Vectors of a weight are between two lengths.",
                    &DeclaredConstraint::def())
        .option<&MinMaxNormOptions::min_value>("min_value")
        .option<&MinMaxNormOptions::max_value>("max_value")
        .option<&MinMaxNormOptions::rate>("rate")
        .option<&MinMaxNormOptions::axis>("axis");
const ClassDef& MinMax::definition() const { return min_max_class; }

template <class C>
Ref<Constraint> made(const typename C::Options& o) {
  Ref<C> out = make_ref<C>();
  out->configure(o);
  return out;
}

}  // namespace

Ref<Constraint> MaxNorm(const MaxNormOptions& o, Caller) { return made<Max>(o); }
Ref<Constraint> NonNeg(Caller) { return make_ref<Positive>(); }
Ref<Constraint> UnitNorm(const UnitNormOptions& o, Caller) { return made<Unit>(o); }
Ref<Constraint> MinMaxNorm(const MinMaxNormOptions& o, Caller) { return made<MinMax>(o); }

}  // namespace holdfast::keras::constraints
