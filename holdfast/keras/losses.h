// All losses.
#pragma once

#include "holdfast/keras/losses/crossentropy.h"
#include "holdfast/keras/losses/margin.h"
#include "holdfast/keras/losses/regression.h"
