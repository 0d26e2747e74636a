// LSTM and GRU over whole sequences. A step is a product of a few rows of state with a matrix that
// stays the same for all steps: it is packed once, and panels of it are multiplied while they lie
// in the nearest cache, with a tile of the result in registers. The gates of those columns follow
// at once.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "holdfast/expr/scalar_math.h"
#include "holdfast/ops/linalg/cpu/tile.h"
#include "holdfast/ops/nn/cpu/recurrent_loops.h"

namespace holdfast::HOLDFAST_ISA {
namespace {

using namespace recurrent;

template <class W>
struct Vector {
  typedef W Type __attribute__((vector_size(kVectorBytes)));
  static constexpr int kLanes = kVectorBytes / sizeof(W);
};
// Columns of a panel: two vectors.
template <class W>
constexpr int64_t kColumns = 2 * Vector<W>::kLanes;

template <class W>
int64_t panels(int64_t n) {
  return (n + kColumns<W> - 1) / kColumns<W>;
}
template <class W>
int64_t packed_size(int64_t k, int64_t n) {
  return panels<W>(n) * k * kColumns<W>;
}

template <class W>
void pack(const void* from, int64_t row_step, int64_t column_step, int64_t k, int64_t n, void* to) {
  auto* a = static_cast<const W*>(from);
  auto* out = static_cast<W*>(to);
  for (int64_t first = 0; first < n; first += kColumns<W>) {
    int64_t count = std::min(kColumns<W>, n - first);
    for (int64_t p = 0; p < k; ++p, out += kColumns<W>) {
      const W* row = a + p * row_step + first * column_step;
      for (int64_t j = 0; j < count; ++j) out[j] = row[j * column_step];
      std::fill(out + count, out + kColumns<W>, W(0));
    }
  }
}

// c[rows][kColumns] = a[rows][k] x panel[k][kColumns]; rows of `a` and `c` are that far apart.
template <class W, int rows>
void tile(const W* a, int64_t a_row, const W* panel, int64_t k, W* c, int64_t c_row) {
  using V = typename Vector<W>::Type;
  constexpr int lanes = Vector<W>::kLanes;
  V sum[rows][2] = {};
  const W* at[rows];
  for (int i = 0; i < rows; ++i) at[i] = a + i * a_row;
  for (int64_t p = 0; p < k; ++p, panel += kColumns<W>) {
    V b0, b1;
    std::memcpy(&b0, panel, sizeof b0);
    std::memcpy(&b1, panel + lanes, sizeof b1);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      sum[i][0] += at[i][p] * b0;
      sum[i][1] += at[i][p] * b1;
    }
  }
  // Unrolled, so that the sums stay in registers all the way.
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    std::memcpy(c + i * c_row, &sum[i][0], sizeof(V));
    std::memcpy(c + i * c_row + lanes, &sum[i][1], sizeof(V));
  }
}

template <class W>
using TileFn = void (*)(const W*, int64_t, const W*, int64_t, W*, int64_t);
template <class W, int... i>
constexpr std::array<TileFn<W>, sizeof...(i)> tiles_of(std::integer_sequence<int, i...>) {
  return {tile<W, i + 1>...};
}
template <class W>
constexpr auto kTiles = tiles_of<W>(std::make_integer_sequence<int, kRows>());

// All rows times one panel, in tiles of nearly one height.
template <class W>
void times_panel(const W* a, int64_t a_row, int64_t rows, const W* panel, int64_t k, W* c,
                 int64_t c_row) {
  int64_t count = (rows + kRows - 1) / kRows;
  for (int64_t t = 0, i = 0; t < count; ++t) {
    int64_t height = rows / count + (t < rows % count ? 1 : 0);
    kTiles<W>[static_cast<size_t>(height - 1)](a + i* a_row, a_row, panel, k, c + i* c_row, c_row);
    i += height;
  }
}

