#include "holdfast/keras/regularizers.h"

#include <cmath>

#include "holdfast/base/diagnostic.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::regularizers {
namespace {

void need_weight(double v, const char* of, const char* option) {
  if (!(v >= 0) || std::isinf(v))
    fail(Code::E1103,
         cat(of, ": `", option, "` is ", v, ", expected a finite number that is at least 0"));
}

class L1Regularizer final : public Declares<L1Options, Regularizer> {
 public:
  const ClassDef& definition() const override;
  Tensor operator()(const Tensor& x) const override { return options_.l1 * reduce_sum(abs(x)); }

 protected:
  void check() override { need_weight(options_.l1, "L1", "l1"); }
};
ClassDef& l1_class =
    Declare<L1Regularizer>("regularizers.L1", "l1 * sum(abs(x)).", &Regularizer::def())
        .option<&L1Options::l1>("l1");
const ClassDef& L1Regularizer::definition() const { return l1_class; }

class L2Regularizer final : public Declares<L2Options, Regularizer> {
 public:
  const ClassDef& definition() const override;
  Tensor operator()(const Tensor& x) const override { return options_.l2 * reduce_sum(square(x)); }

 protected:
  void check() override { need_weight(options_.l2, "L2", "l2"); }
};
ClassDef& l2_class =
    Declare<L2Regularizer>("regularizers.L2", "l2 * sum(square(x)).", &Regularizer::def())
        .option<&L2Options::l2>("l2");
const ClassDef& L2Regularizer::definition() const { return l2_class; }

class L1L2Regularizer final : public Declares<L1L2Options, Regularizer> {
 public:
  const ClassDef& definition() const override;
  Tensor operator()(const Tensor& x) const override {
    const L1L2Options& o = options_;
    if (o.l1 == 0 && o.l2 == 0) return Tensor::scalar(0, x.dtype());
    if (o.l2 == 0) return o.l1 * reduce_sum(abs(x));
    Tensor squares = o.l2 * reduce_sum(square(x));
    return o.l1 == 0 ? squares : o.l1 * reduce_sum(abs(x)) + squares;
  }

 protected:
  void check() override {
    need_weight(options_.l1, "L1L2", "l1");
    need_weight(options_.l2, "L1L2", "l2");
  }
};
ClassDef& l1_l2_class =
    Declare<L1L2Regularizer>("regularizers.L1L2", "l1 * sum(abs(x)) + l2 * sum(square(x)).",
                             &Regularizer::def())
        .option<&L1L2Options::l1>("l1")
        .option<&L1L2Options::l2>("l2")
        .alias("regularizers.l1_l2");
const ClassDef& L1L2Regularizer::definition() const { return l1_l2_class; }

class Orthogonal final : public Declares<OrthogonalOptions, Regularizer> {
 public:
  const ClassDef& definition() const override;
  Tensor operator()(const Tensor& x) const override {
    const Shape& s = x.shape();
    if (!s.has_rank() || s.rank() != 2 || !s.is_full())
      fail(Code::E1102, cat("OrthogonalRegularizer: the weight has the shape ", s.text(),
                            ", expected two axes of known sizes"));
    bool rows = options_.mode == "rows";
    Tensor unit = l2_normalize(x, {.axis = {rows ? 1 : 0}});
    Tensor angles = matmul(unit, unit, {.transpose_a = !rows, .transpose_b = rows});
    int64_t many = s[rows ? 0 : 1];
    double pairs = static_cast<double>(many) * static_cast<double>(many - 1) / 2;
    Tensor others = angles * (1 - eye(many, {.dtype = x.dtype()}));
    return options_.factor * 0.5 * reduce_sum(abs(others)) / pairs;
  }

 protected:
  void check() override {
    need_weight(options_.factor, "OrthogonalRegularizer", "factor");
    if (options_.mode != "rows" && options_.mode != "columns")
      unknown_identifier("`mode` of OrthogonalRegularizer", options_.mode, {"rows", "columns"});
  }
};
ClassDef& orthogonal_class =
    Declare<Orthogonal>("regularizers.OrthogonalRegularizer",
                        "How far rows or columns are from right angles.", &Regularizer::def())
        .option<&OrthogonalOptions::factor>("factor")
        .option<&OrthogonalOptions::mode>("mode");
const ClassDef& Orthogonal::definition() const { return orthogonal_class; }

template <class R>
Ref<Regularizer> made(const typename R::Options& o) {
  Ref<R> out = make_ref<R>();
  out->configure(o);
  return out;
}

}  // namespace

Ref<Regularizer> L1(const L1Options& o, Caller) { return made<L1Regularizer>(o); }
Ref<Regularizer> L2(const L2Options& o, Caller) { return made<L2Regularizer>(o); }
Ref<Regularizer> L1L2(const L1L2Options& o, Caller) { return made<L1L2Regularizer>(o); }
Ref<Regularizer> OrthogonalRegularizer(const OrthogonalOptions& o, Caller) {
  return made<Orthogonal>(o);
}

}  // namespace holdfast::keras::regularizers
