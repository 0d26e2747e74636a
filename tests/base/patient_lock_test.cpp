#include "holdfast/base/patient_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace holdfast {
namespace {

std::mutex interpreter;  // stands for a language's own lock
thread_local bool t_holds = false;

struct Interpreted {
  Interpreted() {
    interpreter.lock();
    t_holds = true;
  }
  ~Interpreted() {
    t_holds = false;
    interpreter.unlock();
  }
};

TEST(PatientLock, WhoWaitsLetsTheHolderRunTheUsersCode) {
  set_patience({[]() -> void* {
                  if (!t_holds) return nullptr;
                  t_holds = false;
                  interpreter.unlock();
                  return &interpreter;
                },
                [](void*) {
                  interpreter.lock();
                  t_holds = true;
                }});
  std::mutex mutex;
  std::atomic<bool> held{false}, asked{false};
  std::thread holder([&] {
    PatientLock lock(mutex);
    held = true;
    while (!asked) std::this_thread::yield();
    Interpreted code;  // the other one has it, until it waits
  });
  while (!held) std::this_thread::yield();
  {
    Interpreted code;
    asked = true;
    PatientLock lock(mutex);
    EXPECT_TRUE(t_holds);
  }
  holder.join();
  set_patience({});
}

TEST(PatientLock, WithoutALanguageItIsALock) {
  std::recursive_mutex mutex;
  int sum = 0;
  auto add = [&] {
    for (int i = 0; i < 1000; ++i) {
      PatientLock outer(mutex);
      PatientLock inner(mutex);
      ++sum;
    }
  };
  std::thread a(add), b(add);
  a.join();
  b.join();
  EXPECT_EQ(sum, 2000);
}

}  // namespace
}  // namespace holdfast
