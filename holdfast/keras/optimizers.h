// All optimizers and schedules.
#pragma once

#include "holdfast/keras/optimizers/adam.h"
#include "holdfast/keras/optimizers/descent.h"
#include "holdfast/keras/optimizers/loss_scale.h"
#include "holdfast/keras/optimizers/schedule_free.h"
