// Files that are read by place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "holdfast/base/api.h"

namespace holdfast::io {

class HOLDFAST_API InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  /// Reads exactly so many bytes; refused where the file has become shorter.
  void read(int64_t offset, void* to, size_t count) const;

 private:
  std::string path_;
  int file_ = -1;
  int64_t size_ = 0;
};

}  // namespace holdfast::io
