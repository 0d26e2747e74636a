#pragma once

#include "python/bind/nb.h"

namespace holdfast::py {

void bind_dlpack(nanobind::module_& m);

}  // namespace holdfast::py
