// A plugin for tests, which HOLDFAST_CUDA_PLUGIN names. HOLDFAST_PROBE says what it does:
//   kernels   adds a GPU whose memory faults, with the CPU's kernels
//   fallback  adds it without any, so that every op runs on the CPU between copies
//   aliases   compares, for each op that runs, what it says of its outputs' memory with where they
//             lie
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "../cuda/fake_device.h"
#include "holdfast/build_id.h"  // written by the build
#include "holdfast/op/observer.h"

namespace {

using namespace holdfast;

std::string words(int alias) {
  return alias == kFresh                 ? "memory of its own"
         : alias == holdfast::kElsewhere ? "somebody else's memory"
                                         : cat("that of input ", alias);
}

class Aliases final : public Observer {
 public:
  void begin(const OpRun&) override {}
  void end(const OpRun& r, std::span<const Tensor> out, const std::exception_ptr& e) override {
    if (e || r.step) return;  // what lies in the memory of a plan is told by the plan
    Infer inferred(r.op, r.inputs, r.attrs);
    for (const Tensor& t : out) {
      if (!t.defined()) return;  // of a branch that left something out
      inferred.output(t.dtype(), t.shape());
    }
    Types types(r.op, r.inputs, r.attrs, inferred, r.device);
    for (size_t i = 0; i < out.size(); ++i) {
      if (!kPlain.has(out[i].dtype()) || !out[i].bytes() || out[i].is_symbolic()) continue;
      ++looked_;
      int said = said_of(types, static_cast<int>(i)), found = found_of(r, out, i);
      // Somebody else's is the careful answer: it may turn out to be nobody's.
      if (said == found || (said == holdfast::kElsewhere && found == kFresh)) continue;
      std::lock_guard lock(mutex_);
      wrong_.insert(cat(r.op.name, " by `", r.kernel, "`: output ", i, " is said to have ",
                        words(said), " and has ", words(found)));
    }
  }
  std::string report() {
    std::lock_guard lock(mutex_);
    std::string all = looked_ ? "" : "no output was looked at\n";
    for (const std::string& line : wrong_) all += line + "\n";
    return all;
  }

 private:
  static int said_of(const Types& t, int i) {
    if (t.op.traits.reads) return holdfast::kElsewhere;
    if (t.op.traits.view && i == 0) return 0;
    return t.op.alias ? t.op.alias(t, i) : kFresh;
  }
  static int found_of(const OpRun& r, std::span<const Tensor> out, size_t i) {
    const TensorRep* t = out[i].rep();
    for (size_t k = 0; k < r.inputs.size(); ++k) {
      const TensorRep* in = r.inputs[k].defined() ? r.inputs[k].rep() : nullptr;
      if (!in || in->buffer.get() != t->buffer.get()) continue;
      if (t->offset >= in->offset && t->offset + out[i].bytes() <= in->offset + r.inputs[k].bytes())
        return static_cast<int>(k);
    }
    // Outputs that share one block of their own are nobody else's.
    int64_t own = 0;
    for (const Tensor& o : out) own += o.rep()->buffer.get() == t->buffer.get();
    return t->buffer->use_count() <= own ? kFresh : holdfast::kElsewhere;
  }
  std::mutex mutex_;
  std::set<std::string> wrong_;
  std::atomic<int64_t> looked_{0};
};

Ref<Aliases>& aliases() {
  static auto* watching = new Ref<Aliases>;
  return *watching;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int holdfast_plugin(const char* build_id, char* why,
                                                              int why_size) {
  if (std::strcmp(build_id, HOLDFAST_BUILD_ID) != 0) {
    std::snprintf(why, static_cast<size_t>(why_size), "it is of another build");
    return -1;
  }
  const char* said = std::getenv("HOLDFAST_PROBE");
  const std::string what = said ? said : "";
  if (what == "aliases") {
    aliases() = make_ref<Aliases>();
    new Observing(aliases());  // for as long as the process lives
    return 0;
  }
  if (what != "kernels" && what != "fallback") {
    std::snprintf(why, static_cast<size_t>(why_size), "HOLDFAST_PROBE is `%s`", what.c_str());
    return -1;
  }
  add_device(new slice::FakeDevice);
  if (what == "kernels") slice::lend_cpu_kernels();
  return 1;
}

/// What was found so far, a line for each op and output.
extern "C" [[gnu::visibility("default")]] const char* probe_aliases() {
  static std::string* last = new std::string;
  *last = aliases() ? aliases()->report() : "nobody looks";
  return last->c_str();
}
