#include "holdfast/exec/watched.h"

#include <algorithm>
#include <mutex>

#include "holdfast/base/text.h"

namespace holdfast {
namespace {

struct Facts final : RefCounted {
  std::vector<Fact> all;
};

bool same(const Fact& a, const Fact& b) {
  return a.identity == b.identity && a.name == b.name && a.value == b.value;
}

// The first fact that differs, in the list that is the longer one; none where all are alike.
std::optional<size_t> first_difference(const Facts& a, const Facts& b, bool trains) {
  size_t most = std::max(a.all.size(), b.all.size());
  for (size_t i = 0; i < most; ++i) {
    if (i >= a.all.size() || i >= b.all.size()) return i;
    if (!same(a.all[i], b.all[i]) && (trains || !a.all[i].of_training)) return i;
  }
  return std::nullopt;
}

// A value in which nothing stands for objects, which are given back.
Config without_objects(const Config& value, std::vector<const void*>& objects) {
  if (const Object* live = value.live()) {
    objects.push_back(live);
    return {};
  }
  if (value.kind() == Config::Kind::kList) {
    Config::List out;
    for (const Config& one : value.as_list()) out.push_back(without_objects(one, objects));
    return out;
  }
  auto of_dict = [&](const ConfigDict& dict) {
    ConfigDict out;
    for (const auto& [key, one] : dict) out.set(key, without_objects(one, objects));
    return out;
  };
  if (value.kind() == Config::Kind::kDict) return of_dict(value.as_dict());
  if (value.kind() == Config::Kind::kObject) {
    const ConfigObject& o = value.as_object();
    return ConfigObject{o.class_name, of_dict(o.config), o.registered_name, of_dict(o.more)};
  }
  return value;
}

std::string shown(const Config& given, const Config& without) {
  if (const Object* live = given.live()) return live->text();
  constexpr size_t kMost = 40;
  std::string out = without.is_null() ? "none" : without.to_json();
  return out.size() > kMost ? cat(out.substr(0, kMost), "...") : out;
}

}  // namespace

namespace detail {
std::atomic<uint64_t> watched_changes = 1;
std::atomic<size_t> watched_objects = 0;
}  // namespace detail

Fact::Fact(std::string n, const Config& v) : name(std::move(n)) {
  value = without_objects(v, objects);
  text = shown(v, value);
}
Fact::Fact(std::string n, const Object* object, std::string t)
    : name(std::move(n)), text(std::move(t)) {
  if (object) objects.push_back(object);
}

class WatchedObject final : public RefCounted {
 public:
  WatchedObject(const Object& o, const WatchedKind& k) : object(&o), kind(k), name(k.name(o)) {}

  Ref<const Facts> now() const {
    std::lock_guard lock(mutex_);
    return now_;
  }
  /// Looks at the object, which is there. Of several threads that do, the one that began last
  /// decides: facts are found without the lock, since nobody knows what finding them waits for.
  Ref<const Facts> look(const Object& o) {
    for (;;) {
      uint64_t turn = turns_.fetch_add(1) + 1;
      auto found = make_ref<Facts>();
      found->all = kind.facts(o);
      std::lock_guard lock(mutex_);
      if (turn != turns_.load()) continue;
      identify(found->all, now_ ? now_->all : std::vector<Fact>());
      if (now_ && !first_difference(*now_, *found, true)) return now_;
      bool known = static_cast<bool>(now_);
      now_ = Ref<const Facts>(found.get());
      if (known) detail::watched_changes.fetch_add(1, std::memory_order_acq_rel);
      return now_;
    }
  }

  const void* const object;
  const WatchedKind& kind;
  const std::string name;

 private:
  // While each change is told, an object that stands where it stood is the same: what took its
  // place was there before it could go.
  static void identify(std::vector<Fact>& found, const std::vector<Fact>& before) {
    static std::atomic<uint64_t> given = 0;
    for (Fact& f : found) {
      if (f.objects.empty()) continue;
      auto was = std::find_if(before.begin(), before.end(),
                              [&](const Fact& b) { return b.name == f.name; });
      f.identity = was != before.end() && was->objects == f.objects ? was->identity : ++given;
    }
  }

