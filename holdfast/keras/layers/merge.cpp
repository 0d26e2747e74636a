#include "holdfast/keras/layers/merge.h"

#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/layers/checks.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::layers {
namespace {

struct Named {
  const char *name, *doc;
};
constexpr Named kNames[] = {
    {"Add", "The sum of the inputs."},
    {"Subtract", "The first input minus the second."},
    {"Multiply", "The product of the inputs."},
    {"Average", "The mean of the inputs."},
    {"Maximum", "The largest of the inputs, element by element."},
    {"Minimum", "The smallest of the inputs, element by element."},
};

ClassDef& concatenated =
    Declare<ConcatenateLayer>("layers.Concatenate", "The inputs one after another along `axis`.",
                              &Layer::def())
        .option<&ConcatenateOptions::axis>("axis")
        .layer_options();
ClassDef& dotted =
    Declare<DotLayer>("layers.Dot",
                      "Sums of products of two inputs along `axes`, for each example; `normalize` "
                      "brings them to length 1 first.",
                      &Layer::def())
        .required<&DotOptions::axes>("axes")
        .option<&DotOptions::normalize>("normalize")
        .layer_options();

std::string texts(const std::vector<Shape>& shapes) {
  std::string out;
  for (const Shape& s : shapes) out += cat(out.empty() ? "" : ", ", s.text());
  return out;
}

std::vector<Tensor> listed(const Layer& layer, const Nested& inputs) {
  if (!inputs.is_sequence())
    fail(Code::E1104, cat(layer.described(), ": `inputs` is one tensor, expected a list of them"),
         "the layer makes one tensor of several");
  std::vector<Tensor> out;
  for (size_t i = 0; i < inputs.size(); ++i)
    out.push_back(inputs[i].tensor(cat(layer.described(), ": `inputs[", i, "]`")));
  if (out.empty())
    fail(Code::E1104, cat(layer.described(), ": `inputs` is an empty list, expected tensors"));
  return out;
}

std::vector<Shape> shapes_of(const std::vector<Tensor>& tensors) {
  std::vector<Shape> out;
  for (const Tensor& t : tensors) out.push_back(t.shape());
  return out;
}

[[noreturn]] void refuse(const Layer& layer, const std::vector<Shape>& inputs,
                         const std::string& expected) {
  fail(Code::E1102, cat(layer.described(), ": `inputs` have the shapes ", texts(inputs)),
       cat("expected ", expected));
}

// A mask for each of the inputs, or none at all.
void need_masks(const Layer& layer, const Nested& inputs, const Nested& mask) {
  if (mask.is_none() || (mask.is_sequence() && mask.size() == inputs.size())) return;
  fail(Code::E1104, cat(layer.described(), ": `mask` is ", mask.form(), ", expected a list of ",
                        inputs.size(), ", one for each of `inputs`"));
}

void need_two(const Layer& layer, const std::vector<Shape>& inputs) {
  if (inputs.size() != 2)
    fail(Code::E1104, cat(layer.described(), ": `inputs` has ", inputs.size(),
                          inputs.size() == 1 ? " tensor" : " tensors", ", expected two"));
}

// Axes behind the batch are compared from the last one; an example may have fewer than another.
void need_broadcast(const Layer& layer, const std::vector<Shape>& inputs) {
  int rank = 0;
  for (const Shape& s : inputs) {
    if (!s.has_rank()) return;
    rank = std::max(rank, s.rank());
  }
  auto agree = [&](int from_end, auto at) {
    int64_t size = 1;
    for (const Shape& s : inputs) {
      int64_t d = at(s, from_end);
      if (d < 0 || d == 1) continue;
      if (size != 1 && size != d) refuse(layer, inputs, "shapes that broadcast to one");
      size = d;
    }
  };
  for (int i = 1; i < rank; ++i)
    agree(i, [](const Shape& s, int from_end) {
      return from_end < s.rank() ? s[s.rank() - from_end] : 1;
    });
  int64_t batch = kUnknown;
  for (const Shape& s : inputs) {
    if (s.rank() == 0 || s[0] < 0) continue;
    if (batch >= 0 && s[0] != batch && s[0] != 1 && batch != 1)
      refuse(layer, inputs, "the same number of examples in all of them");
    batch = std::max(batch, s[0]);
  }
}

// New axes come behind the batch, so that examples broadcast and not the batch.
std::vector<Tensor> of_one_rank(std::vector<Tensor> x) {
  int rank = 0;
  for (const Tensor& t : x) rank = std::max(rank, t.shape().rank());
  for (Tensor& t : x)
    while (t.shape().has_rank() && t.shape().rank() < rank)
      t = expand_dims(t, std::min(1, t.shape().rank()));
  return x;
}

// The mask of input `i`, in a shape that broadcasts to it.
Tensor mask_of_input(const Nested& masks, size_t i) {
  bool given = masks.is_sequence() && i < masks.size() && masks[i].is_tensor();
  return given ? expand_dims(cast(masks[i].tensor(), boolean), -1) : Tensor();
}

// Factors that a mask leaves out are 1; a place that is left out by all is 0.
Tensor product(const std::vector<Tensor>& x, const Nested& masks) {
  Tensor y, counted;
  bool all = true;
  for (size_t i = 0; i < x.size(); ++i) {
    Tensor mask = mask_of_input(masks, i), factor = x[i];
    if (mask.defined()) factor = select(mask, factor, ones_like(factor));
    all = all && mask.defined();
    if (all) counted = counted.defined() ? logical_or(counted, mask) : mask;
    y = y.defined() ? y * factor : factor;
  }
  return all ? select(counted, y, zeros_like(y)) : y;
}

// Where a mask leaves one of a pair out, the other stands for it.
Tensor extreme(const std::vector<Tensor>& x, const Nested& masks, bool largest) {
  Tensor y = x[0], counted = mask_of_input(masks, 0);
  for (size_t i = 1; i < x.size(); ++i) {
    Tensor mask = mask_of_input(masks, i), next = x[i];
    if (mask.defined()) next = select(mask, next, y);
    if (counted.defined()) y = select(counted, y, next);
    counted = counted.defined() && mask.defined() ? logical_or(counted, mask) : Tensor();
    y = largest ? holdfast::maximum(y, next) : holdfast::minimum(y, next);
  }
  return y;
}

template <class L>
Tensor merged(const std::vector<Tensor>& inputs, const typename L::Options& o) {
  return Handle<L>(o)(Nested::list_of(inputs)).tensor();
}

}  // namespace

