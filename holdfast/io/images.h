// Pixels of image files: JPEG and PNG through their libraries, BMP and GIF by our own hand.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "holdfast/base/api.h"

namespace holdfast::io {

/// What an image has, before memory is taken for it.
struct ImageSize {
  int64_t frames = 1, height = 0, width = 0, channels = 0;
};
/// Gives the memory for an image: frames, rows, columns, channels, each of one byte, or of two.
using ImagePlace = std::function<void*(const ImageSize&)>;

// Each fills the memory that `place` gives, and returns what was wrong: nothing where all is well.
// Channels of 0 are those of the file.

struct JpegDecoding {
  int channels = 0, ratio = 1;  // one pixel for each `ratio` in both directions: 1, 2, 4 or 8
  bool fancy_upscaling = true, try_recover_truncated = false;
  float acceptable_fraction = 1;
  bool accurate = false;  // the slower of the library's transforms
};
HOLDFAST_API std::string read_jpeg(std::string_view file, const JpegDecoding&, const ImagePlace&);
/// Of the header alone.
HOLDFAST_API std::string jpeg_size(std::string_view file, ImageSize& size);
HOLDFAST_API std::string read_png(std::string_view file, int channels, bool sixteen_bits,
                                  const ImagePlace&);
HOLDFAST_API std::string read_bmp(std::string_view file, int channels, const ImagePlace&);
/// All frames, or the first one.
HOLDFAST_API std::string read_gif(std::string_view file, bool all, const ImagePlace&);

struct JpegEncoding {
  int quality = 95;
  bool progressive = false, optimize_size = false, chroma_downsampling = true;
  bool per_centimetre = false;  // densities; else per inch
  int x_density = 300, y_density = 300;
  std::string xmp_metadata;
};
HOLDFAST_API std::string write_jpeg(const uint8_t* pixels, const ImageSize&, const JpegEncoding&,
                                    std::string& file);
HOLDFAST_API std::string write_png(const void* pixels, const ImageSize&, bool sixteen_bits,
                                   int compression, std::string& file);

enum class ImageFormat : uint8_t { kUnknown, kJpeg, kPng, kGif, kBmp };
HOLDFAST_API ImageFormat image_format(std::string_view file);

}  // namespace holdfast::io
