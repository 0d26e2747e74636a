#include "holdfast/ops/math/fold.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"

namespace holdfast {
namespace {

constexpr int64_t kWork = 32768;      // elements worth handing to a thread
constexpr int64_t kMostWidth = 2048;  // columns that one unit folds, so that its cells stay in L1
constexpr int64_t kMostUnits = 64;    // units joined one after another

int64_t pieces(int64_t n, int64_t size) { return (n + size - 1) / size; }

// Axes of the same fate, joined: sizes and strides from the outside in.
struct Axis {
  int64_t size, stride;
};
using AxisList = InlineVector<Axis, 4>;

int64_t offset(const AxisList& axes, int64_t index) {
  int64_t at = 0;
  for (size_t k = axes.size(); k-- > 0;) {
    at += index % axes[k].size * axes[k].stride;
    index /= axes[k].size;
  }
  return at;
}
int64_t count(const AxisList& axes) {
  int64_t n = 1;
  for (const Axis& a : axes) n *= a.size;
  return n;
}

// The input as (kept, folded, kept, ...) axes, the innermost of which decides how memory is walked:
// along rows where it is folded, down columns where it is kept.
struct Layout {
  AxisList kept, folded;  // without the innermost ones below
  bool rows = false;
  int64_t width = 1;  // columns side by side; 1 for rows
  Axis inner{1, 1};   // innermost folded axis

  Layout(const Shape& shape, std::span<const int64_t> axes) {
    int64_t stride = 1;
    int last = -1;
    AxisList joined[2];  // kept, folded; inside out
    bool innermost_folded = false;
    for (int i = shape.rank() - 1; i >= 0; --i) {
      int64_t size = shape[i];
      if (size == 1) continue;
      int gone = std::find(axes.begin(), axes.end(), int64_t{i}) != axes.end();
      if (last < 0) innermost_folded = gone;
      if (gone == last)
        joined[gone].back().size *= size;
      else
        joined[gone].push_back({size, stride});
      last = gone;
      stride *= size;
    }
    rows = innermost_folded;
    if (!rows && !joined[0].empty()) {
      width = joined[0].front().size;
      joined[0].erase(0);
    }
    if (!joined[1].empty()) {
      inner = joined[1].front();
      joined[1].erase(0);
    } else {
      inner = {1, width};
    }
    for (size_t k = joined[0].size(); k-- > 0;) kept.push_back(joined[0][k]);
    for (size_t k = joined[1].size(); k-- > 0;) folded.push_back(joined[1][k]);
  }
};

class Folding {
 public:
  Folding(const FoldLoops& loops, const Tensor& x, const Layout& l, const Tensor& y)
      : f_(loops),
        l_(l),
        x_(static_cast<const char*>(x.raw())),
        y_(static_cast<char*>(y.mutable_raw())),
        element_(size_of(x.dtype())),
        out_(size_of(y.dtype())),
        cells_(count(l.kept)),
        folds_(x.size() / y.size()) {
    piece_ = l.rows ? kFoldPiece : std::clamp<int64_t>(kWork / l.width, 64, 4096);
    across_ = pieces(l.width, kMostWidth);
    along_ = pieces(l.inner.size, piece_);
    units_ = count(l.folded) * along_;
    int64_t unit = std::min(l.inner.size, piece_) * std::min(l.width, kMostWidth);
    group_ = std::clamp<int64_t>(kWork / unit, 1, kMostUnits);
    chunks_ = pieces(units_, group_);
    work_ = unit * std::min(group_, units_);
  }

