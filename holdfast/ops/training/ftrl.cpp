// Follow the regularised leader: the variable is where a quadratic through all past gradients,
// with penalties on its size, is least.
#include <cmath>

#include "holdfast/ops/training.h"
#include "holdfast/ops/training/rule.h"
#include "holdfast/ops/training/towards_zero.h"

namespace holdfast::train {
namespace {

struct LinearAttrs {
  Attr<bool> use_locking;
  Attr<bool> multiply_linear_by_lr;
};

// Cells: the variable, the sum of squares, the linear term. With `times_rate` the linear term is
// kept multiplied by the rate, so that no quotient by it is taken.
template <class W>
struct Leader {
  W lr, l1, l2, shrinkage, power;
  bool times_rate;
  W root(W x) const { return power == W(-0.5) ? std::sqrt(x) : std::pow(x, -power); }
  void move(W* at, W g) const {
    W squares = at[1] + g * g, now = root(squares), grown = now - root(at[1]);
    W pull = g + 2 * shrinkage * at[0];
    W rate = times_rate ? lr : W(1), over = times_rate ? W(1) : lr;
    at[2] += pull * rate - grown / over * at[0];
    W most = l1 * rate;
    W size = std::abs(at[2]);
    at[0] = size <= most ? W(0) : (most * sign_of(at[2]) - at[2]) / (now / over + 2 * l2 * rate);
    at[1] = squares;
  }
};

template <class W>
struct Ftrl : Leader<W> {
  static constexpr int kCells = 3, kReal = 1;
  Ftrl(const W* k, bool flag) : Leader<W>{k[0], k[1], k[2], W(0), k[3], flag} {}
  void operator()(W* at, W g) const { this->move(at, g); }
};

template <class W>
struct FtrlV2 : Leader<W> {
  static constexpr int kCells = 3, kReal = 1;
  FtrlV2(const W* k, bool flag) : Leader<W>{k[0], k[1], k[2], k[3], k[4], flag} {}
  void operator()(W* at, W g) const { this->move(at, g); }
};

const Op ftrl_op = moves<Ftrl, &LinearAttrs::multiply_linear_by_lr>(
    RAW_OP(ResourceApplyFtrl).doc("One step of following the regularised leader."),
    "var: R, accum: R, linear: R, grad, lr, l1, l2, lr_power");
const Op sparse_ftrl_op = moves<Ftrl, &LinearAttrs::multiply_linear_by_lr>(
    RAW_OP(ResourceSparseApplyFtrl).doc("ResourceApplyFtrl for the rows that `indices` names."),
    "var: R, accum: R, linear: R, grad, indices: Tindices, lr, l1, l2, lr_power");
const Op ftrl2_op = moves<FtrlV2, &LinearAttrs::multiply_linear_by_lr>(
    RAW_OP(ResourceApplyFtrlV2)
        .doc("ResourceApplyFtrl that also draws towards zero by the variable's present value."),
    "var: R, accum: R, linear: R, grad, lr, l1, l2, l2_shrinkage, lr_power");
const Op sparse_ftrl2_op = moves<FtrlV2, &LinearAttrs::multiply_linear_by_lr>(
    RAW_OP(ResourceSparseApplyFtrlV2).doc("ResourceApplyFtrlV2 for the rows that `indices` names."),
    "var: R, accum: R, linear: R, grad, indices: Tindices, lr, l1, l2, l2_shrinkage, lr_power");

}  // namespace

void apply_ftrl(const Variable& var, const Variable& accum, const Variable& linear, const In& grad,
                const In& lr, const In& l1, const In& l2, const In& lr_power, bool multiply) {
  step(ftrl_op, {false, multiply}, var, accum, linear, grad, lr, l1, l2, lr_power);
}
void apply_ftrl(const Variable& var, const Variable& accum, const Variable& linear,
                const IndexedSlices& grad, const In& lr, const In& l1, const In& l2,
                const In& lr_power, bool multiply) {
  step(sparse_ftrl_op, {false, multiply}, var, accum, linear, grad, lr, l1, l2, lr_power);
}
void apply_ftrl_v2(const Variable& var, const Variable& accum, const Variable& linear,
                   const In& grad, const In& lr, const In& l1, const In& l2, const In& l2_shrinkage,
                   const In& lr_power, bool multiply) {
  step(ftrl2_op, {false, multiply}, var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power);
}
void apply_ftrl_v2(const Variable& var, const Variable& accum, const Variable& linear,
                   const IndexedSlices& grad, const In& lr, const In& l1, const In& l2,
                   const In& l2_shrinkage, const In& lr_power, bool multiply) {
  step(sparse_ftrl2_op, {false, multiply}, var, accum, linear, grad, lr, l1, l2, l2_shrinkage,
       lr_power);
}

}  // namespace holdfast::train
