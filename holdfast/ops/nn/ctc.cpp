// CTC by Graves' forward and backward recursions, in logarithms and doubles. The states of a row of
// labels are its labels with a blank before, between and after them.
#include "holdfast/ops/ctc.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::nn {
namespace {

struct CtcAttrs {
  Attr<int64_t> blank_index;
};

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

std::vector<int64_t> ints_of(const Tensor& t) {
  std::vector<int64_t> out(static_cast<size_t>(t.size()));
  visit_indices(t.dtype(), [&]<class I>(I) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(t.raw<I>()[i]);
  });
  return out;
}

// One row: log-probabilities [steps, classes], states, and what comes of them.
struct Row {
  int64_t steps, classes;
  std::vector<double> log_p;
  std::vector<int64_t> states;

  double at(int64_t t, size_t s) const {
    return log_p[static_cast<size_t>(t * classes + states[s])];
  }
  bool skips(size_t s) const {
    return s >= 2 && states[s] != states[0] && states[s] != states[s - 2];
  }

  // -log p; `grad` [steps, classes] becomes its slope by the logits.
  double loss(std::vector<double>& grad) const {
    const size_t n = states.size();
    std::vector<double> forward(static_cast<size_t>(steps) * n, kNever), next(n, kNever), now(n);
    auto f = [&](int64_t t, size_t s) -> double& {
      return forward[static_cast<size_t>(t) * n + s];
    };
    for (int64_t t = 0; t < steps; ++t)
      for (size_t s = 0; s < n; ++s) {
        double sum = t == 0 ? (s < 2 ? 0 : kNever) : f(t - 1, s);
        if (t > 0 && s >= 1) sum = log_add(sum, f(t - 1, s - 1));
        if (t > 0 && skips(s)) sum = log_add(sum, f(t - 1, s - 2));
        f(t, s) = sum == kNever ? kNever : sum + at(t, s);
      }
    double total = steps == 0 ? (n == 1 ? 0 : kNever) : f(steps - 1, n - 1);
    if (steps > 0 && n > 1) total = log_add(total, f(steps - 1, n - 2));
    grad.assign(static_cast<size_t>(steps * classes), 0);
    if (total == kNever) return -total;
    // `next` holds log-probabilities of the rest, after step t in state s.
    for (size_t s = 0; s < n; ++s) next[s] = s + 2 >= n ? 0 : kNever;
    for (int64_t t = steps; t-- > 0;) {
      for (int64_t k = 0; k < classes; ++k) {
        auto i = static_cast<size_t>(t * classes + k);
        grad[i] = std::exp(log_p[i]);
      }
      for (size_t s = 0; s < n; ++s)
        if (double both = f(t, s) + next[s]; both != kNever)
          grad[static_cast<size_t>(t * classes + states[s])] -= std::exp(both - total);
      for (size_t s = 0; s < n; ++s) {
        double sum = next[s] == kNever ? kNever : next[s] + at(t, s);
        if (s + 1 < n && next[s + 1] != kNever) sum = log_add(sum, next[s + 1] + at(t, s + 1));
        if (s + 2 < n && skips(s + 2) && next[s + 2] != kNever)
          sum = log_add(sum, next[s + 2] + at(t, s + 2));
        now[s] = sum;
      }
      std::swap(now, next);
    }
    return -total;
  }
};

void infer_ctc(Infer& s) {
  s.need_rank(0, 2, 2);
  s.need_rank(1, 3, 3);
  s.need_rank(2, 1, 1);
  s.need_rank(3, 1, 1);
  int64_t batch = s.shape(1).has_rank() ? s.shape(1)[1] : kUnknown;
  for (int i : {0, 2, 3})
    if (s.shape(i).has_rank() && batch >= 0 && s.shape(i)[0] >= 0 && s.shape(i)[0] != batch)
      s.bad_shape(i, cat("a first axis of ", batch, ", the batch"));
  if (s.shape(1).has_rank() && s.shape(1)[2] >= 0) {
    int64_t classes = s.shape(1)[2], blank = s.attrs<CtcAttrs>().blank_index();
    if (blank < -classes || blank >= classes)
      refuse_outside(s, "blank_index", blank, -classes, classes);
  }
  if (s.inputs() == 4) return s.output(s.dtype(1), Shape{batch});
  if (!s.shape(4).compatible(Shape{batch}))
    s.bad_shape(4, cat("shape ", Shape{batch}.text(), ", that of the loss"));
  s.output(s.dtype(1), s.shape(1));
}