template <Merging how>
ClassDef& MergeBy<how>::def() {
  static ClassDef& d = Declare<MergeBy>(cat("layers.", kNames[static_cast<size_t>(how)].name),
                                        kNames[static_cast<size_t>(how)].doc, &Layer::def())
                           .layer_options();
  return d;
}
template class MergeBy<Merging::kAdd>;
template class MergeBy<Merging::kSubtract>;
template class MergeBy<Merging::kMultiply>;
template class MergeBy<Merging::kAverage>;
template class MergeBy<Merging::kMaximum>;
template class MergeBy<Merging::kMinimum>;

namespace {
[[maybe_unused]] const ClassDef* merging[] = {
    &MergeBy<Merging::kAdd>::def(),      &MergeBy<Merging::kSubtract>::def(),
    &MergeBy<Merging::kMultiply>::def(), &MergeBy<Merging::kAverage>::def(),
    &MergeBy<Merging::kMaximum>::def(),  &MergeBy<Merging::kMinimum>::def(),
};
}  // namespace

const ClassDef& ConcatenateLayer::definition() const { return concatenated; }
const ClassDef& DotLayer::definition() const { return dotted; }

void MergeLayer::build_all(const std::vector<Shape>& inputs) {
  if (how_ == Merging::kSubtract) need_two(*this, inputs);
  need_broadcast(*this, inputs);
}

Nested MergeLayer::call_all(const Nested& inputs, const CallOptions& o) {
  std::vector<Tensor> x = listed(*this, inputs);
  std::vector<Shape> shapes = shapes_of(x);
  if (how_ == Merging::kSubtract) need_two(*this, shapes);
  need_broadcast(*this, shapes);
  x = of_one_rank(std::move(x));
  if (how_ == Merging::kMultiply) return product(x, o.mask);
  if (how_ == Merging::kMaximum || how_ == Merging::kMinimum)
    return extreme(x, o.mask, how_ == Merging::kMaximum);
  if (how_ == Merging::kAverage && is_integer(x[0].dtype()))
    for (Tensor& t : x) t = cast(t, compute_dtype());
  Tensor y = x[0];
  for (size_t i = 1; i < x.size(); ++i) y = how_ == Merging::kSubtract ? y - x[i] : y + x[i];
  return how_ == Merging::kAverage ? y / static_cast<double>(x.size()) : y;
}

Nested MergeLayer::compute_mask(const Nested& inputs, const Nested& mask) {
  need_masks(*this, inputs, mask);
  if (mask.is_none()) return {};
  Tensor out;
  for (size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i].is_tensor()) return {};  // one of them has no mask: all of it counts
    Tensor one = cast(mask[i].tensor(), boolean);
    out = out.defined() ? logical_or(out, one) : one;
  }
  return out;
}

void ConcatenateLayer::build_all(const std::vector<Shape>& inputs) {
  if (inputs.empty())
    fail(Code::E1104, cat(described(), ": `inputs` has no tensor, expected one at least"));
  int64_t axis = options_.axis;
  for (const Shape& s : inputs)
    if (!s.has_rank()) return;
  const Shape& first = inputs.front();
  int at = axis_of(*this, first, axis);
  for (const Shape& s : inputs) {
    bool fits = s.rank() == first.rank();
    for (int i = 0; fits && i < s.rank(); ++i)
      fits = i == at || s[i] < 0 || first[i] < 0 || s[i] == first[i];
    if (!fits) refuse(*this, inputs, cat("shapes that differ along axis ", axis, " only"));
  }
}

