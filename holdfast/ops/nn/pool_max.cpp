// Kernels of max pools. Channels come last; of several largest elements the first one counts.
#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/nn/cpu/pool_loops.h"
#include "holdfast/ops/nn/pool_shape.h"

namespace holdfast::nn {
namespace {

// Calls `f(position in the image)` for the cells under the window of output `o` of one image.
template <class F>
void for_cells(const Window& w, int64_t o, F&& f) {
  int64_t d = o / (w.out[1] * w.out[2]), h = o / w.out[2] % w.out[1], x = o % w.out[2];
  auto [d0, d1] = w.inside(0, d);
  auto [h0, h1] = w.inside(1, h);
  auto [x0, x1] = w.inside(2, x);
  for (int64_t i = d0; i < d1; ++i)
    for (int64_t j = h0; j < h1; ++j) {
      int64_t z = d * w.stride[0] - w.before[0] + i, y = h * w.stride[1] - w.before[1] + j;
      int64_t at = (z * w.in[1] + y) * w.in[2] + x * w.stride[2] - w.before[2];
      for (int64_t k = x0; k < x1; ++k) f(at + k);
    }
}

template <class T>
void forward(const Window& w, const T* image, T* out) {
  const auto& loops = pool_loops<T>();
  int64_t n = w.channels;
  parallel_for(w.batch * w.positions(), grain_for(w.cells() * n), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const T* from = image + p / w.positions() * w.in_positions() * n;
      T* best = out + p * n;
      if (loops.most_of_four && w.cells() == 4) {
        const T* cells[4];
        int found = 0;
        for_cells(w, p % w.positions(), [&](int64_t at) { cells[found++] = from + at * n; });
        if (found == 4) {
          loops.most_of_four(cells, best, n);
          continue;
        }
      }
      bool first = true;
      for_cells(w, p % w.positions(), [&](int64_t at) {
        if (first)
          std::memcpy(best, from + at * n, static_cast<size_t>(n) * sizeof(T));
        else
          loops.most(from + at * n, best, n);
        first = false;
      });
    }
  });
}

// What one thread needs to find the largest elements of a window, and where they are.
template <class T>
class Finder {
 public:
  Finder(const Window& w, int64_t channels)
      : w_(w),
        best(static_cast<size_t>(channels)),
        at_(best.size()),
        cells_(static_cast<size_t>(w.cells())) {}

  // Looks at `count` channels from `image` on, an image of one batch entry.
  void find(const T* image, int64_t output, int64_t count) {
    int32_t tap = 0;
    for_cells(w_, output, [&](int64_t cell) {
      const T* x = image + cell * w_.channels;
      cells_[static_cast<size_t>(tap)] = cell;
      if (tap == 0) {
        std::copy_n(x, count, best.data());  // also of nothing, where an image has no channels
        std::fill_n(at_.begin(), count, 0);
      } else {
        loops_.most_at(x, tap, best.data(), at_.data(), count);
      }
      ++tap;
    });
    taps_ = tap;
  }
  // Does all three for a window of four cells whose gradient nobody else adds to: what arrives goes
  // to `to`. False: it has other cells, and nothing was done.
  bool spread(const T* image, const T* up, T* to, int64_t output, int64_t count) const {
    if (!loops_.spread_over_four || w_.cells() != 4) return false;
    const T* x[4];
    T* at[4];
    int found = 0;
    for_cells(w_, output, [&](int64_t cell) {
      x[found] = image + cell * w_.channels;
      at[found++] = to + cell * w_.channels;
    });
    if (found == 4) loops_.spread_over_four(x, up, at, count);
    return found == 4;
  }
  // Clears the cells that were looked at, which lie `step` apart.
  void clear(T* to, int64_t step, int64_t count) const {
    for (int32_t tap = 0; tap < taps_; ++tap)
      std::memset(to + cells_[static_cast<size_t>(tap)] * step, 0,
                  static_cast<size_t>(count) * sizeof(T));
  }
  // Adds what arrives for the window to the cells that were found, which lie `step` apart. Tap by
  // tap: all channels at once beat finding each one's cell.
  void give(const T* up, float_of<T>* to, int64_t step, int64_t count) const {
    for (int32_t tap = 0; tap < taps_; ++tap)
      loops_.add_where(up, at_.data(), tap, to + cells_[static_cast<size_t>(tap)] * step, count);
  }
  int64_t cell(int64_t channel) const {
    return cells_[static_cast<size_t>(at_[static_cast<size_t>(channel)])];
  }

