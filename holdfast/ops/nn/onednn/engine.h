// What every use of oneDNN needs: the engine, a stream, and the number of threads it may take.
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

/// How many threads a library call may use here: one inside a parallel loop or a forked child.
int team_size();

/// Gives the library `n` threads while it lives. Primitives are made and run under the same number.
class Team {
 public:
  explicit Team(int n);
  ~Team();
  Team(const Team&) = delete;

 private:
  int was_;
};

}  // namespace holdfast::onednn
#endif
