// Strings put together: of several tensors, or along the axes of one.
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/strings.h"

namespace holdfast {
namespace {

struct JoinAttrs {
  Attr<std::string> separator;
};
struct ReduceJoinAttrs {
  Attr<bool> keep_dims;
  Attr<std::string> separator;
};

void infer_join(Infer& s) {
  Shape out;
  for (int i = 0; i < s.inputs(); ++i) {
    const Shape& x = s.shape(i);
    if (x.has_rank() && x.rank() == 0) continue;  // goes with every element
    if (out.has_rank() && out.rank() == 0) {
      out = x;
      continue;
    }
    auto both = out.merged(x);
    if (!both) s.bad_shape(i, cat("[] or ", out.text(), ", the shape of the others"));
    out = *both;
  }
  s.output(string, out);
}

Status run_join(Call& c) {
  const std::string& separator = c.attrs<JoinAttrs>().separator();
  Tensor& out = c.out();
  auto* to = out.mutable_raw<std::string>();
  for (int64_t k = 0, n = out.size(); k < n; ++k) {
    std::string text;
    for (int i = 0; i < c.inputs(); ++i) {
      const auto* from = c.in(i).raw<std::string>();
      if (i > 0) text += separator;
      text += from[c.in(i).rank() == 0 ? 0 : k];
    }
    to[k] = std::move(text);
  }
  return {};
}

void infer_reduce_join(Infer& s) {
  bool keep = s.attrs<ReduceJoinAttrs>().keep_dims();
  const Shape& x = s.shape();
  s.need_rank(1, 0, 1);
  auto given = s.ints(1);
  if (!x.has_rank()) return s.output(string, Shape::unknown());
  if (!given) return s.output(string, keep ? Shape::of_rank(x.rank()) : Shape::unknown());
  InlineVector<bool, 8> gone(static_cast<size_t>(x.rank()), false);
  for (int64_t a : *given) {
    bool& seen = gone[static_cast<size_t>(s.axis(a, 0))];
    if (seen) s.bad_value("reduction_indices", Shape(*given).text(), "each axis once");
    seen = true;
  }
  Dims out;
  for (int i = 0; i < x.rank(); ++i)
    if (!gone[static_cast<size_t>(i)] || keep)
      out.push_back(gone[static_cast<size_t>(i)] ? 1 : x[i]);
  s.output(string, Shape(out));
}

// Calls f(offset) for each element of a box of sizes and strides, the first of them fastest.
template <class F>
void walk(const Dims& sizes, const Dims& strides, F&& f) {
  int64_t count = 1;
  for (int64_t n : sizes)
    if (n == 0) return;
  for (int64_t n : sizes) count *= n;
  for (int64_t k = 0; k < count; ++k) {
    int64_t rest = k, offset = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      offset += rest % sizes[i] * strides[i];
      rest /= sizes[i];
    }
    f(offset);
  }
}

Status run_reduce_join(Call& c) {
  const Tensor& x = c.in();
  const std::string& separator = c.attrs<ReduceJoinAttrs>().separator();
  Dims strides(static_cast<size_t>(x.rank()), 1);
  for (int i = x.rank() - 2; i >= 0; --i)
    strides[static_cast<size_t>(i)] = strides[static_cast<size_t>(i) + 1] * x.dim(i + 1);
  Dims along, along_strides, kept, kept_strides;
  std::vector<bool> gone(static_cast<size_t>(x.rank()));
  for (int64_t a : c.ints(1)) {
    auto at = static_cast<size_t>(a < 0 ? a + x.rank() : a);
    gone[at] = true;
    along.push_back(x.dim(static_cast<int>(at)));
    along_strides.push_back(strides[at]);
  }
  for (int i = x.rank() - 1; i >= 0; --i) {  // what stays is in the order of rows
    if (gone[static_cast<size_t>(i)]) continue;
    kept.push_back(x.dim(i));
    kept_strides.push_back(strides[static_cast<size_t>(i)]);
  }
  const auto* from = x.raw<std::string>();
  auto* to = c.out().mutable_raw<std::string>();
  walk(kept, kept_strides, [&](int64_t base) {
    std::string text;
    bool first = true;
    walk(along, along_strides, [&](int64_t offset) {
      if (!first) text += separator;
      first = false;
      text += from[base + offset];
    });
    *to++ = std::move(text);
  });
  return {};
}

const Op join_op = OP(StringJoin, &strings::join)
                       .args("inputs")
                       .options<&strings::JoinOptions::separator>("separator")
                       .python("strings.join")
                       .doc("Strings put together element by element.")
                       .inputs("inputs*")
                       .dtypes(kStrings)
                       .attr("separator", "")
                       .attrs<&JoinAttrs::separator>()
                       .infer(infer_join)
                       .kernel("reference", run_join)
                       .on_host()
                       .no_gradient()
                       .samples("[strings(3), strings(3)]", "[strings(2, 2), strings()], '-'")
                       .reference(
                           "np.vectorize(lambda *s: separator.encode().join(s), "
                           "otypes=[object])(*inputs)");

const Op reduce_join_op =
    OP(ReduceJoin, &strings::reduce_join)
        .args("inputs")
        .options<&strings::ReduceJoinOptions::axis, &strings::ReduceJoinOptions::keepdims,
                 &strings::ReduceJoinOptions::separator>("axis, keepdims, separator")
        .python("strings.reduce_join")
        .doc(
            "Strings put together over axes, first along the one named first; over all where "
            "none is given, row by row.")
        .inputs("inputs, reduction_indices: Tidx!")
        .dtypes(kStrings)
        .attr("keep_dims", false)
        .attr("separator", "")
        .attrs<&ReduceJoinAttrs::keep_dims, &ReduceJoinAttrs::separator>()
        .infer(infer_reduce_join)
        .kernel("reference", run_reduce_join)
        .on_host()
        .no_gradient()
        .samples("strings(2, 3)", "strings(2, 3), axis=1, separator='-'",
                 "strings(3), keepdims=True")
        .reference(
            "np.array([separator.encode().join(row) for row in inputs], object) if axis == 1 else "
            "np.full((1,) * inputs.ndim if keepdims else (), "
            "separator.encode().join(inputs.ravel()), object)");

}  // namespace

Tensor strings::join(const Ins& inputs, const JoinOptions& o) {
  return join_op.list(inputs.tensors(), {o.separator})[0];
}

Tensor strings::reduce_join(const In& inputs, const ReduceJoinOptions& o) {
  Tensor x = inputs, axes;
  if (o.axis) {
    axes = o.axis->tensor();
  } else if (x.shape().has_rank()) {
    Dims all;
    for (int i = x.rank() - 1; i >= 0; --i) all.push_back(i);
    axes = Sizes(all).tensor();
  } else {
    axes = reverse(range(0, rank(x)), {0});
  }
  return reduce_join_op({x, axes}, {o.keepdims, o.separator});
}

}  // namespace holdfast
