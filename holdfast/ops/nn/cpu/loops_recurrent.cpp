// LSTM over whole sequences, and the sums that gradients of weights and inputs are. The gates of
// some columns follow at once when these columns are multiplied.
#include "holdfast/ops/nn/cpu/recurrent_steps.h"

namespace holdfast::HOLDFAST_ISA {
namespace {

template <class W>
int64_t packed_size(int64_t k, int64_t n) {
  return padded<W>(n) * k;
}

template <class W>
void pack(const void* from, int64_t row_step, int64_t column_step, int64_t k, int64_t n, void* to,
          int64_t first, int64_t depth) {
  auto* a = of<W>(from);
  for (int64_t j = 0; j < n; j += kColumns<W>) {
    int64_t count = std::min(kColumns<W>, n - j);
    W* out = of<W>(to) + (j * depth + first * kColumns<W>);
    const W* in = a + j * column_step;
    if (count < kColumns<W>) std::fill_n(out, k * kColumns<W>, W(0));
    if (column_step == 1)
      for (int64_t p = 0; p < k; ++p) copy_block(in + p * row_step, count, out + p * kColumns<W>);
    else
      for (int64_t i = 0; i < count; ++i)
        for (int64_t p = 0; p < k; ++p)
          out[p * kColumns<W> + i] = in[p * row_step + i * column_step];
  }
}

template <class W>
void lstm_forward(const LstmForward& s, const Part& part) {
  Sums<W> sums(s, 4, part, s.h0, s.h);
  int64_t u = s.units, rows = sums.rows(), strip = rows * kColumns<W>;
  auto held = room<W>(5 * strip);
  W *strips = held.get(), *shown = strips + 4 * strip;
  for (int64_t t = part.step; t < part.step_end; ++t) {
    sums.begin(t);
    for (int64_t p = 0; p < panels<W>(u); ++p) {
      int64_t first = p * kColumns<W>, width = std::min(kColumns<W>, u - first);
      bool made = sums.template of_one_row<4>(p, nullptr, strips);
      for (int g = 0; g < 4 && !made; ++g) {
        // These lines are written when the products are there.
        for (int64_t i = 0; i < rows; ++i)
          fetch_to_write(of<W>(s.gates) + (by_step(s, part.row + i, t) * 4 + g) * u + first, width);
        sums.of_all(g, p, strips + g * strip);
      }
      sigmoid_all(strips, 2 * strip);
      tanh_all(strips + 2 * strip, strip);
      sigmoid_all(strips + 3 * strip, strip);
      for (int64_t i = 0; i < rows; ++i) {
        int64_t b = part.row + i, at = by_step(s, b, t);
        const W* __restrict old = step_before<W>(s, s.c0, s.c, b, t) + first;
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
        W* __restrict to = sums.next(i) + first;
        if (stands_still(s, part.row + i, t)) {
          copy_block<W>(sums.now(i) + first, width, to);
        } else {
#pragma GCC ivdep
          for (int64_t j = 0; j < width; ++j) to[j] = o[j] * cell[j];
        }
      }
    }
    sums.end(s.h);
  }
}

template <class W>
void lstm_backward(const LstmBackward& s, const Part& part) {
  int64_t u = s.units, rows = part.row_end - part.row, each = padded<W>(u);
  auto held = room<W>(rows * u + rows * kColumns<W> + 5 * u + 4 * each);
  W *sums = held.get(), *strip = sums + rows * u, *none = strip + rows * kColumns<W>,
    *__restrict dc_row = none + 4 * u, *__restrict d = dc_row + u;
  std::fill_n(none, 4 * u, W(0));
  std::fill_n(d, 4 * each, W(0));
  for (int64_t t = part.step_end - 1; t >= part.step; --t) {
    for (int64_t i = 0; i < rows; ++i) {
      int64_t b = part.row + i, at = by_step(s, b, t);
      W* __restrict h_sum = of<W>(s.h_sum) + b * u;
      W* __restrict c_sum = of<W>(s.c_sum) + b * u;
      add_row(s, s.dh, by_row(s, b, t), h_sum);
      add_row(s, s.dc, at, c_sum);
      if (stands_still(s, b, t)) {
        std::fill_n(d, 4 * each, W(0));
        std::copy_n(c_sum, u, dc_row);
      } else {
        const W* __restrict gates = of<W>(s.gates) + at * 4 * u;
        const W* __restrict more = s.dgates ? of<W>(s.dgates) + at * 4 * u : none;
        const W* __restrict c = of<W>(s.c) + at * u;
        const W* __restrict old = step_before<W>(s, s.c0, s.c, b, t);
        if (i + kRowsAhead < rows) {
          if (s.dh) fetch(of<W>(s.dh) + by_row(s, b + kRowsAhead, t) * u, u);
          fetch(gates + kRowsAhead * 4 * u, 4 * u);
          fetch(c + kRowsAhead * u, u);
        }
#pragma GCC ivdep
        for (int64_t j = 0; j < u; ++j) {
          W in = gates[j], f = gates[u + j], g = gates[2 * u + j], o = gates[3 * u + j];
          W shown = scalar::tanh(c[j]), dh = h_sum[j];
          W dc = c_sum[j] + (dh * o) * (1 - shown * shown);
          d[j] = (dc * g + more[j]) * (in * (1 - in));
          d[each + j] = (dc * old[j] + more[u + j]) * (f * (1 - f));
          d[2 * each + j] = (dc * in + more[2 * u + j]) * (1 - g * g);
          d[3 * each + j] = (dh * shown + more[3 * u + j]) * (o * (1 - o));
          c_sum[j] = dc * f;
          dc_row[j] = dc;
        }
        add_sums(s, d, b, s.bias_sums);
      }
      put_sums(s, d, b, t, s.d);
      if (s.dh_all) std::copy_n(h_sum, u, of<W>(s.dh_all) + by_row(s, b, t) * u);
      if (s.dc_all) std::copy_n(dc_row, u, of<W>(s.dc_all) + by_row(s, b, t) * u);
    }
    times(of<W>(s.d) + by_step(s, part.row, t) * kColumns<W>, panel_step<W>(s), rows,
          of<W>(s.weights), 4 * padded<W>(u), u, sums, u, strip);
    // A row that stands still hands on what arrived.
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
    std::copy_n(row_before<W>(s, s.h0, s.th, part.row + i, part.step), u, now + i * u);
  for (int64_t t = part.step; t < part.step_end; ++t) {
    for_blocks<W>(s, 4, now, rows, strips, [&](int64_t first, int64_t width, int64_t strip) {
      for (int64_t i = 0; i < rows; ++i) {
        const W* z = strips + i * kColumns<W>;
        int64_t b = part.row + i, at = by_row(s, b, t), kept = by_step(s, b, t);
        const W* __restrict tc_old = row_before<W>(s, s.c0, s.tc, b, t) + first;
        W* __restrict th = of<W>(s.th) + at * u + first;
        W* __restrict tc = of<W>(s.tc) + at * u + first;
        W* __restrict to = next + i * u + first;
        if (stands_still(s, b, t)) {
          std::copy_n(now + i * u + first, width, to);
          std::copy_n(to, width, th);
          std::copy_n(tc_old, width, tc);
          continue;
        }
        const W* __restrict gates = of<W>(s.gates) + kept * 4 * u + first;
        const W* __restrict c = of<W>(s.c) + kept * u + first;
        const W* __restrict old = step_before<W>(s, s.first_c, s.c, b, t) + first;
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

// A tile of packed rows, and space, so that the same row of several tiles is not in the same places
// of the cache.
template <class W>
constexpr int64_t kTileSize = kDepth * kRows + 64 / sizeof(W);

// Copies a row into the tiles that it is cut into, as their row k.
template <class W>
void tile_row(const W* row, int64_t n, int64_t k, W* tiles) {
  for_tiles(n, [&](size_t height, int64_t i) {
    W* to = tiles + k * kRows;
    if (height == kRows)
      std::memcpy(to, row + i, sizeof(W) * kRows);
    else
      std::copy_n(row + i, height, to);
    tiles += kTileSize<W>;
  });
}

// Some rows of K over R. Rows of inputs and states of a few steps are packed into tiles: where they
// lie they are a power of two apart as often as not, and push each other out of the caches.
template <class W>
void weight_sums(const WeightSums& s, const Part& part) {
  constexpr int64_t kTile = kTileSize<W>;
  int64_t u = s.units, n = s.gates * u, size = s.size,
          inputs = std::clamp<int64_t>(size - part.row, 0, part.row_end - part.row),
          state = std::max<int64_t>(part.row - size, 0), states = part.row_end - part.row - inputs;
  auto held = room<W>((tiles_for(inputs) + tiles_for(states)) * kTile + kRows * kColumns<W>);
  W *of_x = held.get(), *of_h = of_x + tiles_for(inputs) * kTile,
    *corner = of_h + tiles_for(states) * kTile;
  int64_t end = part.step_end * s.batch;
  for (int64_t p = part.step * s.batch; p < end; p += kDepth) {
    int64_t depth = std::min(kDepth, end - p);
    for (int64_t k = 0; k < depth; ++k) {
      int64_t b = (p + k) % s.batch, t = (p + k) / s.batch;
      if (inputs > 0) tile_row(of<W>(s.x) + by_row(s, b, t) * size + part.row, inputs, k, of_x);
      if (states > 0) tile_row(row_before<W>(s, s.h0, s.h, b, t) + state, states, k, of_h);
    }
    auto sum = [&](const W* tiles, int64_t rows, const W* panel, int64_t width, W* to) {
      const W* coming = panel + panel_step<W>(s);
      int64_t share = (depth + tiles_for(rows) - 1) / tiles_for(rows), asked = 0;
      for_tiles(rows, [&](size_t height, int64_t i) {
        bool whole = width == kColumns<W>;
        W* c = to + i * n;
        // The next panel comes from afar: each tile asks for a share of it.
        for (int64_t last = std::min(asked + share, depth); asked < last; ++asked)
          __builtin_prefetch(coming + asked * kColumns<W>, 0, 2);
        kTilesOfSums<W>[height - 1](tiles, panel, depth, whole&& p > 0, whole ? c : corner,
                                    whole ? n : kColumns<W>);
        for (const W* row = corner; !whole && row < corner + height * kColumns<W>;
             row += kColumns<W>, c += n)
          for (int64_t j = 0; j < width; ++j) c[j] = p > 0 ? c[j] + row[j] : row[j];
        tiles += kTile;
      });
    };
    const W* panel = of<W>(s.d) + p * kColumns<W>;
    for (int g = 0; g < 4; ++g)
      for (int64_t j = 0; j < u; j += kColumns<W>, panel += panel_step<W>(s)) {
        int64_t width = std::min(kColumns<W>, u - j);
        int gk = s.kernel_gate[g], gr = s.recurrent_gate[g];
        if (gk >= 0 && inputs > 0)
          sum(of_x, inputs, panel, width, of<W>(s.kernel) + part.row * n + gk * u + j);
        if (gr >= 0 && states > 0)
          sum(of_h, states, panel, width, of<W>(s.recurrent) + state * n + gr * u + j);
      }
  }
}

// Rows and steps of `d` are one list of rows, some of which are multiplied at a time.
template <class W>
void input_sums(const InputSums& s, const Part& part) {
  constexpr int64_t kTogether = 8 * kRows;
  auto held = room<W>(kTogether * (s.size + kColumns<W>));
  W *made = held.get(), *strip = made + kTogether * s.size;
  int64_t begin = part.step * s.batch, end = part.step_end * s.batch;
  for (int64_t p = begin; p < end; p += kTogether) {
    int64_t rows = std::min(kTogether, end - p);
    times(of<W>(s.d) + p * kColumns<W>, panel_step<W>(s), rows, of<W>(s.weights),
          s.gates * padded<W>(s.units), s.size, made, s.size, strip);
    for (int64_t i = 0; i < rows; ++i)
      std::copy_n(made + i * s.size, s.size,
                  of<W>(s.dx) + by_row(s, (p + i) % s.batch, (p + i) / s.batch) * s.size);
  }
}

template <class W>
int64_t sums_size(const Sequence& s) {
  return 4 * panels<W>(s.units) * panel_step<W>(s);
}

template <class W>
void sum_rows(const SumRows& s) {
  int64_t u = s.units;
  W* to = of<W>(s.to);
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t t = 0; t < s.steps; ++t)
      for (int k = 0; k < s.count; ++k) {
        const W* from = of<W>(s.d) + s.parts[k] * panels<W>(u) * panel_step<W>(s) +
                        by_step(s, b, t) * kColumns<W>;
        for (int64_t j = 0; j < u; j += kColumns<W>, from += panel_step<W>(s))
          to = std::copy_n(from, std::min(kColumns<W>, u - j), to);
      }
}

template <class W>
Loops loops() {
  Loops out;
  out.packed_size = packed_size<W>;
  out.pack = pack<W>;
  out.lstm_forward = lstm_forward<W>;
  out.lstm_backward = lstm_backward<W>;
  out.lstm_tangent = lstm_tangent<W>;
  out.weight_sums = weight_sums<W>;
  out.input_sums = input_sums<W>;
  out.sums_size = sums_size<W>;
  out.sum_rows = sum_rows<W>;
  return out;
}

}  // namespace

recurrent::Table recurrent_table() {
  Table out{loops<float>(), loops<double>()};
  add_gru(out);
  return out;
}

}  // namespace holdfast::HOLDFAST_ISA
