#include "holdfast/ops/nn/onednn/engine.h"

#ifdef HOLDFAST_ONEDNN
#ifdef HOLDFAST_OPENMP
#include <omp.h>
#endif

#include "holdfast/base/parallel.h"

namespace holdfast::onednn {

const dnnl::engine& engine() {
  // Never destroyed: tensors and cached primitives in statics may outlive any order of destructors.
  static const auto* e = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *e;
}

dnnl::stream& stream() {
  thread_local dnnl::stream s(engine());
  return s;
}

dnnl::memory::data_type type_of(DType d) {
  using Type = dnnl::memory::data_type;
  switch (d) {
    case DType::kFloat32: return Type::f32;
    case DType::kBFloat16: return Type::bf16;
    case DType::kFloat16: return Type::f16;
    case DType::kInt32: return Type::s32;
    case DType::kInt8: return Type::s8;
    case DType::kUInt8: return Type::u8;
    default: return Type::undef;
  }
}

#ifdef HOLDFAST_OPENMP
int team_size() { return omp_in_parallel() ? 1 : num_threads(); }
Team::Team(int n) : was_(omp_get_max_threads()) { if (n != was_) omp_set_num_threads(n); }
Team::~Team() { if (omp_get_max_threads() != was_) omp_set_num_threads(was_); }
#else
int team_size() { return 1; }
Team::Team(int) : was_(0) {}
Team::~Team() = default;
#endif

}  // namespace holdfast::onednn
#endif
