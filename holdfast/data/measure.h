// How long the stages of a pipeline take, while somebody asks.
#pragma once

#include "holdfast/data/node.h"

namespace holdfast::data {

/// The cursor, or one around it that measures it where this thread measures the stage.
Owned<Cursor> measured(const DatasetObject& stage, Owned<Cursor> cursor);

}  // namespace holdfast::data
