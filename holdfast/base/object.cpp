#include "holdfast/base/object.h"

namespace holdfast {
namespace {

Object::Hooks hooks{};

}  // namespace

void Object::set_hooks(const Hooks& h) { hooks = h; }

void Object::visit_all(Visitor& see) const {
  visit(see);
  if (void* other = shared()) hooks.attributes(other, see);
}

// Who counts between the two steps finds `shared_` set, and waits for the binding's lock.
int64_t Object::share(void* shared) noexcept {
  shared_.store(shared, std::memory_order_release);
  return count_elsewhere();
}

void Object::end_sharing() noexcept {
  shared_.store(nullptr, std::memory_order_release);
  count_here();
  release();
}

void Object::retained(int64_t) const noexcept { hooks.retain(shared()); }
void Object::released(int64_t) const noexcept { hooks.release(shared()); }

}  // namespace holdfast
