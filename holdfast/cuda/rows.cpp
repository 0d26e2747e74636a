// Reductions, softmax and cross entropy: from a call to the launchers of reduce.cu, softmax.cu and
// cross_entropy.cu.
#include <algorithm>

#include "holdfast/cuda/device.h"
#include "holdfast/cuda/error.h"
#include "holdfast/cuda/kernels.h"
#include "holdfast/cuda/ops.h"
#include "holdfast/op/op.h"

namespace holdfast::cuda {
namespace {

constexpr DTypes kReduced = kFloats | DTypes{int32, int64};

Element element_of(DType d) {
  switch (d) {
    case DType::kFloat16: return Element::kFloat16;
    case DType::kBFloat16: return Element::kBFloat16;
    case DType::kFloat64: return Element::kFloat64;
    case DType::kInt32: return Element::kInt32;
    case DType::kInt64: return Element::kInt64;
    default: return Element::kFloat32;
  }
}

// What in-between results are kept in, so that rounding happens once.
DType kept_in(DType d) {
  return d == DType::kFloat16 || d == DType::kBFloat16 ? float32 : d == int32 ? int64 : d;
}

// A run of neighbouring axes that are all reduced.
struct Run {
  int64_t outer = 1, size = 1, inner = 1;
};

// The runs of `reduced` axes, last first; each sees the shape that those before it left.
InlineVector<Run, 4> runs_of(const Shape& shape, const InlineVector<bool, 8>& reduced) {
  InlineVector<Run, 4> runs;
  int64_t inner = 1;
  for (int i = shape.rank() - 1; i >= 0;) {
    if (!reduced[static_cast<size_t>(i)]) {
      inner *= shape[i--];
      continue;
    }
    Run r;
    r.inner = inner;
    for (; i >= 0 && reduced[static_cast<size_t>(i)]; --i) r.size *= shape[i];
    for (int j = 0; j <= i; ++j) r.outer *= shape[j];
    runs.push_back(r);
  }
  return runs;
}

template <Reduction R>
Status run_reduce(Call& c) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  const Tensor& x = c.in();
  Tensor& y = c.out();
  if (y.size() == 0) return {};
  InlineVector<bool, 8> reduced(static_cast<size_t>(x.rank()), false);
  for (int64_t a : c.ints(1)) reduced[static_cast<size_t>(a < 0 ? a + x.rank() : a)] = true;
  auto runs = runs_of(x.shape(), reduced);
  if (runs.empty())
    return device->copy_within(*y.rep()->buffer, static_cast<size_t>(y.rep()->offset),
                               *x.rep()->buffer, static_cast<size_t>(x.rep()->offset),
                               static_cast<size_t>(x.bytes()));
  int64_t count = 1;
  for (const Run& r : runs) count *= r.size;
  Element e = element_of(x.dtype());
  Tensor from = x;
  for (size_t i = 0; i < runs.size(); ++i) {
    const Run& r = runs[i];
    bool last = i + 1 == runs.size();
    Tensor to = last ? y : c.scratch(kept_in(x.dtype()), Shape{r.outer, r.inner});
    Tensor scratch =
        c.scratch(uint8, Shape{static_cast<int64_t>(reduce_scratch(e, r.outer, r.size, r.inner))});
    Reduction how = R == Reduction::kMean && !last ? Reduction::kSum : R;
    if (to.size())
      HOLDFAST_CUDA(reduce(how, e, i > 0, !last, from.raw(), to.mutable_raw(),
                           scratch.mutable_raw(), r.outer, r.size, r.inner, count,
                           device->stream()));
    from = to;
  }
  return {};
}

const char* refuse_reduce(const Types& t) {
  if (t.op.inputs.size() != 2 || !t.op.inputs[1].host) return "its axes are not on the host";
  if (t.shape().size() == 0 && is_integer(t.dtype()))
    return "the extreme of no integers is one that sums in 64 bits do not begin with";
  return nullptr;
}

template <bool Logarithm>
Status run_softmax(Call& c) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  const Tensor& x = c.in();
  Tensor& y = c.out();
  if (x.size() == 0) return {};
  int64_t cols = x.dim(-1);
  HOLDFAST_CUDA(softmax(element_of(x.dtype()), Logarithm, x.raw(), y.mutable_raw(), x.size() / cols,
                        cols, device->stream()));
  return {};
}

