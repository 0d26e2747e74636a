// Whose memory the outputs of a step look into, known before it runs.
#pragma once

#include "holdfast/exec/plan.h"

namespace holdfast {

/// Of each output what its op says (see AliasFn); of branches and loops what their graphs say.
InlineVector<int, 2> aliases_of(const Step& s, const Ref<Scope>& scope);

}  // namespace holdfast
