#include "holdfast/keras/metrics/mean.h"

#include "holdfast/keras/layer.h"
#include "holdfast/keras/sample_weights.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::metrics {
namespace {

using O = MetricOptions;
ClassDef& mean =
    Declare<MeanMetric>("metrics.Mean", "The mean of what it is given.", &Metric::def())
        .option<&O::name>("name")
        .option<&O::dtype>("dtype");
ClassDef& sum = Declare<SumMetric>("metrics.Sum", "The sum of what it is given.", &Metric::def())
                    .option<&O::name>("name")
                    .option<&O::dtype>("dtype");

}  // namespace

const ClassDef& MeanMetric::definition() const { return mean; }
const ClassDef& SumMetric::definition() const { return sum; }

void SumMetric::make_variables() {
  if (!total_.defined()) total_ = add_variable({}, "zeros", "total");
}

std::vector<Variable> SumMetric::variables() const {
  const_cast<SumMetric*>(this)->make_variables();
  return Metric::variables();
}

void SumMetric::update_state(const Tensor& given, const Tensor&, const Tensor& weight) {
  make_variables();
  Tensor values = given.dtype() == dtype() ? given : cast(given, dtype()), w = weight;
  if (w.defined() && w.dtype() != dtype()) w = cast(w, dtype());
  if (Tensor mask = mask_of(given); w.defined() && mask.defined())
    w = where_counted(w, mask, dtype());
  total_.assign_add(reduce_sum(samples_of(values, w, false).values));
}

Nested SumMetric::result() {
  make_variables();
  return total_.read();
}

}  // namespace holdfast::keras::metrics
