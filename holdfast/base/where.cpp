#include "holdfast/base/where.h"

#include <unistd.h>

#include <climits>
#include <deque>
#include <fstream>
#include <mutex>
#include <unordered_set>

namespace holdfast {
namespace {

struct Hash {
  size_t operator()(Where w) const {
    size_t h = reinterpret_cast<size_t>(w->pointer) * 0x9E3779B97F4A7C15ull;
    return (h ^ (h >> 29)) + w->offset * 0xBF58476D1CE4E5B9ull + w->backward +
           static_cast<size_t>(w->origin) * 31;
  }
};
struct Equal {
  bool operator()(Where a, Where b) const {
    return a->pointer == b->pointer && a->offset == b->offset && a->origin == b->origin &&
           a->backward == b->backward;
  }
};

struct Table {
  std::mutex mutex;
  std::deque<WhereRecord> records;
  std::unordered_set<Where, Hash, Equal> index;
  OriginReader readers[3];
};

Table& table() {
  static Table* t = new Table;  // outlives every static that may still print a diagnostic
  return *t;
}

// A direct-mapped cache before the shared table: one line of a program makes many tensors.
constexpr size_t kCached = 256;
thread_local Where t_cache[kCached];

Loc locate_cpp(const WhereRecord& w) noexcept {
  Loc loc;
  struct Impl {
    const char* file;
    const char* function;
    unsigned line, column;
  };
  auto* at = static_cast<const Impl*>(w.pointer);
  loc.file = at->file;
  loc.line = static_cast<int>(at->line);
  loc.qualname = at->function;
  std::ifstream in(loc.file);
  for (int i = 0; i < loc.line && std::getline(in, loc.source); ++i) {
  }
  return loc;
}

}  // namespace

Where intern(Origin origin, const void* pointer, uint32_t offset, bool backward) {
  WhereRecord key{origin, offset, pointer, backward};
  size_t slot = Hash{}(&key) % kCached;
  if (Where hit = t_cache[slot]; hit && Equal{}(hit, &key)) return hit;
  Table& t = table();
  std::lock_guard lock(t.mutex);
  auto it = t.index.find(&key);
  if (it == t.index.end()) {
    if (auto keep = t.readers[static_cast<int>(origin)].keep) keep(pointer);
    t.records.push_back(key);
    it = t.index.insert(&t.records.back()).first;
  }
  return t_cache[slot] = *it;
}

Where settle(Site& s) {
  if (!s.settled || s.settled->pointer != s.noted || s.settled->backward != s.backward)
    s.settled = intern(Origin::kCpp, s.noted, 0, s.backward);
  s.noted = nullptr;
  return s.where = s.settled;
}

Loc locate(Where w) noexcept {
  if (!w) return {};
  try {
    if (w->origin == Origin::kCpp) return locate_cpp(*w);
    auto reader = table().readers[static_cast<int>(w->origin)].locate;
    return reader ? reader(*w) : Loc{};
  } catch (const std::exception&) {
    return {};
  }
}

void set_origin_reader(Origin origin, OriginReader reader) {
  table().readers[static_cast<int>(origin)] = reader;
}

Site& site() noexcept {
  static thread_local Site s;
  return s;
}

std::string short_path(const std::string& path) {
  char cwd[PATH_MAX];
  if (getcwd(cwd, sizeof cwd)) {
    std::string here = std::string(cwd) + "/";
    if (path.compare(0, here.size(), here) == 0) return path.substr(here.size());
  }
  if (path.empty() || path[0] != '/') return path;
  size_t last = path.rfind('/');
  size_t before = last ? path.rfind('/', last - 1) : std::string::npos;
  return before == std::string::npos ? path.substr(last + 1) : path.substr(before + 1);
}

}  // namespace holdfast
