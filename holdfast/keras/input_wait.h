// What a loop spends waiting for its batches, for the line that shows how it goes.
#pragma once

#include "holdfast/keras/training.h"

namespace holdfast::keras {

/// Seconds for which loops of this thread have waited for batches since it was set to zero.
double& input_wait();

/// The next batch; the time that it takes is counted.
bool next_batch(BatchSource& batches, Nested& batch);

}  // namespace holdfast::keras