// c[rows][n] = a[rows][k] x packed, rows of `a` that far apart; `strip` has room for rows x
// kColumns.
template <class W>
void times(const W* a, int64_t a_row, int64_t rows, const W* packed, int64_t k, int64_t n, W* c,
           W* strip) {
  for (int64_t j = 0; j < n; j += kColumns<W>, packed += k * kColumns<W>) {
    int64_t width = std::min(kColumns<W>, n - j);
    if (width == kColumns<W>) {
      times_panel(a, a_row, rows, packed, k, c + j, n);
      continue;
    }
    times_panel(a, a_row, rows, packed, k, strip, kColumns<W>);
    for (int64_t i = 0; i < rows; ++i) std::copy_n(strip + i * kColumns<W>, width, c + i * n + j);
  }
}

template <class W>
std::unique_ptr<W[]> room(int64_t n) {
  return std::unique_ptr<W[]>(new W[static_cast<size_t>(n)]);
}
template <class W>
const W* of(const void* p) {
  return static_cast<const W*>(p);
}
template <class W>
W* of(void* p) {
  return static_cast<W*>(p);
}

bool stands_still(const Sequence& s, int64_t row, int64_t t) {
  return s.mask && !s.mask[row * s.steps + t];
}

// Row `b` of a state before step t: of the first states, or of those that steps have left.
template <class W>
const W* before(const Sequence& s, const void* first, const void* states, int64_t b, int64_t t) {
  return t == 0 ? of<W>(first) + b * s.units : of<W>(states) + (b * s.steps + t - 1) * s.units;
}

// For each block of units: the products of the state with these columns of each gate, then
// `each(first unit, how many units, size of a strip)`. The product of gate g and row i is at
// strips + g * strip + i * kColumns.
template <class W, class F>
void for_blocks(const Sequence& s, int gates, const W* state, int64_t rows, W* strips, F each) {
  int64_t whole = packed_size<W>(s.units, s.units), panel = s.units * kColumns<W>,
          strip = rows * kColumns<W>;
  for (int64_t p = 0; p < panels<W>(s.units); ++p) {
    for (int g = 0; g < gates; ++g)
      times_panel(state, s.units, rows, of<W>(s.weights) + g * whole + p * panel, s.units,
                  strips + g * strip, kColumns<W>);
    int64_t first = p * kColumns<W>;
    each(first, std::min(kColumns<W>, s.units - first), strip);
  }
}

// Copies the units of a block: mostly as many as there are columns, which takes no call.
template <class W>
void copy_block(const W* from, int64_t width, W* to) {
  if (width == kColumns<W>)
    std::memcpy(to, from, sizeof(W) * kColumns<W>);
  else
    std::copy_n(from, width, to);
}

// Whole strips at once: in loops of one function the processor has several elements under way.
template <class W>
void sigmoid_all(W* x, int64_t n) {
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) x[j] = scalar::sigmoid(x[j]);
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

// Asks for `n` elements of each of `parts` that are `stride` apart. The rows of the next step lie
// far from each other: the processor does not see them coming.
template <class W>
void fetch(const W* p, int64_t n, int parts, int64_t stride) {
  constexpr int64_t kLine = 64 / sizeof(W);
  for (int g = 0; g < parts; ++g)
    for (int64_t j = 0; j < n; j += kLine) __builtin_prefetch(p + g * stride + j);
}

