#include "holdfast/cuda/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "holdfast/base/text.h"

namespace holdfast::cuda {
namespace {

constexpr size_t kMostBytes = 64 << 20;
constexpr uint64_t kMagic = 0x31304b4643444c48;  // layout 01

struct Header {
  uint64_t magic = kMagic, key_bytes = 0, code_bytes = 0, checksum = 0;
};

std::string folder() {
  const char* base = std::getenv("XDG_CACHE_HOME");
  if (base && *base == '/') return cat(base, "/holdfast");
  const char* home = std::getenv("HOME");
  return home && *home == '/' ? cat(home, "/.cache/holdfast") : std::string();
}

std::string path_of(const std::string& key) {
  std::string at = folder();
  if (at.empty()) return at;
  char name[32];
  std::snprintf(name, sizeof name, "/%016llx.cubin", static_cast<unsigned long long>(hash_of(key)));
  return at + name;
}

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  int get() const { return fd_; }
  bool read(void* to, size_t n) {
    return each(
        n, [&](size_t at, size_t left) { return ::read(fd_, static_cast<char*>(to) + at, left); });
  }
  bool write(const void* from, size_t n) {
    return each(n, [&](size_t at, size_t left) {
      return ::write(fd_, static_cast<const char*>(from) + at, left);
    });
  }

 private:
  template <class F>
  static bool each(size_t n, F&& f) {
    for (size_t done = 0; done < n;) {
      ssize_t k = f(done, n - done);
      if (k < 0 && errno == EINTR) continue;
      if (k <= 0) return false;
      done += static_cast<size_t>(k);
    }
    return true;
  }
  int fd_;
};

std::string failure(const char* doing, const std::string& path) {
  return cat(doing, " ", path, ": ", std::strerror(errno));
}

// Creates each folder of `path`, for the user alone.
bool make_folders(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return false;
    if (slash == std::string::npos) return true;
  }
}

}  // namespace

uint64_t hash_of(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325u;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

bool read_cached(const std::string& key, std::string& code) {
  std::string path = path_of(key);
  if (path.empty()) return false;
  File f(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat st{};
  // What another user could have written is not run.
  if (f.get() < 0 || ::fstat(f.get(), &st) != 0 || st.st_uid != ::geteuid() ||
      (st.st_mode & 022) != 0)
    return false;
  Header h;
  if (!f.read(&h, sizeof h) || h.magic != kMagic || h.key_bytes != key.size() ||
      h.code_bytes == 0 || h.code_bytes > kMostBytes ||
      static_cast<uint64_t>(st.st_size) != sizeof h + h.key_bytes + h.code_bytes)
    return false;
  std::string stored(h.key_bytes, '\0');
  code.resize(h.code_bytes);
  return f.read(stored.data(), stored.size()) && f.read(code.data(), code.size()) &&
         stored == key && hash_of(code) == h.checksum;
}

std::string write_cached(const std::string& key, const std::string& code) {
  std::string path = path_of(key);
  if (path.empty()) return "neither XDG_CACHE_HOME nor HOME names a folder";
  if (!make_folders(folder())) return failure("can't create", folder());
  std::string draft = path + ".XXXXXX";
  File f(::mkostemp(draft.data(), O_CLOEXEC));
  if (f.get() < 0) return failure("can't write", draft);
  Header h{kMagic, key.size(), code.size(), hash_of(code)};
  bool whole =
      f.write(&h, sizeof h) && f.write(key.data(), key.size()) && f.write(code.data(), code.size());
  // Renaming is atomic: readers see the old file, the new one, or none.
  if (whole && ::rename(draft.c_str(), path.c_str()) == 0) return {};
  std::string why = failure("can't write", path);
  ::unlink(draft.c_str());
  return why;
}

}  // namespace holdfast::cuda
