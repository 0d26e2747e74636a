// What the loops of LSTM and GRU share: where rows lie, the sums that a step begins with, and
// functions over strips of them.
#pragma once

#include "holdfast/expr/scalar_math.h"
#include "holdfast/ops/nn/cpu/recurrent_loops.h"
#include "holdfast/ops/nn/cpu/recurrent_tiles.h"

namespace holdfast::HOLDFAST_ISA {
namespace {

using namespace recurrent;

inline bool stands_still(const Sequence& s, int64_t row, int64_t t) {
  return s.mask && !s.mask[row * s.steps + t];
}
// Which row of a tensor it is that has the batch first, and of one that has the time first.
inline int64_t by_row(const Sequence& s, int64_t b, int64_t t) { return b * s.steps + t; }
inline int64_t by_step(const Sequence& s, int64_t b, int64_t t) { return t * s.batch + b; }

// Row `b` of a state before step t: of the first states, or of those that steps have left.
template <class W>
const W* row_before(const Sequence& s, const void* first, const void* states, int64_t b,
                    int64_t t) {
  return t == 0 ? of<W>(first) + b * s.units : of<W>(states) + by_row(s, b, t - 1) * s.units;
}
template <class W>
const W* step_before(const Sequence& s, const void* first, const void* states, int64_t b,
                     int64_t t) {
  return t == 0 ? of<W>(first) + b * s.units : of<W>(states) + by_step(s, b, t - 1) * s.units;
}

// Asks for `n` elements that the processor does not see coming, to read or to write them. Rows of a
// step that has the batch first often lie a power of two apart, and push each other out of the
// caches: they are asked for a few rows ahead, not more.
constexpr int64_t kRowsAhead = 3;
template <class W>
void fetch(const W* p, int64_t n) {
  constexpr int64_t kLine = 64 / sizeof(W);
  for (int64_t j = 0; j < n; j += kLine) __builtin_prefetch(p + j);
}
template <class W>
void fetch_to_write(W* p, int64_t n) {
  constexpr int64_t kLine = 64 / sizeof(W);
  for (int64_t j = 0; j < n; j += kLine) __builtin_prefetch(p + j, 1);
}

// Copies the units of a block: mostly as many as there are columns, which takes no call.
template <class W>
void copy_block(const W* from, int64_t width, W* to) {
  if (width == kColumns<W>)
    std::memcpy(to, from, sizeof(W) * kColumns<W>);
  else
    std::copy_n(from, width, to);
}

// 1 / (1 + e^-x), NaN where x is. As a float without the denormal numbers below e^-87, which would
// take as long again as the rest of e^x.
inline float gate(float x) {
  const float a = scalar::abs(x);
  const auto p = scalar::detail::exp_reduce(-(a > 87.0f ? 87.0f : a));
  const float e = (1 + scalar::detail::expm1_poly(p.r)) * scalar::detail::pow2(p.k);
  return (x < 0 ? e : 1.0f) / (1 + e);
}
inline double gate(double x) { return scalar::sigmoid(x); }

// Whole strips at once: in loops of one function the processor has several elements under way.
template <class W>
void sigmoid_all(W* x, int64_t n) {
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) x[j] = gate(x[j]);
}
template <class W>
void tanh_all(W* x, int64_t n) {
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) x[j] = scalar::tanh(x[j]);
}
template <class W>
void add_to(const W* __restrict x, int64_t n, W* __restrict to) {
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) to[j] += x[j];
}

// How far panels of `d` are apart: an odd number of cache lines, so that those of one step do not
// fall into the same places of the caches.
template <class W>
int64_t panel_step(const Sequence& s) {
  return ((s.steps + 1) * s.batch | 1) * kColumns<W>;
}
// Writes row b of `d` at step t into its panels; each of the four gates of `row` is padded.
template <class W>
void put_sums(const Sequence& s, const W* row, int64_t b, int64_t t, void* d) {
  int64_t step = panel_step<W>(s), count = 4 * panels<W>(s.units);
  W* to = of<W>(d) + by_step(s, b, t) * kColumns<W>;
  for (int64_t q = 0; q < count; ++q, to += step, row += kColumns<W>) {
    __builtin_prefetch(to + kRowsAhead * kColumns<W>, 1);
    copy_block(row, kColumns<W>, to);
  }
}
// Adds such a row to those of the bias [batch, 4 units], if these are wanted.
template <class W>
void add_sums(const Sequence& s, const W* row, int64_t b, void* bias_sums) {
  int64_t u = s.units;
  for (int g = 0; bias_sums && g < 4; ++g)
    add_to(row + g * padded<W>(u), u, of<W>(bias_sums) + (b * 4 + g) * u);
}

