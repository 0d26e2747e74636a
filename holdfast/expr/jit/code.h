// Machine code that is ready to run, and whether this process makes any.
#pragma once

#include "holdfast/base/refcount.h"
#include "holdfast/expr/jit/body.h"

namespace holdfast::jit {

/// A function in pages of its own: written, then made executable, never both at once.
class Code final : public RefCounted {
 public:
  /// See `emit` for what it is called with.
  using Entry = void (*)(char* const* at, int64_t n, int64_t rows, const int64_t* steps);
  Code(void* pages, size_t bytes, size_t entry) : pages_(pages), bytes_(bytes), entry_(entry) {}
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() override;
  Entry entry() const { return reinterpret_cast<Entry>(static_cast<char*>(pages_) + entry_); }

 private:
  void* pages_;
  size_t bytes_, entry_;
};

/// The code of a function for this machine's best instruction set; equal ones share it. `streams`:
/// results go past the caches, so they are aligned to 64 bytes and come in whole vectors. Null
/// where it is too long, or the system gives no executable pages.
Ref<Code> code_for(const Function&, bool streams);

/// Why there is no machine code in this process; null where there is.
HOLDFAST_API const char* unavailable();
/// Whether code is for AVX-512, else for AVX2.
bool with_avx512();
/// How many elements times instructions a list runs over before it is worth emitting.
int64_t worth_emitting();
/// Emits from this much work on; -1: as HOLDFAST_JIT says.
HOLDFAST_API void set_worth_emitting(int64_t);

}  // namespace holdfast::jit
