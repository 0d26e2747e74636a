#include "holdfast/cuda/expr.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <unordered_map>

#include "holdfast/cuda/compile.h"
#include "holdfast/cuda/error.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::cuda {
namespace {

constexpr int64_t kMostNarrow = int64_t{1} << 31;
constexpr int64_t kUnrollFrom = int64_t{1}
                                << 20;  // below it, more blocks serve better than longer ones

// A launch: the kernel's description, and how its operands lie.
struct Plan {
  ExprSpec spec;
  int64_t n = 0;
  Dims sizes, strides[kMostOperands];  // from the inside out
};

bool on_host(const Tensor& t) { return t.device() && t.device()->kind() == DeviceKind::kCpu; }

// Axes of the result from the inside out, those joined that no strided operand tells apart.
void join_axes(Plan& p, std::span<const Tensor> in, const Shape& out) {
  int64_t stride[kMostOperands] = {1, 1, 1};
  for (int k = 1; k <= out.rank(); ++k) {
    int64_t size = out[-k], step[kMostOperands] = {};
    bool joins = !p.sizes.empty();
    for (size_t i = 0; i < in.size(); ++i) {
      int64_t own = k <= in[i].rank() ? in[i].dim(-k) : 1;
      step[i] = own == 1 ? 0 : stride[i];
      stride[i] *= own;
      if (p.spec.access[i] == Access::kStrided && !p.sizes.empty())
        joins = joins && step[i] == p.strides[i].back() * p.sizes.back();
    }
    if (size == 1) continue;
    if (joins) {
      p.sizes.back() *= size;
      continue;
    }
    p.sizes.push_back(size);
    for (size_t i = 0; i < in.size(); ++i) p.strides[i].push_back(step[i]);
  }
}

Plan make_plan(const char* expression, std::span<const Tensor> in, DType out_dtype,
               const Shape& out, const void* to) {
  Plan p;
  ExprSpec& s = p.spec;
  s.expression = expression;
  s.operands = static_cast<int>(in.size());
  s.out = out_dtype;
  p.n = out.size();
  s.wide = p.n >= kMostNarrow;
  int64_t widest = size_of(out_dtype);
  bool strided = false;
  for (size_t i = 0; i < in.size(); ++i) {
    const Tensor& t = in[i];
    s.dtypes[i] = t.dtype();
    s.access[i] = on_host(t)         ? Access::kValue
                  : t.shape() == out ? Access::kDense
                  : t.size() == 1    ? Access::kUniform
                                     : Access::kStrided;
    strided = strided || s.access[i] == Access::kStrided;
    if (s.access[i] == Access::kDense) widest = std::max(widest, size_of(t.dtype()));
  }
  s.unroll = p.n >= kUnrollFrom ? 4 : 1;
  if (strided) {
    join_axes(p, in, out);
    s.axes = static_cast<int>(p.sizes.size());
    return p;
  }
  // Views start at any element: wide loads only where everything lies on their boundary.
  int64_t vector = std::max<int64_t>(16 / widest, 1);
  auto fits = [&](const void* q, DType d) {
    return reinterpret_cast<uintptr_t>(q) % static_cast<uintptr_t>(vector * size_of(d)) == 0;
  };
  bool aligned = fits(to, out_dtype);
  for (size_t i = 0; i < in.size(); ++i)
    if (s.access[i] == Access::kDense) aligned = aligned && fits(in[i].raw(), in[i].dtype());
  s.vector = aligned ? static_cast<int>(vector) : 1;
  return p;
}

struct Compiled {
  cudaKernel_t kernel = nullptr;
  std::string refusal;  // why there is none
};

struct SpecHash {
  size_t operator()(const std::pair<ExprSpec, int>& k) const {
    const ExprSpec& s = k.first;
    size_t h = std::hash<const void*>{}(s.expression);
    auto mix = [&](uint64_t v) {
      h = (h ^ v) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    };
    for (int i = 0; i < s.operands; ++i)
      mix(static_cast<uint64_t>(s.access[i]) << 8 | static_cast<uint64_t>(s.dtypes[i]));
    mix(static_cast<uint64_t>(s.out) | static_cast<uint64_t>(s.axes) << 8 |
        static_cast<uint64_t>(s.wide) << 16 | static_cast<uint64_t>(s.vector) << 24 |
        static_cast<uint64_t>(s.unroll) << 32 | static_cast<uint64_t>(k.second) << 40);
    return h;
  }
};

void load(const std::string& code, Compiled& c) {
  cudaLibrary_t library = nullptr;
  cudaError_t e =
      cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (e == cudaSuccess) e = cudaLibraryGetKernel(&c.kernel, library, "expr");
  if (e == cudaSuccess) return;
  cudaGetLastError();
  c.kernel = nullptr;
  c.refusal = cat("the compiled kernel does not load: ", cudaGetErrorString(e));
}

// The kernel of a spec on an architecture. Found once; failures are remembered too.
const Compiled& compiled(const ExprSpec& spec, CudaDevice& device) {
  int architecture = device.architecture();
  static std::mutex mutex;
  static auto* cache = new std::unordered_map<std::pair<ExprSpec, int>, Compiled, SpecHash>;
  std::lock_guard lock(mutex);
  auto [it, fresh] = cache->try_emplace({spec, architecture});
  if (!fresh) return it->second;
  std::string code;
  Status s = device.enter();
  if (s.ok()) s = compile(print_source(spec), architecture, code);
  if (s.ok())
    load(code, it->second);
  else
    it->second.refusal = cat(s.headline(), s.why().empty() ? "" : ": ", s.why());
  return it->second;
}

// A host number as the kernel takes it: float for the 16-bit floats, else its own bytes.
struct Value {
  alignas(16) unsigned char bytes[16];
  explicit Value(const Tensor& t) {
    if (computed_in(t.dtype()) == t.dtype()) {
      std::memcpy(bytes, t.raw(), static_cast<size_t>(size_of(t.dtype())));
    } else {
      float f = t.dtype() == DType::kFloat16 ? static_cast<float>(*t.raw<half>())
                                             : static_cast<float>(*t.raw<bfloat>());
      std::memcpy(bytes, &f, sizeof f);
    }
  }
  Value() = default;
};

void fill_axes(const Plan& p, Axes32& a, Axes64& b) {
  for (size_t k = 0; k < p.sizes.size(); ++k) {
    auto size = static_cast<uint64_t>(p.sizes[k]);
    b.size[k] = size;
    a.size[k] = static_cast<uint32_t>(size);
    // n / size for n < 2^31 as (high(n * multiply) + n) >> shift.
    uint32_t shift = size <= 1 ? 0 : static_cast<uint32_t>(std::bit_width(size - 1));
    a.shift[k] = shift;
    a.multiply[k] =
        static_cast<uint32_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift) - size)) / size + 1);
    for (int i = 0; i < p.spec.operands; ++i) {
      b.stride[i][k] = static_cast<uint64_t>(p.strides[i][k]);
      a.stride[i][k] = static_cast<uint32_t>(p.strides[i][k]);
    }
  }
}

}  // namespace

