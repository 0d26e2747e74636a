// Bytes that are read by place: a file, a stretch of one, or memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "holdfast/base/api.h"

namespace holdfast::io {

class InputFile;

/// What every reader of a format reads from. Copies share the file. Whoever asks for bytes that are
/// not there is told that the file is damaged, before memory is taken for them.
class HOLDFAST_API ByteSource {
 public:
  static ByteSource of_file(const std::string& path);
  /// `name` is what messages call it.
  static ByteSource of_memory(std::string name, std::string bytes);
  /// Likewise, without a copy: the caller keeps the bytes.
  static ByteSource of_view(std::string name, std::string_view bytes);

  int64_t size() const { return size_; }
  const std::string& name() const { return name_; }
  void read(int64_t offset, void* to, int64_t count) const;
  std::string read(int64_t offset, int64_t count) const;
  /// A stretch of it, under a name of its own.
  ByteSource part(std::string name, int64_t offset, int64_t size) const;

  /// E1301 "`name` is refused", E1302 "`name` is damaged", and why.
  [[noreturn]] void refuse(const std::string& reason) const;
  [[noreturn]] void damaged(const std::string& reason) const;

 private:
  ByteSource() = default;
  void check(int64_t offset, int64_t count) const;

  std::string name_;
  std::shared_ptr<const InputFile> file_;
  std::shared_ptr<const std::string> kept_;
  const char* memory_ = nullptr;
  int64_t begin_ = 0, size_ = 0;
};

/// A name that a file holds, in quotes, fit for a message: it may be anything, and long.
std::string shown(std::string_view name);

}  // namespace holdfast::io