template <class W>
void lstm_forward(const LstmForward& s, const Part& part) {
  int64_t u = s.units, rows = part.row_end - part.row;
  auto held = room<W>(2 * rows * u + 5 * rows * kColumns<W>);
  W *now = held.get(), *next = now + rows * u, *strips = next + rows * u;
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(before<W>(s, s.h0, s.h, part.row + i, part.step), u, now + i * u);
  for (int64_t t = part.step; t < part.step_end; ++t) {
    for_blocks<W>(s, 4, now, rows, strips, [&](int64_t first, int64_t width, int64_t strip) {
      for (int64_t i = 0; i < rows; ++i) {
        const W* x = of<W>(s.x) + ((part.row + i) * s.steps + t) * 4 * u + first;
        for (int g = 0; g < 4; ++g) add_to(x + g * u, width, strips + g * strip + i * kColumns<W>);
        if (t + 1 < s.steps) fetch(x + 4 * u, width, 4, u);
      }
      sigmoid_all(strips, 2 * strip);
      tanh_all(strips + 2 * strip, strip);
      sigmoid_all(strips + 3 * strip, strip);
      W* shown = strips + 4 * strip;
      for (int64_t i = 0; i < rows; ++i) {
        int64_t b = part.row + i, at = b * s.steps + t;
        const W* __restrict old = before<W>(s, s.c0, s.c, b, t) + first;
        const W* __restrict z = strips + i * kColumns<W>;
        W* __restrict c = of<W>(s.c) + at * u + first;
        W* __restrict cell = shown + i * kColumns<W>;
        W* gates = of<W>(s.gates) + at * 4 * u + first;
        bool still = stands_still(s, b, t);
        for (int g = 0; g < 4; ++g)
          if (still)
            std::fill_n(gates + g * u, width, W(0));
          else
            copy_block<W>(z + g * strip, width, gates + g * u);
#pragma GCC ivdep
        for (int64_t j = 0; j < width; ++j)
          cell[j] = z[strip + j] * old[j] + z[j] * z[2 * strip + j];
        copy_block<W>(still ? old : cell, width, c);
        for (int64_t j = width; j < kColumns<W>; ++j) cell[j] = 0;
      }
      tanh_all(shown, strip);
      for (int64_t i = 0; i < rows; ++i) {
        const W* __restrict o = strips + 3 * strip + i * kColumns<W>;
        const W* __restrict cell = shown + i * kColumns<W>;
        W* __restrict to = next + i * u + first;
        if (stands_still(s, part.row + i, t)) {
          copy_block<W>(now + i * u + first, width, to);
        } else {
#pragma GCC ivdep
          for (int64_t j = 0; j < width; ++j) to[j] = o[j] * cell[j];
        }
        copy_block<W>(to, width, of<W>(s.h) + ((part.row + i) * s.steps + t) * u + first);
      }
    });
    std::swap(now, next);
  }
}

// Adds what arrives from outside for row b at step t, if anything does.
template <class W>
void add_row(const Sequence& s, const void* all, int64_t b, int64_t t, W* __restrict to) {
  if (!all) return;
  const W* __restrict row = of<W>(all) + (b * s.steps + t) * s.units;
#pragma GCC ivdep
  for (int64_t j = 0; j < s.units; ++j) to[j] += row[j];
}

template <class W>
void lstm_backward(const LstmBackward& s, const Part& part) {
  int64_t u = s.units, rows = part.row_end - part.row;
  auto held = room<W>(rows * u + rows * kColumns<W> + 5 * u);
  W *sums = held.get(), *strip = sums + rows * u,
    *none = strip + rows * kColumns<W>, *__restrict dc_row = none + 4 * u;
  std::fill_n(none, 4 * u, W(0));
  for (int64_t t = part.step_end - 1; t >= part.step; --t) {
    for (int64_t i = 0; i < rows; ++i) {
      int64_t b = part.row + i, at = b * s.steps + t;
      W* __restrict h_sum = of<W>(s.h_sum) + b * u;
      W* __restrict c_sum = of<W>(s.c_sum) + b * u;
      W* __restrict d = of<W>(s.dx) + at * 4 * u;
      add_row(s, s.dh, b, t, h_sum);
      add_row(s, s.dc, b, t, c_sum);
      if (stands_still(s, b, t)) {
        std::fill_n(d, 4 * u, W(0));
        std::copy_n(c_sum, u, dc_row);
      } else {
        const W* __restrict gates = of<W>(s.gates) + at * 4 * u;
        const W* __restrict more = s.dgates ? of<W>(s.dgates) + at * 4 * u : none;
        const W* __restrict c = of<W>(s.c) + at * u;
        const W* __restrict old = before<W>(s, s.c0, s.c, b, t);
        if (t > 0) {
          fetch(gates - 4 * u, 4 * u, 1, 0);
          if (s.dh) fetch(of<W>(s.dh) + (at - 1) * u, u, 1, 0);
        }
#pragma GCC ivdep
        for (int64_t j = 0; j < u; ++j) {
          W in = gates[j], f = gates[u + j], g = gates[2 * u + j], o = gates[3 * u + j];
          W shown = scalar::tanh(c[j]), dh = h_sum[j];
          W dc = c_sum[j] + (dh * o) * (1 - shown * shown);
          d[j] = (dc * g + more[j]) * (in * (1 - in));
          d[u + j] = (dc * old[j] + more[u + j]) * (f * (1 - f));
          d[2 * u + j] = (dc * in + more[2 * u + j]) * (1 - g * g);
          d[3 * u + j] = (dh * shown + more[3 * u + j]) * (o * (1 - o));
          c_sum[j] = dc * f;
          dc_row[j] = dc;
        }
      }
      if (s.dh_all) std::copy_n(h_sum, u, of<W>(s.dh_all) + at * u);
      if (s.dc_all) std::copy_n(dc_row, u, of<W>(s.dc_all) + at * u);
    }
    // A row that stands still hands on what arrived.
    times(of<W>(s.dx) + (part.row * s.steps + t) * 4 * u, s.steps * 4 * u, rows, of<W>(s.weights),
          4 * u, u, sums, strip);
    for (int64_t i = 0; i < rows; ++i)
      if (!stands_still(s, part.row + i, t))
        std::copy_n(sums + i * u, u, of<W>(s.h_sum) + (part.row + i) * u);
  }
}

