#include "holdfast/cuda/program.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <numeric>
#include <unordered_map>

#include "holdfast/cuda/compile.h"
#include "holdfast/cuda/error.h"
#include "holdfast/cuda/statements.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::cuda {
namespace {

constexpr int64_t kMostNarrow = int64_t{1} << 31;
constexpr int64_t kUnrollFrom = int64_t{1}
                                << 20;  // below it, more blocks serve better than longer ones
constexpr int kMostAxes = 16;           // after joining: launch parameters have an end
constexpr int kMostPacks = 32;          // vectors of a row that a thread can hold

std::atomic<int64_t> g_launches{0};

bool on_host(const Tensor& t) { return t.device() && t.device()->kind() == DeviceKind::kCpu; }

// Loads in flight: the fewer, the more each element takes of a thread's registers.
int unroll_for(int64_t n, int64_t dense_loads) {
  if (n < kUnrollFrom || dense_loads > 6) return 1;
  return dense_loads > 3 ? 2 : 4;
}

void load(const std::string& code, cudaKernel_t& kernel, std::string& refusal) {
  cudaLibrary_t library = nullptr;
  cudaError_t e =
      cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (e == cudaSuccess) e = cudaLibraryGetKernel(&kernel, library, "expr");
  if (e == cudaSuccess) return;
  cudaGetLastError();
  kernel = nullptr;
  refusal = cat("the compiled kernel does not load: ", cudaGetErrorString(e));
}

// A host number as the kernel takes it: float for the 16-bit floats, else its own bytes.
struct Number {
  alignas(16) unsigned char bytes[16];
  explicit Number(const Tensor& t) {
    if (computed_in(t.dtype()) == t.dtype()) {
      std::memcpy(bytes, t.raw(), static_cast<size_t>(size_of(t.dtype())));
    } else {
      float f = t.dtype() == DType::kFloat16 ? static_cast<float>(*t.raw<half>())
                                             : static_cast<float>(*t.raw<bfloat>());
      std::memcpy(bytes, &f, sizeof f);
    }
  }
};

// The array `Axes` of a kernel.
template <class Index>
std::vector<Index> axes_of(const Layout& l) {
  std::vector<Index> out;
  for (int64_t size : l.sizes) out.push_back(static_cast<Index>(size));
  if constexpr (sizeof(Index) == 4) {
    // n / size for n < 2^31 as (high(n * multiply) + n) >> shift.
    auto shift = [](uint64_t size) {
      return size <= 1 ? 0u : static_cast<uint32_t>(std::bit_width(size - 1));
    };
    for (int64_t n : l.sizes) {
      auto size = static_cast<uint64_t>(n);
      uint64_t over = (uint64_t{1} << shift(size)) - size;
      out.push_back(static_cast<uint32_t>((uint64_t{1} << 32) * over / size + 1));
    }
    for (int64_t n : l.sizes) out.push_back(shift(static_cast<uint64_t>(n)));
  }
  for (const Dims& strides : l.strides)
    for (int64_t s : strides) out.push_back(static_cast<Index>(s));
  return out;
}

}  // namespace

struct CudaProgram::Variant {
  Spec spec;
  int architecture = 0;
  cudaKernel_t kernel = nullptr;
  std::string refusal = {};  // why there is none
};

struct CudaProgram::Launch {
  Spec spec;
  Layout layout;
  int64_t count = 0;  // elements, or rows
  int64_t blocks = 0;
  unsigned threads = kThreads;
};

CudaProgram::CudaProgram(const Expr& e) {
  std::vector<size_t> all(e.stores().size());
  std::iota(all.begin(), all.end(), size_t{0});
  list_ = e.keeping(all);  // a list of its own: the expression keeps the program, not the other way
  loads_ = loads_of(*list_);
  refusal_ = refuse_list(*list_);
  if (!refusal_ && e.row() && team_of(e.row(), 1, 8).packs > kMostPacks)
    refusal_ = "rows are too long for the registers of a block";
}

const CudaProgram& cuda_program(const Expr& e) {
  return e.program<CudaProgram>(
      DeviceKind::kCuda, +[](const Expr& list) {
        static std::mutex mutex;
        static auto* known = new std::unordered_multimap<uint64_t, Ref<CudaProgram>>;
        std::lock_guard lock(mutex);
        auto [begin, end] = known->equal_range(list.hash());
        for (auto it = begin; it != end; ++it)
          if (it->second->serves(list)) return it->second;
        return known->emplace(list.hash(), make_ref<CudaProgram>(list))->second;
      });
}