Status bad(const Call& c, const char* argument, int64_t b, int64_t got, std::string expected) {
  return {Code::E1103,
          cat(c.op.name, ": `", argument, "` holds ", got, " in row ", b, ", expected ", expected)};
}

// The losses, or what flows back from them.
template <bool back>
Status run_ctc(Call& c) {
  const Tensor& logits = c.in(1);
  int64_t steps = logits.dim(0), batch = logits.dim(1), classes = logits.dim(2),
          width = c.in(0).dim(1), blank = c.attrs<CtcAttrs>().blank_index();
  if (blank < 0) blank += classes;
  auto labels = ints_of(c.in(0)), lengths = ints_of(c.in(2)), times = ints_of(c.in(3));
  for (int64_t b = 0; b < batch; ++b) {
    int64_t length = lengths[static_cast<size_t>(b)], time = times[static_cast<size_t>(b)];
    if (length < 0 || length > width) return bad(c, "label_length", b, length, cat("0 to ", width));
    if (time < 0 || time > steps) return bad(c, "logit_length", b, time, cat("0 to ", steps));
    for (int64_t i = 0; i < length; ++i)
      if (int64_t l = labels[static_cast<size_t>(b * width + i)];
          l < 0 || l >= classes || l == blank)
        return bad(c, "labels", b, l, cat("a class in [0, ", classes, ") other than blank"));
  }
  Tensor& out = c.out();
  visit_floats(logits.dtype(), [&]<class T>(T) {
    using W = float_of<T>;
    const T* x = logits.raw<T>();
    // An exponential of each class at each step, a logarithm of a sum for each state.
    int64_t work = 16 * steps * (classes + 3 * (2 * width + 1));
    parallel_for(batch, grain_for(work), [&](int64_t begin, int64_t end) {
      std::vector<double> slope;
      for (int64_t b = begin; b < end; ++b) {
        Row row{times[static_cast<size_t>(b)], classes, {}, {blank}};
        for (int64_t i = 0; i < lengths[static_cast<size_t>(b)]; ++i) {
          row.states.push_back(labels[static_cast<size_t>(b * width + i)]);
          row.states.push_back(blank);
        }
        for (int64_t t = 0; t < row.steps; ++t) {
          const T* from = x + (t * batch + b) * classes;
          double most = kNever, sum = 0;
          auto value = [&](int64_t k) { return static_cast<double>(static_cast<W>(from[k])); };
          for (int64_t k = 0; k < classes; ++k) most = std::max(most, value(k));
          for (int64_t k = 0; k < classes; ++k) sum += std::exp(value(k) - most);
          for (int64_t k = 0; k < classes; ++k)
            row.log_p.push_back(value(k) - most - std::log(sum));
        }
        double loss = row.loss(slope);
        if constexpr (!back) {
          out.mutable_raw<T>()[b] = static_cast<T>(static_cast<W>(loss));
          continue;
        }
        auto dy = static_cast<double>(static_cast<W>(c.in(4).raw<T>()[b]));
        for (int64_t t = 0; t < steps; ++t)
          for (int64_t k = 0; k < classes; ++k)
            out.mutable_raw<T>()[(t * batch + b) * classes + k] = static_cast<T>(static_cast<W>(
                t < row.steps ? dy * slope[static_cast<size_t>(t * classes + k)] : 0.0));
      }
    });
  });
  return {};
}