template <class W>
void lstm_tangent(const LstmTangent& s, const Part& part) {
  int64_t u = s.units, rows = part.row_end - part.row;
  auto held = room<W>(2 * rows * u + 4 * rows * kColumns<W>);
  W *now = held.get(), *next = now + rows * u, *strips = next + rows * u;
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(before<W>(s, s.h0, s.th, part.row + i, part.step), u, now + i * u);
  for (int64_t t = part.step; t < part.step_end; ++t) {
    for_blocks<W>(s, 4, now, rows, strips, [&](int64_t first, int64_t width, int64_t strip) {
      for (int64_t i = 0; i < rows; ++i) {
        const W* z = strips + i * kColumns<W>;
        int64_t b = part.row + i, at = b * s.steps + t;
        const W* __restrict tc_old = before<W>(s, s.c0, s.tc, b, t) + first;
        W* __restrict th = of<W>(s.th) + at * u + first;
        W* __restrict tc = of<W>(s.tc) + at * u + first;
        W* __restrict to = next + i * u + first;
        if (stands_still(s, b, t)) {
          std::copy_n(now + i * u + first, width, to);
          std::copy_n(to, width, th);
          std::copy_n(tc_old, width, tc);
          continue;
        }
        const W* __restrict gates = of<W>(s.gates) + at * 4 * u + first;
        const W* __restrict c = of<W>(s.c) + at * u + first;
        const W* __restrict old = before<W>(s, s.first_c, s.c, b, t) + first;
        const W* __restrict tx = of<W>(s.tx) + at * 4 * u + first;
#pragma GCC ivdep
        for (int64_t j = 0; j < width; ++j) {
          W in = gates[j], f = gates[u + j], g = gates[2 * u + j], o = gates[3 * u + j];
          W shown = scalar::tanh(c[j]);
          W ti = (tx[j] + z[j]) * (in * (1 - in));
          W tf = (tx[u + j] + z[strip + j]) * (f * (1 - f));
          W tg = (tx[2 * u + j] + z[2 * strip + j]) * (1 - g * g);
          W to_o = (tx[3 * u + j] + z[3 * strip + j]) * (o * (1 - o));
          W cell = ti * g + tf * old[j] + tg * in + tc_old[j] * f;
          W out = to_o * shown + cell * (o * (1 - shown * shown));
          tc[j] = cell;
          th[j] = out;
          to[j] = out;
        }
      }
    });
    std::swap(now, next);
  }
}

