// What the steps of a network that was trained with CTC say: the best class of each step, or the
// most probable rows of labels, found by a search along prefixes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <vector>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::nn {
namespace {

struct GreedyAttrs {
  Attr<bool> merge_repeated;
  Attr<int64_t> blank_index;
};
struct BeamAttrs {
  Attr<int64_t> beam_width;
  Attr<int64_t> top_paths;
  Attr<bool> merge_repeated;
};

constexpr double kNever = -std::numeric_limits<double>::infinity();

double sum_of_logs(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

using Labels = std::vector<int64_t>;

// Inputs: inputs [time, batch, classes], sequence_length [batch].
int64_t batch_of(Infer& s) {
  s.need_rank(0, 3, 3);
  s.need_rank(1, 1, 1);
  int64_t batch = s.shape(0).has_rank() ? s.shape(0)[1] : kUnknown;
  int64_t lengths = s.shape(1).has_rank() ? s.shape(1)[0] : kUnknown;
  if (batch >= 0 && lengths >= 0 && batch != lengths)
    s.bad_shape(1, cat("[", batch, "], a length for each row of the batch"));
  if (s.shape(0).has_rank() && s.shape(0)[2] == 0) s.bad_shape(0, "one class or more");
  return batch >= 0 ? batch : lengths;
}

Status check_lengths(const Call& c) {
  const Tensor& lengths = c.in(1);
  for (int64_t b = 0, n = lengths.size(); b < n; ++b)
    if (int64_t steps = lengths.raw<int32_t>()[b]; steps < 0 || steps > c.in(0).dim(0))
      return {Code::E1103, cat(c.op.name, ": `sequence_length` of row ", b, " is ", steps,
                               ", expected 0 to ", c.in(0).dim(0), ", the number of steps")};
  return {};
}

// Rows of labels as the parts of a sparse matrix, from output `at` on, `apart` outputs apart.
void put_rows(Call& c, int at, int apart, const std::vector<Labels>& rows) {
  size_t all = 0, longest = 0;
  for (const Labels& row : rows) {
    all += row.size();
    longest = std::max(longest, row.size());
  }
  auto n = static_cast<int64_t>(all);
  auto* places = c.out(at, Shape{n, 2}).mutable_raw<int64_t>();
  auto* values = c.out(at + apart, Shape{n}).mutable_raw<int64_t>();
  for (size_t b = 0; b < rows.size(); ++b)
    for (size_t i = 0; i < rows[b].size(); ++i) {
      *places++ = static_cast<int64_t>(b);
      *places++ = static_cast<int64_t>(i);
      *values++ = rows[b][i];
    }
  auto* shape = c.out(at + 2 * apart, Shape{2}).mutable_raw<int64_t>();
  shape[0] = static_cast<int64_t>(rows.size());
  shape[1] = static_cast<int64_t>(longest);
}

void infer_greedy(Infer& s) {
  int64_t batch = batch_of(s), classes = s.shape(0).has_rank() ? s.shape(0)[2] : kUnknown;
  int64_t blank = s.attrs<GreedyAttrs>().blank_index();
  if (classes >= 0 && (blank < -classes || blank >= classes))
    s.bad_value("blank_index", cat(blank), cat("a class in [", -classes, ", ", classes, ")"));
  s.output(int64, Shape{kUnknown, 2});
  s.output(int64, Shape{kUnknown});
  s.output(int64, Shape{2});
  s.output(s.dtype(), Shape{batch, 1});
}

Status run_greedy(Call& c) {
  if (Status s = check_lengths(c); !s.ok()) return s;
  auto a = c.attrs<GreedyAttrs>();
  const Tensor& x = c.in(0);
  int64_t batch = x.dim(1), classes = x.dim(2);
  int64_t blank = a.blank_index() < 0 ? a.blank_index() + classes : a.blank_index();
  std::vector<Labels> rows(static_cast<size_t>(batch));
  visit_floats(x.dtype(), [&]<class T>(T) {
    auto* less = c.out(3).mutable_raw<T>();
    for (int64_t b = 0; b < batch; ++b) {
      double sum = 0;
      int64_t before = -1;
      for (int64_t t = 0; t < c.in(1).raw<int32_t>()[b]; ++t) {
        const T* step = x.raw<T>() + (t * batch + b) * classes;
        auto value = [&](int64_t k) {
          return static_cast<double>(static_cast<float_of<T>>(step[k]));
        };
        int64_t best = 0;
        for (int64_t k = 1; k < classes; ++k)
          if (value(k) > value(best)) best = k;
        sum -= value(best);
        if (best != blank && !(a.merge_repeated() && best == before))
          rows[static_cast<size_t>(b)].push_back(best);
        before = best;
      }
      less[b] = static_cast<T>(static_cast<float_of<T>>(sum));
    }
  });
  put_rows(c, 0, 1, rows);
  return {};
}

// Prefixes of rows of labels, as a tree. Each has the logarithms of the probabilities that it was
// said so far, its last step being a blank or its last label.
class Prefixes {
 public:
  struct Prefix {
    int64_t parent, label;
    double blank = kNever, said = kNever;            // up to the step before
    double next_blank = kNever, next_said = kNever;  // up to this one
    bool kept = false;
    double total() const { return sum_of_logs(blank, said); }
    double next_total() const { return sum_of_logs(next_blank, next_said); }
  };

  explicit Prefixes(int64_t classes) : classes_(classes) {
    all_.push_back({-1, -1, 0.0, kNever});
    kept_.push_back(0);
  }

  // One step further: `x` are logarithms of probabilities, that of the blank the last.
  void step(const std::vector<double>& x, size_t width) {
    std::vector<Further> found;
    for (size_t i : kept_) all_[i].kept = true;
    for (size_t i : kept_) {
      double total = all_[i].total();
      all_[i].next_blank = total + x.back();
      if (all_[i].label >= 0) {
        double again = all_[i].said + x[static_cast<size_t>(all_[i].label)];
        all_[i].next_said = sum_of_logs(all_[i].next_said, again);
      }
      for (int64_t k = 0; k + 1 < classes_; ++k) {
        // The same label anew needs a blank between.
        double log = (k == all_[i].label ? all_[i].blank : total) + x[static_cast<size_t>(k)];
        if (log == kNever) continue;
        auto known = children_.find(key(i, k));
        if (known != children_.end() && all_[known->second].kept) {
          Prefix& child = all_[known->second];
          child.next_said = sum_of_logs(child.next_said, log);
        } else {
          found.push_back({log, i, k});
        }
      }
    }
    for (size_t i : kept_) found.push_back({all_[i].next_total(), i, -1});
    auto better = [](const Further& a, const Further& b) {
      return a.log != b.log     ? a.log > b.log
             : a.from != b.from ? a.from < b.from
                                : a.label < b.label;
    };
    size_t most = std::min(width, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most), found.end(),
                      better);
    for (size_t i : kept_) {
      Prefix& p = all_[i];
      p.kept = false;
      p.blank = p.said = kNever;
    }
    std::vector<size_t> before = std::move(kept_);
    kept_.clear();
    for (size_t n = 0; n < most; ++n) {
      const Further& f = found[n];
      if (f.label < 0) {
        all_[f.from].blank = all_[f.from].next_blank;
        all_[f.from].said = all_[f.from].next_said;
        kept_.push_back(f.from);
      } else {
        size_t child = child_of(f.from, f.label);
        all_[child].said = f.log;
        kept_.push_back(child);
      }
    }
    for (size_t i : before) all_[i].next_blank = all_[i].next_said = kNever;
  }

  // The best first.
  const std::vector<size_t>& kept() const { return kept_; }
  double total(size_t i) const { return all_[i].total(); }
  Labels labels(size_t i, bool merge) const {
    Labels out;
    for (; all_[i].label >= 0; i = static_cast<size_t>(all_[i].parent))
      if (!merge || out.empty() || out.back() != all_[i].label) out.push_back(all_[i].label);
    std::reverse(out.begin(), out.end());
    return out;
  }

 private:
  // A prefix that stays, or with a label more.
  struct Further {
    double log;
    size_t from;
    int64_t label;  // -1: it stays
  };
  int64_t key(size_t parent, int64_t label) const {
    return static_cast<int64_t>(parent) * classes_ + label;
  }
  // Only those that were among the best at some step are kept: the tree grows with the steps, not
  // with the classes.
  size_t child_of(size_t parent, int64_t label) {
    auto [at, fresh] = children_.try_emplace(key(parent, label), all_.size());
    if (fresh) all_.push_back({static_cast<int64_t>(parent), label});
    return at->second;
  }

  int64_t classes_;
  std::vector<Prefix> all_;
  std::vector<size_t> kept_;
  std::unordered_map<int64_t, size_t> children_;
};

constexpr int64_t kMostPaths = 1 << 16;

void infer_beams(Infer& s) {
  auto a = s.attrs<BeamAttrs>();
  int64_t batch = batch_of(s), n = a.top_paths();
  if (a.beam_width() < 1) s.bad_value("beam_width", cat(a.beam_width()), "1 or more");
  if (n < 1 || n > std::min(a.beam_width(), kMostPaths))
    s.bad_value("top_paths", cat(n),
                cat("1 to ", std::min(a.beam_width(), kMostPaths), ", the width of the beam"));
  for (int64_t i = 0; i < n; ++i) s.output(int64, Shape{kUnknown, 2});
  for (int64_t i = 0; i < n; ++i) s.output(int64, Shape{kUnknown});
  for (int64_t i = 0; i < n; ++i) s.output(int64, Shape{2});
  s.output(s.dtype(), Shape{batch, n});
}

Status run_beams(Call& c) {
  if (Status s = check_lengths(c); !s.ok()) return s;
  auto a = c.attrs<BeamAttrs>();
  const Tensor& x = c.in(0);
  int64_t batch = x.dim(1), classes = x.dim(2), paths = a.top_paths();
  std::vector<std::vector<Labels>> rows(static_cast<size_t>(paths));
  Status wrong;
  visit_floats(x.dtype(), [&]<class T>(T) {
    auto* logs = c.out(static_cast<int>(3 * paths)).mutable_raw<T>();
    std::vector<double> step(static_cast<size_t>(classes));
    for (int64_t b = 0; b < batch && wrong.ok(); ++b) {
      Prefixes prefixes(classes);
      for (int64_t t = 0; t < c.in(1).raw<int32_t>()[b]; ++t) {
        const T* from = x.raw<T>() + (t * batch + b) * classes;
        double all = kNever;
        for (size_t k = 0; k < step.size(); ++k) {
          step[k] = static_cast<double>(static_cast<float_of<T>>(from[k]));
          all = sum_of_logs(all, step[k]);
        }
        if (!std::isfinite(all)) {
          wrong = {Code::E1103, cat(c.op.name, ": `inputs` of row ", b, ", step ", t,
                                    ", are no logarithms of probabilities")};
          return;
        }
        for (double& v : step) v -= all;
        prefixes.step(step, static_cast<size_t>(a.beam_width()));
      }
      const auto& best = prefixes.kept();
      if (static_cast<int64_t>(best.size()) < paths) {
        wrong = {Code::E1103, cat(c.op.name, ": row ", b, " has ", best.size(),
                                  " paths, and `top_paths` is ", paths)};
        return;
      }
      for (int64_t p = 0; p < paths; ++p) {
        auto at = static_cast<size_t>(p);
        rows[at].push_back(prefixes.labels(best[at], a.merge_repeated()));
        logs[b * paths + p] = static_cast<T>(static_cast<float_of<T>>(prefixes.total(best[at])));
      }
    }
  });
  if (!wrong.ok()) return wrong;
  for (int64_t p = 0; p < paths; ++p)
    put_rows(c, static_cast<int>(p), static_cast<int>(paths), rows[static_cast<size_t>(p)]);
  return {};
}

const Op greedy_op = RAW_OP(CTCGreedyDecoder)
                         .doc("The best class of each step, without blanks, as a sparse matrix.")
                         .inputs("inputs, sequence_length: L")
                         .attr("merge_repeated", false)
                         .attr("blank_index", -1)
                         .attrs<&GreedyAttrs::merge_repeated, &GreedyAttrs::blank_index>()
                         .outputs("decoded_indices, decoded_values, decoded_shape, log_probability")
                         .dtypes({float32, float64})
                         .dtypes({int32}, "L")
                         .infer(infer_greedy)
                         .kernel("reference", run_greedy)
                         .on_host()
                         .no_gradient();
const Op beams_op =
    RAW_OP(CTCBeamSearchDecoder)
        .doc("The most probable rows of labels: places of all, values of all, shapes of all, logs.")
        .inputs("inputs, sequence_length: L")
        .attr("beam_width")
        .attr("top_paths")
        .attr("merge_repeated", true)
        .attrs<&BeamAttrs::beam_width, &BeamAttrs::top_paths, &BeamAttrs::merge_repeated>()
        .dtypes({float32, float64})
        .dtypes({int32}, "L")
        .infer(infer_beams)
        .kernel("reference", run_beams)
        .on_host()
        .no_gradient();

}  // namespace
}  // namespace holdfast::nn
