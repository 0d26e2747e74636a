// Derivatives of all elements: one backward pass for each.
#include "holdfast/autodiff/backward.h"
#include "holdfast/autodiff/recorder.h"
#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

void need_sizes(const char* what, const Tensor& t) {
  if (t.shape().is_full()) return;
  fail(Code::E1105, cat("`", what, "` of a target of shape ", t.shape().text()),
       "how many passes are needed must be known when it is asked for",
       {manual_fix("give the function's argument a shape without unknown sizes")});
}

// How many examples there are may be open; what is in one may not.
void need_examples(const char* what, const Shape& s) {
  bool known = s.has_rank();
  for (int i = 1; known && i < s.rank(); ++i) known = s[i] >= 0;
  if (known) return;
  fail(Code::E1105, cat("`", what, "` of tensors of shape ", s.text()),
       "how many passes are needed must be known when it is asked for",
       {manual_fix("give the function's argument a shape without unknown sizes, but the first")});
}

std::vector<int64_t> other_axes(int rank) {
  std::vector<int64_t> out;
  for (int i = 1; i < rank; ++i) out.push_back(i);
  return out;
}

// A one at `place` of the elements, zeros elsewhere.
Tensor unit(int64_t place, const Shape& shape, DType dtype) {
  return reshape(one_hot(Tensor::scalar(place), shape.size(), {.dtype = dtype}), shape);
}

Shape joined(const Shape& a, std::span<const int64_t> b) {
  Dims all = a.dims();
  for (int64_t d : b) all.push_back(d);
  return Shape(all);
}

std::vector<Tensor> column(const std::vector<std::vector<Tensor>>& rows, size_t i) {
  std::vector<Tensor> out;
  for (const auto& row : rows) out.push_back(row[i]);
  return out;
}

}  // namespace

std::vector<std::vector<Tensor>> GradientTape::rows(const Tensor& target,
                                                    const std::vector<Source>& sources,
                                                    const std::vector<Tensor>& upstream,
                                                    Unconnected unconnected) {
  Recorder& r = *recorder_;
  begin_use();
  BackwardSite backward;
  std::vector<Record> own;
  std::vector<Record>& records = r.for_use(own);
  std::vector<std::vector<Tensor>> out;
  for (size_t i = 0; i < upstream.size(); ++i) {
    bool last = i + 1 == upstream.size() && !r.options.persistent;
    out.emplace_back();
    auto found =
        run_backward(records, r.watched, {target}, sources, {upstream[i]}, unconnected, last);
    for (const Gradient& g : found) out.back().push_back(g.tensor());
  }
  return out;
}

std::vector<Tensor> GradientTape::pull_jacobian(const Tensor& target,
                                                const std::vector<Source>& sources,
                                                Unconnected unconnected) {
  need_sizes("jacobian", target);
  if (target.size() == 0) {
    // No element, so no row; one pass tells which sources it depends on.
    std::vector<Tensor> out = rows(target, sources, {zeros_like(target)}, unconnected)[0];
    for (Tensor& g : out)
      if (g.defined()) g = zeros(Sizes(concat({shape(target), shape(g)}, 0)), g.dtype());
    return out;
  }
  std::vector<Tensor> upstream;
  for (int64_t i = 0; i < target.size(); ++i)
    upstream.push_back(unit(i, target.shape(), target.dtype()));
  auto all = rows(target, sources, upstream, unconnected);
  std::vector<Tensor> out;
  for (size_t i = 0; i < sources.size(); ++i)
    out.push_back(all[0][i].defined() ? reshape(stack(column(all, i)),
                                                joined(target.shape(), all[0][i].shape().dims()))
                                      : Tensor());
  return out;
}

Tensor GradientTape::pull_batch_jacobian(const Tensor& target, const Source& source,
                                         Unconnected unconnected) {
  const Shape &y = target.shape(), &x = source.type().shape();
  need_examples("batch_jacobian", y);
  need_examples("batch_jacobian", x);
  if (y.rank() < 2 || x.rank() < 2 || y[0] != x[0])
    fail(Code::E1102,
         cat("`batch_jacobian` of ", type_text(target), " with respect to ",
             type_text(source.type())),
         "both need a first dimension of the same size, the examples, and one more");
  Shape inner = y;
  inner.dims()[0] = 1;
  Dims rest(std::span<const int64_t>(x.begin() + 1, x.end()));
  Shape result = joined(y, rest);
  auto none = [&] {
    if (result.is_full()) return zeros(result, target.dtype());
    Dims ones(static_cast<size_t>(result.rank()), 1);
    ones[0] = -1;
    Tensor one =
        reshape(reduce_sum(zeros_like(target), {.axis = Axes(other_axes(y.rank()))}), Shape(ones));
    Dims sizes = result.dims();
    sizes[0] = 1;
    return one + zeros(Shape(sizes), target.dtype());
  };
  if (inner.size() == 0 || (y.is_full() && target.size() == 0)) return none();
  std::vector<Tensor> upstream;
  for (int64_t i = 0; i < inner.size(); ++i) {
    Tensor place = unit(i, inner, target.dtype());
    upstream.push_back(y.is_full() ? broadcast_to(place, y) : zeros_like(target) + place);
  }
  auto all = rows(target, {source}, upstream, unconnected);
  if (!all[0][0].defined())
    return none();  // as TensorFlow's, whatever is asked for where nothing connects
  return reshape(stack(column(all, 0), {.axis = 1}), result);
}

}  // namespace holdfast
