#include "holdfast/keras/made.h"

#include "holdfast/exec/watched.h"

namespace holdfast::keras {
namespace {
MadeListener made_listener = nullptr;
FrozenListener frozen_listener = nullptr;
FrozenQuestion ask_frozen = nullptr;
}  // namespace

void set_made_listener(MadeListener listener) { made_listener = listener; }
void note_made(ModuleObject& made) {
  if (WatchRecord* record = WatchRecord::current()) record->renew(made);
  if (made_listener) made_listener(made);
}

void set_frozen_listener(FrozenListener listener) { frozen_listener = listener; }
void note_made_frozen(const Variable& made) {
  if (frozen_listener) frozen_listener(made);
}

void set_frozen_question(FrozenQuestion ask) { ask_frozen = ask; }
bool is_trained(const Variable& v) {
  return v.trainable() && !(ask_frozen && ask_frozen(*v.state()));
}

}  // namespace holdfast::keras
