// The same elements backwards or moved along axes.
#include <algorithm>

#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct ReverseSequenceAttrs {
  Attr<int64_t> seq_dim;
  Attr<int64_t> batch_dim;
};

void infer_reverse(Infer& s) {
  s.need_rank(1, 1, 1);
  auto axes = s.ints(1);
  if (axes && s.shape().has_rank()) {
    Dims seen(static_cast<size_t>(s.shape().rank()), 0);
    for (int64_t a : *axes)
      if (seen[static_cast<size_t>(s.axis(a, 0))]++)
        s.bad_value("axis", sizes_text(*axes), "each axis at most once");
  }
  s.output(s.dtype(), s.shape());
}

Status run_reverse(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  if (!y.size()) return {};
  Dims strides = strides_of(x.shape());
  CopyAxes axes;
  for (int i = 0; i < x.rank(); ++i)
    axes.push_back({x.dim(i), strides[static_cast<size_t>(i)], strides[static_cast<size_t>(i)]});
  int64_t offset = 0;
  for (int64_t a : c.ints(1)) {
    CopyAxis& axis = axes[static_cast<size_t>(a < 0 ? a + x.rank() : a)];
    offset += (axis.size - 1) * axis.from;
    axis.from = -axis.from;
  }
  copy_strided(y.dtype(), axes, element(x.raw(), x.dtype(), offset), y.mutable_raw());
  return {};
}

void infer_reverse_sequence(Infer& s) {
  auto a = s.attrs<ReverseSequenceAttrs>();
  s.need_rank(1, 1, 1);
  if (!s.shape().has_rank()) return s.output(s.dtype(), s.shape());
  int seq = s.axis(a.seq_dim(), 0, "seq_axis"), batch = s.axis(a.batch_dim(), 0, "batch_axis");
  if (seq == batch) s.bad_value("seq_axis", cat(seq), cat("another axis than batch_axis"));
  if (s.shape(1).has_rank() && s.shape(1)[0] >= 0 && s.shape()[batch] >= 0 &&
      s.shape(1)[0] != s.shape()[batch])
    s.bad_shape(1, cat("[", s.shape()[batch], "], one length for each entry of axis ", batch));
  s.output(s.dtype(), s.shape());
}

Status run_reverse_sequence(Call& c) {
  const Tensor &x = c.in(), &lengths = c.in(1);
  auto axis = [&](int64_t given) { return static_cast<int>(given < 0 ? given + x.rank() : given); };
  auto a = c.attrs<ReverseSequenceAttrs>();
  int seq = axis(a.seq_dim()), batch = axis(a.batch_dim());
  Status status;
  visit_indices(lengths.dtype(), [&]<class I>(I) {
    for (int64_t b = 0, n = lengths.size(); b < n; ++b) {
      auto length = static_cast<int64_t>(lengths.raw<I>()[b]);
      if (length < 0 || length > x.dim(seq)) {
        status = outside(cat("ReverseSequence: `seq_lengths[", b, "]` is"), length, 0,
                         int64_t{x.dim(seq)} + 1);
        return;
      }
    }
  });
  if (!status.ok()) return status;
  Tensor& y = c.out();
  if (!y.size()) return {};
  Dims strides = strides_of(x.shape());
  int64_t step = strides[static_cast<size_t>(seq)];
  for (int64_t b = 0; b < x.dim(batch); ++b) {
    int64_t length = 0;
    visit_indices(lengths.dtype(),
                  [&]<class I>(I) { length = static_cast<int64_t>(lengths.raw<I>()[b]); });
    for (bool turned : {true, false}) {
      CopyAxes axes;
      for (int i = 0; i < x.rank(); ++i) {
        int64_t st = strides[static_cast<size_t>(i)];
        if (i == batch) continue;
        if (i == seq)
          axes.push_back({turned ? length : x.dim(i) - length, turned ? -st : st, st});
        else
          axes.push_back({x.dim(i), st, st});
      }
      int64_t base = b * strides[static_cast<size_t>(batch)];
      int64_t from = base + (turned ? std::max<int64_t>(length - 1, 0) * step
                                    : std::min(length, x.dim(seq) - 1) * step);
      int64_t to = base + (turned ? 0 : std::min(length, x.dim(seq) - 1) * step);
      copy_strided(y.dtype(), axes, element(x.raw(), x.dtype(), from),
                   element(y.mutable_raw(), y.dtype(), to));
    }
  }
  return {};
}

void infer_roll(Infer& s) {
  auto shift = s.ints(1), axis = s.ints(2);
  s.need_rank(0, 1);
  s.need_rank(1, 0, 1);
  s.need_rank(2, 0, 1);
  if (shift && axis && shift->size() != axis->size())
    s.bad_value("shift", sizes_text(*shift), cat("as many numbers as `axis` has, ", axis->size()));
  if (axis && s.shape().has_rank())
    for (int64_t a : *axis) s.axis(a, 0);
  s.output(s.dtype(), s.shape());
}