const char* refuse_expression(CudaDevice& device, const char* expression,
                              std::span<const Tensor> in, DType out, const Shape& shape) {
  if (shape.size() == 0) return nullptr;
  Plan p = make_plan(expression, in, out, shape, nullptr);
  if (p.spec.axes > kMostAxes) return "more than 16 axes";
  const Compiled& c = compiled(p.spec, device);
  return c.kernel ? nullptr : c.refusal.c_str();
}

Status run_expression(CudaDevice& device, const char* expression, std::span<const Tensor> in,
                      const Tensor& out) {
  if (out.size() == 0) return {};
  Plan p = make_plan(expression, in, out.dtype(), out.shape(), out.raw());
  if (p.spec.axes > kMostAxes)
    return {Code::E1105, cat("a broadcast over ", p.spec.axes, " axes on ", device.short_name()),
            "16 are supported"};
  const Compiled& c = compiled(p.spec, device);
  if (!c.kernel)
    return {Code::E0706, cat("an elementwise kernel can't run on ", device.short_name()),
            c.refusal};
  const void* pointers[kMostOperands];
  Value values[kMostOperands];
  void* arguments[kMostOperands + 3];
  int n = 0;
  for (int i = 0; i < p.spec.operands; ++i) {
    if (p.spec.access[i] == Access::kValue) {
      values[i] = Value(in[static_cast<size_t>(i)]);
      arguments[n++] = values[i].bytes;
    } else {
      pointers[i] = in[static_cast<size_t>(i)].raw();
      arguments[n++] = &pointers[i];
    }
  }
  void* to = out.mutable_raw();
  auto count64 = static_cast<uint64_t>(p.n);
  auto count32 = static_cast<uint32_t>(p.n);
  arguments[n++] = &to;
  arguments[n++] = p.spec.wide ? static_cast<void*>(&count64) : &count32;
  Axes32 axes32;
  Axes64 axes64;
  if (p.spec.axes) {
    fill_axes(p, axes32, axes64);
    arguments[n++] = p.spec.wide ? static_cast<void*>(&axes64) : &axes32;
  }
  int64_t tile = int64_t{kThreads} * p.spec.vector * p.spec.unroll,
          blocks = (p.n + tile - 1) / tile;
  if (blocks > INT32_MAX)
    return {Code::E1105,
            cat(p.n, " elements are more than one launch covers on ", device.short_name())};
  HOLDFAST_CUDA(cudaLaunchKernel(c.kernel, dim3(static_cast<unsigned>(blocks)), dim3(kThreads),
                                 arguments, 0, device.stream()));
  return {};
}

}  // namespace holdfast::cuda
