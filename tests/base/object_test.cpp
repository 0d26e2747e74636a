#include "holdfast/base/object.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace holdfast {
namespace {

// A language that counts for us: one number per object.
struct Elsewhere {
  std::atomic<int64_t> count{0};
};
int alive = 0;

struct Thing final : Object {
  static const ObjectClass kClass;
  Thing() { ++alive; }
  ~Thing() override { --alive; }
  const ObjectClass& object_class() const override { return kClass; }
};
const ObjectClass Thing::kClass{"Thing"};

Thing* owner = nullptr;  // whose count the tests below watch

void use_counting_hooks() {
  Object::set_hooks({
      [](void* o) noexcept { ++static_cast<Elsewhere*>(o)->count; },
      [](void* o) noexcept {
        if (--static_cast<Elsewhere*>(o)->count == 0) owner->end_sharing();
      },
      [](void*, Visitor&) {},
  });
}

TEST(ObjectTest, TheCountIsItsOwnUntilItIsShared) {
  auto thing = make_ref<Thing>();
  Ref<Thing> other = thing;
  EXPECT_EQ(thing->use_count(), 2);
  EXPECT_EQ(thing->shared(), nullptr);
  other = nullptr;
  thing = nullptr;
  EXPECT_EQ(alive, 0);
}

TEST(ObjectTest, OnceSharedEachReferenceIsOneOfTheOther) {
  use_counting_hooks();
  Elsewhere other;
  auto first = make_ref<Thing>();
  Ref<Thing> second = first;
  owner = first.get();
  other.count = 1 + first->share(&other);  // one of the other language's own
  EXPECT_EQ(other.count, 3);
  Ref<Object> third = first;
  EXPECT_EQ(other.count, 4);
  first = nullptr;
  second = nullptr;
  third = nullptr;
  EXPECT_EQ(other.count, 1);
  EXPECT_EQ(alive, 1);  // it lives by the other's count alone
  Ref<Thing> again(owner);
  EXPECT_EQ(other.count, 2);
  --other.count;  // and now by C++'s alone
  EXPECT_EQ(alive, 1);
  again = nullptr;
  EXPECT_EQ(alive, 0);
}

TEST(ObjectTest, ThreadsMayCountWhileItIsShared) {
  use_counting_hooks();
  Elsewhere other;
  auto thing = make_ref<Thing>();
  owner = thing.get();
  other.count = 1;
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, mine = thing]() mutable {
      while (!go) std::this_thread::yield();
      for (int k = 0; k < 2000; ++k) Ref<Thing> copy = mine;
      mine = nullptr;
    });
  go = true;
  other.count += thing->share(&other);
  for (auto& t : threads) t.join();
  threads.clear();
  EXPECT_EQ(other.count, 2);  // `thing`, and the other language's own
  EXPECT_EQ(thing->use_count(), 1);
  --other.count;
  thing = nullptr;
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace holdfast
