#include "holdfast/keras/held_weight.h"

#include "holdfast/exec/module.h"
#include "holdfast/exec/watched.h"

namespace holdfast::keras {

HeldWeight& HeldWeight::operator=(const Variable& now) {
  Variable before = *this;
  Variable::operator=(now);
  if (auto* module = dynamic_cast<ModuleObject*>(holder_)) module->replace(before, *this);
  note_change(*holder_);
  return *this;
}

}  // namespace holdfast::keras