template <class W>
void gru_forward(const GruForward& s, const Part& part) {
  int64_t u = s.units, rows = part.row_end - part.row;
  auto held = room<W>(2 * rows * u + 4 * rows * kColumns<W> + 3 * u);
  W *now = held.get(), *next = now + rows * u, *strips = next + rows * u,
    *bias = strips + 4 * rows * kColumns<W>;
  if (s.bias)
    std::copy_n(of<W>(s.bias), 3 * u, bias);
  else
    std::fill_n(bias, 3 * u, W(0));
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(before<W>(s, s.h0, s.h, part.row + i, part.step), u, now + i * u);
  for (int64_t t = part.step; t < part.step_end; ++t) {
    for_blocks<W>(s, 3, now, rows, strips, [&](int64_t first, int64_t width, int64_t strip) {
      auto x_of = [&](int64_t i) {
        return of<W>(s.x) + ((part.row + i) * s.steps + t) * 3 * u + first;
      };
      for (int64_t i = 0; i < rows; ++i) {
        const W* x = x_of(i);
        W* z = strips + i * kColumns<W>;
        for (int g = 0; g < 3; ++g) add_to(bias + g * u + first, width, z + g * strip);
        for (int g = 0; g < 2; ++g) add_to(x + g * u, width, z + g * strip);
        if (t + 1 < s.steps) fetch(x + 3 * u, width, 3, u);
      }
      sigmoid_all(strips, 2 * strip);
      for (int64_t i = 0; i < rows; ++i) {
        const W* __restrict x = x_of(i) + 2 * u;
        const W* __restrict z = strips + i * kColumns<W>;
        W* __restrict n = strips + 3 * strip + i * kColumns<W>;
#pragma GCC ivdep
        for (int64_t j = 0; j < width; ++j) n[j] = x[j] + z[strip + j] * z[2 * strip + j];
        for (int64_t j = width; j < kColumns<W>; ++j) n[j] = 0;
      }
      tanh_all(strips + 3 * strip, strip);
      for (int64_t i = 0; i < rows; ++i) {
        int64_t b = part.row + i, at = b * s.steps + t;
        const W* __restrict old = now + i * u + first;
        const W* __restrict z = strips + i * kColumns<W>;
        W* __restrict to = next + i * u + first;
        W* gates = of<W>(s.gates) + at * 4 * u + first;
        if (stands_still(s, b, t)) {
          copy_block<W>(old, width, to);
          for (int g = 0; g < 4; ++g) std::fill_n(gates + g * u, width, W(0));
        } else {
          // The inner product comes last of what is kept, and n before it.
          constexpr int order[] = {0, 1, 3, 2};
          for (int g = 0; g < 4; ++g) copy_block<W>(z + order[g] * strip, width, gates + g * u);
#pragma GCC ivdep
          for (int64_t j = 0; j < width; ++j) to[j] = z[j] * old[j] + (1 - z[j]) * z[3 * strip + j];
        }
        copy_block<W>(to, width, of<W>(s.h) + at * u + first);
      }
    });
    std::swap(now, next);
  }
}

