// What a gradient formula sees.
#pragma once

#include <span>

#include "holdfast/op/opdef.h"
#include "holdfast/tensor/indexed_slices.h"

namespace holdfast {

/// One op of the past, asked for the gradients of its inputs.
class HOLDFAST_API Grad {
 public:
  Grad(const OpDef& op, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
       const Attrs& attrs, std::span<const Tensor> upstream, uint32_t wanted);
  ~Grad();

  /// Input, output, and the gradient that arrives for an output (zeros if none does).
  const Tensor& x(int i = 0) const { return inputs_[static_cast<size_t>(i)]; }
  const Tensor& y(int i = 0) const { return outputs_[static_cast<size_t>(i)]; }
  template <class A>
  A attrs() const {
    return attrs_of<A>(op, attrs_);
  }
  const Attrs& attrs() const { return attrs_; }
  Tensor dy(int i = 0) const;
  bool has_dy(int i) const { return upstream_[static_cast<size_t>(i)].defined(); }
  int inputs() const { return static_cast<int>(inputs_.size()); }
  int outputs() const { return static_cast<int>(outputs_.size()); }
  bool has_x(int i) const { return i < inputs() && inputs_[static_cast<size_t>(i)].defined(); }
  /// Whether anybody wants the gradient of input `i`: the others may be left empty.
  bool wants(int i) const { return wanted_ >> (i < 31 ? i : 31) & 1; }
  /// The numbers in an integer input.
  Dims ints(int i) const;
  /// Gives input `i` a sparse gradient.
  void sparse(int i, IndexedSlices s);
  const std::vector<std::pair<int, IndexedSlices>>& sparse() const { return sparse_; }

  const OpDef& op;

 private:
  std::span<const Tensor> inputs_, outputs_;
  const Attrs& attrs_;
  std::span<const Tensor> upstream_;
  uint32_t wanted_;
  std::vector<std::pair<int, IndexedSlices>> sparse_;
};

/// `t` summed over the axes along which `like`'s shape was broadcast, so that it has that shape.
HOLDFAST_API Tensor sum_to(const Tensor& t, const Tensor& like);

}  // namespace holdfast
