// Pools of both kinds, as their shape rules and kernels see them.
#pragma once

#include "holdfast/ops/nn/window.h"

namespace holdfast::nn {

/// The attributes of pools that also tell where they found the largest elements, and those that
/// their gradients share with them.
struct SmallWindowAttrs {
  Attr<Ints> ksize;
  Attr<Ints> strides;
  Attr<std::string> padding;
};
struct ArgmaxPoolAttrs {
  Attr<Ints> ksize;
  Attr<Ints> strides;
  Attr<std::string> padding;
  Attr<DType> Targmax;
  Attr<bool> include_batch_in_index;
};

/// The geometry of a pool over `image`. One over channels (a max pool's `ksize` of [1, 1, 1, n]) is
/// the pool over a line of as many images as there are positions: elements lie right as they are.
Window pool_shape(const Infer* s, const WindowArgs&, const Shape& image);

/// The shape of its result.
Shape pooled_shape(const WindowArgs&, const Window&, const Shape& image);
bool pools_channels(const WindowArgs&);

/// Likewise for the ops that also tell indices; they take channels last only.
Window argmax_pool_shape(const Infer* s, const Ints& ksize, const Ints& strides,
                         const std::string& padding, const Shape& image);

// Shape rules of a pool, of the gradients that take the image, and of one that takes its sizes.
void infer_pool(Infer&);
void infer_max_pool_grad(Infer&);
void infer_max_pool_grad_grad(Infer&);
void infer_avg_pool_grad(Infer&);

// Kernels.
Status run_max_pool(Call&);
Status run_max_pool_grad(Call&);
Status run_max_pool_grad_grad(Call&);
Status run_max_pool_with_argmax(Call&);
Status run_avg_pool(Call&);
Status run_avg_pool_grad(Call&);

/// The same pool with channels last. Channels first is one channel and more images: planes do not
/// touch each other, so the elements lie right as they are.
inline Window with_channels_last(Window w) {
  if (!w.channels_first) return w;
  w.batch *= w.channels;
  w.channels = 1;
  w.channels_first = false;
  return w;
}

}  // namespace holdfast::nn