 private:
  const Window& w_;
  const PoolLoops<T>& loops_ = pool_loops<T>();

 public:
  std::vector<T> best;

 private:
  std::vector<int32_t> at_;
  std::vector<int64_t> cells_;
  int32_t taps_ = 0;
};

// The cells of an image that no window looks at.
std::vector<int64_t> unseen_cells(const Window& w) {
  std::vector<bool> seen(static_cast<size_t>(w.in_positions()));
  for (int64_t o = 0; o < w.positions(); ++o)
    for_cells(w, o, [&](int64_t at) { seen[static_cast<size_t>(at)] = true; });
  std::vector<int64_t> out;
  for (size_t i = 0; i < seen.size(); ++i)
    if (!seen[i]) out.push_back(static_cast<int64_t>(i));
  return out;
}

bool windows_overlap(const Window& w) {
  for (int i = 0; i < 3; ++i)
    if (w.stride[i] < w.size[i]) return true;
  return false;
}

// Windows overlap, so a block of channels of one image is one thread's. Sums of 16-bit floats are
// kept in float until the image is done. Where windows do not overlap, `dx` may be `image`.
template <class T>
void backward(const Window& w, const T* image, const T* dy, T* dx) {
  using W = float_of<T>;
  constexpr int64_t kBlock = 64;
  int64_t n = w.channels, blocks = (n + kBlock - 1) / kBlock, cells = w.in_positions();
  bool overlap = windows_overlap(w);
  std::vector<int64_t> unseen = overlap ? std::vector<int64_t>() : unseen_cells(w);
  parallel_for(w.batch * blocks, grain_for(w.positions() * w.cells() * std::min(n, kBlock)),
               [&](int64_t begin, int64_t end) {
                 Finder<T> finder(w, std::min(n, kBlock));
                 std::vector<W> sums(
                     std::is_same_v<W, T> ? 0 : static_cast<size_t>(cells * std::min(n, kBlock)));
                 for (int64_t piece = begin; piece < end; ++piece) {
                   int64_t b = piece / blocks, from = piece % blocks * kBlock,
                           count = std::min(kBlock, n - from);
                   const T* x = image + b * cells * n + from;
                   const T* up = dy + b * w.positions() * n + from;
                   T* to = dx + b * cells * n + from;
                   if constexpr (std::is_same_v<W, T>) {
                     auto clear = [&](int64_t cell) {
                       std::memset(to + cell * n, 0, static_cast<size_t>(count) * sizeof(T));
                     };
                     if (overlap)
                       for (int64_t i = 0; i < cells; ++i) clear(i);
                     for (int64_t cell : unseen) clear(cell);
                     for (int64_t o = 0; o < w.positions(); ++o) {
                       if (!overlap && finder.spread(x, up + o * n, to, o, count)) continue;
                       finder.find(x, o, count);
                       if (!overlap) finder.clear(to, n, count);
                       finder.give(up + o * n, to, n, count);
                     }
                   } else {
                     std::fill(sums.begin(), sums.end(), W(0));
                     for (int64_t o = 0; o < w.positions(); ++o) {
                       finder.find(x, o, count);
                       finder.give(up + o * n, sums.data(), count, count);
                     }
                     for (int64_t i = 0; i < cells; ++i)
                       for (int64_t c = 0; c < count; ++c)
                         to[i * n + c] = static_cast<T>(sums[static_cast<size_t>(i * count + c)]);
                   }
                 }
               });
}