CudaProgram::Launch CudaProgram::planned(std::span<const Operand> in, std::span<const Tensor> out,
                                         const Shape& domain) const {
  const Expr& e = *list_;
  Launch l;
  InlineVector<const Shape*, 8> shapes;
  for (const Operand& o : in) shapes.push_back(o.shape);
  l.layout = layout_of(e, loads_, shapes, domain);
  Spec& s = l.spec;
  s.access = l.layout.access;
  s.axes = static_cast<int>(l.layout.sizes.size());
  int64_t n = domain.size(), row = e.row(), dense = 0;
  s.wide = n >= kMostNarrow;
  for (size_t i = 0; i < loads_.size(); ++i) {
    int from = e.values()[static_cast<size_t>(loads_[i])].input;
    // One number, also where the domain has one element and the operand is as dense as any.
    if (from >= 0 && in[static_cast<size_t>(from)].by_value) s.access[i] = Access::kValue;
    dense += s.access[i] == Access::kDense;
  }
  // Views start at any element: wide loads only where everything lies on their boundary.
  int64_t vector = std::max<int64_t>(16 / widest(e, loads_, s.access), 1);
  while (row && row % vector) vector /= 2;
  if (!row && s.axes) vector = 1;
  auto fits = [&](const void* at, DType dtype, bool per_row) {
    return per_row ||
           reinterpret_cast<uintptr_t>(at) % static_cast<uintptr_t>(vector * size_of(dtype)) == 0;
  };
  bool aligned = true;
  for (size_t i = 0; i < loads_.size(); ++i) {
    const Expr::Value& v = e.values()[static_cast<size_t>(loads_[i])];
    if (s.access[i] == Access::kDense || s.access[i] == Access::kColumn)
      aligned = aligned && fits(in[static_cast<size_t>(v.input)].at, v.dtype, v.per_row);
  }
  for (size_t k = 0; k < out.size(); ++k)
    aligned = aligned && fits(out[k].raw(), out[k].dtype(), e.per_row(k));
  s.vector = aligned ? static_cast<int>(vector) : 1;
  if (row) {
    Team team = team_of(row, s.vector, widest(e, loads_, s.access));
    l.count = n / row;
    l.threads = static_cast<unsigned>(team.block);
    int64_t rows = team.block / team.threads;
    l.blocks = (l.count + rows - 1) / rows;
  } else {
    s.unroll = unroll_for(n, dense);
    l.count = n;
    int64_t tile = int64_t{kThreads} * s.vector * s.unroll;
    l.blocks = (n + tile - 1) / tile;
  }
  return l;
}

// Found once; failures are remembered too.
const CudaProgram::Variant& CudaProgram::variant(const Spec& spec, CudaDevice& device) const {
  int architecture = device.architecture();
  std::lock_guard lock(mutex_);
  for (const auto& v : variants_)
    if (v->architecture == architecture && v->spec == spec) return *v;
  auto made = std::make_unique<Variant>(Variant{.spec = spec, .architecture = architecture});
  std::string code;
  Status s = device.enter();
  if (s.ok()) s = compile(print_source(*list_, loads_, spec), architecture, code);
  if (s.ok())
    load(code, made->kernel, made->refusal);
  else
    made->refusal = cat(s.headline(), s.why().empty() ? "" : ": ", s.why());
  if (made->kernel) compiled_ = true;
  return *variants_.emplace_back(std::move(made));
}

const char* CudaProgram::refuse(CudaDevice& device, std::span<const Operand> in,
                                const Shape& domain) const {
  if (refusal_) return refusal_;
  if (domain.size() == 0) return nullptr;
  // What compiled once compiles however operands lie: a launch plans once, when it runs.
  if (compiled_ && domain.rank() <= kMostAxes) return nullptr;
  Launch l = planned(in, {}, domain);
  if (l.spec.axes > kMostAxes) return "a broadcast over more than 16 axes";
  const Variant& v = variant(l.spec, device);
  return v.kernel ? nullptr : v.refusal.c_str();
}

Status CudaProgram::run(CudaDevice& device, const Expr& numbers, std::span<const Tensor> in,
                        std::span<const Tensor> out, const Shape& domain) const {
  if (domain.size() == 0) return {};
  InlineVector<Operand, 8> operands;
  for (const Tensor& t : in) operands.push_back({&t.shape(), on_host(t), t.raw()});
  Launch l = planned(operands, out, domain);
  const Variant& v = variant(l.spec, device);
  if (!v.kernel)
    return {Code::E0706, cat("an elementwise kernel can't run on ", device.short_name()),
            v.refusal};
  if (l.blocks > INT32_MAX)
    return {Code::E1105, cat(domain.size(), " elements are more than one launch covers on ",
                             device.short_name())};
  InlineVector<const void*, 8> pointers;
  InlineVector<Number, 4> values;
  InlineVector<void*, 16> arguments;
  // Room first: arguments are addresses inside these.
  pointers.reserve(loads_.size() + out.size());
  values.reserve(loads_.size());
  for (size_t i = 0; i < loads_.size(); ++i) {
    const Expr::Value& from = numbers.values()[static_cast<size_t>(loads_[i])];
    const Tensor& t = from.input < 0 ? from.number : in[static_cast<size_t>(from.input)];
    if (l.spec.access[i] == Access::kValue) {
      values.push_back(Number(t));
      arguments.push_back(values.back().bytes);
    } else {
      pointers.push_back(t.raw());
      arguments.push_back(&pointers.back());
    }
  }
  for (const Tensor& t : out) {
    pointers.push_back(t.mutable_raw());
    arguments.push_back(&pointers.back());
  }
  auto count64 = static_cast<uint64_t>(l.count);
  auto count32 = static_cast<uint32_t>(l.count);
  arguments.push_back(l.spec.wide ? static_cast<void*>(&count64) : &count32);
  std::vector<uint32_t> axes32;
  std::vector<uint64_t> axes64;
  if (l.spec.axes && l.spec.wide) {
    axes64 = axes_of<uint64_t>(l.layout);
    arguments.push_back(axes64.data());
  } else if (l.spec.axes) {
    axes32 = axes_of<uint32_t>(l.layout);
    arguments.push_back(axes32.data());
  }
  HOLDFAST_CUDA(cudaLaunchKernel(v.kernel, dim3(static_cast<unsigned>(l.blocks)), dim3(l.threads),
                                 arguments.data(), 0, device.stream()));
  g_launches.fetch_add(1, std::memory_order_relaxed);
  return {};
}

int64_t program_launches() { return g_launches; }

}  // namespace holdfast::cuda
