// The only form in which a failure crosses a plugin boundary or leaves a kernel.
#pragma once

#include <string>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/refcount.h"

namespace holdfast {

/// Success, or a code with a headline and a why. One word; success is null.
class [[nodiscard]] HOLDFAST_API Status {
 public:
  Status() = default;
  Status(Code code, std::string headline, std::string why = {});

  bool ok() const { return !failure_; }
  Code code() const { return failure_->code; }
  const std::string& headline() const { return failure_->headline; }
  const std::string& why() const { return failure_->why; }
  /// Throws the failure, if there is one.
  void check() const {
    if (failure_) raise_failure();
  }

 private:
  [[noreturn]] void raise_failure() const;
  struct HOLDFAST_API Failure final : RefCounted {
    Failure(Code c, std::string h, std::string w)
        : code(c), headline(std::move(h)), why(std::move(w)) {}
    Code code;
    std::string headline, why;
  };
  Ref<Failure> failure_;
};

}  // namespace holdfast
