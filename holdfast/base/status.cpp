#include "holdfast/base/status.h"

namespace holdfast {

Status::Status(Code code, std::string headline, std::string why)
    : failure_(make_ref<Failure>(code, std::move(headline), std::move(why))) {}

void Status::raise_failure() const { fail(code(), headline(), why()); }

}  // namespace holdfast
