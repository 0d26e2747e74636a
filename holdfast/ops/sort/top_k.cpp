#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/sort.h"
#include "holdfast/ops/sort/order.h"

namespace holdfast {
namespace {

struct TopKAttrs {
  Attr<bool> sorted;
  Attr<DType> index_type;
};

// Inputs: input, k; attributes: sorted, index_type.
void infer_top_k(Infer& s) {
  s.need_rank(0, 1);
  DType index = s.attrs<TopKAttrs>().index_type();
  if (!kIndices.has(index) && index != int16)
    s.bad_value("index_type", name(index), "int16, int32 or int64");
  auto k = s.ints(1);
  if (k && k->size() != 1) s.bad_value("k", Shape(*k).text(), "one number");
  if (k && (*k)[0] < 0) s.bad_value("k", cat((*k)[0]), "0 or more");
  Shape out = s.shape();
  if (out.has_rank()) {
    int64_t n = out[-1];
    if (k && n >= 0 && (*k)[0] > n)
      s.bad_value("k", cat((*k)[0]), cat("at most ", n, ", the size of the last axis"));
    int64_t most = index == int16   ? std::numeric_limits<int16_t>::max()
                   : index == int32 ? std::numeric_limits<int32_t>::max()
                                    : n;
    if (n - 1 > most) s.bad_value("index_type", name(index), cat("one that counts to ", n));
    out.dims().back() = k ? (*k)[0] : kUnknown;
  }
  s.output(s.dtype(), out);
  s.output(index, out);
}

// The first k of `order` become where the largest are.
template <class T>
void top_row(const T* x, int64_t n, int64_t k, bool sorted, T* values,
             std::vector<int64_t>& order) {
  // The larger first, then the one that comes first: a total order, so that no result is left to
  // chance.
  auto better = [&](int64_t a, int64_t b) {
    return before<T>(x[b], x[a]) || (!before<T>(x[a], x[b]) && a < b);
  };
  order.resize(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  auto last = order.begin() + k;
  if (k < n) std::nth_element(order.begin(), last, order.end(), better);
  if (sorted)
    std::sort(order.begin(), last, better);
  else
    std::sort(order.begin(), last);
  for (int64_t i = 0; i < k; ++i) values[i] = x[order[static_cast<size_t>(i)]];
}

Status run_top_k(Call& c) {
  const Tensor& x = c.in();
  Tensor &values = c.out(0), &indices = c.out(1);
  if (values.size() == 0) return {};
  int64_t n = x.dim(-1), k = values.dim(-1);
  bool sorted = c.attrs<TopKAttrs>().sorted();
  auto write = [&](const std::vector<int64_t>& order, int64_t row) {
    auto run = [&]<class Index>(Index) {
      std::transform(order.begin(), order.begin() + k, indices.mutable_raw<Index>() + row * k,
                     [](int64_t at) { return static_cast<Index>(at); });
    };
    if (indices.dtype() == int16)
      run(int16_t{});
    else
      visit_indices(indices.dtype(), run);
  };
  visit_plain(x.dtype(), [&]<class T>(T) {
    if constexpr (!is_complex_v<T>)
      parallel_for(x.size() / n, std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
        std::vector<int64_t> order;
        for (int64_t r = begin; r < end; ++r) {
          top_row(x.raw<T>() + r * n, n, k, sorted, values.mutable_raw<T>() + r * k, order);
          write(order, r);
        }
      });
  });
  return {};
}

// What was taken gives its gradient back to the place it was taken from.
Tensors top_k_gradient(Grad& g) {
  const Tensor& x = g.x();
  Tensor flat =
      unsorted_segment_sum(reshape(g.dy(0), {-1}), reshape(flat_positions(g.y(1), x), {-1}),
                           Sizes(reshape(size(x), Shape{})));
  return {reshape(flat, shape_of(x)), Tensor()};
}

// Inputs: predictions, targets, k.
void infer_in_top_k(Infer& s) {
  s.need_rank(0, 2, 2);
  s.need_rank(1, 1, 1);
  auto k = s.ints(2);
  if (k && k->size() != 1) s.bad_value("k", Shape(*k).text(), "one number");
  const Shape &p = s.shape(0), &t = s.shape(1);
  if (p.has_rank() && t.has_rank() && p[0] >= 0 && t[0] >= 0 && p[0] != t[0])
    s.bad_shape(1, cat("one target for each of the ", p[0], " rows of `predictions`"));
  s.output(DType::kBool, t.has_rank() ? t : Shape{kUnknown});
}

Status run_in_top_k(Call& c) {
  const Tensor &p = c.in(0), &t = c.in(1);
  int64_t k = c.ints(2)[0], n = p.dim(1);
  bool* out = c.out().mutable_raw<bool>();
  visit_indices(t.dtype(), [&]<class I>(I) {
    for (int64_t r = 0; r < t.size(); ++r) {
      const float* row = p.raw<float>() + r * n;
      auto target = static_cast<int64_t>(t.raw<I>()[r]);
      auto finite = [](float v) { return v - v == 0; };
      bool sound = target >= 0 && target < n && std::all_of(row, row + n, finite);
      out[r] = sound && std::count_if(row, row + n, [&](float v) { return v > row[target]; }) < k;
    }
  });
  return {};
}

}  // namespace

static const Op top_k_op =
    OP(TopKV2, &top_k)
        .args("input")
        .options<&TopKOptions::k, &TopKOptions::sorted, &TopKOptions::index_type>(
            "k, sorted, index_type")
        .inputs("input, k: Tk!")
        .attr("sorted", true)
        .attr("index_type", int32)
        .attrs<&TopKAttrs::sorted, &TopKAttrs::index_type>()
        .outputs("values, indices")
        .returns("values, indices")
        .python("math.top_k, nn.top_k")
        .dtypes(kReals)
        .doc(
            "Values and positions of the k largest along the last axis, the first of equals first.")
        .infer(infer_top_k)
        .kernel("select", run_top_k)
        .gradient(top_k_gradient)
        .keeps("indices")
        .samples("permutation(9), k=3", "uniform(3, 5), k=2", "uniform(2, 4), k=4")
        .reference(
            "(np.flip(np.sort(input, -1), -1)[..., :k], np.argsort(-input, -1, kind='stable')[..., "
            ":k])");
std::tuple<Tensor, Tensor> top_k(const In& input, const TopKOptions& o) {
  Tensor k = o.k.tensor();
  if (k.dtype() == int16) k = cast(k, int32);
  Tensors out = top_k_op.many({input, k}, {o.sorted, o.index_type});
  return {out[0], out[1]};
}

static const Op in_top_k_op =
    OP(InTopKV2, &in_top_k)
        .args("targets: I, predictions, k")
        .inputs("predictions, targets: I, k: I!")
        .python("math.in_top_k, nn.in_top_k")
        .dtypes({float32})
        .dtypes(kIndices, "I")
        .no_gradient()
        .doc(
            "Whether the target's prediction is among the k largest of its row; ties at the border "
            "count, rows that are not finite do not.")
        .infer(infer_in_top_k)
        .kernel("reference", run_in_top_k)
        .samples("[0, 2, 1], uniform(3, 4), 2")
        .reference("np.array([np.sum(p > p[t]) < k for t, p in zip(targets, predictions)])");
Tensor in_top_k(const In& targets, const In& predictions, const Sizes& k) {
  Tensor t = targets;
  Tensor count = k.tensor();
  return in_top_k_op({predictions, t, count.dtype() == t.dtype() ? count : cast(count, t.dtype())});
}

}  // namespace holdfast
