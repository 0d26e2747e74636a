// Batches of arrays.
#include <cmath>
#include <numeric>

#include "holdfast/base/text.h"
#include "holdfast/data/dataset.h"
#include "holdfast/graph/trace.h"
#include "holdfast/keras/training.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"

namespace holdfast::keras {
namespace {

// Rows from `first` to before `last`, in an order of its own for each epoch if wanted.
Tensor order_of(int64_t first, int64_t last, bool shuffled) {
  std::vector<int64_t> rows(static_cast<size_t>(last - first));
  std::iota(rows.begin(), rows.end(), first);
  InterpreterScope eagerly(nullptr);
  NoTapes unseen;
  Tensor order = Tensor::of<int64_t>(rows, Shape{last - first});
  return shuffled ? random::shuffle(order) : order;
}

class Arrays final : public BatchSource {
 public:
  Arrays(const Nested& data, int64_t first, int64_t last, const ArrayOptions& o)
      : batches_((last - first) / o.batch_size + ((last - first) % o.batch_size != 0)),
        dataset_(data::arrays(
            data, {.batch_size = o.batch_size, .order = [first, last, shuffled = o.shuffle] {
                     return order_of(first, last, shuffled);
                   }})) {}

  int64_t batches() const override { return batches_; }
  void begin() override { epoch_ = dataset_.iterator(); }
  bool next(Nested& batch) override { return epoch_ && epoch_->next(batch); }

 private:
  const int64_t batches_;
  const data::Dataset dataset_;
  std::optional<data::Iterator> epoch_;
};

class Elements final : public BatchSource {
 public:
  explicit Elements(data::Dataset dataset) : dataset_(std::move(dataset)) {}
  int64_t batches() const override { return std::max<int64_t>(dataset_.cardinality(), -1); }
  void begin() override { epoch_ = dataset_.iterator(); }
  bool next(Nested& batch) override {
    if (!epoch_ || !epoch_->next(batch)) return false;
    if (batch.kind() != Nested::Kind::kTuple) batch = Nested::tuple({batch});
    return true;
  }

 private:
  const data::Dataset dataset_;
  std::optional<data::Iterator> epoch_;
};

}  // namespace

Ref<BatchSource> dataset_source(const data::Dataset& dataset) {
  return make_ref<Elements>(dataset);
}

Ref<BatchSource> array_source(const Nested& x, const Nested& y, const Nested& weight,
                              const ArrayOptions& o) {
  if (o.batch_size < 1)
    fail(Code::E1103, cat("`batch_size` is ", o.batch_size, ", expected at least 1"));
  if (!(o.leave_out_last >= 0 && o.leave_out_last < 1))
    fail(Code::E1103,
         cat("`validation_split` is ", o.leave_out_last, ", expected a share in [0, 1)"));
  std::vector<Nested> parts{x};
  if (!y.is_none() || !weight.is_none()) parts.push_back(y);
  if (!weight.is_none()) parts.push_back(weight);
  const char* names[] = {"x", "y", "sample_weight"};
  int64_t rows = -1;
  for (size_t k = 0; k < parts.size(); ++k)
    parts[k] = parts[k].map([&](const Tensor& given) {
      const Tensor t = value(given, names[k]);  // of a symbol: what its function computed
      if (t.rank() == 0)
        fail(Code::E1102, cat("`", names[k], "` has a scalar in it, expected arrays of examples"));
      if (rows >= 0 && t.dim(0) != rows)
        fail(Code::E1102, cat("`", names[k], "` has ", t.dim(0), " examples, and `x` has ", rows),
             "each example has its own target and weight");
      rows = t.dim(0);
      InterpreterScope eagerly(nullptr);
      NoTapes unseen;
      return t.dtype() == DType::kFloat64 ? cast(t, float32) : t;
    });
  if (rows < 1) fail(Code::E1102, "`x` has no examples");
  auto first_left_out =
      static_cast<int64_t>(std::floor(static_cast<double>(rows) * (1 - o.leave_out_last)));
  if (o.leave_out_last > 0 && (first_left_out == 0 || first_left_out == rows))
    fail(Code::E1103,
         cat("`validation_split` is ", o.leave_out_last, ", and of ", rows,
             " examples it leaves none for ", first_left_out == 0 ? "training" : "validation"));
  int64_t begin = o.only_last ? first_left_out : 0;
  int64_t end = o.only_last ? rows : first_left_out;
  return make_ref<Arrays>(Nested::tuple(std::move(parts)), begin, end, o);
}

}  // namespace holdfast::keras
