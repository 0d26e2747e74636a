// What a GPU makes of an expression: a kernel for each way its operands lie, printed and compiled
// when it is first needed.
#pragma once

#include <memory>
#include <mutex>

#include "holdfast/cuda/device.h"
#include "holdfast/cuda/source.h"

namespace holdfast::cuda {

/// What a launch is planned by of an operand.
struct Operand {
  const Shape* shape;
  bool by_value = false;     // a number on the host, which is handed over with the launch
  const void* at = nullptr;  // null: not known yet, and taken to lie as well as can be
};

class CudaProgram final : public Program {
 public:
  explicit CudaProgram(const Expr&);

  /// Whether both are the same kernels; numbers are handed over with a launch.
  bool serves(const Expr& e) const { return list_->same_code(e); }
  /// Why it can't run for such operands; null if it can. Compiles, where nothing of the list was
  /// compiled yet.
  const char* refuse(CudaDevice&, std::span<const Operand> in, const Shape& domain) const;
  /// One launch. Inputs that are not on the device have one element. `numbers` is the expression
  /// that is run.
  Status run(CudaDevice&, const Expr& numbers, std::span<const Tensor> in,
             std::span<const Tensor> out, const Shape& domain) const;

 private:
  struct Variant;
  struct Launch;
  Launch planned(std::span<const Operand> in, std::span<const Tensor> out,
                 const Shape& domain) const;
  const Variant& variant(const Spec&, CudaDevice&) const;

  Ref<Expr> list_;
  std::vector<int> loads_;
  const char* refusal_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Variant>> variants_;
  mutable std::atomic<bool> compiled_{false};  // some variant was
};

/// The program of an expression. Equal lists share one.
const CudaProgram& cuda_program(const Expr&);
/// How many launches programs made in this process.
int64_t program_launches();

}  // namespace holdfast::cuda
