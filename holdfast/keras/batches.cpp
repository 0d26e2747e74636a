// Batches of arrays.
#include <cmath>
#include <limits>
#include <numeric>

#include "holdfast/base/text.h"
#include "holdfast/data/dataset.h"
#include "holdfast/graph/trace.h"
#include "holdfast/io/byte_cursor.h"
#include "holdfast/io/byte_put.h"
#include "holdfast/keras/training.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"

namespace holdfast::keras {
namespace {

// Rows from `first` to before `last`, in an order of its own for each epoch if wanted: drawn from a
// seed of the source's own, which a position can hold.
class Arrays final : public BatchSource {
 public:
  Arrays(const Nested& data, int64_t first, int64_t last, const ArrayOptions& o)
      : first_(first),
        last_(last),
        shuffled_(o.shuffle),
        batches_((last - first) / o.batch_size + ((last - first) % o.batch_size != 0)),
        dataset_(data::arrays(data,
                              {.batch_size = o.batch_size, .order = [this] { return order(); }})) {}

  int64_t batches() const override { return batches_; }
  void begin() override {
    if (shuffled_ && epochs_ == 0) seed_ = drawn_seed();
    ++epochs_;
    epoch_ = dataset_.iterator();
  }
  bool next(Nested& batch) override { return epoch_ && epoch_->next(batch); }
  std::optional<std::string> position() const override {
    if (!epoch_) return {};
    return io::Put().place(seed_).place(epochs_).bytes(epoch_->save()).take();
  }
  void resume(std::string_view position) override {
    io::ByteSource bytes = io::ByteSource::of_view("a position among batches", position);
    io::ByteCursor from(bytes, position, "it");
    seed_ = static_cast<int64_t>(from.u64());
    epochs_ = static_cast<int64_t>(from.u64());
    epoch_ = dataset_.iterator();
    epoch_->restore(from.take(from.left()));
  }

 private:
  static int64_t drawn_seed() {
    InterpreterScope eagerly(nullptr);
    NoTapes unseen;
    constexpr auto most = std::numeric_limits<int64_t>::max();
    return random::uniform({}, {.maxval = most, .dtype = int64}).item<int64_t>();
  }
  Tensor order() const {
    std::vector<int64_t> rows(static_cast<size_t>(last_ - first_));
    std::iota(rows.begin(), rows.end(), first_);
    InterpreterScope eagerly(nullptr);
    NoTapes unseen;
    Tensor order = Tensor::of<int64_t>(rows, Shape{last_ - first_});
    if (!shuffled_) return order;
    return random::stateless_shuffle(order, Tensor::of<int64_t>({seed_, epochs_}));
  }

  const int64_t first_, last_;
  const bool shuffled_;
  const int64_t batches_;
  int64_t seed_ = 0, epochs_ = 0;
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
  std::optional<std::string> position() const override {
    return epoch_ ? std::optional(epoch_->save()) : std::nullopt;
  }
  void resume(std::string_view position) override {
    epoch_ = dataset_.iterator();
    epoch_->restore(position);
  }

 private:
  const data::Dataset dataset_;
  std::optional<data::Iterator> epoch_;
};

}  // namespace

void BatchSource::resume(std::string_view) {
  fail(Code::E1105, "these batches can't go on from a position", "their source says none");
}

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
