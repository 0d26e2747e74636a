// Dimensions of a tensor. A symbolic tensor may have unknown ones (-1) or an unknown rank.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "holdfast/base/api.h"
#include "holdfast/base/inline_vector.h"

namespace holdfast {

using Dims = InlineVector<int64_t, 6>;
inline constexpr int64_t kUnknown = -1;
inline constexpr int kMaxRank = 254;

/// One size between braces, of any integer type: `Shape{values.size(), 3}`.
class Dim {
 public:
  template <std::integral T>
  constexpr Dim(T size) : size_(static_cast<int64_t>(size)) {}
  constexpr operator int64_t() const { return size_; }

 private:
  int64_t size_;
};

class HOLDFAST_API Shape {
 public:
  Shape() = default;  // a scalar
  Shape(std::initializer_list<Dim> dims) : dims_(dims.begin(), dims.end()) {}
  explicit Shape(Dims dims) : dims_(std::move(dims)) {}
  template <std::integral T>
  Shape(const std::vector<T>& dims) : dims_(dims.begin(), dims.end()) {}
  template <std::integral T, size_t N>
  Shape(const std::array<T, N>& dims) : dims_(dims.begin(), dims.end()) {}
  template <std::integral T, size_t N>
  Shape(std::span<T, N> dims) : dims_(dims.begin(), dims.end()) {}
  explicit Shape(std::span<const int64_t> dims) : dims_(dims) {}
  /// Nothing is known, not even the rank.
  static Shape unknown() {
    Shape s;
    s.known_rank_ = false;
    return s;
  }
  /// `rank` dimensions, none known.
  static Shape of_rank(int rank) { return Shape(Dims(static_cast<size_t>(rank), kUnknown)); }

  bool has_rank() const { return known_rank_; }
  int rank() const { return known_rank_ ? static_cast<int>(dims_.size()) : -1; }
  int64_t operator[](int axis) const {
    int i = axis < 0 ? axis + rank() : axis;
    if (i < 0 || i >= rank()) [[unlikely]]
      no_axis(axis);
    return dims_[static_cast<size_t>(i)];
  }
  const Dims& dims() const { return dims_; }
  Dims& dims() { return dims_; }
  const int64_t* begin() const { return dims_.begin(); }
  const int64_t* end() const { return dims_.end(); }

  /// Every dimension is known.
  bool is_full() const;
  /// Product of the dimensions; nothing if one is unknown or the product overflows.
  std::optional<int64_t> elements() const;
  /// The product; refused where a dimension is not known, or the rank, or it is more than can be
  /// counted.
  int64_t size() const {
    int64_t n = 1;
    bool plain = known_rank_;
    for (int64_t d : dims_) plain = plain && d >= 0 && !__builtin_mul_overflow(n, d, &n);
    return plain ? n : odd_size();
  }
  bool operator==(const Shape& o) const { return known_rank_ == o.known_rank_ && dims_ == o.dims_; }

  /// Could be the same shape once unknown dimensions are known.
  bool compatible(const Shape&) const;
  /// What both together say, or nothing if they contradict.
  std::optional<Shape> merged(const Shape&) const;
  /// "[2,?]" for messages, "[?...]" for an unknown rank.
  std::string text() const;

 private:
  [[noreturn]] void no_axis(int axis) const;
  int64_t odd_size() const;
  Dims dims_;
  bool known_rank_ = true;
};

/// Shape of elementwise results over `a` and `b`, or nothing if they do not broadcast.
HOLDFAST_API std::optional<Shape> broadcast(const Shape& a, const Shape& b);
/// Row-major strides, in elements.
HOLDFAST_API Dims strides_of(const Shape&);

}  // namespace holdfast
