#include "holdfast/data/open_batch.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/op/refuse.h"

namespace holdfast::data {

bool OpenBatch::next(Cursor& input, Nested& out) {
  while (at_ == size_) {
    check_stop();
    if (!input.next(batch_)) return false;
    open();
  }
  out = rows_->row(at_++);
  return true;
}

void OpenBatch::open() {
  at_ = size_ = 0;  // nothing is left of it, where it is refused
  std::vector<Tensor> leaves = batch_.leaves();
  for (size_t k = 0; k < leaves.size(); ++k)
    if (leaves[k].rank() < 1 || leaves[k].dim(0) != leaves[0].dim(0))
      fail(Code::E1102,
           cat("`", stage_.name(),
               "` takes elements whose tensors have as many rows each; component ", k, " is ",
               type_text(leaves[k]), ", component 0 is ", type_text(leaves[0])));
  int64_t rows = leaves.empty() ? 0 : leaves[0].dim(0);
  batch_ = batch_.map([](const Tensor& t) { return copy_to(t, cpu()); });
  rows_ = rows_of(batch_, rows);
  size_ = rows;
}

void OpenBatch::save(Saving& to) const {
  to.number(at_ < size_);
  if (at_ == size_) return;
  to.number(at_);
  to.element(batch_);
}

void OpenBatch::restore(Restoring& from) {
  if (!from.number()) return;
  int64_t there = from.number();
  batch_ = from.element();
  if (auto wrong = stage_.input().spec().mismatch(batch_)) Restoring::refuse(*wrong);
  open();
  if (there < 0 || there > size_) Restoring::refuse("it is behind the end of a batch");
  at_ = there;
}

}  // namespace holdfast::data
