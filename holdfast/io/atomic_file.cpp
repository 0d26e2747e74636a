#include "holdfast/io/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "holdfast/base/text.h"
#include "holdfast/io/refuse_file.h"

namespace holdfast::io {
namespace {

std::atomic<uint64_t> next_number{0};

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Some filesystems have nothing to synchronize for a folder, and say so.
void synchronize_folder(const std::string& folder) {
  int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) refuse_file(folder, "opened");
  int failed = ::fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP ? errno : 0;
  ::close(fd);
  errno = failed;
  if (failed) refuse_file(folder, "synchronized");
}

}  // namespace

void make_folders_for(const std::string& path) {
  check_path(path);
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code wrong;
  if (!folder.empty()) std::filesystem::create_directories(folder, wrong);
  if (wrong) refuse_contents(folder.string(), wrong.message());
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  check_path(path_);
  folder_ = folder_of(path_);
  struct stat now{};
  bool replaces = ::stat(path_.c_str(), &now) == 0;
  // A rename would put a file in the place of a device, too.
  if (replaces && !S_ISREG(now.st_mode)) refuse_file(path_, std::string("is not a file"));
  while (file_ < 0) {
    temporary_ = cat(path_, ".", static_cast<int64_t>(::getpid()), ".", next_number++, ".part");
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0 && errno != EEXIST && errno != EINTR) refuse_file(path_, "written");
  }
  (void)::flock(file_, LOCK_EX | LOCK_NB);  // for `is_abandoned`; not every filesystem has it
  // Who could read the old file can read the new one. Not every filesystem has modes.
  if (replaces) (void)!::fchmod(file_, now.st_mode & 07777);
}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* bytes, size_t count) {
  const char* at = static_cast<const char*>(bytes);
  while (count > 0) {
    ssize_t n = ::write(file_, at, count);
    if (n < 0 && errno != EINTR) refuse_file(path_, "written");
    if (n > 0) {
      at += n;
      count -= static_cast<size_t>(n);
    }
  }
}

void AtomicFile::commit() {
  if (::fsync(file_) != 0) refuse_file(path_, "written");
  int closed = ::close(file_);
  file_ = -1;
  if (closed != 0) refuse_file(path_, "written");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) refuse_file(path_, "written");
  temporary_.clear();
  synchronize_folder(folder_);
}

bool is_abandoned(const std::string& temporary) {
  int file = ::open(temporary.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool free = ::flock(file, LOCK_EX | LOCK_NB) == 0;
  ::close(file);
  return free;
}

FolderLock::FolderLock(const std::string& folder) {
  file_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file_ < 0) refuse_file(folder, "opened");
  int failed = 0;
  do {
    failed = ::flock(file_, LOCK_EX) == 0 ? 0 : errno;
  } while (failed == EINTR);
  if (!failed || failed == ENOLCK || failed == EOPNOTSUPP) return;  // or there are no locks here
  ::close(file_);
  errno = failed;
  refuse_file(folder, "locked");
}

FolderLock::~FolderLock() { ::close(file_); }

}  // namespace holdfast::io
