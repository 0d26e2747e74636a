#include "holdfast/ops/signal/fourier_plan.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace holdfast::signal {
namespace {

// e^(-2 pi i part / whole), from an angle of at most an eighth of a turn: exact at the quarters,
// and as good for large numbers as for small ones.
std::pair<double, double> root(int64_t part, int64_t whole) {
  part %= whole;
  // Whole and part in eighths, so that the octant is a division of integers.
  int64_t eighths = 8 * part, octant = eighths / whole, rest = eighths - octant * whole;
  bool back = octant % 2 == 1;  // measured from the end of the octant
  double angle = static_cast<double>(back ? whole - rest : rest) / static_cast<double>(whole) *
                 (std::numbers::pi / 4);
  double along = std::cos(angle), across = std::sin(angle);
  if (back) ++octant;
  if (back) across = -across;
  // Now at `octant / 2` quarter turns plus the angle.
  switch (octant / 2 % 4) {
    case 0: return {along, -across};
    case 1: return {-across, -along};
    case 2: return {-along, across};
    default: return {across, along};
  }
}

template <class T>
void put(std::vector<T>& to, size_t at, std::pair<double, double> value) {
  to[at] = static_cast<T>(value.first);
  to[to.size() / 2 + at] = static_cast<T>(value.second);
}

// The factors of n, or none where one of them is too large for a pass.
std::vector<int> factors_of(int64_t n) {
  std::vector<int> out;
  for (int radix : {4, 2, 3, 5, 7, 11, 13})
    while (n % radix == 0) {
      out.push_back(radix);
      n /= radix;
    }
  if (n > 1) out.clear();
  return out;
}

}  // namespace

template <class T>
FourierPlan<T>::FourierPlan(int64_t n) : n_(n) {
  if (n <= 1) return;
  int64_t left = n;
  for (int radix : factors_of(n)) {
    int64_t rows = left / radix;
    Pass pass{radix, rows, std::vector<T>(static_cast<size_t>(2 * rows * (radix - 1))), {}};
    for (int64_t p = 0; p < rows; ++p)
      for (int j = 1; j < radix; ++j)
        put(pass.twiddles, static_cast<size_t>(p * (radix - 1) + j - 1), root(p * j, left));
    if (radix > 5) {
      pass.roots.resize(static_cast<size_t>(2 * radix));
      for (int j = 0; j < radix; ++j) put(pass.roots, static_cast<size_t>(j), root(j, radix));
    }
    passes_.push_back(std::move(pass));
    left = rows;
  }
  if (!passes_.empty()) return;

  // jk = (j^2 + k^2 - (k - j)^2) / 2 turns the sum into a convolution with e^(i pi j^2 / n).
  int64_t size = 1;
  while (size < 2 * n - 1) size *= 2;
  inner_ = std::make_unique<FourierPlan>(size);
  chirp_.resize(static_cast<size_t>(2 * n));
  kernel_.resize(static_cast<size_t>(2 * size));
  double scale = 1 / static_cast<double>(size);
  for (int64_t j = 0, square = 0; j < n; ++j) {
    auto [re, im] = root(square, 2 * n);
    put(chirp_, static_cast<size_t>(j), {re, im});
    put(kernel_, static_cast<size_t>(j), {re * scale, -im * scale});
    if (j) put(kernel_, static_cast<size_t>(size - j), {re * scale, -im * scale});
    square = (square + 2 * j + 1) % (2 * n);  // j^2 itself would overflow
  }
  std::vector<T> scratch(static_cast<size_t>(inner_->scratch(1)));
  inner_->run({kernel_.data(), kernel_.data() + size}, 1, scratch.data());
}

template <class T>
int64_t FourierPlan<T>::scratch(int64_t lines) const {
  if (!inner_) return 2 * n_ * lines;
  return 2 * inner_->n_ * lines + inner_->scratch(lines);
}

template <class T>
void FourierPlan<T>::run(Parts<T> x, int64_t lines, T* scratch) const {
  inner_ ? run_chirp(x, lines, scratch) : run_passes(x, lines, scratch);
}

template <class T>
void FourierPlan<T>::run_passes(Parts<T> x, int64_t lines, T* scratch) const {
  const FourierLoops<T>& loops = fourier_loops<T>();
  Parts<T> from = x, to{scratch, scratch + n_ * lines};
  int64_t width = lines;
  for (const Pass& p : passes_) {
    loops.pass(p.radix, from, to, p.rows, width, p.twiddles.data(),
               p.roots.empty() ? nullptr : p.roots.data());
    width *= p.radix;
    std::swap(from, to);
  }
  if (from.re == x.re) return;
  std::copy_n(from.re, n_ * lines, x.re);
  std::copy_n(from.im, n_ * lines, x.im);
}

template <class T>
void FourierPlan<T>::run_chirp(Parts<T> x, int64_t lines, T* scratch) const {
  const FourierLoops<T>& loops = fourier_loops<T>();
  int64_t size = inner_->n_, count = size * lines;
  Parts<T> a{scratch, scratch + count};
  loops.multiply(x, a, n_, lines, chirp_.data());
  std::fill_n(a.re + n_ * lines, count - n_ * lines, T(0));
  std::fill_n(a.im + n_ * lines, count - n_ * lines, T(0));
  inner_->run(a, lines, scratch + 2 * count);
  loops.multiply(a, a, size, lines, kernel_.data());
  inner_->run({a.im, a.re}, lines, scratch + 2 * count);
  loops.multiply(a, x, n_, lines, chirp_.data());
}

template class FourierPlan<float>;
template class FourierPlan<double>;

}  // namespace holdfast::signal