  void run() {
    if (l_.rows && units_ == 1 && l_.kept.size() <= 1) return dense_rows();
    int64_t grain = std::max<int64_t>(1, kWork / work_);
    if (chunks_ == 1) {
      parallel_for(cells_ * across_, grain, [&](int64_t begin, int64_t end) {
        alignas(64) char cells[kMostWidth * 16];
        for (int64_t i = begin; i < end; ++i) {
          int64_t cell = i / across_, from = i % across_ * kMostWidth, width = width_at(from);
          chunk(cell, 0, from, width, cells);
          f_.finish(cells, width, folds_, y_ + (cell * l_.width + from) * out_);
        }
      });
      return;
    }
    Tensor memory = empty(uint8, Shape{cells_ * chunks_ * l_.width * f_.cell}, cpu());
    char* partial = memory.mutable_raw<char>();
    parallel_for(cells_ * chunks_ * across_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t cell = i / across_ / chunks_, c = i / across_ % chunks_,
                from = i % across_ * kMostWidth;
        chunk(cell, c, from, width_at(from),
              partial + ((cell * chunks_ + c) * l_.width + from) * f_.cell);
      }
    });
    parallel_for(
        cells_ * across_, std::max<int64_t>(1, kWork / (chunks_ * std::min(l_.width, kMostWidth))),
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            int64_t cell = i / across_, from = i % across_ * kMostWidth, width = width_at(from);
            auto at = [&](int64_t c) {
              return partial + ((cell * chunks_ + c) * l_.width + from) * f_.cell;
            };
            for (int64_t step = 1; step < chunks_; step *= 2)
              for (int64_t c = 0; c + step < chunks_; c += 2 * step)
                f_.combine(at(c), at(c + step), width);
            f_.finish(at(0), width, folds_, y_ + (cell * l_.width + from) * out_);
          }
        });
  }

 private:
  int64_t width_at(int64_t from) const { return std::min(kMostWidth, l_.width - from); }

  // Many rows, each folded whole.
  void dense_rows() {
    constexpr int64_t kCells = 256;
    int64_t n = l_.inner.size, stride = l_.kept.empty() ? 0 : l_.kept[0].stride;
    parallel_for(cells_, std::max<int64_t>(1, kWork / n), [&](int64_t begin, int64_t end) {
      alignas(64) char cells[kCells * 16];
      for (int64_t r = begin; r < end; r += kCells) {
        int64_t rows = std::min(kCells, end - r);
        f_.rows(x_ + r * stride * element_, rows, n, stride, cells);
        f_.finish(cells, rows, folds_, y_ + r * out_);
      }
    });
  }

  // The units [c * group, ...) of one cell, joined one after another.
  void chunk(int64_t cell, int64_t c, int64_t from, int64_t width, char* cells) const {
    alignas(64) char more[kMostWidth * 16];
    int64_t base = offset(l_.kept, cell) + from, last = std::min(units_, (c + 1) * group_);
    for (int64_t u = c * group_; u < last; ++u) {
      int64_t start = u % along_ * piece_, n = std::min(piece_, l_.inner.size - start);
      const char* at =
          x_ + (base + offset(l_.folded, u / along_) + start * l_.inner.stride) * element_;
      char* to = u == c * group_ ? cells : more;
      if (l_.rows)
        f_.rows(at, 1, n, 0, to);
      else
        f_.columns(at, n, l_.inner.stride, width, to);
      if (to == more) f_.combine(cells, more, width);
    }
  }

  const FoldLoops& f_;
  const Layout& l_;
  const char* x_;
  char* y_;
  int64_t element_, out_, cells_, folds_;
  int64_t piece_, across_, along_, units_, group_, chunks_, work_;
};

}  // namespace

void fold(Fold f, const Tensor& x, std::span<const int64_t> axes, const Tensor& y) {
  if (y.size() == 0) return;
  if (x.size() == 0) {
    if (x.dtype() == DType::kBool) {
      std::memset(y.mutable_raw(), f == Fold::kMin, static_cast<size_t>(y.size()));
      return;
    }
    const FoldLoops& loops = fold_loops(f, x.dtype());
    alignas(16) char nothing[16];
    loops.clear(nothing, 1);
    int64_t cell = size_of(y.dtype());
    auto* to = static_cast<char*>(y.mutable_raw());
    for (int64_t i = 0, n = y.size(); i < n; ++i) loops.finish(nothing, 1, 0, to + i * cell);
    return;
  }
  Layout layout(x.shape(), axes);
  Folding(fold_loops(f, x.dtype()), x, layout, y).run();
}

Dims fold_axes(const Call& c, int i) {
  Dims axes = c.ints(i);
  for (int64_t& a : axes)
    if (a < 0) a += c.in().rank();
  return axes;
}

void infer_fold(Infer& s) {
  bool keep = s.attrs<FoldAttrs>().keep_dims();
  const Shape& x = s.shape();
  s.need_rank(1, 0, 1);
  auto given = s.ints(1);
  if (!x.has_rank()) return s.output(s.dtype(), Shape::unknown());
  if (!given) return s.output(s.dtype(), keep ? Shape::of_rank(x.rank()) : Shape::unknown());
  InlineVector<bool, 8> gone(static_cast<size_t>(x.rank()), false);
  for (int64_t a : *given) {
    bool& seen = gone[static_cast<size_t>(s.axis(a, 0))];
    if (seen) s.bad_value("axis", Shape(*given).text(), "each axis once");
    seen = true;
  }
  Dims out;
  for (int i = 0; i < x.rank(); ++i) {
    if (!gone[static_cast<size_t>(i)])
      out.push_back(x[i]);
    else if (keep)
      out.push_back(1);
  }
  s.output(s.dtype(), Shape(out));
}

Tensor axes_input(const Tensor& x, const Axes& axis) {
  if (axis) return axis->tensor();
  if (!x.shape().has_rank()) return range(0, rank(x));
  Dims all;
  for (int i = 0; i < x.rank(); ++i) all.push_back(i);
  return Sizes(all).tensor();
}

}  // namespace holdfast
