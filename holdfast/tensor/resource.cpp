#include "holdfast/tensor/resource.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {

const ResourceKind VariableState::kKind{"variable"};

Tensor handle_to(Ref<Resource> resource) {
  auto rep = make_ref<TensorRep>(DType::kResource, Shape{}, nullptr);
  rep->beyond = std::move(resource);
  rep->born = here();
  return Tensor(std::move(rep));
}

void wrong_resource(const Tensor& t, const ResourceKind& wanted) {
  const Resource* r = resource_behind(t);
  fail(Code::E1101, cat("a handle of a ", wanted.name, " is needed, and this is ",
                        r                                    ? cat("one of a ", r->kind().name)
                        : t && t.dtype() == DType::kResource ? "one that leads to nothing yet"
                                                             : "no handle"));
}

}  // namespace holdfast
