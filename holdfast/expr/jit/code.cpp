#include "holdfast/expr/jit/code.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/expr/cpu/instruction_sets.h"
#include "holdfast/expr/jit/emitter.h"

namespace holdfast::jit {
namespace {

constexpr size_t kMostKept = 256;            // functions in the cache, those in use beside them
constexpr int64_t kWorthEmitting = 1 << 21;  // about the time that emitting takes

// What HOLDFAST_JIT says.
struct Switch {
  bool off = false, perf = false, narrow = false;
  int64_t worth = kWorthEmitting;
  Switch() {
    const char* said = std::getenv("HOLDFAST_JIT");
    std::string_view word = said ? said : "";
    off = word == "off";
    perf = word == "perf";
    narrow = word == "avx2";
    bool always = word == "always";
    if (always) worth = 0;
    if (!word.empty() && word != "on" && !off && !perf && !narrow && !always)
      fail(holdfast::Code::E1103, cat("HOLDFAST_JIT is `", word, "`"),
           "expected off, on, always, avx2 or perf");
  }
};
const Switch& settings() {
  static const Switch s;
  return s;
}
std::atomic<int64_t>& worth() {
  static std::atomic<int64_t> w{settings().worth};
  return w;
}

#ifdef HOLDFAST_XBYAK

Ref<Code> in_pages(const Emitted& e) {
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t size = (e.size + page - 1) / page * page;
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return {};
  std::memcpy(at, e.bytes.get(), e.size);
  if (mprotect(at, size, PROT_READ | PROT_EXEC) != 0) {
    munmap(at, size);
    return {};
  }
  return make_ref<Code>(at, size, e.entry);
}

// The file in which `perf` looks for names of functions that no library has.
void tell_perf(const Code& code, size_t bytes, uint64_t hash) {
  std::string path = cat("/tmp/perf-", getpid(), ".map");
  std::FILE* file = std::fopen(path.c_str(), "a");
  if (!file) return;
  std::fprintf(file, "%llx %zx holdfast_expr_%016llx\n",
               static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(code.entry())), bytes,
               static_cast<unsigned long long>(hash));
  std::fclose(file);
}

struct Kept {
  Function function;
  Target target;
  Ref<Code> code;
};

// By hash, the latest used first; the oldest leaves when there are too many.
class Cache {
 public:
  Ref<Code> find(uint64_t hash, const Function& function, const Target& target) {
    auto [first, last] = places_.equal_range(hash);
    for (; first != last; ++first) {
      auto kept = first->second;
      if (kept->second.target == target && kept->second.function == function) {
        order_.splice(order_.begin(), order_, kept);
        return kept->second.code;
      }
    }
    return {};
  }
  void keep(uint64_t hash, Kept kept) {
    order_.emplace_front(hash, std::move(kept));
    places_.emplace(hash, order_.begin());
    if (order_.size() <= kMostKept) return;
    auto [first, last] = places_.equal_range(order_.back().first);
    while (first != last && first->second != std::prev(order_.end())) ++first;
    places_.erase(first);
    order_.pop_back();
  }

 private:
  using Order = std::list<std::pair<uint64_t, Kept>>;
  Order order_;
  std::unordered_multimap<uint64_t, Order::iterator> places_;
};

#endif

}  // namespace

Code::~Code() { munmap(pages_, bytes_); }

bool with_avx512() { return best_isa() == Isa::kAvx512 && !settings().narrow; }
int64_t worth_emitting() { return worth().load(std::memory_order_relaxed); }
void set_worth_emitting(int64_t w) { worth() = w < 0 ? settings().worth : w; }

#ifdef HOLDFAST_XBYAK

const char* unavailable() {
  if (settings().off) return "HOLDFAST_JIT is off";
  return best_isa() == Isa::kBaseline ? "the processor has no AVX2" : nullptr;
}

Ref<Code> code_for(const Function& function, bool streams) {
  static std::mutex mutex;
  static auto* cache = new Cache;  // outlives the threads that may still run at exit
  Target target{.avx512 = with_avx512(), .streams = streams};
  uint64_t hash = function.hash();
  // Never waited for: a process that was forked while another thread was here would wait for ever.
  if (std::unique_lock lock(mutex, std::try_to_lock); lock)
    if (Ref<Code> known = cache->find(hash, function, target)) return known;
  Emitted emitted = emit(function, target);
  if (emitted.size == 0) return {};
  Ref<Code> code = in_pages(emitted);
  if (!code) return {};
  if (settings().perf) tell_perf(*code, emitted.size - emitted.entry, hash);
  if (std::unique_lock lock(mutex, std::try_to_lock); lock)
    cache->keep(hash, {function, target, code});
  return code;
}

#else

const char* unavailable() { return "this build has no Xbyak"; }
Ref<Code> code_for(const Function&, bool) { return {}; }

#endif

}  // namespace holdfast::jit