template <class W>
void gru_backward(const GruBackward& s, const Part& part) {
  int64_t u = s.units, rows = part.row_end - part.row;
  auto held = room<W>(rows * u + rows * kColumns<W> + 4 * u);
  W *sums = held.get(), *strip = sums + rows * u, *none = strip + rows * kColumns<W>;
  std::fill_n(none, 4 * u, W(0));
  for (int64_t t = part.step_end - 1; t >= part.step; --t) {
    for (int64_t i = 0; i < rows; ++i) {
      int64_t b = part.row + i, at = b * s.steps + t;
      W* __restrict h_sum = of<W>(s.h_sum) + b * u;
      W* __restrict d = of<W>(s.dinner) + at * 3 * u;
      W* __restrict dx = of<W>(s.dx) + at * 3 * u;
      add_row(s, s.dh, b, t, h_sum);
      if (s.dh_all) std::copy_n(h_sum, u, of<W>(s.dh_all) + at * u);
      if (stands_still(s, b, t)) {
        std::fill_n(d, 3 * u, W(0));
        std::fill_n(dx, 3 * u, W(0));
      } else {
        const W* __restrict gates = of<W>(s.gates) + at * 4 * u;
        const W* __restrict more = s.dgates ? of<W>(s.dgates) + at * 4 * u : none;
        const W* __restrict old = before<W>(s, s.h0, s.h, b, t);
        if (t > 0) {
          fetch(gates - 4 * u, 4 * u, 1, 0);
          if (s.dh) fetch(of<W>(s.dh) + (at - 1) * u, u, 1, 0);
        }
#pragma GCC ivdep
        for (int64_t j = 0; j < u; ++j) {
          W z = gates[j], r = gates[u + j], n = gates[2 * u + j], q = gates[3 * u + j];
          W dh = h_sum[j], dz = (dh * (old[j] - n) + more[j]) * (z * (1 - z));
          W dn = (dh * (1 - z) + more[2 * u + j]) * (1 - n * n);
          W dr = (dn * q + more[u + j]) * (r * (1 - r));
          dx[j] = dz;
          dx[u + j] = dr;
          dx[2 * u + j] = dn;
          d[j] = dz;
          d[u + j] = dr;
          d[2 * u + j] = dn * r + more[3 * u + j];
          h_sum[j] = dh * z;
        }
      }
    }
    times(of<W>(s.dinner) + (part.row * s.steps + t) * 3 * u, s.steps * 3 * u, rows,
          of<W>(s.weights), 3 * u, u, sums, strip);
    W* __restrict to = of<W>(s.h_sum) + part.row * u;
#pragma GCC ivdep
    for (int64_t j = 0; j < rows * u; ++j) to[j] += sums[j];
  }
}

template <class W>
void gru_tangent(const GruTangent& s, const Part& part) {
  int64_t u = s.units, rows = part.row_end - part.row;
  auto held = room<W>(2 * rows * u + 3 * rows * kColumns<W>);
  W *now = held.get(), *next = now + rows * u, *strips = next + rows * u;
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(before<W>(s, s.h0, s.th, part.row + i, part.step), u, now + i * u);
  for (int64_t t = part.step; t < part.step_end; ++t) {
    for_blocks<W>(s, 3, now, rows, strips, [&](int64_t first, int64_t width, int64_t strip) {
      for (int64_t i = 0; i < rows; ++i) {
        const W* inner = strips + i * kColumns<W>;
        int64_t b = part.row + i, at = b * s.steps + t;
        const W* __restrict th_old = now + i * u + first;
        W* __restrict th = of<W>(s.th) + at * u + first;
        W* __restrict to = next + i * u + first;
        if (stands_still(s, b, t)) {
          std::copy_n(th_old, width, to);
          std::copy_n(th_old, width, th);
          continue;
        }
        const W* __restrict gates = of<W>(s.gates) + at * 4 * u + first;
        const W* __restrict old = before<W>(s, s.first_h, s.h, b, t) + first;
        const W* __restrict tx = of<W>(s.tx) + at * 3 * u + first;
        const W* __restrict ti = of<W>(s.tinner) + at * 3 * u + first;
#pragma GCC ivdep
        for (int64_t j = 0; j < width; ++j) {
          W z = gates[j], r = gates[u + j], n = gates[2 * u + j], q = gates[3 * u + j];
          W tz = (tx[j] + ti[j] + inner[j]) * (z * (1 - z));
          W tr = (tx[u + j] + ti[u + j] + inner[strip + j]) * (r * (1 - r));
          W tq = ti[2 * u + j] + inner[2 * strip + j];
          W tn = (tx[2 * u + j] + tr * q + r * tq) * (1 - n * n);
          W out = tz * (old[j] - n) + (1 - z) * tn + z * th_old[j];
          th[j] = out;
          to[j] = out;
        }
      }
    });
    std::swap(now, next);
  }
}

template <class W>
Loops loops() {
  return {packed_size<W>,  pack<W>,        lstm_forward<W>, lstm_backward<W>,
          lstm_tangent<W>, gru_forward<W>, gru_backward<W>, gru_tangent<W>};
}

}  // namespace

recurrent::Table recurrent_table() { return {loops<float>(), loops<double>()}; }

}  // namespace holdfast::HOLDFAST_ISA
