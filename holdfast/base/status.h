// The only form in which a failure crosses a plugin boundary or leaves a kernel.
#pragma once

#include <string>
#include <vector>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/refcount.h"

namespace holdfast {

/// Success, or a code with a headline, a why and fixes. One word; success is null.
class [[nodiscard]] HOLDFAST_API Status {
 public:
  Status() = default;
  Status(Code code, std::string headline, std::string why = {}, std::vector<Fix> fixes = {});

  bool ok() const { return !failure_; }
  Code code() const { return failure_->code; }
  const std::string& headline() const { return failure_->headline; }
  const std::string& why() const { return failure_->why; }
  const std::vector<Fix>& fixes() const { return failure_->fixes; }
  /// Throws the failure, if there is one.
  void check() const {
    if (failure_) raise_failure();
  }

 private:
  [[noreturn]] void raise_failure() const;
  struct HOLDFAST_API Failure final : RefCounted {
    Failure(Code c, std::string h, std::string w, std::vector<Fix> f)
        : code(c), headline(std::move(h)), why(std::move(w)), fixes(std::move(f)) {}
    Code code;
    std::string headline, why;
    std::vector<Fix> fixes;
  };
  Ref<Failure> failure_;
};

}  // namespace holdfast
