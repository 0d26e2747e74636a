// Files that are there whole, or not at all.
#pragma once

#include <cstddef>
#include <string>

#include "holdfast/base/api.h"

namespace holdfast::io {

/// Makes the folders that lead to a file, where they are not there yet.
HOLDFAST_API void make_folders_for(const std::string& path);

/// A file in the making. What is written goes to a new file beside `path`, which takes the name
/// when `commit` is called; until then, and if that never happens, what `path` held is untouched.
class HOLDFAST_API AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  void write(const void* bytes, size_t count);
  /// Where what was written so far lies.
  const std::string& temporary() const { return temporary_; }
  /// Everything is on the disk under its name when this returns, also if the power fails then.
  void commit();

 private:
  std::string path_, folder_, temporary_;
  int file_ = -1;
};

/// Whether nobody writes any more to what was the `temporary` of such a file: who did was killed.
HOLDFAST_API bool is_abandoned(const std::string& temporary);

/// While it lives, others who lock the same folder wait, in other processes too.
class HOLDFAST_API FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace holdfast::io
