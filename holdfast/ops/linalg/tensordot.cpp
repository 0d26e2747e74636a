#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/linalg/extent.h"

namespace holdfast {
namespace {

using linalg::Extent;

// The axes of `a` and `b` to sum over: the first half of the numbers and the second, or the last
// and the first few.
std::pair<Dims, Dims> read_axes(const Tensor& axes, const Tensor& a, const Tensor& b) {
  bool none = axes.rank() == 2 && axes.dim(0) == 2 && axes.size() == 0;  // [[], []], of any dtype
  if (none) return {};
  if (!kIndices.has(axes.dtype()))
    fail(Code::E1103, cat("tensordot: `axes` is ", name(axes.dtype()), axes.shape().text(),
                          ", expected integers"));
  Dims numbers = Sizes(axes).ints(), of_a, of_b;
  if (axes.rank() == 0) {
    int64_t n = numbers[0];
    if (n < 0 || n > a.rank() || n > b.rank())
      fail(Code::E1103,
           cat("tensordot: `axes` is ", n, ", expected 0 to ", std::min(a.rank(), b.rank())));
    for (int64_t i = 0; i < n; ++i) {
      of_a.push_back(a.rank() - n + i);
      of_b.push_back(i);
    }
    return {of_a, of_b};
  }
  if (axes.rank() > 2 || axes.dim(0) != 2)
    fail(Code::E1103, cat("tensordot: `axes` is of shape ", axes.shape().text(),
                          ", expected a number or two lists of one length"));
  size_t half = numbers.size() / 2;
  auto read = [](const int64_t* from, size_t n, const Tensor& t, const char* which) {
    Dims out;
    for (size_t i = 0; i < n; ++i) {
      int64_t at = from[i] < 0 ? from[i] + t.rank() : from[i];
      if (at < 0 || at >= t.rank())
        fail(Code::E1103, cat("tensordot: axis ", from[i], " is out of range for `", which,
                              "` of shape ", t.shape().text()));
      if (std::find(out.begin(), out.end(), at) != out.end())
        fail(Code::E1103, cat("tensordot: axis ", from[i], " of `", which, "` is named twice"));
      out.push_back(at);
    }
    return out;
  };
  return {read(numbers.data(), half, a, "a"), read(numbers.data() + half, half, b, "b")};
}

// `t` as a matrix: the free axes and the summed ones, in that order or the other; `free_sizes`
// takes the former.
Tensor as_matrix(const Tensor& t, const Dims& summed, bool free_first,
                 std::vector<Extent>& free_sizes) {
  Dims free;
  for (int64_t i = 0; i < t.rank(); ++i)
    if (std::find(summed.begin(), summed.end(), i) == summed.end()) free.push_back(i);
  Dims perm = free_first ? free : summed;
  const Dims& second = free_first ? summed : free;
  perm.append(second.begin(), second.end());
  Extent rows, inner;
  for (int64_t i : free) {
    free_sizes.push_back(linalg::extent_of(t, static_cast<int>(i)));
    rows = rows * free_sizes.back();
  }
  for (int64_t i : summed) inner = inner * linalg::extent_of(t, static_cast<int>(i));
  bool in_order = std::is_sorted(perm.begin(), perm.end());
  return linalg::reshaped(
      in_order ? t : transpose(t, {.perm = Sizes(perm)}),
      free_first ? std::vector<Extent>{rows, inner} : std::vector<Extent>{inner, rows});
}

}  // namespace

REGISTER(FUNCTION(&tensordot)
             .args("a, b, axes: I")
             .python("tensordot, linalg.tensordot")
             .doc("Sum of products over axes of both: the last `axes` of `a` and the first of `b`, "
                  "or two lists of axes.")
             .samples("uniform(2, 3, 4), uniform(3, 4, 5), 2",
                      "uniform(3, 4), uniform(4, 3), [[0, 1], [1, 0]]",
                      "uniform(2, 3), uniform(4, 3), [[1], [1]]", "uniform(2), uniform(3), 0")
             .reference("np.tensordot(a, b, axes)"));
static const Composition later(
    "tensordot", 3, +[](std::span<const Tensor> in) { return tensordot(in[0], in[1], in[2]); });
Tensor tensordot(const In& a, const In& b, const In& axes) {
  Tensor x = a.weak() ? a.tensor(b.dtype()) : a.tensor(), y = b.tensor(x.dtype());
  Tensor over = axes;
  if (!ranks_known({x, y}) || (over.is_symbolic() && !is_known(over)))
    return later({x, y, over}, x.dtype(), Shape::unknown());
  auto [of_x, of_y] = read_axes(over, x, y);
  std::vector<linalg::Meeting> open;
  for (size_t i = 0; i < of_x.size(); ++i) {
    int own = static_cast<int>(of_y[i]), others = static_cast<int>(of_x[i]);
    int64_t here = y.dim(own), there = x.dim(others);
    if (here >= 0 && here == there) continue;
    auto names = linalg::names_of({"tensordot", "a", "b"}, {x, y});
    linalg::Meeting each{
        "tensordot", "an axis that is summed over", {names[1], names[0]}, {y, x}, {own, others}};
    if (here >= 0 && there >= 0) linalg::refuse_sizes(each);
    open.push_back(std::move(each));
  }
  if (!open.empty()) y = linalg::met(open);
  std::vector<Extent> sizes;
  Tensor left = as_matrix(x, of_x, true, sizes), right = as_matrix(y, of_y, false, sizes);
  return linalg::reshaped(matmul(left, right), sizes);
}

}  // namespace holdfast
