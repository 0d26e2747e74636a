// Mutexes for headers that programs read: <mutex> would bring the clocks and templates along that
// nobody there asks for. std::lock_guard and the like take them.
#pragma once

#include <pthread.h>

namespace holdfast {

class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  void lock() { pthread_mutex_lock(&mutex_); }
  bool try_lock() { return pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// One that its holder may lock again.
class RecursiveMutex {
 public:
  RecursiveMutex() = default;
  RecursiveMutex(const RecursiveMutex&) = delete;
  void lock() { pthread_mutex_lock(&mutex_); }
  bool try_lock() { return pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
};

/// Holds a mutex while it lives.
template <class M>
class Locked {
 public:
  explicit Locked(M& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Locked() { mutex_.unlock(); }
  Locked(const Locked&) = delete;

 private:
  M& mutex_;
};

}  // namespace holdfast