  mutable std::mutex mutex_;
  Ref<const Facts> now_;
  std::atomic<uint64_t> turns_ = 0;
};

namespace {

// By address. What is gone without a word stays until no trace knows of it: an object that came to
// its place then costs a trace at most.
struct Table {
  std::mutex mutex;
  std::unordered_map<const Object*, Ref<WatchedObject>> all;
  size_t swept_at = 64;
};
Table& table() {
  static auto* t = new Table;
  return *t;
}

Ref<WatchedObject> watched(const Object& o) {
  Table& t = table();
  std::lock_guard lock(t.mutex);
  auto it = t.all.find(&o);
  return it == t.all.end() ? nullptr : it->second;
}

Ref<WatchedObject> watch(const Object& o, const WatchedKind& kind) {
  // What stood at this address before may have been something else.
  if (Ref<WatchedObject> known = watched(o); known && &known->kind == &kind) return known;
  auto made = make_ref<WatchedObject>(o, kind);
  Table& t = table();
  std::lock_guard lock(t.mutex);
  if (t.all.size() >= t.swept_at) {
    std::erase_if(t.all, [](const auto& each) { return each.second->unique(); });
    t.swept_at = 2 * t.all.size() + 64;
  }
  Ref<WatchedObject>& there = t.all[&o];
  if (!there || &there->kind != &kind) there = std::move(made);
  Ref<WatchedObject> out = there;
  detail::watched_objects.store(t.all.size(), std::memory_order_release);
  return out;
}

}  // namespace

namespace detail {

void note_change(const Object& object) {
  if (Ref<WatchedObject> known = watched(object)) known->look(object);
}

void forget_watched(const Object& object) {
  Ref<WatchedObject> gone;
  Table& t = table();
  std::lock_guard lock(t.mutex);
  auto it = t.all.find(&object);
  if (it == t.all.end()) return;
  gone = std::move(it->second);
  t.all.erase(it);
  watched_objects.store(t.all.size(), std::memory_order_release);
}

}  // namespace detail

struct TraceFacts::One {
  Ref<WatchedObject> of;
  Ref<const Facts> was;
  bool trains;
};

TraceFacts::TraceFacts(std::vector<One> all) : all_(std::move(all)) {}
TraceFacts::~TraceFacts() = default;

bool TraceFacts::hold_still() const {
  uint64_t changes = detail::watched_changes.load(std::memory_order_acquire);
  for (const One& one : all_) {
    Ref<const Facts> now = one.of->now();
    if (now != one.was && first_difference(*one.was, *now, one.trains)) return false;
  }
  seen_.store(changes, std::memory_order_release);
  return true;
}

std::optional<WatchedChange> TraceFacts::difference() const {
  for (const One& one : all_) {
    Ref<const Facts> now = one.of->now();
    std::optional<size_t> at = first_difference(*one.was, *now, one.trains);
    if (!at) continue;
    auto text = [&](const Facts& f) { return *at < f.all.size() ? f.all[*at].text : "not there"; };
    const Facts& named = *at < one.was->all.size() ? *one.was : *now;
    WatchedChange out{named.all[*at].name, one.of->name, text(*one.was), text(*now),
                      one.of->object};
    if (out.was == out.now) out.now = "another one";
    return out;
  }
  return std::nullopt;
}

std::optional<Retrace> TraceFacts::retrace() const {
  std::optional<WatchedChange> changed = difference();
  if (!changed) return std::nullopt;
  return Retrace{.part = cat("`", changed->name, "` of ", changed->of),
                 .was = changed->was,
                 .now = changed->now,
                 .kind = Retrace::Kind::kFact};
}

struct WatchRecord::Noted {
  Ref<const Object> object;  // no other one can take its place meanwhile
  TraceFacts::One one;
};

namespace {
thread_local WatchRecord* innermost = nullptr;
}  // namespace

WatchRecord::WatchRecord() : around_(std::exchange(innermost, this)) {}
WatchRecord::~WatchRecord() { innermost = around_; }
WatchRecord* WatchRecord::current() { return innermost; }

bool WatchRecord::note(const Object& object, const WatchedKind& kind, bool trains) {
  auto [at, is_new] = places_.emplace(&object, noted_.size());
  if (!is_new) {
    noted_[at->second].one.trains |= trains;
    return false;
  }
  Ref<WatchedObject> of = watch(object, kind);
  Ref<const Facts> was = of->look(object);
  noted_.push_back({Ref<const Object>(&object), {std::move(of), std::move(was), trains}});
  return true;
}

void WatchRecord::renew(const Object& object) {
  auto known = places_.find(&object);
  if (known == places_.end()) return;
  TraceFacts::One& one = noted_[known->second].one;
  one.was = one.of->look(object);
}

void WatchRecord::join(const TraceFacts& facts) {
  for (const TraceFacts::One& one : facts.all_) {
    bool known = std::any_of(joined_.begin(), joined_.end(), [&](const TraceFacts::One& j) {
      return j.of == one.of && j.was == one.was && j.trains == one.trains;
    });
    if (!known) joined_.push_back(one);
  }
}

Ref<TraceFacts> WatchRecord::finish() {
  std::vector<TraceFacts::One> all = std::exchange(joined_, {});
  for (Noted& n : noted_) all.push_back(std::move(n.one));
  std::vector<Noted> done = std::exchange(noted_, {});
  places_.clear();
  if (all.empty()) return nullptr;
  auto out = make_ref<TraceFacts>(std::move(all));
  if (around_) around_->join(*out);
  return out;
}

}  // namespace holdfast
