// Training as it is shown: a line that is redrawn on a terminal, one line per epoch elsewhere.
#pragma once

#include "holdfast/keras/callback.h"

namespace holdfast::keras {

HOLDFAST_API Ref<Callback> make_progress();

}  // namespace holdfast::keras
