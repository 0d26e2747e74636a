// How many insertions, deletions and replacements make one sequence another.
#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/sort/same.h"

namespace holdfast {
namespace {

struct EditAttrs {
  Attr<bool> normalize;
};

// Inputs: indices, values and shape of the hypotheses, then of the truths; both are sparse tensors
// whose last axis runs along the sequences.
enum In6 { kIndices1, kValues1, kShape1, kIndices2, kValues2, kShape2 };

void check_parts(Infer& s, int first, const char* who) {
  s.need_rank(first, 2, 2);
  s.need_rank(first + 1, 1, 1);
  s.need_rank(first + 2, 1, 1);
  const Shape &places = s.shape(first), &values = s.shape(first + 1), &sizes = s.shape(first + 2);
  if (places.has_rank() && values.has_rank() && places[0] >= 0 && values[0] >= 0 &&
      places[0] != values[0])
    s.bad_shape(first, cat(values[0], " rows, one for each of `", who, "_values`"));
  if (places.has_rank() && sizes.has_rank() && places[1] >= 0 && sizes[0] >= 0 &&
      places[1] != sizes[0])
    s.bad_shape(first, cat(sizes[0], " columns, one for each axis of `", who, "_shape`"));
  if (sizes.has_rank() && sizes[0] >= 0 && sizes[0] < 2)
    s.bad_shape(first + 2, "2 sizes or more: those of the sequences' places, and their length");
  if (auto known = s.ints(first + 2))
    for (int64_t n : *known)
      if (n < 0) s.bad_value(cat(who, "_shape"), Shape(*known).text(), "sizes of 0 or more");
}

void infer_edit(Infer& s) {
  check_parts(s, kIndices1, "hypothesis");
  check_parts(s, kIndices2, "truth");
  const Shape &one = s.shape(kShape1), &other = s.shape(kShape2);
  int64_t rank = one.has_rank() && one[0] >= 0 ? one[0] : other.has_rank() ? other[0] : kUnknown;
  if (other.has_rank() && other[0] >= 0 && rank >= 0 && rank != other[0])
    s.bad_shape(kShape2, cat(rank, " sizes, as many as `hypothesis_shape` has"));
  if (rank < 0) return s.output(float32, Shape::unknown());
  Dims out(static_cast<size_t>(rank - 1), kUnknown);
  auto a = s.ints(kShape1), b = s.ints(kShape2);
  if (a && b) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = std::max((*a)[i], (*b)[i]);
    if (!Shape(out).elements())
      s.bad_value("truth_shape", Shape(*b).text(), "sizes whose product fits into 64 bits");
  }
  s.output(float32, Shape(out));
}

// The elements of each sequence that is not empty, in order, by its place in the output.
using Sequences = std::unordered_map<int64_t, std::vector<int64_t>>;
Status sequences(Call& c, int first, const char* who, const Shape& out, Sequences& of) {
  const Tensor& places = c.in(first);
  Dims sizes = c.ints(first + 2);
  const auto* at = places.raw<int64_t>();
  int64_t rank = places.dim(1);
  for (int64_t row = 0, n = places.dim(0); row < n; ++row, at += rank) {
    int64_t flat = 0;
    for (int64_t d = 0; d < rank; ++d) {
      if (at[d] < 0 || at[d] >= sizes[static_cast<size_t>(d)])
        return {Code::E1103,
                cat("EditDistance: `", who, "_indices` has ", at[d], " in row ", row, ", axis ", d,
                    ", expected 0 to ", sizes[static_cast<size_t>(d)] - 1)};
      if (d < rank - 1) flat = flat * out[static_cast<int>(d)] + at[d];
    }
    of[flat].push_back(row);
  }
  return {};
}

// Levenshtein's distance, a row of the table at a time.
template <class Same>
int64_t distance(size_t n, size_t m, const Same& same) {
  std::vector<int64_t> row(m + 1);
  std::iota(row.begin(), row.end(), int64_t{0});
  for (size_t i = 0; i < n; ++i) {
    int64_t corner = row[0];
    row[0] = static_cast<int64_t>(i) + 1;
    for (size_t j = 0; j < m; ++j) {
      int64_t replaced = corner + (same(i, j) ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, corner + 1});
    }
  }
  return row[m];
}

Status run_edit(Call& c) {
  Tensor& y = c.out();
  Sequences guesses, truths;
  if (Status s = sequences(c, kIndices1, "hypothesis", y.shape(), guesses); !s.ok()) return s;
  if (Status s = sequences(c, kIndices2, "truth", y.shape(), truths); !s.ok()) return s;
  ElementRules rules = element_rules(c.in(kValues1).dtype());
  const auto* a = static_cast<const char*>(c.in(kValues1).raw());
  const auto* b = static_cast<const char*>(c.in(kValues2).raw());
  bool normalize = c.attrs<EditAttrs>().normalize();
  auto* to = y.mutable_raw<float>();
  std::fill_n(to, y.size(), 0.0F);
  for (const auto& [at, truth] : truths) {
    auto found = guesses.find(at);
    const std::vector<int64_t> none, &guess = found == guesses.end() ? none : found->second;
    auto edits = static_cast<float>(distance(truth.size(), guess.size(), [&](size_t t, size_t g) {
      return rules.same(b + truth[t] * rules.size, a + guess[g] * rules.size, 1);
    }));
    to[at] = normalize ? edits / static_cast<float>(truth.size()) : edits;
  }
  for (const auto& [at, guess] : guesses)
    if (!truths.contains(at))
      to[at] =
          normalize ? std::numeric_limits<float>::infinity() : static_cast<float>(guess.size());
  return {};
}

}  // namespace

static const Op edit_op =
    RAW_OP(EditDistance)
        .doc(
            "How many insertions, deletions and replacements make each hypothesis its truth; "
            "divided by the truth's length if `normalize`.")
        .inputs(
            "hypothesis_indices: I, hypothesis_values, hypothesis_shape: I!, truth_indices: I, "
            "truth_values, truth_shape: I!")
        .attr("normalize", true)
        .attrs<&EditAttrs::normalize>()
        .dtypes({int64}, "I")
        .infer(infer_edit)
        .kernel("reference", run_edit)
        .on_host()
        .no_gradient();

}  // namespace holdfast
