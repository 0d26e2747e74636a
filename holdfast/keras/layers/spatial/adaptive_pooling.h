// Pools whose windows follow from the size that is wanted.
#pragma once

#include "holdfast/keras/layers/spatial/pooling.h"

namespace holdfast::keras::layers {

struct AdaptivePoolingOptions {
  Sides output_size = 1;
  DataFormat data_format = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

/// What all of them share: each axis falls into as many parts of nearly one size as are wanted.
class HOLDFAST_API AdaptivePoolingLayer : public Declares<AdaptivePoolingOptions>,
                                          public BuiltAtOnce {
 public:
  Tensor call(const Tensor& inputs, const CallOptions&) override;

 protected:
  AdaptivePoolingLayer(Pool pool, int axes) : pool_(pool), axes_(axes) {}
  void check() override;

 private:
  const Pool pool_;
  const int axes_;
};

template <Pool pool, int axes>
class HOLDFAST_API AdaptivePoolingOver : public AdaptivePoolingLayer {
 public:
  AdaptivePoolingOver() : AdaptivePoolingLayer(pool, axes) {}
  const ClassDef& definition() const override { return def(); }
  static ClassDef& def();
};

using AdaptiveMaxPooling1D = Handle<AdaptivePoolingOver<Pool::kMax, 1>>;
/// The largest element of each part of an image: `AdaptiveMaxPooling2D(7)` gives 7 x 7.
using AdaptiveMaxPooling2D = Handle<AdaptivePoolingOver<Pool::kMax, 2>>;
using AdaptiveMaxPooling3D = Handle<AdaptivePoolingOver<Pool::kMax, 3>>;
using AdaptiveAveragePooling1D = Handle<AdaptivePoolingOver<Pool::kAverage, 1>>;
/// The mean of each part.
using AdaptiveAveragePooling2D = Handle<AdaptivePoolingOver<Pool::kAverage, 2>>;
using AdaptiveAveragePooling3D = Handle<AdaptivePoolingOver<Pool::kAverage, 3>>;

}  // namespace holdfast::keras::layers
