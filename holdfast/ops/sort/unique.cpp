#include <cstring>
#include <limits>
#include <unordered_map>
#include <vector>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/sort.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

// Attribute 0: out_idx. Outputs: y, idx, and count where there is a third.
void infer_unique(Infer& s) {
  s.need_rank(0, 1, 1);
  DType out = s.attr(0).dtype();
  if (!kIndices.has(out)) s.bad_value("out_idx", name(out), "int32 or int64");
  const Shape& x = s.shape();
  if (out == int32 && x.has_rank() && x[0] > std::numeric_limits<int32_t>::max())
    s.bad_value("out_idx", "int32", cat("int64, to count to ", x[0]));
  s.output(s.dtype(), Shape{kUnknown});
  s.output(out, x.has_rank() ? x : Shape{kUnknown});
  if (s.op().outputs.size() == 3) s.output(out, Shape{kUnknown});
}

// Equality of values: zeros of both signs are one, a NaN is like nothing.
template <class T>
struct Same {
  bool operator()(const T& a, const T& b) const { return a == b; }
};
template <class T>
struct Hash {
  size_t operator()(const T& v) const {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat>)
      return std::hash<float>()(static_cast<float>(v));
    else if constexpr (is_complex_v<T>)
      return std::hash<typename T::value_type>()(v.real()) * 31 +
             std::hash<typename T::value_type>()(v.imag());
    else
      return std::hash<T>()(v);
  }
};

template <class T>
void find_unique(Call& c) {
  const Tensor& x = c.in();
  int64_t n = x.size();
  Tensor& idx = c.out(1);
  std::unordered_map<T, int64_t, Hash<T>, Same<T>> seen;
  std::vector<int64_t> first, count;
  visit_indices(idx.dtype(), [&]<class I>(I) {
    const T* from = x.data<T>();
    for (int64_t i = 0; i < n; ++i) {
      auto [at, fresh] = seen.try_emplace(from[i], static_cast<int64_t>(first.size()));
      if (fresh) {
        first.push_back(i);
        count.push_back(0);
      }
      ++count[static_cast<size_t>(at->second)];
      idx.mutable_data<I>()[i] = static_cast<I>(at->second);
    }
    Shape distinct{static_cast<int64_t>(first.size())};
    Tensor& y = c.out(0, distinct);
    for (size_t i = 0; i < first.size(); ++i) y.mutable_data<T>()[i] = from[first[i]];
    if (c.outputs() < 3) return;
    Tensor& counts = c.out(2, distinct);
    for (size_t i = 0; i < count.size(); ++i)
      counts.mutable_data<I>()[i] = static_cast<I>(count[i]);
  });
}

Status run_unique(Call& c) {
  if (c.in().dtype() == DType::kString)
    find_unique<std::string>(c);
  else
    visit_plain(c.in().dtype(), [&]<class T>(T) { find_unique<T>(c); });
  return {};
}

}  // namespace

static const Op unique_op = OP(Unique, &unique)
                                .args("x")
                                .options<&UniqueOptions::out_idx>("out_idx")
                                .inputs("x")
                                .attr("out_idx", int32)
                                .outputs("y, idx")
                                .returns("y, idx")
                                .dtypes(kAll)
                                .on_host()
                                .no_gradient()
                                .doc(
                                    "The distinct elements of a vector in order of appearance, and "
                                    "for each element which of them it is.")
                                .infer(infer_unique)
                                .kernel("hash", run_unique)
                                .samples("[1, 1, 2, 4, 4, 1]", "ints(9, low=0, high=3)")
                                .reference(
                                    "(lambda u: (u, np.array([list(u).index(v) for v in "
                                    "x])))(np.array(list(dict.fromkeys(np.asarray(x).tolist()))))");
std::tuple<Tensor, Tensor> unique(const In& x, const UniqueOptions& o) {
  Tensors out = unique_op.many({x}, {o.out_idx});
  return {out[0], out[1]};
}

static const Op counts_op = OP(UniqueWithCounts, &unique_with_counts)
                                .args("x")
                                .options<&UniqueOptions::out_idx>("out_idx")
                                .inputs("x")
                                .attr("out_idx", int32)
                                .outputs("y, idx, count")
                                .returns("y, idx, count")
                                .dtypes(kAll)
                                .on_host()
                                .no_gradient()
                                .doc(
                                    "The distinct elements of a vector in order of appearance, for "
                                    "each element which of them it is, and how often each occurs.")
                                .infer(infer_unique)
                                .kernel("hash", run_unique)
                                .samples("[1, 1, 2, 4, 4, 1]", "ints(9, low=0, high=3)")
                                .reference(
                                    "(lambda l: (lambda u: (np.array(u), np.array([u.index(v) for "
                                    "v in l]), np.array([l.count(v) for v in u])))"
                                    "(list(dict.fromkeys(l))))(np.asarray(x).tolist())");
std::tuple<Tensor, Tensor, Tensor> unique_with_counts(const In& x, const UniqueOptions& o) {
  Tensors out = counts_op.many({x}, {o.out_idx});
  return {out[0], out[1], out[2]};
}

}  // namespace holdfast