// Calls `f(output, channel, index in the batch entry, largest)` for all outputs.
template <class T, class F>
void find_largest(const Window& w, const T* image, F&& f) {
  int64_t n = w.channels;
  parallel_for(w.batch * w.positions(), grain_for(w.cells() * n), [&](int64_t begin, int64_t end) {
    Finder<T> finder(w, n);
    for (int64_t p = begin; p < end; ++p) {
      finder.find(image + p / w.positions() * w.in_positions() * n, p % w.positions(), n);
      for (int64_t c = 0; c < n; ++c)
        f(p, c, finder.cell(c) * n + c, finder.best[static_cast<size_t>(c)]);
    }
  });
}

// Cells under a window are counted in 32 bits.
Status check_cells(const Call& c, const Window& w) {
  if (w.cells() <= std::numeric_limits<int32_t>::max()) return {};
  return Status(Code::E1105,
                cat(c.op.name, ": a window over more than 2^31 elements is not supported"));
}

}  // namespace

Status run_max_pool(Call& c) {
  Window w = with_channels_last(pool_shape(nullptr, window_args(c.op, c.attrs()), c.in().shape()));
  Tensor& y = c.out();
  visit_reals(y.dtype(), [&]<class T>(T) { forward(w, c.in().raw<T>(), y.mutable_raw<T>()); });
  return {};
}

Status run_max_pool_grad(Call& c) {
  Window w = with_channels_last(pool_shape(nullptr, window_args(c.op, c.attrs()), c.in().shape()));
  if (Status s = check_cells(c, w); !s.ok()) return s;
  Tensor& dx = c.out();
  visit_reals(dx.dtype(), [&]<class T>(T) {
    backward(w, c.in(0).raw<T>(), c.in(2).raw<T>(), dx.mutable_raw<T>());
  });
  return {};
}

Status run_max_pool_grad_grad(Call& c) {
  Window w = with_channels_last(pool_shape(nullptr, window_args(c.op, c.attrs()), c.in().shape()));
  if (Status s = check_cells(c, w); !s.ok()) return s;
  Tensor& y = c.out();
  int64_t n = w.channels, entry = w.in_positions() * n;
  visit_reals(y.dtype(), [&]<class T>(T) {
    const T* up = c.in(2).raw<T>();
    T* to = y.mutable_raw<T>();
    find_largest(w, c.in(0).raw<T>(), [&](int64_t p, int64_t ch, int64_t index, T) {
      to[p * n + ch] = up[p / w.positions() * entry + index];
    });
  });
  return {};
}

Status run_max_pool_with_argmax(Call& c) {
  auto attrs = c.attrs<ArgmaxPoolAttrs>();
  Window w =
      argmax_pool_shape(nullptr, attrs.ksize(), attrs.strides(), attrs.padding(), c.in().shape());
  if (Status s = check_cells(c, w); !s.ok()) return s;
  bool batch = attrs.include_batch_in_index();
  Tensor &y = c.out(0), &where = c.out(1);
  int64_t n = w.channels, entry = w.in_positions() * n;
  // A pool over channels has a batch of all positions; indices count from the image's first.
  int64_t images = c.in().dim(0), whole = images ? w.batch / images : 1;
  visit_indices(where.dtype(), [&]<class I>(I) {
    visit_reals(y.dtype(), [&]<class T>(T) {
      I* at = where.mutable_raw<I>();
      T* to = y.mutable_raw<T>();
      find_largest(w, c.in().raw<T>(), [&](int64_t p, int64_t ch, int64_t index, T largest) {
        to[p * n + ch] = largest;
        int64_t part = p / w.positions();
        at[p * n + ch] = static_cast<I>(index + (batch ? part : part % whole) * entry);
      });
    });
  });
  return {};
}

}  // namespace holdfast::nn
