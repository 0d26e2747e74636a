// Who hears of layers and optimizers that have made their variables.
#pragma once

#include "holdfast/exec/module.h"

namespace holdfast::keras {

/// Told of a layer or an optimizer once its variables are there: checkpoints that were read before
/// then give them their values. There is one listener, set when a program begins.
using MadeListener = void (*)(ModuleObject&);
HOLDFAST_API void set_made_listener(MadeListener listener);
HOLDFAST_API void note_made(ModuleObject& made);

/// Told of each weight that a layer makes while it is not trainable: Keras' variables say so
/// themselves.
using FrozenListener = void (*)(const Variable&);
HOLDFAST_API void set_frozen_listener(FrozenListener listener);
void note_made_frozen(const Variable& made);

/// Whether training changes a variable: it was made for that, and no program has said since that it
/// is not to. Those that say so are objects of the other language, which is asked.
HOLDFAST_API bool is_trained(const Variable& v);
using FrozenQuestion = bool (*)(const VariableState&);
HOLDFAST_API void set_frozen_question(FrozenQuestion ask);

}  // namespace holdfast::keras
