// GRU over whole sequences, the reset gate after the product.
#include "holdfast/ops/nn/cpu/recurrent_steps.h"

namespace holdfast::HOLDFAST_ISA {
namespace {

template <class W>
void gru_forward(const GruForward& s, const Part& part) {
  Sums<W> sums(s, 3, part, s.h0, s.h);
  int64_t u = s.units, rows = sums.rows(), strip = rows * kColumns<W>, each = padded<W>(u);
  auto held = room<W>(4 * strip + 3 * each);
  W *strips = held.get(), *inner_bias = strips + 4 * strip;
  pad_bias(s.inner_bias, 3, u, inner_bias);
  add_to(inner_bias, 2 * each, sums.bias(0));
  for (int64_t t = part.step; t < part.step_end; ++t) {
    sums.begin(t);
    for (int64_t p = 0; p < panels<W>(u); ++p) {
      int64_t first = p * kColumns<W>, width = std::min(kColumns<W>, u - first);
      // These lines are written when the products are there.
      for (int64_t i = 0; i < rows; ++i)
        for (int g = 0; g < 4; ++g)
          fetch_to_write(of<W>(s.gates) + (by_step(s, part.row + i, t) * 4 + g) * u + first, width);
      const W* inner = inner_bias + 2 * each + first;
      if (!sums.template of_one_row<3>(p, inner, strips)) {
        sums.of_all(0, p, strips);
        sums.of_all(1, p, strips + strip);
        sums.of_state(2, p, {inner, 0}, strips + 2 * strip);
      }
      sums.of_inputs(2, p, strips + 3 * strip);
      sigmoid_all(strips, 2 * strip);
      {
        const W* __restrict r = strips + strip;
        const W* __restrict q = strips + 2 * strip;
        W* __restrict n = strips + 3 * strip;
#pragma GCC ivdep
        for (int64_t j = 0; j < strip; ++j) n[j] += r[j] * q[j];
      }
      tanh_all(strips + 3 * strip, strip);
      for (int64_t i = 0; i < rows; ++i) {
        int64_t b = part.row + i;
        const W* __restrict old = sums.now(i) + first;
        const W* __restrict z = strips + i * kColumns<W>;
        W* __restrict to = sums.next(i) + first;
        W* gates = of<W>(s.gates) + by_step(s, b, t) * 4 * u + first;
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
      }
    }
    sums.end(s.h);
  }
}

template <class W>
void gru_backward(const GruBackward& s, const Part& part) {
  int64_t u = s.units, rows = part.row_end - part.row, each = padded<W>(u);
  auto held = room<W>(rows * u + rows * kColumns<W> + 4 * u + 4 * each);
  W *sums = held.get(), *strip = sums + rows * u,
    *none = strip + rows * kColumns<W>, *__restrict d = none + 4 * u;
  std::fill_n(none, 4 * u, W(0));
  std::fill_n(d, 4 * each, W(0));
  for (int64_t t = part.step_end - 1; t >= part.step; --t) {
    for (int64_t i = 0; i < rows; ++i) {
      int64_t b = part.row + i, at = by_step(s, b, t);
      W* __restrict h_sum = of<W>(s.h_sum) + b * u;
      add_row(s, s.dh, by_row(s, b, t), h_sum);
      if (s.dh_all) std::copy_n(h_sum, u, of<W>(s.dh_all) + by_row(s, b, t) * u);
      if (stands_still(s, b, t)) {
        std::fill_n(d, 4 * each, W(0));
      } else {
        const W* __restrict gates = of<W>(s.gates) + at * 4 * u;
        const W* __restrict more = s.dgates ? of<W>(s.dgates) + at * 4 * u : none;
        const W* __restrict old = row_before<W>(s, s.h0, s.h, b, t);
        if (i + kRowsAhead < rows) {
          if (s.dh) fetch(of<W>(s.dh) + by_row(s, b + kRowsAhead, t) * u, u);
          fetch(row_before<W>(s, s.h0, s.h, b + kRowsAhead, t), u);
          fetch(gates + kRowsAhead * 4 * u, 4 * u);
        }
#pragma GCC ivdep
        for (int64_t j = 0; j < u; ++j) {
          W z = gates[j], r = gates[u + j], n = gates[2 * u + j], q = gates[3 * u + j];
          W dh = h_sum[j];
          W dn = (dh * (1 - z) + more[2 * u + j]) * (1 - n * n);
          d[j] = dn;
          d[each + j] = (dh * (old[j] - n) + more[j]) * (z * (1 - z));
          d[2 * each + j] = (dn * q + more[u + j]) * (r * (1 - r));
          d[3 * each + j] = dn * r + more[3 * u + j];
          h_sum[j] = dh * z;
        }
        add_sums(s, d, b, s.bias_sums);
      }
      put_sums(s, d, b, t, s.d);
    }
    times(of<W>(s.d) + panels<W>(u) * panel_step<W>(s) + by_step(s, part.row, t) * kColumns<W>,
          panel_step<W>(s), rows, of<W>(s.weights), 3 * padded<W>(u), u, sums, u, strip);
    add_to(sums, rows * u, of<W>(s.h_sum) + part.row * u);
  }
}

template <class W>
void gru_tangent(const GruTangent& s, const Part& part) {
  int64_t u = s.units, rows = part.row_end - part.row;
  auto held = room<W>(2 * rows * u + 3 * rows * kColumns<W>);
  W *now = held.get(), *next = now + rows * u, *strips = next + rows * u;
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(row_before<W>(s, s.h0, s.th, part.row + i, part.step), u, now + i * u);
  for (int64_t t = part.step; t < part.step_end; ++t) {
    for_blocks<W>(s, 3, now, rows, strips, [&](int64_t first, int64_t width, int64_t strip) {
      for (int64_t i = 0; i < rows; ++i) {
        const W* inner = strips + i * kColumns<W>;
        int64_t b = part.row + i, at = by_row(s, b, t);
        const W* __restrict th_old = now + i * u + first;
        W* __restrict th = of<W>(s.th) + at * u + first;
        W* __restrict to = next + i * u + first;
        if (stands_still(s, b, t)) {
          std::copy_n(th_old, width, to);
          std::copy_n(th_old, width, th);
          continue;
        }
        const W* __restrict gates = of<W>(s.gates) + by_step(s, b, t) * 4 * u + first;
        const W* __restrict old = row_before<W>(s, s.first_h, s.h, b, t) + first;
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
void add_to_table(Loops& out) {
  out.gru_forward = gru_forward<W>;
  out.gru_backward = gru_backward<W>;
  out.gru_tangent = gru_tangent<W>;
}

}  // namespace

void add_gru(recurrent::Table& table) {
  add_to_table<float>(table.f32);
  add_to_table<double>(table.f64);
}

}  // namespace holdfast::HOLDFAST_ISA
