// Slices of a variable by its handle: a read, and a gather of what was read.
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

// The value behind a handle.
Tensor value_of(const char* function, const In& resource, const std::optional<DType>& dtype) {
  Tensor handle = resource, value = handle;
  if (handle && handle.dtype() == DType::kResource) value = Op(find_op("ReadVariableOp"))({handle});
  if (!value || (dtype && value.dtype() != *dtype))
    fail(Code::E1101, cat(function, ": `resource` holds ", value ? name(value.dtype()) : "nothing",
                          ", and `dtype` says ", dtype ? name(*dtype) : "nothing"));
  return value;
}

}  // namespace

REGISTER(
    FUNCTION(&resource_gather)
        .args("resource: R, indices: I")
        .options<&ResourceGatherOptions::dtype, &ResourceGatherOptions::batch_dims,
                 &ResourceGatherOptions::validate_indices>("dtype, batch_dims, validate_indices")
        .python("raw_ops.ResourceGather")
        .doc("Rows of a variable, given by its handle."));
Tensor resource_gather(const In& resource, const In& indices, const ResourceGatherOptions& o) {
  return gather(value_of("ResourceGather", resource, o.dtype), indices,
                {.batch_dims = o.batch_dims});
}

REGISTER(FUNCTION(&resource_gather_nd)
             .args("resource: R, indices: I")
             .options<&ResourceGatherOptions::dtype>("dtype")
             .python("raw_ops.ResourceGatherNd")
             .doc("Parts of a variable, given by its handle, at positions."));
Tensor resource_gather_nd(const In& resource, const In& indices, const ResourceGatherOptions& o) {
  return gather_nd(value_of("ResourceGatherNd", resource, o.dtype), indices);
}

}  // namespace holdfast
