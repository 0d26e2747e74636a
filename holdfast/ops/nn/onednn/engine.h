// What every use of oneDNN needs.
#pragma once

#ifdef HOLDFAST_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>

#include "holdfast/tensor/dtype.h"

namespace holdfast::onednn {

const dnnl::engine& engine();
/// This thread's.
dnnl::stream& stream();
/// The library's name of a dtype; undef where it has none.
dnnl::memory::data_type type_of(DType);

}  // namespace holdfast::onednn
#endif
