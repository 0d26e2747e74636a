// What traces go by on objects of C++, besides values of Variables: options, weights, and what they
// hold. Whoever changes such a thing says so here, and traces that went by it serve no further call
// unless it is as it was.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "holdfast/base/config.h"
#include "holdfast/base/object.h"
#include "holdfast/exec/retracing.h"

namespace holdfast {

/// One thing that is known of an object, under a name: an option, a weight.
struct HOLDFAST_API Fact {
  /// Objects in a value are told apart by identity, and none is held.
  Fact(std::string name, const Config& value);
  /// What is nothing but an object, or none.
  Fact(std::string name, const Object* object, std::string text);

  std::string name;
  Config value;  // without objects
  std::string text;
  std::vector<const void*> objects = {};
  uint64_t identity = 0;  // another one whenever the objects are others; an address may come back
  bool of_training = false;  // only what trains goes by it
};

/// How the facts of a kind of objects are found.
struct WatchedKind {
  std::vector<Fact> (*facts)(const Object&);
  std::string (*name)(const Object&);
};

/// An object that traces went by, as it is known to be; not the object itself.
class WatchedObject;

namespace detail {
/// Counts changes of objects that traces went by.
HOLDFAST_API extern std::atomic<uint64_t> watched_changes;
/// How many objects are watched.
HOLDFAST_API extern std::atomic<size_t> watched_objects;
HOLDFAST_API void note_change(const Object&);
HOLDFAST_API void forget_watched(const Object&);
}  // namespace detail

/// To be called after each change of what facts tell of an object.
inline void note_change(const Object& object) {
  if (detail::watched_objects.load(std::memory_order_acquire)) detail::note_change(object);
}
/// To be called by the destructor of such an object.
inline void forget_watched(const Object& object) {
  if (detail::watched_objects.load(std::memory_order_acquire)) detail::forget_watched(object);
}

/// What of an object is not as a trace found it.
struct WatchedChange {
  std::string name, of, was, now;
  const void* object;  // for comparing: it may be gone
};

/// What one trace went by.
class HOLDFAST_API TraceFacts final : public RefCounted {
 public:
  struct One;
  explicit TraceFacts(std::vector<One> all);
  ~TraceFacts() override;

  /// Whether all is as the trace found it. Costs a comparison while nothing changes.
  bool hold() const {
    return seen_.load(std::memory_order_acquire) ==
               detail::watched_changes.load(std::memory_order_acquire) ||
           hold_still();
  }
  /// The first thing that is not.
  std::optional<WatchedChange> difference() const;
  /// The same, as reports say it.
  std::optional<Retrace> retrace() const;

 private:
  friend class WatchRecord;
  bool hold_still() const;

  const std::vector<One> all_;
  mutable std::atomic<uint64_t> seen_{0};  // changes when it was last found to hold
};

/// What the trace that is being made goes by.
class HOLDFAST_API WatchRecord {
 public:
  /// In force on this thread while it lives.
  WatchRecord();
  ~WatchRecord();
  WatchRecord(const WatchRecord&) = delete;
  /// Null where none is in force.
  static WatchRecord* current();

  /// The code goes by an object. False if that is known.
  bool note(const Object& object, const WatchedKind& kind, bool trains);
  /// The code has built an object, if it goes by it: what that made of it is no change.
  void renew(const Object& object);
  /// The code goes by all that another trace went by, which it calls.
  void join(const TraceFacts&);
  /// Ends it; null where the code went by nothing. No object is held any more.
  Ref<TraceFacts> finish();

 private:
  struct Noted;
  std::vector<Noted> noted_;
  std::unordered_map<const Object*, size_t> places_;
  std::vector<TraceFacts::One> joined_;
  WatchRecord* around_;
};

}  // namespace holdfast
