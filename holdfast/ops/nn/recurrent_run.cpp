#include "holdfast/ops/nn/recurrent_run.h"

#include <algorithm>
#include <cstring>

#include "holdfast/base/interrupt.h"
#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/fold.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::recurrent {
namespace {

// Fewer multiplications than this are not worth waking a thread.
constexpr double kWorthAThread = 64.0 * 64 * 64;
// So many take a core a twentieth of a second: then the run can be stopped.
constexpr double kMostAtOnce = 4e9;
// Rows of weights whose gradient is summed together: their tiles stay in the second cache.
constexpr int64_t kMostRows = 256;

char* place(const Tensor& t, int64_t element) {
  return static_cast<char*>(t.mutable_raw()) + element * size_of(t.dtype());
}

}  // namespace

const Loops& loops_for(DType d) {
  static const Table table = HOLDFAST_BEST_ISA(recurrent_table());
  return d == float32 ? table.f32 : table.f64;
}

void need_shape(const Infer& s, int i, const Shape& wanted) {
  if (s.has(i) && !s.shape(i).compatible(wanted)) s.bad_shape(i, wanted.text());
}

SequenceSizes sequence_sizes(const Infer& s, int x, int parts, int recurrent, int gates) {
  s.need_rank(x, 3, 3);
  s.need_rank(recurrent, 2, 2);
  SequenceSizes z{.gates = gates};
  const Shape &xs = s.shape(x), &rs = s.shape(recurrent);
  if (xs.has_rank()) {
    z.batch = xs[0];
    z.steps = xs[1];
    if (xs[2] >= 0 && xs[2] % parts == 0) z.units = xs[2] / parts;
  }
  if (rs.has_rank() && rs[0] >= 0) z.units = rs[0];
  need_shape(s, recurrent, z.weights());
  need_shape(s, x, z.each(parts));
  return z;
}

SequenceSizes input_sizes(const Infer& s, int x, int kernel, int recurrent, int gates) {
  if (!s.has(kernel)) return sequence_sizes(s, x, gates, recurrent, gates);
  s.need_rank(x, 3, 3);
  s.need_rank(kernel, 2, 2);
  s.need_rank(recurrent, 2, 2);
  SequenceSizes z{.gates = gates};
  const Shape &xs = s.shape(x), &ks = s.shape(kernel), &rs = s.shape(recurrent);
  int64_t size = kUnknown;
  if (xs.has_rank()) {
    z.batch = xs[0];
    z.steps = xs[1];
    size = xs[2];
  }
  if (ks.has_rank() && ks[1] >= 0 && ks[1] % gates == 0) z.units = ks[1] / gates;
  if (rs.has_rank() && rs[0] >= 0) z.units = rs[0];
  need_shape(s, recurrent, z.weights());
  need_shape(s, kernel, {size, z.times(gates)});
  return z;
}

InputGradients input_gradients(const Infer& s, const SequenceSizes& z, int x, int kernel,
                               bool x_wanted) {
  if (!s.has(kernel)) return {z.each(z.gates), {0, 0}};
  need_shape(s, x, {z.batch, z.steps, kUnknown});
  int64_t size = s.shape(x).has_rank() ? s.shape(x)[2] : kUnknown;
  need_shape(s, kernel, {size, z.times(z.gates)});
  return {x_wanted ? Shape{z.batch, z.steps, size} : Shape{0, 0, 0}, {size, z.times(z.gates)}};
}

Tensor packed_gates(const Call& c, const Tensor& kernel, const Tensor& recurrent, int gates) {
  const Loops& loops = loops_for(recurrent.dtype());
  int64_t u = recurrent.dim(0), size = kernel.defined() ? kernel.dim(0) : 0, depth = size + u,
          whole = loops.packed_size(depth, u);
  Tensor out = c.scratch(recurrent.dtype(), {gates * whole});
  for (int g = 0; g < gates; ++g) {
    char* to = place(out, g * whole);
    if (size > 0) loops.pack(place(kernel, g * u), gates * u, 1, size, u, to, 0, depth);
    loops.pack(place(recurrent, g * u), gates * u, 1, u, u, to, size, depth);
  }
  return out;
}

Tensor packed_transposed(const Call& c, const Tensor& weights, std::initializer_list<int> gates) {
  const Loops& loops = loops_for(weights.dtype());
  auto count = static_cast<int64_t>(gates.size());
  int64_t n = weights.dim(0), all = weights.dim(1), u = all / count, each = loops.packed_size(1, u),
          depth = count * each;
  Tensor out = c.scratch(weights.dtype(), {loops.packed_size(depth, n)});
  if (each > u) copy_or_zero({}, out);  // rows that no unit has
  int64_t first = 0;
  for (int g : gates) {
    loops.pack(place(weights, g * u), 1, all, u, n, out.mutable_raw(), first, depth);
    first += each;
  }
  return out;
}

