// Memory that tensors look into. Who allocated it knows how to give it back.
#pragma once

#include <cstddef>

#include "holdfast/base/owned.h"
#include "holdfast/base/refcount.h"
#include "holdfast/base/where.h"
#include "holdfast/tensor/ledger.h"

namespace holdfast {

class Device;

class HOLDFAST_API Buffer : public RefCounted {
 public:
  Buffer(Device* device, void* data, size_t bytes) : device_(device), data_(data), bytes_(bytes) {}

  Device* device() const { return device_; }
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  /// False for memory that is shared with somebody who may read it (NumPy, DLPack).
  bool writable() const { return writable_; }
  void freeze() { writable_ = false; }
  /// Lists the buffer in the ledger until it dies.
  void list(Where born, DType dtype, const Shape& shape) {
    entry_ = make_owned<LedgerEntry>(this, bytes_, born, dtype, shape);
  }

 protected:
  Device* device_;
  void* data_;
  size_t bytes_;
  bool writable_ = true;
  Owned<LedgerEntry> entry_;
};

/// Memory that somebody else owns; `give_back(token)` is called when the last tensor lets go.
class HOLDFAST_API ForeignBuffer final : public Buffer {
 public:
  ForeignBuffer(Device* device, void* data, size_t bytes, void* token, void (*give_back)(void*))
      : Buffer(device, data, bytes), token_(token), give_back_(give_back) {
    freeze();
  }

 protected:
  ~ForeignBuffer() override {
    if (give_back_) give_back_(token_);
  }

 private:
  void* token_;
  void (*give_back_)(void*);
};

}  // namespace holdfast
