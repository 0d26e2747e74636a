#include "holdfast/ops/nn/onednn/engine.h"

#ifdef HOLDFAST_ONEDNN
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

}  // namespace holdfast::onednn
#endif