Tensor room_for_sums(const Call& c, DType d, const Sequence& s) {
  return c.scratch(d, {loops_for(d).sums_size(s)});
}

void sum_weights(const Tensor& kernel, const Tensor& recurrent, WeightSums s) {
  if (recurrent.size() == 0 || s.batch == 0 || s.steps == 0) {
    copy_or_zero({}, kernel);
    copy_or_zero({}, recurrent);
    return;
  }
  s.kernel = kernel.mutable_raw();
  s.recurrent = recurrent.mutable_raw();
  const Loops& loops = loops_for(recurrent.dtype());
  int64_t all = s.size + s.units;
  double row = static_cast<double>(s.units) * s.gates * static_cast<double>(s.batch),
         sequence = row * static_cast<double>(s.steps), step = row * static_cast<double>(all);
  // Each sum is made of the same parts, whoever makes it.
  auto least = static_cast<int64_t>(std::min(kWorthAThread / sequence, 1e9)) + 1;
  int64_t rows = std::clamp((all + num_threads() - 1) / num_threads(), std::min(least, all),
                            std::max(least, kMostRows)),
          steps = std::clamp<int64_t>(static_cast<int64_t>(kMostAtOnce / step), 1, s.steps);
  for (int64_t t = 0; t < s.steps; t += steps) {
    parallel_for(all, rows, [&](int64_t begin, int64_t end) {
      loops.weight_sums(s, {begin, end, t, std::min(t + steps, s.steps)});
    });
    if (steps < s.steps) check_interrupt();
  }
}

void sum_inputs(const Tensor& dx, const InputSums& given) {
  if (dx.size() == 0) return;
  if (given.units == 0) return copy_or_zero({}, dx);
  InputSums s = given;
  s.dx = dx.mutable_raw();
  const Loops& loops = loops_for(dx.dtype());
  double step = static_cast<double>(s.units) * s.gates * static_cast<double>(s.batch) *
                static_cast<double>(s.size);
  auto least = static_cast<int64_t>(std::min(kWorthAThread / step, 1e9)) + 1,
       most = static_cast<int64_t>(std::min(kMostAtOnce / step, 1e9)) + 1;
  int64_t steps =
      std::clamp((s.steps + num_threads() - 1) / num_threads(), std::min(least, s.steps), most);
  for (int64_t t = 0, count = steps * num_threads(); t < s.steps; t += count) {
    parallel_for(std::min(count, s.steps - t), steps, [&](int64_t begin, int64_t end) {
      loops.input_sums(s, {0, s.batch, t + begin, t + end});
    });
    if (count < s.steps) check_interrupt();
  }
}

void copy_sums(const Sequence& of, const Tensor& d, std::initializer_list<int> parts,
               const Tensor& to) {
  if (to.size() == 0) return;
  SumRows s;
  static_cast<Sequence&>(s) = of;
  s.d = d.raw();
  for (int part : parts) s.parts[s.count++] = part;
  s.to = to.mutable_raw();
  loops_for(to.dtype()).sum_rows(s);
}

void copy_parts(const Tensor& row, std::initializer_list<int> parts, const Tensor& to) {
  int64_t u = row.dim(0) / 4, at = 0;
  for (int part : parts) {
    std::memcpy(place(to, at), place(row, part * u), static_cast<size_t>(u * size_of(row.dtype())));
    at += u;
  }
}

void sum_rows(const Tensor& t, const Tensor& to) {
  if (t.size() == 0) return copy_or_zero({}, to);
  int64_t axis = 0;
  fold(Fold::kSum, t, {&axis, 1}, to);
}

Tensor zeroed(const Call& c, DType d, const Shape& shape) {
  Tensor out = c.scratch(d, shape);
  copy_or_zero({}, out);
  return out;
}

void copy_last(const Tensor& states, const Tensor& first, const Tensor& to) {
  int64_t steps = states.dim(1), u = states.dim(2);
  if (steps == 0) return copy_or_zero(first, to);
  for (int64_t b = 0; b < to.dim(0); ++b)
    std::memcpy(place(to, b * u), place(states, ((b + 1) * steps - 1) * u),
                static_cast<size_t>(u * size_of(to.dtype())));
}

