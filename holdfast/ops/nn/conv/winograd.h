// What Winograd's convolutions and their filter's gradient have in common.
#pragma once

#include "holdfast/ops/nn/conv/cpu/winograd_loops.h"
#include "holdfast/ops/nn/conv/shape.h"

namespace holdfast::nn {

/// Those of this machine's best instruction set.
const WinogradLoops& winograd_loops();

/// Why a convolution, or one of its gradients, is left to others.
const char* refuse_winograd_shape(const ConvShape& s, DType dtype);

/// Tiles that cover [rows, columns] positions of each image, counted through all of them.
struct TileGrid {
  int64_t rows, columns;
  int64_t down = (rows + kWinogradTile - 1) / kWinogradTile,
          across = (columns + kWinogradTile - 1) / kWinogradTile, tiles = down * across;

  struct Place {
    int64_t image, y, x;
  };
  Place place(int64_t tile) const {
    return {tile / tiles, tile % tiles / across * kWinogradTile, tile % across * kWinogradTile};
  }
};

/// Some positions of images as floats that lie where they lie, or, at edges, in a copy with zeros
/// beyond them. One of each thread.
class Patches {
 public:
  /// Of `reach` x `reach` positions of images [batch, height, width, channels].
  Patches(const Call& c, const float* images, int64_t height, int64_t width, int64_t channels,
          int64_t reach);

  struct Patch {
    const float* data;
    int64_t line;  // floats from one row to the next; positions are `channels` apart
  };
  Patch at(int64_t image, int64_t y, int64_t x);

 private:
  const float* images_;
  int64_t height_, width_, channels_, reach_;
  Tensor edge_;
};

}  // namespace holdfast::nn
