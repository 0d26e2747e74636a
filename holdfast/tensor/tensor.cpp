#include "holdfast/tensor/tensor.h"

#include <atomic>

namespace holdfast {
namespace {

// Each thread takes a thousand numbers at a time.
uint64_t next_id() {
  constexpr uint64_t kMany = 1024;
  static std::atomic<uint64_t> free{1};
  static thread_local uint64_t next = 0, end = 0;
  if (next == end) {
    next = free.fetch_add(kMany, std::memory_order_relaxed);
    end = next + kMany;
  }
  return next++;
}

}  // namespace

TensorRep::TensorRep(DType d, Shape s, Ref<Buffer> b, int64_t o)
    : dtype(d), shape(std::move(s)), buffer(std::move(b)), offset(o), id(next_id()), born(here()) {}

Tensor view_of(const Tensor& base, Shape shape, int64_t offset_bytes) {
  return Tensor(make_ref<TensorRep>(base.dtype(), std::move(shape), base.rep()->buffer,
                                    base.rep()->offset + offset_bytes));
}

}  // namespace holdfast
