#include "holdfast/tensor/tensor.h"

#include <atomic>

namespace holdfast {
namespace {

uint64_t next_id() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

TensorRep::TensorRep(DType d, Shape s, Ref<Buffer> b, int64_t o)
    : dtype(d), shape(std::move(s)), buffer(std::move(b)), offset(o), id(next_id()), born(site().where) {}

Tensor view_of(const Tensor& base, Shape shape, int64_t offset_bytes) {
  return Tensor(make_ref<TensorRep>(base.dtype(), std::move(shape), base.rep()->buffer,
                                    base.rep()->offset + offset_bytes));
}

}  // namespace holdfast
