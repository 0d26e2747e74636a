// Initializers of matrices as a whole: the identity, and orthogonal ones.
#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/keras/initializers/draw.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::initializers {
namespace {

class IdentityInitializer final : public Declares<IdentityOptions, Initializer> {
 public:
  const ClassDef& definition() const override;
  Tensor operator()(const Shape& shape, DType dtype) const override {
    if (shape.rank() != 2)
      fail(Code::E1102, cat("the initializer Identity was asked for the shape ", shape.text(),
                            ", expected two axes"));
    Tensor one = eye(shape[0], {.num_columns = {shape[1]}, .dtype = dtype});
    return options_.gain == 1 ? one : one * cast(options_.gain, dtype);
  }
};

ClassDef& identity_class =
    Declare<IdentityInitializer>("initializers.Identity", "Ones on the diagonal of a matrix.",
                                 &Initializer::def())
        .option<&IdentityOptions::gain>("gain")
        .alias("initializers.IdentityInitializer");
const ClassDef& IdentityInitializer::definition() const { return identity_class; }

class OrthogonalInitializer final : public Declares<OrthogonalOptions, Initializer> {
 public:
  const ClassDef& definition() const override;
  Tensor operator()(const Shape& shape, DType dtype) const override {
    need_floats(*this, dtype);
    if (shape.rank() < 2)
      fail(Code::E1102, cat("the initializer Orthogonal was asked for the shape ", shape.text(),
                            ", expected at least two axes"));
    int64_t columns = shape[shape.rank() - 1], rows = 1;
    for (int i = 0; i + 1 < shape.rank(); ++i) rows *= shape[i];
    // Small floats have no factorisation of their own.
    DType exact = dtype == float64 ? float64 : float32;
    Tensor a =
        normal({std::max(rows, columns), std::min(rows, columns)}, 0, 1, exact, options_.seed);
    auto [q, r] = linalg::qr(a);
    // A factorisation may turn columns around; with the signs of r all turns are as likely.
    q = q * sign(linalg::diag_part(r));
    if (rows < columns) q = transpose(q);
    return cast(options_.gain * reshape(q, sizes_of(shape)), dtype);
  }
};

ClassDef& orthogonal_class =
    Declare<OrthogonalInitializer>("initializers.Orthogonal",
                                   "Columns or rows at right angles to each other.",
                                   &Initializer::def())
        .option<&OrthogonalOptions::gain>("gain")
        .option<&OrthogonalOptions::seed>("seed")
        .key_before("seed", "gain")
        .alias("initializers.OrthogonalInitializer");
const ClassDef& OrthogonalInitializer::definition() const { return orthogonal_class; }

}  // namespace

Ref<Initializer> Identity(const IdentityOptions& o, Caller) { return made<IdentityInitializer>(o); }
Ref<Initializer> Orthogonal(const OrthogonalOptions& o, Caller) {
  return made<OrthogonalInitializer>(o);
}

}  // namespace holdfast::keras::initializers
