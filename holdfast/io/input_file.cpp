#include "holdfast/io/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "holdfast/io/refuse_file.h"

namespace holdfast::io {

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  check_path(path_);
  // A pipe that nobody writes to would keep us waiting: it is refused below instead.
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0) refuse_file(path_, "opened");
  struct stat now{};
  bool known = ::fstat(file_, &now) == 0;
  if (!known || !S_ISREG(now.st_mode)) {
    ::close(file_);
    refuse_file(path_, std::string("is not a file"));
  }
  size_ = now.st_size;
}

InputFile::~InputFile() { ::close(file_); }

void InputFile::read(int64_t offset, void* to, size_t count) const {
  char* at = static_cast<char*>(to);
  while (count > 0) {
    ssize_t n = ::pread(file_, at, count, offset);
    if (n < 0 && errno != EINTR) refuse_file(path_, "read");
    if (n == 0) refuse_file(path_, std::string("became shorter while it was read"));
    if (n > 0) {
      at += n;
      offset += n;
      count -= static_cast<size_t>(n);
    }
  }
}

}  // namespace holdfast::io
