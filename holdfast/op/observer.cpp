#include "holdfast/op/observer.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "holdfast/base/diagnostic.h"

namespace holdfast {
namespace detail {

constinit std::atomic<bool> g_observed{false};

/// Never changed, only replaced: a run keeps those that it began with.
class Observers final : public RefCounted {
 public:
  std::vector<Ref<Observer>> all;
};

namespace {

std::mutex g_mutex;
Ref<const Observers>& in_force() {
  static auto* now = new Ref<const Observers>(make_ref<Observers>());
  return *now;
}

template <class F>
void change(F&& f) {
  std::lock_guard lock(g_mutex);
  auto next = make_ref<Observers>();
  next->all = in_force()->all;
  f(next->all);
  g_observed.store(!next->all.empty(), std::memory_order_relaxed);
  in_force() = std::move(next);
}

constinit thread_local bool t_telling = false;

// While an observer works: its ops run at once, for itself alone.
class Telling {
 public:
  Telling() : values_(nullptr), site_(here()) { t_telling = true; }
  ~Telling() { t_telling = false; }
  Telling(const Telling&) = delete;

 private:
  InterpreterScope values_;
  NoTapes unseen_;
  AtSite site_;
};

}  // namespace

ToldRun::ToldRun(const OpRun& run) : run_(run) {
  if (t_telling) return;
  {
    std::lock_guard lock(g_mutex);
    who_ = in_force();
  }
  try {
    for (const Ref<Observer>& o : who_->all) {
      Telling now;
      o->begin(run_);
      ++begun_;
    }
  } catch (...) {
    failed();
    throw;
  }
}
ToldRun::~ToldRun() = default;

void ToldRun::end(std::span<const Tensor> outputs, const std::exception_ptr& failure) {
  std::exception_ptr thrown;
  while (begun_) {
    Telling now;
    try {
      who_->all[--begun_]->end(run_, outputs, failure);
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  }
  if (thrown && !failure) std::rethrow_exception(thrown);
}

void ToldRun::ended(std::span<const Tensor> outputs) { end(outputs, nullptr); }
void ToldRun::failed() noexcept { end({}, std::current_exception()); }

}  // namespace detail

Observing::Observing(Ref<Observer> observer) : observer_(std::move(observer)) {
  if (!observer_) fail(Code::E1104, "Observing: there is no observer", "it is a null reference");
  detail::change([&](auto& all) { all.push_back(observer_); });
}
Observing::~Observing() {
  detail::change([&](auto& all) {
    // The last of its registrations: one observer may observe twice.
    auto it = std::find(all.rbegin(), all.rend(), observer_);
    if (it != all.rend()) all.erase(std::next(it).base());
  });
}

}  // namespace holdfast