Builder& described(Builder& b, const char* inputs) {
  return b.inputs(inputs)
      .dtypes(kFloats)
      .dtypes(kIndices, "L")
      .dtypes(kIndices, "N")
      .dtypes(kIndices, "M")
      .attr("blank_index", 0)
      .attrs<&CtcAttrs::blank_index>()
      .infer(infer_ctc);
}

// It is linear in what arrives; how it changes with the logits has no formula here.
Tensors ctc_grad_gradient(Grad& g);

const Op grad_op = described(RAW_OP(CTCLossDenseGrad).doc("Gradient of CTCLossDense."),
                             "labels: L, logits, label_length: N, logit_length: M, grad")
                       .kernel("reference", run_ctc<true>)
                       .gradient(ctc_grad_gradient)
                       .keeps("labels, logits, label_length, logit_length, grad");
Tensors ctc_grad_gradient(Grad& g) {
  if (g.wants(1)) fail(Code::E1105, "the gradient of CTCLossDense has no gradient by its logits");
  Tensor slope = grad_op({g.x(0), g.x(1), g.x(2), g.x(3), ones_like(g.x(4))}, g.attrs());
  return {Tensor(), Tensor(), Tensor(), Tensor(), reduce_sum(g.dy() * slope, {.axis = {0, 2}})};
}

const Op ctc_op =
    described(RAW_OP(CTCLossDense)
                  .doc("CTC loss of each row of labels [batch, length], of logits "
                       "[time, batch, classes]."),
              "labels: L, logits, label_length: N, logit_length: M")
        .outputs("loss")
        .kernel("reference", run_ctc<false>)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), grad_op({g.x(0), g.x(1), g.x(2), g.x(3), g.dy()}, g.attrs()), Tensor(),
                  Tensor()};
        })
        .keeps("labels, logits, label_length, logit_length");

// Rows without repeats: how many labels stay is known from the data alone.
Status run_collapse(Call& c) {
  const Tensor& labels = c.in(0);
  int64_t rows = labels.dim(0), width = labels.dim(1), most = 0;
  auto lengths = ints_of(c.in(1));
  std::vector<std::vector<int64_t>> kept(static_cast<size_t>(rows));
  auto all = ints_of(labels);
  for (int64_t r = 0; r < rows; ++r) {
    int64_t length = std::min(lengths[static_cast<size_t>(r)], width);
    for (int64_t i = 0; i < length; ++i) {
      auto at = static_cast<size_t>(r * width + i);
      if (i == 0 || all[at] != all[at - 1]) kept[static_cast<size_t>(r)].push_back(i);
    }
    most = std::max(most, static_cast<int64_t>(kept[static_cast<size_t>(r)].size()));
  }
  Tensor& out = c.out(0, Shape{rows, most});
  Tensor& counts = c.out(1);
  for (int64_t r = 0; r < rows; ++r) {
    const auto& row = kept[static_cast<size_t>(r)];
    visit_indices(labels.dtype(), [&]<class I>(I) {
      for (int64_t i = 0; i < most; ++i)
        out.mutable_raw<I>()[r * most + i] =
            i < static_cast<int64_t>(row.size())
                ? labels.raw<I>()[r * width + row[static_cast<size_t>(i)]]
                : I(0);
    });
    visit_indices(counts.dtype(),
                  [&]<class I>(I) { counts.mutable_raw<I>()[r] = static_cast<I>(row.size()); });
  }
  return {};
}

const Op collapse_op = RAW_OP(CollapseRepeated)
                           .inputs("labels: L, seq_length: N")
                           .dtypes(kIndices, "L")
                           .dtypes(kIndices, "N")
                           .outputs("collapsed, lengths")
                           .doc("Rows of labels without repeats, and their new lengths.")
                           .no_gradient()
                           .infer(+[](Infer& s) {
                             s.need_rank(0, 2, 2);
                             s.need_rank(1, 1, 1);
                             int64_t rows = s.shape(0).has_rank() ? s.shape(0)[0] : kUnknown;
                             if (!s.shape(1).compatible(Shape{rows}))
                               s.bad_shape(1, cat(rows, " lengths, one for each row"));
                             s.output(s.dtype(0), Shape{rows, kUnknown});
                             s.output(s.dtype(1), s.shape(1));
                           })
                           .kernel("reference", run_collapse);

