// BMP without compression: 8, 24 or 32 bits a pixel, rows from below unless the height is negative.
#include <cmath>
#include <cstdlib>

#include "holdfast/base/text.h"
#include "holdfast/io/images.h"

namespace holdfast::io {
namespace {

uint32_t number_at(std::string_view bytes, size_t at, size_t count) {
  uint32_t out = 0;
  for (size_t i = count; i-- > 0;) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

}  // namespace

std::string read_bmp(std::string_view file, int channels, const ImagePlace& place) {
  if (file.size() < 54) return "it ends in its header";
  if (file.substr(0, 2) != "BM") return "it does not begin with `BM`";
  uint32_t begin = number_at(file, 10, 4), bits = number_at(file, 28, 2),
           packed = number_at(file, 30, 4);
  int64_t width = static_cast<int32_t>(number_at(file, 18, 4)),
          height = static_cast<int32_t>(number_at(file, 22, 4));
  if (packed != 0 && !(packed == 3 && bits == 32)) return "it is compressed";
  if (bits != 8 && bits != 24 && bits != 32)
    return cat("it has ", bits, " bits a pixel, and 8, 24 and 32 are read");
  int64_t own = bits / 8;
  if (channels == 1 && own != 1) return cat("1 channel is wanted, and it has ", own);
  const int64_t given = channels ? channels : own;
  bool downwards = height < 0;
  height = std::abs(height);
  if (width < 1 || height < 1) return "it has no pixels";
  int64_t row = (width * own + 3) / 4 * 4;
  if (begin > file.size() || static_cast<int64_t>(file.size() - begin) / row < height)
    return "it ends too early";
  auto* to = static_cast<uint8_t*>(place({1, height, width, given}));
  for (int64_t y = 0; y < height; ++y) {
    int64_t line = downwards ? y : height - 1 - y;
    const char* from = file.data() + begin + row * line;
    for (int64_t x = 0; x < width; ++x, from += own, to += given)
      for (int64_t k = 0; k < given; ++k) {
        int64_t at = own == 1 ? 0 : k < 3 ? 2 - k : k;  // blue comes first there
        to[k] = k == 3 && own != 4 ? 255 : static_cast<uint8_t>(from[at]);
      }
  }
  return {};
}

ImageFormat image_format(std::string_view file) {
  if (file.starts_with("\xff\xd8\xff")) return ImageFormat::kJpeg;
  if (file.starts_with("\x89PNG")) return ImageFormat::kPng;
  if (file.starts_with("GIF8")) return ImageFormat::kGif;
  if (file.starts_with("BM")) return ImageFormat::kBmp;
  return ImageFormat::kUnknown;
}

}  // namespace holdfast::io