// A box is two along each axis that moves: what stays in order, and what comes round.
void roll_axes(const Tensor& x, const Tensor& y, const Dims& shifts, const Dims& strides, int axis,
               CopyAxes& axes, int64_t from, int64_t to) {
  if (axis == x.rank()) {
    return copy_strided(x.dtype(), axes, element(x.raw(), x.dtype(), from),
                        element(y.mutable_raw(), y.dtype(), to));
  }
  auto at = static_cast<size_t>(axis);
  int64_t d = x.dim(axis), shift = shifts[at], st = strides[at];
  for (bool round : {false, true}) {
    int64_t n = round ? shift : d - shift;
    if (n == 0) continue;
    axes.push_back({n, st, st});
    roll_axes(x, y, shifts, strides, axis + 1, axes, from + (round ? (d - shift) * st : 0),
              to + (round ? 0 : shift * st));
    axes.pop_back();
  }
}

Status run_roll(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  if (!y.size()) return {};
  Dims shift = c.ints(1), axis = c.ints(2), total(static_cast<size_t>(x.rank()), 0);
  for (size_t i = 0; i < shift.size(); ++i) {
    auto at = static_cast<size_t>(axis[i] < 0 ? axis[i] + x.rank() : axis[i]);
    int64_t d = x.dim(static_cast<int>(at));
    total[at] = ((total[at] + shift[i] % d) % d + d) % d;
  }
  CopyAxes axes;
  roll_axes(x, y, total, strides_of(x.shape()), 0, axes, 0, 0);
  return {};
}

}  // namespace

static const Op reverse_op =
    OP(ReverseV2, &reverse)
        .args("tensor, axis")
        .doc("Backwards along the axes.")
        .inputs("tensor, axis: Tidx!")
        .infer(infer_reverse)
        .kernel("strided", run_reverse)
        .gradient(+[](Grad& g) -> Tensors { return {reverse(g.dy(), g.x(1)), Tensor()}; })
        .keeps("axis")
        .samples("uniform(3, 4), [0]", "uniform(3, 4), [0, -1]", "uniform(3), [0]",
                 "strings(3), [0]")
        .reference("np.flip(tensor, tuple(axis))");
Tensor reverse(const In& t, const Sizes& axis) { return reverse_op({t, axis.tensor()}); }

static const Op sequence_op =
    OP(ReverseSequence, &reverse_sequence)
        .args("input, seq_lengths: L")
        .options<&ReverseSequenceOptions::seq_axis, &ReverseSequenceOptions::batch_axis>(
            "seq_axis, batch_axis")
        .doc("The first `seq_lengths[i]` slices of batch i backwards, the others as they are.")
        .inputs("input, seq_lengths: Tlen")
        .attr("seq_dim")
        .attr("batch_dim", 0)
        .attrs<&ReverseSequenceAttrs::seq_dim, &ReverseSequenceAttrs::batch_dim>()
        .dtypes(kIndices, "Tlen")
        .infer(infer_reverse_sequence)
        .kernel("strided", run_reverse_sequence)
        .gradient(+[](Grad& g) -> Tensors {
          auto a = g.attrs<ReverseSequenceAttrs>();
          return {reverse_sequence(g.dy(), g.x(1), {a.seq_dim(), a.batch_dim()}), Tensor()};
        })
        .keeps("seq_lengths")
        .samples("uniform(3, 4), [2, 0, 4], seq_axis=1")
        .reference(
            "np.array([np.concatenate([r[:n][::-1], r[n:]]) for r, n in zip(input, seq_lengths)])");
Tensor reverse_sequence(const In& x, const In& lengths, const ReverseSequenceOptions& o) {
  if (!o.seq_axis) fail(Code::E1104, "reverse_sequence: `seq_axis` is missing");
  return sequence_op({x, lengths}, {*o.seq_axis, o.batch_axis.value_or(0)});
}

static const Op roll_op =
    OP(Roll, &roll)
        .args("input, shift, axis")
        .doc("Moved along axes by `shift`; what falls off at one end comes back at the other.")
        .inputs("input, shift: Tshift!, axis: Taxis!")
        .infer(infer_roll)
        .kernel("boxes", run_roll)
        .gradient(+[](Grad& g) -> Tensors {
          Dims back = g.ints(1);
          for (int64_t& v : back) v = -std::max(v, -INT64_MAX);
          return {roll(g.dy(), g.x(1).rank() ? Sizes(back) : Sizes(back[0]), g.x(2)), Tensor(),
                  Tensor()};
        })
        .keeps("shift, axis")
        .samples("uniform(5), 2, 0", "uniform(3, 4), [1, -2], [0, 1]",
                 "uniform(3, 4), [1, 1], [1, 1]", "strings(4), -1, 0")
        .reference("np.roll(input, shift, axis)");
Tensor roll(const In& x, const Sizes& shift, const Sizes& axis) {
  return roll_op({x, shift.tensor(), axis.tensor()});
}

}  // namespace holdfast
