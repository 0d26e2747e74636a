// All layers: #include <holdfast/keras/layers.h>
#pragma once

#include "holdfast/keras/layers/activation.h"
#include "holdfast/keras/layers/dense.h"
#include "holdfast/keras/layers/dropout.h"
#include "holdfast/keras/layers/einsum_dense.h"
#include "holdfast/keras/layers/identity.h"
#include "holdfast/keras/layers/merge.h"
#include "holdfast/keras/layers/normalization/batch_normalization.h"
#include "holdfast/keras/layers/normalization/feature_normalization.h"
#include "holdfast/keras/layers/normalization/layer_normalization.h"
#include "holdfast/keras/layers/reshape.h"
#include "holdfast/keras/layers/spatial/borders.h"
#include "holdfast/keras/layers/spatial/convolution.h"
#include "holdfast/keras/layers/spatial/convolution_transpose.h"
#include "holdfast/keras/layers/spatial/depthwise.h"
#include "holdfast/keras/layers/spatial/pooling.h"
#include "holdfast/keras/layers/spatial/up_sampling.h"
