#include "holdfast/tensor/resource.h"

#include <array>
#include <mutex>
#include <unordered_set>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/tensor/last_reads.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {

const ResourceKind VariableState::kKind{"variable"};
const ObjectClass VariableState::kClass{"Variable"};
const ObjectClass Constraint::kClass{"Constraint"};

namespace {

// Every resource's own handle, which lives as long as the resource does. Nothing here is owned.
struct Handles {
  std::mutex mutex;
  std::unordered_set<const TensorRep*> all;
};
Handles& handles() {
  static auto* h = new Handles;
  return *h;
}

}  // namespace

// The resource has one reference to its handle. The first one beside it is a reference to the
// resource, and the last one of those gives it back.
Ref<TensorRep> TensorRep::own_handle(RefCounted* of) {
  auto rep = make_ref<TensorRep>(DType::kResource, Shape{}, nullptr);
  rep->beyond = Ref<RefCounted>::take(of);
  rep->born = here();
  rep->count_elsewhere();
  Handles& known = handles();
  std::lock_guard lock(known.mutex);
  known.all.insert(rep.get());
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
    {
      Handles& known = handles();
      std::lock_guard lock(known.mutex);
      known.all.erase(self);
    }
    self->beyond.leak();
    delete self;
  }
}

namespace {

struct LastReads {
  struct Read {
    uint64_t value = 0, handle_id = 0;
    const TensorRep* handle = nullptr;
  };
  std::array<Read, 16> all;
  size_t next = 0;
};
thread_local LastReads last_reads;

}  // namespace

void note_read(const Tensor& handle, const Tensor& value) {
  LastReads& reads = last_reads;
  reads.all[reads.next++ % reads.all.size()] = {value.id(), handle.id(), handle.rep()};
}

Tensor variable_behind_value(const Tensor& value) {
  if (!value.defined() || !value.rep()->variable_born) return {};
  for (const LastReads::Read& r : last_reads.all) {
    if (r.value != value.id()) continue;
    Handles& known = handles();
    std::lock_guard lock(known.mutex);
    auto found = known.all.find(r.handle);
    if (found == known.all.end() || (*found)->id != r.handle_id) return {};
    return Tensor(Ref<TensorRep>(const_cast<TensorRep*>(r.handle)));
  }
  return {};
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
