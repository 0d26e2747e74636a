// Kernels of mean pools. Channels come last; one thread sums an element, in the order of taps.
#include <algorithm>
#include <vector>

#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/ops/nn/cpu/pool_loops.h"
#include "holdfast/ops/nn/pool_shape.h"

namespace holdfast::nn {
namespace {

struct Range {
  int64_t begin, end;
};
Range of(std::pair<int64_t, int64_t> p) { return {p.first, p.second}; }

// The outputs along `axis` whose window holds input `i`.
Range readers(const Window& w, size_t axis, int64_t i) {
  int64_t at = i + w.before[axis], first = at - w.size[axis] + 1;
  return {first <= 0 ? 0 : (first + w.stride[axis] - 1) / w.stride[axis],
          std::min(w.out[axis], at / w.stride[axis] + 1)};
}

template <class T>
void forward(const Window& w, const T* image, T* out) {
  using W = float_of<T>;
  const auto& loops = pool_loops<T>();
  int64_t n = w.channels, area = w.out[1] * w.out[2];
  parallel_for(w.batch * w.positions(), grain_for(w.cells() * n), [&](int64_t begin, int64_t end) {
    std::vector<W> sum(static_cast<size_t>(n));
    for (int64_t p = begin; p < end; ++p) {
      int64_t b = p / w.positions(), d = p / area % w.out[0], h = p / w.out[2] % w.out[1],
              x = p % w.out[2];
      Range rd = of(w.inside(0, d)), rh = of(w.inside(1, h)), rw = of(w.inside(2, x));
      std::fill(sum.begin(), sum.end(), W(0));
      for (int64_t i = rd.begin; i < rd.end; ++i)
        for (int64_t j = rh.begin; j < rh.end; ++j)
          for (int64_t k = rw.begin; k < rw.end; ++k) {
            int64_t z = d * w.stride[0] - w.before[0] + i, y = h * w.stride[1] - w.before[1] + j,
                    c = x * w.stride[2] - w.before[2] + k;
            loops.add(image + (((b * w.in[0] + z) * w.in[1] + y) * w.in[2] + c) * n, W(1),
                      sum.data(), n);
          }
      W count = static_cast<W>((rd.end - rd.begin) * (rh.end - rh.begin) * (rw.end - rw.begin));
      for (int64_t c = 0; c < n; ++c)
        out[p * n + c] = static_cast<T>(sum[static_cast<size_t>(c)] / count);
    }
  });
}

template <class T>
void backward(const Window& w, const T* dy, T* image) {
  using W = float_of<T>;
  const auto& loops = pool_loops<T>();
  int64_t n = w.channels, area = w.in[1] * w.in[2];
  auto cells = [&](int axis, int64_t o) {
    auto r = w.inside(axis, o);
    return r.second - r.first;
  };
  parallel_for(w.batch * w.in_positions(), grain_for(w.cells() * n),
               [&](int64_t begin, int64_t end) {
                 std::vector<W> sum(static_cast<size_t>(n));
                 for (int64_t p = begin; p < end; ++p) {
                   int64_t b = p / w.in_positions();
                   Range rd = readers(w, 0, p / area % w.in[0]),
                         rh = readers(w, 1, p / w.in[2] % w.in[1]), rw = readers(w, 2, p % w.in[2]);
                   std::fill(sum.begin(), sum.end(), W(0));
                   for (int64_t d = rd.begin; d < rd.end; ++d)
                     for (int64_t h = rh.begin; h < rh.end; ++h)
                       for (int64_t x = rw.begin; x < rw.end; ++x)
                         loops.add(dy + (((b * w.out[0] + d) * w.out[1] + h) * w.out[2] + x) * n,
                                   W(1) / static_cast<W>(cells(0, d) * cells(1, h) * cells(2, x)),
                                   sum.data(), n);
                   for (int64_t c = 0; c < n; ++c)
                     image[p * n + c] = static_cast<T>(sum[static_cast<size_t>(c)]);
                 }
               });
}

}  // namespace

Status run_avg_pool(Call& c) {
  Window w = with_channels_last(pool_shape(nullptr, window_args(c.op, c.attrs()), c.in().shape()));
  Tensor& y = c.out();
  visit_floats(y.dtype(), [&]<class T>(T) { forward(w, c.in().raw<T>(), y.mutable_raw<T>()); });
  return {};
}

Status run_avg_pool_grad(Call& c) {
  Tensor& dx = c.out();
  Window w = with_channels_last(pool_shape(nullptr, window_args(c.op, c.attrs()), dx.shape()));
  visit_floats(dx.dtype(), [&]<class T>(T) { backward(w, c.in(1).raw<T>(), dx.mutable_raw<T>()); });
  return {};
}

}  // namespace holdfast::nn
