// Conv2D through cuDNN, for images whose channels stand last. cuDNN wants a filter with its outputs
// first, ours has them last: each call turns it around, which takes little beside the convolution.
// Its functions for single layers are marked as old; they are the ones that choose an algorithm by
// themselves, and every release of version 9 has them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cudnn.h>

#include <array>
#include <climits>
#include <map>
#include <memory>

#include "holdfast/cuda/device.h"
#include "holdfast/cuda/error.h"
#include "holdfast/cuda/kernels.h"
#include "holdfast/cuda/libraries.h"
#include "holdfast/cuda/ops.h"
#include "holdfast/op/op.h"

namespace holdfast::cuda {
namespace {

constexpr DTypes kComputed{float32, float16, bfloat16};
constexpr size_t kMostWorkspace = size_t{512} << 20;

#define HOLDFAST_CUDNN(X)                    \
  X(cudnnCreate)                             \
  X(cudnnSetStream)                          \
  X(cudnnGetErrorString)                     \
  X(cudnnCreateTensorDescriptor)             \
  X(cudnnDestroyTensorDescriptor)            \
  X(cudnnSetTensor4dDescriptor)              \
  X(cudnnCreateFilterDescriptor)             \
  X(cudnnDestroyFilterDescriptor)            \
  X(cudnnSetFilter4dDescriptor)              \
  X(cudnnCreateConvolutionDescriptor)        \
  X(cudnnDestroyConvolutionDescriptor)       \
  X(cudnnSetConvolution2dDescriptor)         \
  X(cudnnSetConvolutionGroupCount)           \
  X(cudnnSetConvolutionMathType)             \
  X(cudnnGetConvolutionForwardAlgorithm_v7)  \
  X(cudnnGetConvolutionForwardWorkspaceSize) \
  X(cudnnConvolutionForward)

struct Cudnn {
#define HOLDFAST_POINTER(f) decltype(&::f) f = nullptr;
  HOLDFAST_CUDNN(HOLDFAST_POINTER)
#undef HOLDFAST_POINTER
  std::string missing;  // why it can't be used; empty: it can
};

const Cudnn& cudnn() {
  static const auto* found = [] {
    static const std::string file = "libcudnn.so.9";
    auto* t = new Cudnn;
    if (void* library = open_library(file)) {
#define HOLDFAST_FIND(f) find_function(library, file, #f, t->f, t->missing);
      HOLDFAST_CUDNN(HOLDFAST_FIND)
#undef HOLDFAST_FIND
    } else {
      t->missing = file + " was not found";
    }
    return t;
  }();
  return *found;
}

Status dnn_status(cudnnStatus_t s, const char* doing) {
  if (s == CUDNN_STATUS_SUCCESS) return {};
  return {s == CUDNN_STATUS_ALLOC_FAILED ? Code::E0702 : Code::E0706,
          cat("cuDNN failed: ", cudnn().cudnnGetErrorString(s)), doing};
}
#define HOLDFAST_DNN(call)                                                                         \
  do {                                                                                             \
    if (cudnnStatus_t s_ = cudnn().call; s_ != CUDNN_STATUS_SUCCESS) return dnn_status(s_, #call); \
  } while (0)

// One for each GPU. cuDNN lets one thread at a time use it; what it launches goes to the one stream
// anyway.
struct Engine {
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
};

Status engine_of(CudaDevice& d, Engine*& out) {
  static std::mutex mutex;
  static auto* engines = new std::map<int, Engine>;
  if (Status s = d.enter(); !s.ok()) return s;
  std::lock_guard lock(mutex);
  Engine& e = (*engines)[d.index()];
  if (!e.handle) {
    HOLDFAST_DNN(cudnnCreate(&e.handle));
    HOLDFAST_DNN(cudnnSetStream(e.handle, d.stream()));
  }
  out = &e;
  return {};
}

// Deleters, so that a failure half-way leaks nothing.
template <auto Member>
struct Destroy {
  template <class T>
  void operator()(T* p) const {
    (cudnn().*Member)(p);
  }
};
using TensorDescription =
    std::unique_ptr<cudnnTensorStruct, Destroy<&Cudnn::cudnnDestroyTensorDescriptor>>;
using FilterDescription =
    std::unique_ptr<cudnnFilterStruct, Destroy<&Cudnn::cudnnDestroyFilterDescriptor>>;
using ConvolutionDescription =
    std::unique_ptr<cudnnConvolutionStruct, Destroy<&Cudnn::cudnnDestroyConvolutionDescriptor>>;

// Height and width.
using Pair = std::array<int64_t, 2>;

struct Geometry {
  int64_t batch, channels, group_channels, outputs;
  Pair in, out, size, stride, dilation, before, after;

  bool even() const { return before == after; }
  // What cuDNN sees of an image: where it is padded unevenly, that is done before.
  Pair seen() const {
    if (even()) return in;
    return {in[0] + before[0] + after[0], in[1] + before[1] + after[1]};
  }
};

Geometry geometry_of(const Types& t) {
  auto ints = [&](const char* name) -> const Ints& { return t.op.attr(t.attrs(), name).ints(); };
  const std::string& padding = t.op.attr(t.attrs(), "padding").s();
  const Shape &x = t.shape(0), &w = t.shape(1), &y = t.out_shape();
  Geometry g{};
  g.batch = x[0];
  g.channels = x[3];
  g.group_channels = w[2];
  g.outputs = w[3];
  for (size_t i = 0; i < 2; ++i) {
    auto axis = static_cast<int>(i);
    g.in[i] = x[axis + 1];
    g.out[i] = y[axis + 1];
    g.size[i] = w[axis];
    g.stride[i] = ints("strides")[i + 1];
    g.dilation[i] = ints("dilations")[i + 1];
    if (padding == "SAME") {
      int64_t reach = (g.out[i] - 1) * g.stride[i] + (g.size[i] - 1) * g.dilation[i] + 1;
      int64_t lacking = std::max<int64_t>(reach - g.in[i], 0);
      g.before[i] = lacking / 2;
      g.after[i] = lacking - g.before[i];
    } else if (padding == "EXPLICIT") {
      g.before[i] = ints("explicit_paddings")[2 * (i + 1)];
      g.after[i] = ints("explicit_paddings")[2 * (i + 1) + 1];
    }
  }
  return g;
}

struct CudnnConvolution final : Prepared {
  Geometry g{};
  bool has_work = false;
  Engine* engine = nullptr;  // the GPU's, which lives as long as the process
  TensorDescription x, y;
  FilterDescription w;
  ConvolutionDescription convolution;
  cudnnConvolutionFwdAlgo_t algorithm{};
  size_t workspace = 0;
};

bool tf32_wanted() {
  static const bool on = [] {
    const char* said = std::getenv("HOLDFAST_TF32");
    return said && std::string_view(said) == "on";
  }();
  return on;
}

Status describe_images(TensorDescription& out, cudnnDataType_t type, int64_t batch,
                       int64_t channels, const Pair& sizes) {
  cudnnTensorDescriptor_t d = nullptr;
  HOLDFAST_DNN(cudnnCreateTensorDescriptor(&d));
  out.reset(d);
  HOLDFAST_DNN(cudnnSetTensor4dDescriptor(d, CUDNN_TENSOR_NHWC, type, static_cast<int>(batch),
                                          static_cast<int>(channels), static_cast<int>(sizes[0]),
                                          static_cast<int>(sizes[1])));
  return {};
}

Status describe(CudnnConvolution& r, DType dtype) {
  const Geometry& g = r.g;
  auto type = dtype == DType::kFloat16    ? CUDNN_DATA_HALF
              : dtype == DType::kBFloat16 ? CUDNN_DATA_BFLOAT16
                                          : CUDNN_DATA_FLOAT;
  auto math = dtype != DType::kFloat32 ? CUDNN_TENSOR_OP_MATH
              : tf32_wanted()          ? CUDNN_DEFAULT_MATH
                                       : CUDNN_FMA_MATH;
  if (Status s = describe_images(r.x, type, g.batch, g.channels, g.seen()); !s.ok()) return s;
  if (Status s = describe_images(r.y, type, g.batch, g.outputs, g.out); !s.ok()) return s;
  cudnnFilterDescriptor_t w = nullptr;
  HOLDFAST_DNN(cudnnCreateFilterDescriptor(&w));
  r.w.reset(w);
  HOLDFAST_DNN(cudnnSetFilter4dDescriptor(
      w, type, CUDNN_TENSOR_NHWC, static_cast<int>(g.outputs), static_cast<int>(g.group_channels),
      static_cast<int>(g.size[0]), static_cast<int>(g.size[1])));
  cudnnConvolutionDescriptor_t c = nullptr;
  HOLDFAST_DNN(cudnnCreateConvolutionDescriptor(&c));
  r.convolution.reset(c);
  Pair pad = g.even() ? g.before : Pair{};
  HOLDFAST_DNN(cudnnSetConvolution2dDescriptor(
      c, static_cast<int>(pad[0]), static_cast<int>(pad[1]), static_cast<int>(g.stride[0]),
      static_cast<int>(g.stride[1]), static_cast<int>(g.dilation[0]),
      static_cast<int>(g.dilation[1]), CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  HOLDFAST_DNN(cudnnSetConvolutionGroupCount(c, static_cast<int>(g.channels / g.group_channels)));
  HOLDFAST_DNN(cudnnSetConvolutionMathType(c, math));
  return {};
}

// The best of those that the heuristics name, and that run in the memory there is for them.
Status choose_algorithm(CudnnConvolution& r) {
  std::lock_guard lock(r.engine->mutex);
  cudnnConvolutionFwdAlgoPerf_t found[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
  int count = 0;
  HOLDFAST_DNN(cudnnGetConvolutionForwardAlgorithm_v7(
      r.engine->handle, r.x.get(), r.w.get(), r.convolution.get(), r.y.get(),
      CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, found));
  for (int i = 0; i < count; ++i) {
    if (found[i].status != CUDNN_STATUS_SUCCESS) continue;
    size_t bytes = 0;
    if (cudnn().cudnnGetConvolutionForwardWorkspaceSize(
            r.engine->handle, r.x.get(), r.w.get(), r.convolution.get(), r.y.get(), found[i].algo,
            &bytes) != CUDNN_STATUS_SUCCESS ||
        bytes > kMostWorkspace)
      continue;
    r.algorithm = found[i].algo;
    r.workspace = bytes;
    return {};
  }
  return {Code::E1105, "cuDNN has no algorithm for this convolution"};
}

// cuDNN counts in 32 bits.
bool is_countable(const Shape& s) { return s.size() <= INT_MAX; }

Preparation prepare_conv2d(const Types& t) {
  if (!cudnn().missing.empty()) return cudnn().missing.c_str();
  if (t.op.attr(t.attrs(), "data_format").s() != "NHWC") return "channels stand before the image";
  auto r = make_ref<CudnnConvolution>();
  r->g = geometry_of(t);
  r->has_work = t.shape(0).size() && t.shape(1).size() && t.out_shape().size();
  if (!r->has_work) return r;
  Pair seen = r->g.seen();
  if (!is_countable(t.shape(1)) || !is_countable(t.out_shape()) ||
      !is_countable(Shape{r->g.batch, seen[0], seen[1], r->g.channels}))
    return "more elements than 32 bits count";
  if (!engine_of(*static_cast<CudaDevice*>(t.device), r->engine).ok())
    return "cuDNN does not start";
  if (!describe(*r, t.dtype()).ok()) return "cuDNN does not take this convolution";
  if (!choose_algorithm(*r).ok()) return "cuDNN has no algorithm for this convolution";
  return r;
}

// The image with its zeros around it.
Status pad(Call& c, const Geometry& g, cudaStream_t stream, Tensor& out) {
  Pair seen = g.seen();
  const Tensor& x = c.in();
  out = c.scratch(x.dtype(), Shape{g.batch, seen[0], seen[1], g.channels});
  HOLDFAST_CUDA(cudaMemsetAsync(out.mutable_raw(), 0, static_cast<size_t>(out.bytes()), stream));
  auto cell = static_cast<size_t>(g.channels * size_of(x.dtype()));
  auto n = [](int64_t v) { return static_cast<size_t>(v); };
  cudaMemcpy3DParms p{};
  p.srcPtr = {const_cast<void*>(x.raw()), n(g.in[1]) * cell, n(g.in[1]) * cell, n(g.in[0])};
  p.dstPtr = {out.mutable_raw(), n(seen[1]) * cell, n(seen[1]) * cell, n(seen[0])};
  p.dstPos = {n(g.before[1]) * cell, n(g.before[0]), 0};
  p.extent = {n(g.in[1]) * cell, n(g.in[0]), n(g.batch)};
  p.kind = cudaMemcpyDeviceToDevice;
  HOLDFAST_CUDA(cudaMemcpy3DAsync(&p, stream));
  return {};
}

Status run_conv2d(Call& c, const Prepared& made) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  const auto& r = static_cast<const CudnnConvolution&>(made);
  Tensor& y = c.out();
  if (!r.has_work) {  // sums of nothing
    if (y.bytes())
      HOLDFAST_CUDA(
          cudaMemsetAsync(y.mutable_raw(), 0, static_cast<size_t>(y.bytes()), device->stream()));
    return {};
  }
  const Geometry& g = r.g;
  Tensor x = c.in(0);
  if (!g.even())
    if (Status s = pad(c, g, device->stream(), x); !s.ok()) return s;
  const Tensor& filter = c.in(1);
  Tensor w = c.scratch(filter.dtype(), filter.shape());
  HOLDFAST_CUDA(transpose(static_cast<int>(size_of(filter.dtype())), filter.raw(), w.mutable_raw(),
                          filter.size() / g.outputs, g.outputs, device->stream()));
  Tensor workspace = c.scratch(uint8, Shape{static_cast<int64_t>(r.workspace)});
  float one = 1, zero = 0;
  std::lock_guard lock(r.engine->mutex);
  HOLDFAST_DNN(cudnnConvolutionForward(
      r.engine->handle, &one, r.x.get(), x.raw(), r.w.get(), w.raw(), r.convolution.get(),
      r.algorithm, workspace.mutable_raw(), r.workspace, &zero, r.y.get(), y.mutable_raw()));
  return {};
}

void add_convolution_kernels() {
  add_kernel("Conv2D", {.name = "cudnn",
                        .device = DeviceKind::kCuda,
                        .dtypes = kComputed,
                        .prepare = guarded_preparation<prepare_conv2d>,
                        .run_prepared = guarded_prepared<run_conv2d>});
}

const AddsKernels added(add_convolution_kernels);

}  // namespace
}  // namespace holdfast::cuda
