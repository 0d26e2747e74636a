#include "holdfast/base/status.h"

namespace holdfast {

Status::Status(Code code, std::string headline, std::string why, std::vector<Fix> fixes)
    : failure_(make_ref<Failure>(code, std::move(headline), std::move(why), std::move(fixes))) {}

void Status::raise_failure() const { fail(code(), headline(), why(), fixes()); }

}  // namespace holdfast
