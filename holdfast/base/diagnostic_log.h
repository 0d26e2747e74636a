// When errors are written to the log that HOLDFAST_DIAG_JSON names.
#pragma once

#include "holdfast/base/api.h"

namespace holdfast {

/// Whether `raise` logs errors by itself, as it does until told otherwise. A language that adds to
/// errors before its users see them turns this off, and calls `log_json` with the whole story.
HOLDFAST_API void set_log_at_raise(bool on) noexcept;
/// What was set.
HOLDFAST_API bool log_at_raise() noexcept;

}  // namespace holdfast