void copy_last_step(const Tensor& states, const Tensor& first, const Tensor& to) {
  int64_t steps = states.dim(0);
  if (steps == 0 || to.size() == 0) return copy_or_zero(first, to);
  std::memcpy(to.mutable_raw(), place(states, (steps - 1) * to.size()),
              static_cast<size_t>(to.bytes()));
}

void copy_or_zero(const Tensor& from, const Tensor& to) {
  auto bytes = static_cast<size_t>(to.bytes());
  if (bytes == 0) return;
  if (from.defined())
    std::memcpy(to.mutable_raw(), from.raw(), bytes);
  else
    std::memset(to.mutable_raw(), 0, bytes);
}

void each_part(const Sequence& of, int gates, bool backwards, PartFn run, void* env) {
  int64_t batch = of.batch;
  if (batch == 0 || of.steps == 0 || of.units == 0) return;
  double step = static_cast<double>(of.units) * static_cast<double>(of.units) * gates,
         row = step * static_cast<double>(of.steps);
  // A row gives the same whoever computes it, so the cut may follow the number of threads.
  auto least = static_cast<int64_t>(std::min(kWorthAThread / row, 1e9)) + 1;
  int64_t rows = std::max((batch + num_threads() - 1) / num_threads(), std::min(least, batch));
  auto steps = std::clamp<int64_t>(
      static_cast<int64_t>(kMostAtOnce / (step * static_cast<double>(batch))), 1, of.steps);
  for (int64_t done = 0; done < of.steps; done += steps) {
    int64_t count = std::min(steps, of.steps - done),
            first = backwards ? of.steps - done - count : done;
    parallel_for(batch, rows,
                 [&](int64_t begin, int64_t end) { run(env, {begin, end, first, first + count}); });
    if (steps < of.steps) check_interrupt();
  }
}

Tensor turned(const Tensor& t) { return transpose(t, {.perm = {1, 0, 2}}); }

Tensor shifted_in(const Tensor& first, const Tensor& states) {
  Tensor all = concat({expand_dims(first, 1), states}, 1);
  return slice(all, {0, 0, 0}, shape(states));
}

ShiftedBack shifted_back(const Tensor& t) {
  Tensor all = concat({t, zeros_like(slice(t, {0, 0, 0}, {-1, 1, -1}))}, 1);
  return {squeeze(slice(t, {0, 0, 0}, {-1, 1, -1}), {.axis = {1}}),
          slice(all, {0, 1, 0}, {-1, -1, -1})};
}

Tensor sum_of_products(const Tensor& p, const Tensor& q) {
  auto rows = [](const Tensor& t) { return reshape(t, Sizes(stack({-1, at(shape(t), 2)}))); };
  return matmul(rows(p), rows(q), {.transpose_a = true});
}

Tensor change_of_sums(const Grad& g, const InputPlaces& at) {
  Tensor out = g.dy(at.dbias);
  if (!g.has_x(at.kernel)) return out + g.dy(at.dx);
  if (g.has_dy(at.dx)) out = out + matmul(g.dy(at.dx), g.x(at.kernel));
  if (g.has_dy(at.dkernel)) out = out + matmul(g.x(at.x), g.dy(at.dkernel));
  return out;
}

void add_input_gradients(const Grad& g, const InputPlaces& at, const Tensor& d, Tensors& out) {
  if (g.has_x(at.kernel)) {
    bool of_x = g.has_dy(at.dx), of_kernel = g.has_dy(at.dkernel);
    out.push_back(of_kernel ? matmul(d, g.dy(at.dkernel), {.transpose_b = true}) : Tensor());
    out.push_back(of_x ? sum_of_products(g.dy(at.dx), d) : Tensor());
  }
  out.resize(static_cast<size_t>(g.inputs()));
}

void refuse_third(const char* what) {
  fail(Code::E1105, cat("a third derivative of ", what, " is asked for"),
       "the kernel that runs all steps of a sequence has two",
       {manual_fix("set the layer's `unroll`: then it is made of ops that have all of them")});
}

bool wants_only(const Grad& g, int first, int end) {
  for (int i = 0; i < g.inputs(); ++i)
    if ((i < first || i >= end) && g.wants(i)) return false;
  return true;
}

Tensor last_change(const Tensor& first, const Tensor& states) {
  Tensor all = concat({expand_dims(first, 1), states}, 1);
  Tensor place = stack({0, at(shape(all), 1) - 1, 0});
  return squeeze(slice(all, Sizes(place), {-1, 1, -1}), {.axis = {1}});
}

Tensor where_moving(const Tensor& mask, const Tensor& t) {
  return mask.defined() ? select(expand_dims(mask, -1), t, zeros_like(t)) : t;
}

}  // namespace holdfast::recurrent