Nested ConcatenateLayer::call_all(const Nested& inputs, const CallOptions&) {
  std::vector<Tensor> x = listed(*this, inputs);
  ConcatenateLayer::build_all(shapes_of(x));
  return concat(x, options_.axis);
}

// A mask says nothing of channels: it is spread over them, joined, and asked for any.
Nested ConcatenateLayer::compute_mask(const Nested& inputs, const Nested& mask) {
  need_masks(*this, inputs, mask);
  if (mask.is_none()) return {};
  std::vector<Tensor> all;
  bool some = false;
  for (size_t i = 0; i < mask.size(); ++i) {
    const Tensor& x = inputs[i].tensor();
    if (!mask[i].is_tensor()) {
      all.push_back(ones_like(x, boolean));
      continue;
    }
    some = true;
    Tensor m = cast(mask[i].tensor(), boolean);
    if (m.rank() < x.rank()) m = logical_and(expand_dims(m, -1), ones_like(x, boolean));
    all.push_back(m);
  }
  if (!some) return {};
  return reduce_any(concat(all, options_.axis), {.axis = {-1}});
}

void DotLayer::check() {
  if (options_.axes.sizes.size() > 2 || options_.axes.sizes.empty())
    fail(Code::E1103, cat(definition().name, ": `axes` has ", options_.axes.sizes.size(),
                          " numbers, expected one, or one for each of two inputs"));
}

std::pair<int, int> DotLayer::axes_for(const Shape& a, const Shape& b) const {
  const std::vector<int64_t>& given = options_.axes.sizes;
  int i = axis_of(*this, a, given.front()), j = axis_of(*this, b, given.back());
  if (i == 0 || j == 0)
    fail(Code::E1103,
         cat(described(), ": `axes` is ", OptionType<Sides>::get(options_.axes).to_json(),
             ", expected others than the batch's, 0"));
  return {i, j};
}

void DotLayer::build_all(const std::vector<Shape>& inputs) {
  need_two(*this, inputs);
  const Shape &a = inputs[0], &b = inputs[1];
  if (!a.has_rank() || !b.has_rank()) return;
  if (a.rank() < 2 || b.rank() < 2) refuse(*this, inputs, "at least two axes in each");
  auto [i, j] = axes_for(a, b);
  if (a[i] >= 0 && b[j] >= 0 && a[i] != b[j])
    refuse(*this, inputs,
           cat("the same size along axis ", i, " of the first and axis ", j, " of the second"));
  if (a[0] >= 0 && b[0] >= 0 && a[0] != b[0])
    refuse(*this, inputs, "the same number of examples in both");
}

Nested DotLayer::call_all(const Nested& inputs, const CallOptions&) {
  std::vector<Tensor> in = listed(*this, inputs);
  std::vector<Shape> shapes = shapes_of(in);
  DotLayer::build_all(shapes);
  const Shape &s = shapes[0], &t = shapes[1];
  if (!s.has_rank() || !t.has_rank()) refuse(*this, shapes, "known numbers of axes");
  auto [i, j] = axes_for(s, t);
  Tensor a = in[0], b = in[1];
  if (options_.normalize) {
    a = l2_normalize(a, {.axis = {i}});
    b = l2_normalize(b, {.axis = {j}});
  }
  // Letters of the axes: the batch, then those of the first, then those of the second.
  std::string first = "a", second = "a", rest = "a";
  char letter = 'b';
  for (int k = 1; k < s.rank(); ++k) {
    first += k == i ? 'z' : letter;
    if (k != i) rest += letter++;
  }
  for (int k = 1; k < t.rank(); ++k) {
    second += k == j ? 'z' : letter;
    if (k != j) rest += letter++;
  }
  Tensor y = einsum(cat(first, ",", second, "->", rest), {a, b});
  return rest.size() == 1 ? expand_dims(y, 1) : y;
}

Tensor add(const std::vector<Tensor>& inputs, const MergeOptions& o) {
  return merged<MergeBy<Merging::kAdd>>(inputs, o);
}
Tensor subtract(const std::vector<Tensor>& inputs, const MergeOptions& o) {
  return merged<MergeBy<Merging::kSubtract>>(inputs, o);
}
Tensor multiply(const std::vector<Tensor>& inputs, const MergeOptions& o) {
  return merged<MergeBy<Merging::kMultiply>>(inputs, o);
}
Tensor average(const std::vector<Tensor>& inputs, const MergeOptions& o) {
  return merged<MergeBy<Merging::kAverage>>(inputs, o);
}
Tensor maximum(const std::vector<Tensor>& inputs, const MergeOptions& o) {
  return merged<MergeBy<Merging::kMaximum>>(inputs, o);
}
Tensor minimum(const std::vector<Tensor>& inputs, const MergeOptions& o) {
  return merged<MergeBy<Merging::kMinimum>>(inputs, o);
}
Tensor concatenate(const std::vector<Tensor>& inputs, const ConcatenateOptions& o) {
  return merged<ConcatenateLayer>(inputs, o);
}
Tensor dot(const std::vector<Tensor>& inputs, const DotOptions& o) {
  return merged<DotLayer>(inputs, o);
}

}  // namespace holdfast::keras::layers
