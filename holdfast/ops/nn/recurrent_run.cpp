#include "holdfast/ops/nn/recurrent_run.h"

#include <algorithm>
#include <cstring>

#include "holdfast/base/interrupt.h"
#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/linalg/cpu/gemm.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::recurrent {
namespace {

// Fewer multiplications than this are not worth waking a thread.
constexpr double kWorthAThread = 64.0 * 64 * 64;
// So many take a core a twentieth of a second: then the run can be stopped.
constexpr double kMostAtOnce = 4e9;

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

Tensor packed_gates(const Call& c, const Tensor& recurrent, int gates) {
  const Loops& loops = loops_for(recurrent.dtype());
  int64_t u = recurrent.dim(0), size = loops.packed_size(u, u);
  Tensor out = c.scratch(recurrent.dtype(), {gates * size});
  for (int g = 0; g < gates; ++g)
    loops.pack(place(recurrent, g * u), gates * u, 1, u, u, place(out, g * size));
  return out;
}

Tensor packed_transposed(const Call& c, const Tensor& recurrent) {
  const Loops& loops = loops_for(recurrent.dtype());
  int64_t u = recurrent.dim(0), all = recurrent.dim(1);
  Tensor out = c.scratch(recurrent.dtype(), {loops.packed_size(all, u)});
  loops.pack(recurrent.raw(), 1, all, all, u, out.mutable_raw());
  return out;
}

Tensor states_before(const Call& c, const Tensor& first, const Tensor& states) {
  int64_t batch = states.dim(0), steps = states.dim(1), u = states.dim(2);
  Tensor out = c.scratch(states.dtype(), {batch * steps, u});
  auto row = static_cast<size_t>(u * size_of(states.dtype()));
  for (int64_t b = 0; steps > 0 && b < batch; ++b) {
    std::memcpy(place(out, b * steps * u), place(first, b * u), row);
    std::memcpy(place(out, (b * steps + 1) * u), place(states, b * steps * u),
                row * static_cast<size_t>(steps - 1));
  }
  return out;
}

Status sum_of_products(const Tensor& a, const Tensor& b, int64_t rows, const Tensor& to) {
  if (to.size() == 0) return {};
  if (rows == 0) {
    std::memset(to.mutable_raw(), 0, static_cast<size_t>(to.bytes()));
    return {};
  }
  return gemm::multiply({to.dtype(), to.dim(0), to.dim(1), rows, {.transposed = true}, {}}, {},
                        a.raw(), b.raw(), to.mutable_raw());
}

void copy_last(const Tensor& states, const Tensor& first, const Tensor& to) {
  int64_t steps = states.dim(1), u = states.dim(2);
  if (steps == 0) return copy_or_zero(first, to);
  for (int64_t b = 0; b < to.dim(0); ++b)
    std::memcpy(place(to, b * u), place(states, ((b + 1) * steps - 1) * u),
                static_cast<size_t>(u * size_of(to.dtype())));
}

void copy_or_zero(const Tensor& from, const Tensor& to) {
  auto bytes = static_cast<size_t>(to.bytes());
  if (bytes == 0) return;
  if (from.defined())
    std::memcpy(to.mutable_raw(), from.raw(), bytes);
  else
    std::memset(to.mutable_raw(), 0, bytes);
}

void each_part(const Sequence& of, int64_t batch, int gates, bool backwards, PartFn run,
               void* env) {
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

Tensor shifted_in(const Tensor& first, const Tensor& states) {
  Tensor all = concat({expand_dims(first, 1), states}, 1);
  return slice(all, {0, 0, 0}, shape(states));
}

ShiftedBack shifted_back(const Tensor& t) {
  Tensor all = concat({t, zeros_like(slice(t, {0, 0, 0}, {-1, 1, -1}))}, 1);
  return {squeeze(slice(t, {0, 0, 0}, {-1, 1, -1}), {.axis = {1}}),
          slice(all, {0, 1, 0}, {-1, -1, -1})};
}

void refuse_third(const char* what) {
  fail(Code::E1105, cat("a third derivative of ", what, " is asked for"),
       "the kernel that runs all steps of a sequence has two",
       {manual_fix("set the layer's `unroll`: then it is made of ops that have all of them")});
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
