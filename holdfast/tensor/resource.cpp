#include "holdfast/tensor/resource.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {

const ResourceKind VariableState::kKind{"variable"};
const ObjectClass VariableState::kClass{"Variable"};
const ObjectClass Constraint::kClass{"Constraint"};

// The resource has one reference to its handle. The first one beside it is a reference to the
// resource, and the last one of those gives it back.
Ref<TensorRep> TensorRep::own_handle(RefCounted* of) {
  auto rep = make_ref<TensorRep>(DType::kResource, Shape{}, nullptr);
  rep->beyond = Ref<RefCounted>::take(of);
  rep->born = here();
  rep->count_elsewhere();
  return rep;
}

void TensorRep::retained(int64_t before) const noexcept {
  if (before == 1) beyond->retain();
}

void TensorRep::released(int64_t before) const noexcept {
  if (before == 2) {
    beyond->release();
  } else if (before == 1) {  // the resource is going, and its handle with it
    auto* self = const_cast<TensorRep*>(this);
    self->beyond.leak();
    delete self;
  }
}

void wrong_resource(const Tensor& t, const ResourceKind& wanted) {
  const Resource* r = resource_behind(t);
  fail(Code::E1101,
       cat("a handle of a ", wanted.name, " is needed, and this is ",
           r                                              ? cat("one of a ", r->kind().name)
           : t.defined() && t.dtype() == DType::kResource ? "one that leads to nothing yet"
                                                          : "no handle"));
}

}  // namespace holdfast
