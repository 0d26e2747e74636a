// All layers: #include <holdfast/keras/layers.h>
#pragma once

#include "holdfast/keras/layers/activation.h"
#include "holdfast/keras/layers/batch_normalization.h"
#include "holdfast/keras/layers/borders.h"
#include "holdfast/keras/layers/convolution.h"
#include "holdfast/keras/layers/convolution_transpose.h"
#include "holdfast/keras/layers/dense.h"
#include "holdfast/keras/layers/depthwise.h"
#include "holdfast/keras/layers/dropout.h"
#include "holdfast/keras/layers/einsum_dense.h"
#include "holdfast/keras/layers/feature_normalization.h"
#include "holdfast/keras/layers/identity.h"
#include "holdfast/keras/layers/layer_normalization.h"
#include "holdfast/keras/layers/merge.h"
#include "holdfast/keras/layers/pooling.h"
#include "holdfast/keras/layers/reshape.h"
#include "holdfast/keras/layers/up_sampling.h"
