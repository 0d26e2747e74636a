// How whoever waits for a long computation stops it.
#pragma once

#include "holdfast/base/api.h"

namespace holdfast {

/// Called now and then while something long runs; throws to stop it. Set by the language that owns
/// the main thread.
HOLDFAST_API void set_interrupt(void (*check)());
/// Gives it a turn, if the last one is a while ago. The caller holds no lock that somebody with the
/// language's own lock may want.
HOLDFAST_API void check_interrupt();

}  // namespace holdfast