Status run_cross_entropy(Call& c) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  Tensor &loss = c.out(0), &back = c.out(1);
  int64_t rows = back.dim(0), cols = back.dim(1);
  if (rows == 0) return {};
  if (cols == 0) {
    HOLDFAST_CUDA(cudaMemsetAsync(loss.mutable_raw(), 0, static_cast<size_t>(loss.bytes()),
                                  device->stream()));
    return {};
  }
  auto strided = [](const Tensor& t) {
    return Strided{t.raw(), t.dim(0) == 1 ? 0 : t.dim(1), t.dim(1) == 1 ? 0 : 1};
  };
  HOLDFAST_CUDA(cross_entropy(element_of(loss.dtype()), strided(c.in(0)), strided(c.in(1)),
                              loss.mutable_raw(), back.mutable_raw(), rows, cols,
                              device->stream()));
  return {};
}

// Waits for the GPU, so that a label of no class is refused as it is on the CPU.
Status run_sparse_cross_entropy(Call& c) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  const Tensor &x = c.in(0), &labels = c.in(1);
  Tensor &loss = c.out(0), &back = c.out(1);
  int64_t rows = x.dim(0), cols = x.dim(1);
  if (rows == 0) return {};
  Tensor found = c.scratch(int64, Shape{1});
  HOLDFAST_CUDA(sparse_cross_entropy(element_of(x.dtype()), x.raw(), labels.dtype() == int64,
                                     labels.raw(), found.mutable_raw(), loss.mutable_raw(),
                                     back.mutable_raw(), rows, cols, device->stream()));
  int64_t bad;
  auto read = [&](void* to, const Tensor& t, int64_t at, size_t bytes) {
    return device->copy_to_host(
        to, *t.rep()->buffer,
        static_cast<size_t>(t.rep()->offset) + static_cast<size_t>(at) * bytes, bytes);
  };
  if (Status s = read(&bad, found, 0, sizeof bad); !s.ok()) return s;
  if (bad < 0) return {};
  int64_t label = 0;
  int32_t narrow = 0;
  Status s = labels.dtype() == int64 ? read(&label, labels, bad, sizeof label)
                                     : read(&narrow, labels, bad, sizeof narrow);
  if (!s.ok()) return s;
  if (labels.dtype() != int64) label = narrow;
  return {Code::E1103, cat(c.op.name, ": `labels` holds ", label, " at position ", bad,
                           ", expected a class in [0, ", cols, ")")};
}

void add(const char* op, Kernel k) {
  if (find_op(op)) add_kernel(op, k);
}

void add_row_kernels() {
  add("Sum", {"rows", DeviceKind::kCuda, guarded<run_reduce<Reduction::kSum>>, kReduced,
              guarded_refusal<refuse_reduce>});
  add("Prod", {"rows", DeviceKind::kCuda, guarded<run_reduce<Reduction::kProd>>, kReduced,
               guarded_refusal<refuse_reduce>});
  add("Max", {"rows", DeviceKind::kCuda, guarded<run_reduce<Reduction::kMax>>, kReduced,
              guarded_refusal<refuse_reduce>});
  add("Min", {"rows", DeviceKind::kCuda, guarded<run_reduce<Reduction::kMin>>, kReduced,
              guarded_refusal<refuse_reduce>});
  add("Mean", {"rows", DeviceKind::kCuda, guarded<run_reduce<Reduction::kMean>>, kFloats,
               guarded_refusal<refuse_reduce>});
  add("Softmax", {"rows", DeviceKind::kCuda, guarded<run_softmax<false>>, kFloats});
  add("LogSoftmax", {"rows", DeviceKind::kCuda, guarded<run_softmax<true>>, kFloats});
  add("SoftmaxCrossEntropyWithLogits",
      {"rows", DeviceKind::kCuda, guarded<run_cross_entropy>, kFloats});
  add("SparseSoftmaxCrossEntropyWithLogits",
      {"rows", DeviceKind::kCuda, guarded<run_sparse_cross_entropy>, kFloats});
}

const AddsKernels added(add_row_kernels);

}  // namespace
}  // namespace holdfast::cuda
