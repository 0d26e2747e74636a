#include "holdfast/base/parallel.h"

#include <pthread.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#ifdef HOLDFAST_OPENMP
#include <omp.h>
#endif

namespace holdfast {
namespace {

std::atomic<int> g_threads{0};
std::atomic<bool> g_forked{false};  // libgomp hangs in a forked child, so a child stays at one thread
std::mutex g_wide;                  // one caller at a time gets the wide team
thread_local bool t_inside = false;

int cores() {
  static const int n = [] {
    pthread_atfork(nullptr, nullptr, [] { g_forked = true; });
    unsigned hw = std::thread::hardware_concurrency();
    return hw ? static_cast<int>(hw) : 1;
  }();
  return n;
}

// Carries the first exception out of the team: none may leave a worker.
struct Failure {
  std::atomic<bool> set{false};
  std::exception_ptr what;
  void keep() { if (!set.exchange(true)) what = std::current_exception(); }
};

}  // namespace

void set_num_threads(int n) { g_threads = n < 0 ? 0 : n; }

int num_threads() {
  int all = cores();
  if (g_forked) return 1;
  int n = g_threads;
  return n ? n : all;
}

void parallel_pieces(int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t), void* env) {
  int64_t pieces = (n + grain - 1) / grain;
  auto piece = [&](int64_t p) {
    int64_t b = p * grain, e = b + grain < n ? b + grain : n;
    fn(env, b, e);
  };
  int team = t_inside ? 1 : num_threads();
  if (team > pieces) team = static_cast<int>(pieces);
  std::unique_lock<std::mutex> wide(g_wide, std::defer_lock);
  if (team <= 1 || !wide.try_lock()) {
    for (int64_t p = 0; p < pieces; ++p) piece(p);
    return;
  }
  Failure failure;
  auto work = [&](std::atomic<int64_t>& next) {
    t_inside = true;
    try {
      for (int64_t p; !failure.set && (p = next.fetch_add(1)) < pieces;) piece(p);
    } catch (...) {
      failure.keep();
    }
    t_inside = false;
  };
  std::atomic<int64_t> next{0};
#ifdef HOLDFAST_OPENMP
#pragma omp parallel num_threads(team)
  work(next);
#else
  std::vector<std::thread> others;
  for (int i = 1; i < team; ++i) others.emplace_back([&] { work(next); });
  work(next);
  for (auto& t : others) t.join();
#endif
  if (failure.what) std::rethrow_exception(failure.what);
}

}  // namespace holdfast
