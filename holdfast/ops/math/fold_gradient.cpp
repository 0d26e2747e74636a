#include "holdfast/ops/math/fold_gradient.h"

#include <algorithm>

#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/fold.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

Dims positive(Dims axes, int rank) {
  for (int64_t& a : axes)
    if (a < 0) a += rank;
  std::sort(axes.begin(), axes.end());
  return axes;
}

int64_t product(const Tensor& t, const Dims& axes, size_t begin, size_t end) {
  int64_t n = 1;
  for (size_t i = begin; i < end; ++i) {
    int64_t d = t.dim(static_cast<int>(axes[i]));
    n = d < 0 || n < 0 ? kUnknown : n * d;
  }
  return n;
}

// Which axes broadcasting repeats, for shapes that are only known when the program runs.
void infer_arguments(Infer& s) {
  s.need_rank(0, 1, 1);
  s.need_rank(1, 1, 1);
  s.output(s.dtype(), Shape{kUnknown});
  s.output(s.dtype(), Shape{kUnknown});
}

Status run_arguments(Call& c) {
  Dims shapes[2] = {c.ints(0), c.ints(1)}, axes[2];
  auto rank = static_cast<int64_t>(std::max(shapes[0].size(), shapes[1].size()));
  for (int64_t i = 0; i < rank; ++i) {
    int64_t size[2];
    for (int k = 0; k < 2; ++k) {
      int64_t at = i - (rank - static_cast<int64_t>(shapes[k].size()));
      size[k] = at < 0 ? 1 : shapes[k][static_cast<size_t>(at)];
    }
    if (size[0] != size[1] && size[0] != 1 && size[1] != 1)
      return {Code::E1102, "BroadcastGradientArgs: the shapes do not broadcast"};
    for (int k = 0; k < 2; ++k)
      if (size[k] == 1 && (size[1 - k] != 1 || i < rank - static_cast<int64_t>(shapes[k].size())))
        axes[k].push_back(i);
  }
  for (int k = 0; k < 2; ++k) {
    Tensor& out = c.out(k, Shape{static_cast<int64_t>(axes[k].size())});
    for (size_t i = 0; i < axes[k].size(); ++i) {
      if (out.dtype() == int32)
        out.mutable_raw<int32_t>()[i] = static_cast<int32_t>(axes[k][i]);
      else
        out.mutable_raw<int64_t>()[i] = axes[k][i];
    }
  }
  return {};
}

}  // namespace

static const Op arguments_op =
    RAW_OP(BroadcastGradientArgs)
        .doc("Axes along which shapes `s0` and `s1` are repeated to broadcast together.")
        .inputs("s0: T!, s1: T!")
        .outputs("r0, r1")
        .no_gradient()
        .on_host()
        .infer(infer_arguments)
        .kernel("reference", run_arguments);

Tensor sum_to(const Tensor& t, const Tensor& like) {
  const Shape &have = t.shape(), &want = like.shape();
  if (have == want && want.is_full()) return t;
  if (!have.is_full() || !want.is_full()) {
    Tensor target = shape(like);
    Tensors axes = arguments_op.many({target, shape(t)});
    return reshape(reduce_sum(t, {.axis = Sizes(axes[0])}), Sizes(target));
  }
  Ints axes;
  int extra = have.rank() - want.rank();
  for (int i = 0; i < have.rank(); ++i)
    if (i < extra || (want[i - extra] == 1 && have[i] != 1)) axes.push_back(i);
  Tensor sum = axes.empty() ? t : reduce_sum(t, {.axis = Sizes(axes)});
  return sum.shape() == want ? sum : reshape(sum, want);
}

Tensor unfold(const Tensor& t, const Grad& g) {
  const Tensor& x = g.x();
  if (g.attrs<FoldAttrs>().keep_dims()) return t;
  if (g.x(1).is_symbolic()) {
    // Only the running program knows which axes were folded.
    Tensor sizes = shape(x), rank = size(sizes);
    Tensor folded = floormod(reshape(cast(g.x(1), int32), {-1}) + rank, rank);
    Tensor hits = unsorted_segment_sum(ones_like(folded), folded, Sizes(rank));
    return reshape(t, Sizes(where(hits > 0, ones_like(sizes), sizes)));
  }
  Dims axes = positive(g.ints(1), x.rank());
  if (axes.empty()) return t;
  if (x.shape().is_full()) {
    Shape kept = x.shape();
    for (int64_t a : axes) kept.dims()[static_cast<size_t>(a)] = 1;
    return reshape(t, kept);
  }
  Tensor out = t;
  for (int64_t a : axes) out = expand_dims(out, a);
  return out;
}

Tensor spread_over(const Tensor& t, const Grad& g) {
  Tensor wide = unfold(t, g);
  return g.x().shape().is_full() && wide.shape() == g.x().shape()
             ? wide
             : broadcast_to(wide, shape_of(g.x()));
}

RowsOf::RowsOf(const Tensor& like, const Dims& given) : like_(like) {
  int rank = like.rank();
  Dims axes = positive(given, rank);
  for (int i = 0; i < rank; ++i)
    if (std::find(axes.begin(), axes.end(), int64_t{i}) == axes.end()) there_.push_back(i);
  kept_ = there_.size();
  for (int64_t a : axes) there_.push_back(a);
  back_.resize(static_cast<size_t>(rank), 0);
  for (size_t i = 0; i < there_.size(); ++i) {
    back_[static_cast<size_t>(there_[i])] = static_cast<int64_t>(i);
    moves_ = moves_ || there_[i] != static_cast<int64_t>(i);
  }
  count_ = product(like, there_, 0, kept_);
  length_ = product(like, there_, kept_, there_.size());
}

Tensor RowsOf::to_rows(const Tensor& t) const {
  Tensor moved = moves_ ? transpose(t, {.perm = Sizes(there_)}) : t;
  if (count_ >= 0 || length_ >= 0) return reshape(moved, {count_, length_});
  Tensor axes = Sizes(Dims(there_.begin() + kept_, there_.end())).tensor();
  return reshape(moved,
                 Sizes(stack({Tensor::scalar(-1), reduce_prod(gather(shape(like_), axes))})));
}

Tensor RowsOf::from_rows(const Tensor& rows) const {
  if (!moves_) return reshape(rows, shape_of(like_));
  if (like_.shape().is_full()) {
    Dims moved;
    for (int64_t a : there_) moved.push_back(like_.dim(static_cast<int>(a)));
    return transpose(reshape(rows, moved), {.perm = Sizes(back_)});
  }
  Tensor moved = gather(shape(like_), Sizes(there_).tensor());
  return transpose(reshape(rows, Sizes(moved)), {.perm = Sizes(back_)});
}

}  // namespace holdfast
