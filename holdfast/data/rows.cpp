#include "holdfast/data/rows.h"

#include <algorithm>
#include <cstring>

#include "holdfast/base/parallel.h"
#include "holdfast/device/device.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::data {
namespace {

constexpr int64_t kCopyGrain = 1 << 21;  // bytes that are worth a thread

Shape with_first(int64_t first, const Shape& row) {
  Dims dims{first};
  for (int64_t d : row) dims.push_back(d);
  return Shape(std::move(dims));
}

// No processor guesses which row comes next in a random order: it is asked for the first lines of
// one while those before it are copied, and finds the rest of it by itself.
constexpr int64_t kAhead = 2, kLine = 64, kLines = 8;
void fetch_begin(const void* piece, int64_t bytes) {
  auto* at = static_cast<const char*>(piece);
  for (int64_t k = 0; k < std::min(bytes, kLines * kLine); k += kLine) __builtin_prefetch(at + k);
}

// Copies pieces of `bytes` each, `from(i)` to the i-th place; strings are assigned one by one.
template <class From>
void copy_pieces(const Tensor& to, int64_t pieces, int64_t elements, From from) {
  if (to.dtype() == DType::kString) {
    auto* out = to.mutable_raw<std::string>();
    for (int64_t i = 0; i < pieces; ++i) {
      auto* in = static_cast<const std::string*>(static_cast<const void*>(from(i)));
      for (int64_t k = 0; k < elements; ++k) out[i * elements + k] = in[k];
    }
    return;
  }
  int64_t bytes = elements * size_of(to.dtype());
  if (bytes == 0) return;
  auto* out = to.mutable_raw<char>();
  auto copy = [&](int64_t begin, int64_t end) {
    switch (bytes) {  // a size that is known is one instruction
      case 4:
        for (int64_t i = begin; i < end; ++i) std::memcpy(out + i * 4, from(i), 4);
        break;
      case 8:
        for (int64_t i = begin; i < end; ++i) std::memcpy(out + i * 8, from(i), 8);
        break;
      default:
        for (int64_t i = begin; i < end; ++i) {
          if (i + kAhead < end) fetch_begin(from(i + kAhead), bytes);
          std::memcpy(out + i * bytes, from(i), static_cast<size_t>(bytes));
        }
    }
  };
  parallel_for(pieces, std::max<int64_t>(1, kCopyGrain / bytes), copy);
}

class TensorRows final : public Rows {
 public:
  TensorRows(const Nested& tensors, int64_t count)
      : form_(tensors), tensors_(tensors.leaves()), count_(count) {
    for (const Tensor& t : tensors_)
      shapes_.push_back(Shape(std::span(t.shape().begin() + 1, t.shape().end())));
  }
  int64_t size() const override { return count_; }

  Nested row(int64_t i) const override {
    if (form_.is_tensor()) return row_of(tensors_[0], i);
    std::vector<Tensor> out;
    out.reserve(tensors_.size());
    for (const Tensor& t : tensors_) out.push_back(row_of(t, i));
    return form_.with_leaves(out);
  }

  Nested gather(std::span<const int64_t> rows) const override {
    bool adjacent = !rows.empty();
    for (size_t i = 1; i < rows.size() && adjacent; ++i) adjacent = rows[i] == rows[i - 1] + 1;
    auto n = static_cast<int64_t>(rows.size());
    std::vector<Tensor> out;
    out.reserve(tensors_.size());
    for (size_t k = 0; k < tensors_.size(); ++k) {
      const Tensor& t = tensors_[k];
      Shape shape = with_first(n, shapes_[k]);
      int64_t elements = shapes_[k].size(), bytes = elements * size_of(t.dtype());
      if (adjacent) {
        out.push_back(view_of(t, std::move(shape), rows[0] * bytes));
        continue;
      }
      Tensor made = empty(t.dtype(), shape, cpu());
      const char* from = t.raw<char>();
      copy_pieces(made, n, elements,
                  [&](int64_t i) { return from + rows[static_cast<size_t>(i)] * bytes; });
      out.push_back(std::move(made));
    }
    if (form_.is_tensor()) return out[0];
    return form_.with_leaves(out);
  }

 private:
  const Nested form_;
  const std::vector<Tensor> tensors_;
  std::vector<Shape> shapes_;  // of a row
  const int64_t count_;
};

class RangeRows final : public Rows {
 public:
  RangeRows(int64_t start, int64_t step, int64_t count, DType dtype)
      : start_(start), step_(step), count_(count), dtype_(dtype) {}
  int64_t size() const override { return count_; }
  Nested row(int64_t i) const override { return Tensor::scalar(at(i), dtype_); }
  Nested gather(std::span<const int64_t> rows) const override {
    Tensor out = empty(dtype_, Shape{static_cast<int64_t>(rows.size())}, cpu());
    visit_plain(dtype_, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (!is_complex_v<T>)
        for (size_t i = 0; i < rows.size(); ++i)
          out.mutable_raw<T>()[i] = static_cast<T>(static_cast<float_of<T>>(at(rows[i])));
    });
    return out;
  }

 private:
  // Without overflow: the last value is one that int64 holds.
  int64_t at(int64_t i) const {
    return static_cast<int64_t>(static_cast<uint64_t>(start_) +
                                static_cast<uint64_t>(i) * static_cast<uint64_t>(step_));
  }
  const int64_t start_, step_, count_;
  const DType dtype_;
};

}  // namespace

Ref<Rows> rows_of(const Nested& tensors, int64_t count) {
  return make_ref<TensorRows>(tensors, count);
}

Ref<Rows> rows_of_range(int64_t start, int64_t step, int64_t count, DType dtype) {
  return make_ref<RangeRows>(start, step, count, dtype);
}

Tensor row_of(const Tensor& t, int64_t i) {
  Shape shape(std::span(t.shape().begin() + 1, t.shape().end()));
  int64_t bytes = shape.size() * size_of(t.dtype());
  return view_of(t, std::move(shape), i * bytes);
}

Nested stacked(std::span<const Nested> elements) {
  std::vector<std::vector<Tensor>> all;
  all.reserve(elements.size());
  for (const Nested& e : elements) all.push_back(e.leaves());
  std::vector<Tensor> out;
  for (size_t k = 0; k < all[0].size(); ++k) {
    const Tensor& first = all[0][k];
    Tensor made = empty(first.dtype(),
                        with_first(static_cast<int64_t>(elements.size()), first.shape()), cpu());
    std::vector<Tensor> host;  // what is on another device
    host.reserve(all.size());
    for (auto& leaves : all) host.push_back(copy_to(leaves[k], cpu()));
    copy_pieces(made, static_cast<int64_t>(all.size()), first.size(),
                [&](int64_t i) { return host[static_cast<size_t>(i)].raw(); });
    out.push_back(std::move(made));
  }
  return elements[0].with_leaves(out);
}

}  // namespace holdfast::data
