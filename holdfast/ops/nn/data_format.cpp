// Axes and sizes said for one order of a batch's axes, said again for another.
#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::nn {
namespace {

struct FormatAttrs {
  Attr<std::string> src_format;
  Attr<std::string> dst_format;
};

// Refuses formats that are not two orders of the same four or five axes.
void need_formats(const Infer& s) {
  auto attrs = s.attrs<FormatAttrs>();
  const std::string &from = attrs.src_format(), &to = attrs.dst_format();
  if (from.size() != 4 && from.size() != 5)
    s.bad_value("src_format", cat("'", from, "'"), "four or five letters, one for each axis");
  std::string a = from, b = to;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if (std::adjacent_find(a.begin(), a.end()) != a.end())
    s.bad_value("src_format", cat("'", from, "'"), "a letter of its own for each axis");
  if (a != b)
    s.bad_value("dst_format", cat("'", to, "'"), cat("the letters of '", from, "' in some order"));
}

void infer_map(Infer& s) {
  need_formats(s);
  s.output(s.dtype(), s.shape());
}

Status run_map(Call& c) {
  auto a = c.attrs<FormatAttrs>();
  const std::string &from = a.src_format(), &to = a.dst_format();
  auto n = static_cast<int64_t>(from.size());
  Status status;
  visit_indices(c.in().dtype(), [&]<class I>(I) {
    const I* x = c.in().raw<I>();
    I* y = c.out().mutable_raw<I>();
    for (int64_t i = 0; i < c.in().size(); ++i) {
      auto axis = static_cast<int64_t>(x[i]);
      if (axis < -n || axis >= n) {
        status = Status(Code::E1103, cat(c.op.name, ": `x` holds ", axis, ", expected an axis in [",
                                         -n, ", ", n, ")"));
        return;
      }
      y[i] = static_cast<I>(to.find(from[static_cast<size_t>(axis < 0 ? axis + n : axis)]));
    }
  });
  return status;
}

// Without batch and channels, where only the sizes of the others came.
std::string letters(const std::string& format, int64_t count) {
  if (static_cast<int64_t>(format.size()) == count) return format;
  std::string spatial;
  for (char letter : format)
    if (letter != 'N' && letter != 'C') spatial += letter;
  return spatial;
}

void infer_permute(Infer& s) {
  auto attrs = s.attrs<FormatAttrs>();
  need_formats(s);
  auto n = static_cast<int64_t>(attrs.src_format().size());
  s.need_rank(0, 1, 2);
  if (s.shape().has_rank()) {
    int64_t first = s.shape()[0];
    bool spatial =
        letters(attrs.src_format(), first).size() == static_cast<size_t>(n - 2) && first == n - 2;
    if (first >= 0 && first != n && !spatial)
      s.bad_shape(0, cat("a first axis of ", n, ", or ", n - 2, " for the axes beside N and C"));
    if (s.shape().rank() == 2 && s.shape()[1] >= 0 && s.shape()[1] != 2)
      s.bad_shape(0, "pairs along its second axis");
  }
  s.output(s.dtype(), s.shape());
}

Status run_permute(Call& c) {
  auto a = c.attrs<FormatAttrs>();
  const Tensor& x = c.in();
  std::string from = letters(a.src_format(), x.dim(0)), to = letters(a.dst_format(), x.dim(0));
  int64_t each = x.rank() == 2 ? 2 : 1;
  visit_indices(x.dtype(), [&]<class I>(I) {
    for (size_t i = 0; i < to.size(); ++i)
      std::copy_n(x.raw<I>() + static_cast<int64_t>(from.find(to[i])) * each, each,
                  c.out().mutable_raw<I>() + static_cast<int64_t>(i) * each);
  });
  return {};
}

Builder& described(Builder& b) {
  return b.inputs("x")
      .dtypes(kIndices)
      .attr("src_format", "NHWC")
      .attr("dst_format", "NCHW")
      .attrs<&FormatAttrs::src_format, &FormatAttrs::dst_format>()
      .outputs("y")
      .no_gradient();
}

const Op map_op =
    described(RAW_OP(DataFormatDimMap).doc("Axes of `src_format` as axes of `dst_format`."))
        .infer(infer_map)
        .kernel("reference", run_map);
const Op permute_op =
    described(RAW_OP(DataFormatVecPermute)
                  .doc("Sizes in the order of `src_format` in that of `dst_format`."))
        .infer(infer_permute)
        .kernel("reference", run_permute);

}  // namespace
}  // namespace holdfast::nn