// Adds what arrives from outside for row b at step t, if anything does.
template <class W>
void add_row(const Sequence& s, const void* all, int64_t row, W* to) {
  if (all) add_to(of<W>(all) + row * s.units, s.units, to);
}

// The bias of each gate, with zeros up to the end of its last panel; all zeros if there is none.
template <class W>
void pad_bias(const void* bias, int gates, int64_t units, W* to) {
  int64_t each = padded<W>(units);
  std::fill_n(to, gates * each, W(0));
  for (int g = 0; bias && g < gates; ++g)
    std::copy_n(of<W>(bias) + g * units, units, to + g * each);
}

// The state of some rows, and the sums of a step: inputs times K, bias and state times R. With
// many rows a row of inputs stands before its row of the state, and one product takes both. With
// few, the inputs of several steps are multiplied at once, ahead of them: sums are the same.
template <class W>
class Sums {
 public:
  Sums(const Inputs& s, int gates, const Part& part, const void* first_h, const void* h)
      : s_(s),
        part_(part),
        gates_(gates),
        rows_(part.row_end - part.row),
        together_(!s.projected && rows_ >= kMany),
        lead_(together_ ? s.size : 0),
        most_(together_ ? 0 : std::clamp<int64_t>(kAhead / rows_, 1, s.steps)) {
    int64_t u = s.units, each = padded<W>(u), row = lead_ + u;
    held_ = room<W>(2 * rows_ * row + gates * each + most_ * rows_ * (s.size + gates * each));
    now_ = held_.get();
    next_ = now_ + rows_ * row;
    ahead_ = next_ + rows_ * row;
    bias_ = ahead_ + most_ * rows_ * gates * each;
    inputs_ = bias_ + gates * each;
    pad_bias(s.bias, gates, u, bias_);
    for (int64_t i = 0; i < rows_; ++i)
      std::copy_n(row_before<W>(s, first_h, h, part.row + i, part.step), u, now(i));
  }

  int64_t rows() const { return rows_; }
  /// Row i of the state, and of the one that the step makes.
  W* now(int64_t i) { return now_ + i * (lead_ + s_.units) + lead_; }
  W* next(int64_t i) { return next_ + i * (lead_ + s_.units) + lead_; }
  /// Bias of a gate, for who adds to it.
  W* bias(int g) { return bias_ + g * padded<W>(s_.units); }

  void begin(int64_t t) {
    t_ = t;
    if (together_) {
      for (int64_t i = 0; i < rows_; ++i) {
        const W* x = of<W>(s_.x) + by_row(s_, part_.row + i, t) * s_.size;
        if (i + kRowsAhead < rows_) fetch(x + kRowsAhead * s_.steps * s_.size, s_.size);
        std::copy_n(x, s_.size, now_ + i * (lead_ + s_.units));
      }
    } else if (t == part_.step || t == first_ + most_) {
      first_ = t;
      project(std::min(most_, part_.step_end - t));
    }
  }
  /// Shows the new state as step t of `h`.
  void end(void* h) {
    int64_t u = s_.units;
    for (int64_t i = 0; i < rows_; ++i) {
      W* to = of<W>(h) + by_row(s_, part_.row + i, t_) * u;
      if (i + kRowsAhead < rows_) fetch_to_write(to + kRowsAhead * s_.steps * u, u);
      std::copy_n(next(i), u, to);
    }
    std::swap(now_, next_);
  }

