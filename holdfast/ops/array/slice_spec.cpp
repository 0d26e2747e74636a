#include "holdfast/ops/array/slice_spec.h"

#include <algorithm>

#include "holdfast/ops/array/view.h"
#include "holdfast/tensor/scope.h"

namespace holdfast {
namespace {

bool bit(int64_t mask, int64_t i) { return mask >> i & 1; }

// A bound as NumPy reads it: from the end if negative, then moved into the axis.
int64_t bound(int64_t x, bool masked, bool is_end, int64_t dim, int64_t stride) {
  int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? dim : dim - 1;
  if (masked) return (stride > 0) == is_end ? high : low;
  return std::clamp(x < 0 ? x + dim : x, low, high);
}

int64_t count_steps(int64_t begin, int64_t end, int64_t stride) {
  int64_t length = end - begin;
  if (length == 0 || (length < 0) != (stride < 0)) return 0;
  return length / stride + (length % stride != 0);
}

}  // namespace

std::optional<Dims> slice_numbers(const Infer& s, int i) {
  if (auto all = s.ints(i)) {
    for (int64_t& n : *all)
      n = std::max(n, kNotYet + 1);  // as far out of range as what it stands for
    return all;
  }
  const Tensor& t = s.input(i);
  if (!t.is_symbolic() || !symbol_of(t)->known.defined()) return std::nullopt;
  Dims out = *s.sizes(i);
  for (size_t k = 0; k < out.size(); ++k)
    if (symbol_of(t)->unknown >> k & 1) out[k] = kNotYet;
  return out;
}

SliceSpec slice_spec(const Infer& s, const Shape& sliced, const std::optional<Dims>& begin,
                     const std::optional<Dims>& end, const std::optional<Dims>& strides,
                     int64_t count, const SliceMasks& m) {
  // Masks have 64 bits; TensorFlow's own limit is 32 items.
  if (count > 62) s.bad_value("begin", cat(count, " items"), "62 items or fewer");
  int rank = sliced.rank();
  int64_t used = 0;  // axes that items other than the ellipsis speak of
  int64_t ellipsis = -1;
  for (int64_t i = 0; i < count; ++i) {
    if (bit(m.ellipsis, i)) {
      if (ellipsis >= 0) s.bad_value("ellipsis_mask", cat(m.ellipsis), "one ellipsis at most");
      ellipsis = i;
    } else if (!bit(m.new_axis, i)) {
      ++used;
    }
  }
  if (used > rank)
    s.bad_value("begin", cat(used, used == 1 ? " index" : " indices"),
                cat("at most ", rank, ": the tensor has shape ", sliced.text()));
  SliceSpec spec;
  int axis = 0;
  auto full = [&]() {
    spec.ranges.push_back({0, 1, sliced[axis], static_cast<int>(spec.result.size())});
    spec.result.push_back(sliced[axis++]);
  };
  for (int64_t i = 0; i < count; ++i) {
    if (i == ellipsis) {
      for (int64_t k = used; k < rank; ++k) full();
      continue;
    }
    if (bit(m.new_axis, i)) {
      spec.result.push_back(1);
      continue;
    }
    auto at = static_cast<size_t>(i);
    auto number = [&](const std::optional<Dims>& list) { return list ? (*list)[at] : kNotYet; };
    int64_t dim = sliced[axis], first = number(begin), last = number(end), stride = number(strides);
    bool stepped = stride != kNotYet;
    if (!stepped) stride = 1;
    bool shrink = bit(m.shrink, i);
    if (stride == 0) s.bad_value(cat("strides[", i, "]"), "0", "a step other than 0");
    if (shrink && stride < 0)
      s.bad_value(cat("strides[", i, "]"), cat(stride), "1 where one index is taken");
    AxisRange r{0, stride, shrink ? 1 : kUnknown};
    if (shrink && first != kNotYet && dim >= 0) {
      int64_t x = first;
      r.begin = x < 0 ? x + dim : x;
      r.stride = 1;
      if (r.begin < 0 || r.begin >= dim)
        refuse_outside(s, "index", x, -dim, dim, cat(" on axis ", axis, " of size ", dim));
    } else if (!shrink && stepped && dim >= 0 && (first != kNotYet || bit(m.begin, i)) &&
               (last != kNotYet || bit(m.end, i))) {
      r.begin = bound(first, bit(m.begin, i), false, dim, stride);
      r.size = count_steps(r.begin, bound(last, bit(m.end, i), true, dim, stride), stride);
      if (r.size == 0) r.begin = 0;
    }
    if (!shrink) {
      r.result_axis = static_cast<int>(spec.result.size());
      spec.result.push_back(r.size);
    }
    spec.ranges.push_back(r);
    ++axis;
  }
  while (axis < rank) full();
  return spec;
}

CopyAxes SliceSpec::axes(const Shape& sliced) const {
  Dims strides = strides_of(sliced);
  CopyAxes out(ranges.size(), {1, 0, 0});
  int64_t dense = 1;
  for (size_t i = ranges.size(); i-- > 0;) {
    const AxisRange& r = ranges[i];
    out[i] = {r.size, r.size > 1 ? r.stride * strides[i] : 0, dense};
    dense = static_cast<int64_t>(static_cast<uint64_t>(dense) * static_cast<uint64_t>(r.size));
  }
  return out;
}

CopyAxes SliceSpec::axes_into(const Shape& sliced, const Shape& value) const {
  Dims strides = strides_of(sliced), from = strides_of(value);
  int extra = static_cast<int>(result.size()) - value.rank();
  CopyAxes out;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const AxisRange& r = ranges[i];
    int axis = r.result_axis - extra;
    bool stands = r.result_axis < 0 || axis < 0 || value[axis] == 1;
    out.push_back({r.size, stands ? 0 : from[static_cast<size_t>(axis)],
                   r.size > 1 ? r.stride * strides[i] : 0});
  }
  return out;
}

int64_t SliceSpec::offset(const Shape& sliced) const {
  if (sliced.elements().value_or(0) == 0) return 0;
  Dims strides = strides_of(sliced);
  int64_t at = 0;
  for (size_t i = 0; i < ranges.size(); ++i) at += ranges[i].begin * strides[i];
  return at;
}

bool SliceSpec::contiguous(const Shape& sliced) const {
  size_t i = ranges.size();
  while (i > 0 && ranges[i - 1].stride == 1 &&
         ranges[i - 1].size == sliced[static_cast<int>(i) - 1])
    --i;
  if (i > 0 && (ranges[i - 1].stride == 1 || ranges[i - 1].size == 1)) --i;
  while (i > 0 && ranges[i - 1].size == 1) --i;
  return i == 0;
}

}  // namespace holdfast
