// The n-th smallest or largest of each row.
#include <algorithm>
#include <cmath>
#include <vector>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct NthElementAttrs {
  Attr<bool> reverse;
};

void infer_nth(Infer& s) {
  s.need_rank(0, 1);
  s.need_rank(1, 0, 0);
  if (auto n = s.ints(1)) {
    if ((*n)[0] < 0) s.bad_value("n", cat((*n)[0]), "0 or more");
    if (s.shape().has_rank() && s.shape()[-1] >= 0 && (*n)[0] >= s.shape()[-1])
      s.bad_value("n", cat((*n)[0]), cat("less than ", s.shape()[-1], ", the length of a row"));
  }
  if (!s.shape().has_rank()) return s.output(s.dtype(), Shape::unknown());
  s.output(s.dtype(), Shape(Dims(s.shape().begin(), s.shape().end() - 1)));
}

// A NaN counts as larger than every number, so that the order is one.
template <class T>
bool before(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else {
    auto x = static_cast<float_of<T>>(a), y = static_cast<float_of<T>>(b);
    return std::isnan(y) ? !std::isnan(x) : x < y;
  }
}

Status run_nth(Call& c) {
  const Tensor& x = c.in();
  int64_t n = c.ints(1)[0], length = x.dim(-1), rows = c.out().size();
  if (c.attrs<NthElementAttrs>().reverse()) n = length - n - 1;
  auto as = [&]<class T>(T) {
    if constexpr (!is_complex_v<T> && !std::is_same_v<T, bool>) {
      const T* from = x.raw<T>();
      T* to = c.out().mutable_raw<T>();
      parallel_for(rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, length)),
                   [&](int64_t begin, int64_t end) {
                     std::vector<T> row(static_cast<size_t>(length));
                     for (int64_t i = begin; i < end; ++i) {
                       std::copy_n(from + i * length, length, row.begin());
                       std::nth_element(row.begin(), row.begin() + n, row.end(), before<T>);
                       to[i] = row[static_cast<size_t>(n)];
                     }
                   });
    }
  };
  visit_plain(x.dtype(), as);
  return {};
}

const Op nth_op = RAW_OP(NthElement)
                      .inputs("input, n: N!")
                      .dtypes(kReals)
                      .attr("reverse", false)
                      .attrs<&NthElementAttrs::reverse>()
                      .outputs("values")
                      .doc(
                          "The n-th smallest element of each row, from 0; with `reverse` the n-th "
                          "largest.")
                      .infer(infer_nth)
                      .kernel("select", run_nth)
                      .gradient(+[](Grad& g) -> Tensors {
                        // Elements that are equal to it share what arrives.
                        Tensor chosen = cast(equal(expand_dims(g.y(), -1), g.x()), g.dy().dtype());
                        Tensor count = reduce_sum(chosen, {.axis = Sizes(-1), .keepdims = true});
                        return {chosen / count * expand_dims(g.dy(), -1), Tensor()};
                      })
                      .keeps("input, values");

}  // namespace
}  // namespace holdfast