  /// Sums of gate g and the columns of panel p.
  void of_all(int g, int64_t p, W* strip) {
    if (together_)
      times_panel(now_, lead_ + s_.units, rows_, panel(g, p), s_.size + s_.units,
                  {bias_at(g, p), 0}, strip, kColumns<W>);
    else
      of_state(g, p, {ahead(g, p), gates_ * padded<W>(s_.units)}, strip);
  }
  /// Sums of the first gates at once if there is one row only, else false; the last one begins with
  /// `last` if that is given.
  template <int count>
  bool of_one_row(int64_t p, const W* last, W* strips) {
    if (rows_ > 1) return false;
    one_row<W, count>(now(0), panel(0, p) + s_.size * kColumns<W>, panel(1, p) - panel(0, p),
                      s_.units, ahead(0, p), padded<W>(s_.units), last ? last : ahead(count - 1, p),
                      strips);
    return true;
  }
  /// What the inputs bring to them, and what the state does.
  void of_inputs(int g, int64_t p, W* strip) {
    if (together_)
      return times_panel(now_, lead_ + s_.units, rows_, panel(g, p), s_.size, {bias_at(g, p), 0},
                         strip, kColumns<W>);
    for (int64_t i = 0; i < rows_; ++i)
      copy_block(ahead(g, p) + i * gates_ * padded<W>(s_.units), kColumns<W>,
                 strip + i * kColumns<W>);
  }
  void of_state(int g, int64_t p, Start<W> start, W* strip) {
    times_panel(now(0), lead_ + s_.units, rows_, panel(g, p) + s_.size * kColumns<W>, s_.units,
                start, strip, kColumns<W>);
  }

 private:
  // Products of so few rows leave the processor without work: they are taken together.
  static constexpr int64_t kMany = 2 * kRows, kAhead = 4 * kRows;

  const W* panel(int g, int64_t p) const {
    return of<W>(s_.weights) + (g * panels<W>(s_.units) + p) * (s_.size + s_.units) * kColumns<W>;
  }
  const W* bias_at(int g, int64_t p) { return bias(g) + p * kColumns<W>; }
  W* ahead(int g, int64_t p) {
    int64_t each = padded<W>(s_.units);
    return ahead_ + (t_ - first_) * rows_ * gates_ * each + g * each + p * kColumns<W>;
  }

  void project(int64_t steps) {
    int64_t u = s_.units, each = padded<W>(u), row = gates_ * each;
    for (int64_t k = 0; k < steps; ++k)
      for (int64_t i = 0; i < rows_; ++i) {
        int64_t at = by_row(s_, part_.row + i, t_ + k), to = k * rows_ + i;
        if (!s_.projected) {
          std::copy_n(of<W>(s_.x) + at * s_.size, s_.size, inputs_ + to * s_.size);
          continue;
        }
        std::copy_n(bias_, row, ahead_ + to * row);
        for (int g = 0; g < gates_; ++g)
          add_to(of<W>(s_.x) + (at * gates_ + g) * u, u, ahead_ + to * row + g * each);
      }
    if (s_.projected) return;
    for (int g = 0; g < gates_; ++g)
      for (int64_t p = 0; p < panels<W>(u); ++p)
        times_panel(inputs_, s_.size, steps * rows_, panel(g, p), s_.size, {bias_at(g, p), 0},
                    ahead_ + g * each + p * kColumns<W>, row);
  }

  const Inputs& s_;
  Part part_;
  int gates_;
  int64_t rows_;
  bool together_;
  int64_t lead_, most_;
  int64_t t_ = 0, first_ = 0;
  std::unique_ptr<W[], Delete> held_;
  W *now_, *next_, *ahead_, *bias_, *inputs_;
};

// For each block of units of each gate: the products of the state with these columns, then
// `each(first unit, how many units, size of a strip)`. The product of gate g and row i is at
// strips + g * strip + i * kColumns.
template <class W, class F>
void for_blocks(const Sequence& s, int gates, const W* state, int64_t rows, W* strips, F each) {
  alignas(64) const W none[kColumns<W>] = {};
  int64_t panel = s.units * kColumns<W>, strip = rows * kColumns<W>;
  for (int64_t p = 0; p < panels<W>(s.units); ++p) {
    for (int g = 0; g < gates; ++g)
      times_panel(state, s.units, rows, of<W>(s.weights) + (g * panels<W>(s.units) + p) * panel,
                  s.units, {none, 0}, strips + g * strip, kColumns<W>);
    int64_t first = p * kColumns<W>;
    each(first, std::min(kColumns<W>, s.units - first), strip);
  }
}

}  // namespace
}  // namespace holdfast::HOLDFAST_ISA