Status run_unique(Call& c) {
  auto all = ints_of(c.in());
  int64_t rows = c.in().dim(0), width = c.in().dim(1);
  auto* values = c.out(0).mutable_raw<int64_t>();
  auto* places = c.out(1).mutable_raw<int32_t>();
  for (int64_t r = 0; r < rows; ++r) {
    int64_t* seen = values + r * width;
    std::fill_n(seen, width, 0);
    int64_t count = 0;
    for (int64_t i = 0; i < width; ++i) {
      int64_t label = all[static_cast<size_t>(r * width + i)];
      int64_t at = std::find(seen, seen + count, label) - seen;
      if (at == count) seen[count++] = label;
      places[r * width + i] = static_cast<int32_t>(at);
    }
  }
  return {};
}

const Op unique_op = RAW_OP(CTCUniqueLabels)
                         .inputs("labels: L")
                         .dtypes(kIndices, "L")
                         .outputs("values, places")
                         .doc("The different labels of each row, and which of them each label is.")
                         .no_gradient()
                         .infer(+[](Infer& s) {
                           s.need_rank(0, 2, 2);
                           s.output(int64, s.shape());
                           s.output(int32, s.shape());
                         })
                         .kernel("reference", run_unique);

}  // namespace

REGISTER(FUNCTION(&ctc_loss)
             .args("labels: L, logits, label_length: N, logit_length: M")
             .options<&CtcLossOptions::logits_time_major, &CtcLossOptions::blank_index>(
                 "logits_time_major, blank_index")
             .python("nn.ctc_loss")
             .doc("-log of the probability that the logits say the labels, over all alignments.")
             .samples("[[1, 2], [2, 2]], uniform(5, 2, 4), [2, 2], [5, 4]",
                      "[[0, 2, 1]], uniform(1, 6, 4), [3], [6], False, -1")
             .checks({.second_gradient = false}));
Tensor ctc_loss(const In& labels, const In& logits, const In& label_length, const In& logit_length,
                const CtcLossOptions& o) {
  Tensor x = logits;
  if (!o.logits_time_major) x = transpose(x, {.perm = Sizes({1, 0, 2})});
  return ctc_op({labels, x, label_length, logit_length}, {o.blank_index});
}

REGISTER(
    FUNCTION(&collapse_repeated)
        .args("labels: L, seq_length: N")
        .python("nn.collapse_repeated")
        .returns("collapsed, lengths")
        .doc("Rows of labels without repeats, padded with 0, and their new lengths.")
        .samples("[[1, 1, 2, 2, 1], [3, 3, 3, 3, 3]], [5, 3]")
        .reference("(np.array([[1, 2, 1], [3, 0, 0]], np.int32), np.array([3, 1], np.int32))"));
std::tuple<Tensor, Tensor> collapse_repeated(const In& labels, const In& seq_length) {
  Tensors out = collapse_op.many({labels, seq_length});
  return {out[0], out[1]};
}

REGISTER(FUNCTION(&ctc_unique_labels)
             .args("labels: L")
             .python("nn.ctc_unique_labels")
             .returns("values, places")
             .doc("The different labels of each row, padded with 0, and which of them each label "
                  "is.")
             .samples("[[3, 4, 4, 3], [1, 1, 1, 0]]")
             .reference("(np.array([[3, 4, 0, 0], [1, 0, 0, 0]], np.int64), "
                        "np.array([[0, 1, 1, 0], [0, 0, 0, 1]], np.int32))"));
std::tuple<Tensor, Tensor> ctc_unique_labels(const In& labels) {
  Tensors out = unique_op.many({labels});
  return {out[0], out[1]};
}

}  // namespace holdfast::nn
