#include "holdfast/tensor/tensor.h"

#include <atomic>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/recycle.h"

namespace holdfast {
namespace {

// Each thread takes a thousand numbers at a time.
uint64_t next_id() {
  constexpr uint64_t kMany = 1024;
  static std::atomic<uint64_t> free{1};
  Site& s = site();
  if (s.next_id == s.last_id) {
    s.next_id = free.fetch_add(kMany, std::memory_order_relaxed);
    s.last_id = s.next_id + kMany;
  }
  return s.next_id++;
}

}  // namespace

TensorRep::TensorRep(DType d, const Shape& s, Ref<Buffer> b, int64_t o)
    : dtype(d), shape(s), buffer(std::move(b)), offset(o), id(next_id()), born(here()) {}

static_assert(sizeof(TensorRep) <= kRecycled);
void* TensorRep::operator new(size_t) { return take_block(); }
void TensorRep::operator delete(void* p) noexcept { give_block(p); }

void Tensor::set_mask(const Tensor& mask) const {
  known();
  for (const TensorRep* m = mask.rep(); m; m = m->mask.get())
    if (m == rep()) fail(Code::E1104, "a tensor was to be its own mask");
  rep_->mask = mask.ref();
}

Tensor view_of(const Tensor& base, Shape shape, int64_t offset_bytes) {
  if (!base.device())
    fail(Code::E1104,
         "view_of: `base` has no elements to look into, expected a tensor with a value");
  return Tensor(make_ref<TensorRep>(base.dtype(), std::move(shape), base.rep()->buffer,
                                    base.rep()->offset + offset_bytes));
}

}  // namespace holdfast
