// Batches of arrays.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "holdfast/base/text.h"
#include "holdfast/keras/training.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::keras {
namespace {

class Arrays final : public BatchSource {
 public:
  Arrays(Nested data, int64_t first, int64_t last, const ArrayOptions& o)
      : data_(std::move(data)), leaves_(data_.leaves()), first_(first), last_(last), options_(o) {}

  int64_t batches() const override {
    int64_t rows = last_ - first_;
    return (rows + options_.batch_size - 1) / options_.batch_size;
  }

  void begin() override {
    next_ = first_;
    if (!options_.shuffle) return;
    InterpreterScope eagerly(nullptr);
    NoObservers unseen;
    std::vector<int64_t> rows(static_cast<size_t>(last_ - first_));
    std::iota(rows.begin(), rows.end(), first_);
    Tensor order = Tensor::of<int64_t>(rows, Shape{static_cast<int64_t>(rows.size())});
    order_ = random::shuffle(order);
  }

  bool next(Nested& batch) override {
    if (next_ >= last_) return false;
    int64_t n = std::min(options_.batch_size, last_ - next_);
    InterpreterScope eagerly(nullptr);
    NoObservers unseen;
    Tensor chosen;
    if (options_.shuffle) chosen = rows_of(order_, next_ - first_, n);
    std::vector<Tensor> out;
    for (const Tensor& t : leaves_)
      out.push_back(chosen.defined() ? gather(t, chosen) : rows_of(t, next_, n));
    next_ += n;
    batch = data_.with_leaves(out);
    return true;
  }

 private:
  // Rows one after the other share the array's memory.
  static Tensor rows_of(const Tensor& t, int64_t first, int64_t n) {
    std::vector<int64_t> sizes{n};
    int64_t row = 1;
    for (int i = 1; i < t.rank(); ++i) {
      sizes.push_back(t.dim(i));
      row *= t.dim(i);
    }
    if (t.dtype() == DType::kString) {
      std::vector<int64_t> begin(sizes.size(), 0);
      begin[0] = first;
      return slice(t, begin, sizes);
    }
    return view_of(t, Shape(sizes), first * row * size_of(t.dtype()));
  }

  Nested data_;
  std::vector<Tensor> leaves_;
  int64_t first_, last_, next_ = 0;
  ArrayOptions options_;
  Tensor order_;
};

}  // namespace

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
    parts[k] = parts[k].map([&](const Tensor& t) {
      if (t.rank() == 0)
        fail(Code::E1102, cat("`", names[k], "` has a scalar in it, expected arrays of examples"));
      if (rows >= 0 && t.dim(0) != rows)
        fail(Code::E1102, cat("`", names[k], "` has ", t.dim(0), " examples, and `x` has ", rows),
             "each example has its own target and weight");
      rows = t.dim(0);
      InterpreterScope eagerly(nullptr);
      NoObservers unseen;
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
