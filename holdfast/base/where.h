// Provenance: where in the user's program something happened, as 16 opaque bytes that become a
// file and a line only when somebody prints them.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>

#include "holdfast/base/api.h"

namespace holdfast {

/// A place in somebody's source, made readable. Columns count from 0; -1 is unknown.
struct Loc {
  std::string file;
  int line = 0;
  int col_begin = -1, col_end = -1;
  std::string qualname;
  std::string source;  // the text of the line, if it could be read
};

/// Who can turn an origin's pointer and offset into a Loc.
enum class Origin : uint8_t { kNone, kCpp, kPython };

/// The one record of provenance. Interned, so it is a pointer everywhere else.
struct WhereRecord {
  Origin origin = Origin::kNone;
  uint32_t offset = 0;            // Python: instruction offset; C++: unused
  const void* pointer = nullptr;  // Python: code object, kept alive; C++: the source_location
  bool backward = false;          // made while a gradient was computed
};
using Where = const WhereRecord*;

/// The same record for the same place, for ever.
HOLDFAST_API Where intern(Origin, const void* pointer, uint32_t offset, bool backward = false);

/// Turns provenance into text; an empty file where it is not known. Never throws.
HOLDFAST_API Loc locate(Where) noexcept;

/// How one origin is read. `keep` is told of each new pointer once, so that it can keep it alive.
struct OriginReader {
  Loc (*locate)(const WhereRecord&) noexcept = nullptr;
  void (*keep)(const void* pointer) noexcept = nullptr;
};
HOLDFAST_API void set_origin_reader(Origin, OriginReader);

/// The user's line that is now executing on this thread. A C++ line is noted as an address and
/// interned only when something is born there: most operands of a small op would intern the same
/// line again.
struct Site {
  Where where = nullptr;
  const void* noted = nullptr;        // a std::source_location's data; newer than `where`
  bool backward = false;              // a gradient is being computed
  Where settled = nullptr;            // what was interned last: a loop's line is, again and again
  uint64_t next_id = 0, last_id = 0;  // ids of tensors that are this thread's to give out
};
/// This thread's: the same for as long as a function runs, which compilers may rely on.
[[gnu::const]] HOLDFAST_API Site& site() noexcept;
HOLDFAST_API Where settle(Site&);

/// The user's line that is now executing.
inline Where here() {
  Site& s = site();
  return s.noted ? settle(s) : s.where;
}
/// What follows is done for the user's line `where`.
inline void set_site(Where where) {
  Site& s = site();
  s.where = where;
  s.noted = nullptr;
}
/// Notes that the user's code at `loc` is calling us.
inline void mark_site(const std::source_location& loc) {
  // A source_location is one pointer to static data in GCC and in clang's libstdc++ mode.
  static_assert(sizeof loc == sizeof(void*));
  __builtin_memcpy(&site().noted, &loc, sizeof loc);
}

/// Likewise, in what our own code calls too: there it does nothing, and what happens is still done
/// for the line that called us.
[[gnu::always_inline]] inline void mark_caller([[maybe_unused]] const std::source_location& loc) {
#ifndef HOLDFAST_BUILDING
  mark_site(loc);
#endif
}

/// A last parameter that nobody gives: `f(int, Caller = std::source_location::current())` is done
/// for the line that called f.
struct Caller {
  [[gnu::always_inline]] Caller(const std::source_location& at) { mark_caller(at); }
};

/// Does what follows for another of the user's lines, while it lives.
class AtSite {
 public:
  explicit AtSite(Where where) : was_(here()) { set_site(where); }
  ~AtSite() { set_site(was_); }
  AtSite(const AtSite&) = delete;

 private:
  Where was_;
};

/// Marks everything born in its lifetime as made by a gradient.
class BackwardSite {
 public:
  BackwardSite() : was_(site().backward) { site().backward = true; }
  ~BackwardSite() { site().backward = was_; }
  BackwardSite(const BackwardSite&) = delete;

 private:
  bool was_;
};

/// `path` as messages show it: relative to the working directory if below it, else its last two
/// parts.
HOLDFAST_API std::string short_path(const std::string& path);

}  // namespace holdfast
