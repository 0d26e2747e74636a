#include "holdfast/passes/passes.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/graph/verify.h"

namespace holdfast {
namespace {

// A round finds what the one before it laid open; real programs need two or three.
constexpr int kMostRounds = 8;

using PassList = std::vector<const Pass*>;

PassList chosen_by(const std::string& names, const char* who) {
  PassList out;
  if (names == "none") return out;
  for (const Pass& p : all_passes())
    if (names.empty()) out.push_back(&p);
  std::vector<std::string> wanted;
  for (size_t at = 0; at < names.size();) {
    size_t comma = std::min(names.find(',', at), names.size());
    wanted.push_back(names.substr(at, comma - at));
    at = comma + 1;
  }
  for (const std::string& w : wanted) {
    auto is = [&](const Pass& p) { return w == p.name; };
    if (std::any_of(all_passes().begin(), all_passes().end(), is)) continue;
    std::string known;
    for (const Pass& p : all_passes()) known += cat(known.empty() ? "" : ", ", p.name);
    fail(Code::E1103, cat(who, ": there is no pass `", w, "`"),
         cat("passes: ", known, "; `none` for none of them"));
  }
  for (const Pass& p : all_passes())
    if (std::find(wanted.begin(), wanted.end(), p.name) != wanted.end()) out.push_back(&p);
  return out;
}

std::mutex g_mutex;
std::shared_ptr<const PassList> g_chosen;
std::atomic<bool> g_recording{false};
std::vector<PassRecord> g_records;

std::shared_ptr<const PassList> chosen() {
  std::lock_guard lock(g_mutex);
  if (!g_chosen) {
    const char* names = std::getenv("HOLDFAST_PASSES");
    g_chosen = std::make_shared<const PassList>(chosen_by(names ? names : "", "HOLDFAST_PASSES"));
  }
  return g_chosen;
}

std::atomic<bool>& verifying() {
#ifdef NDEBUG
  static std::atomic<bool> on{std::getenv("HOLDFAST_VERIFY") != nullptr};
#else
  static std::atomic<bool> on{true};
#endif
  return on;
}

void record(const Graph& g, const char* pass) {
  if (!g_recording) return;
  PassRecord r{g.scope->name, pass, g.text()};
  std::lock_guard lock(g_mutex);
  g_records.push_back(std::move(r));
}

bool apply_pass(const Pass& pass, Graph& g) {
  if (!pass.run(g)) return false;
  record(g, pass.name);
  if (verifying()) verify(g, cat("after ", pass.name));
  return true;
}

}  // namespace

const std::vector<Pass>& all_passes() {
  // Like every table that running threads read it is never taken apart: a thread of the program may
  // compile to the very end of the process.
  static const auto& list = *new std::vector<Pass>{
      {"fold", "Computes what constants and known sizes decide.", &fold},
      {"simplify", "Replaces ops that change nothing, or that something simpler gives.", &simplify},
      {"transposes", "Removes transposes that cancel or move nothing.", &transposes},
      {"layouts",
       "Moves channels of images to the end, where convolutions are faster; may change last bits.",
       &layouts, false, For::kCpus},
      {"relax",
       "Lets products read through transposes, and squares by multiplying: what may change last "
       "bits.",
       &relax},
      {"reshapes", "Moves reshapes out from between elementwise ops.", &reshapes},
      {"cse", "Computes equal values once.", &cse},
      {"bodies", "Takes results that nobody uses out of branches and loops.", &bodies},
      {"drop_dead", "Drops nodes that no output and no effect needs.", &drop_dead},
      {"early_updates", "Moves updates of variables to where their values are known.",
       &early_updates, true},
      {"fuse", "Joins elementwise nodes into one.", &fuse, true},
      {"fuse_reductions", "Reduces trailing axes inside the loop that computes what is reduced.",
       &fuse_reductions, true},
      {"tile_rows", "Joins what works over the same rows, reductions and all around them.",
       &tile_rows, true},
      {"fuse_updates", "Adds to variables inside the loop that computes what is added.",
       &fuse_updates, true},
      {"join_moves", "Moves all variables of an optimizer's step as one.", &join_moves, true,
       For::kCpus},
      {"fuse_convolutions",
       "Runs elementwise nodes over a convolution's result while it is in a cache.",
       &fuse_convolutions, true, For::kCpus},
      {"recompute",
       "Computes some values again rather than keep them, where much memory costs little work.",
       &recompute, true},
      {"fuse_draws", "Draws random numbers inside the loop that reads them.", &fuse_draws, true,
       For::kCpus},
  };
  return list;
}

namespace {

// Those that hide what others look for come last.
void run_passes(Graph& g, const PassList& passes, bool last, bool on_cpus) {
  auto fits = [&](const Pass& p) {
    return p.last == last && (on_cpus || p.devices == For::kAnyDevice);
  };
  bool changed = true;
  for (int round = 0; changed && round < (last ? 1 : kMostRounds); ++round) {
    changed = false;
    for (const Pass* pass : passes)
      if (fits(*pass)) changed = apply_pass(*pass, g) || changed;
  }
}

Ref<Graph> begun(const Graph& g) {
  Ref<Graph> out = clone(g);
  record(*out, "");
  if (verifying()) verify(*out, "before the passes");
  return out;
}

Ref<Graph> placed(const Graph& g, std::span<Device* const> inputs, Places& places,
                  const PassList& passes) {
  Ref<Graph> out = begun(g);
  bool on_cpus = runs_on_cpus(g, inputs);
  run_passes(*out, passes, false, on_cpus);
  place(*out, inputs, places);
  record(*out, "place");
  run_passes(*out, passes, true, on_cpus);
  settle_places(*out, inputs, places);
  record(*out, "copies");
  if (verifying()) verify(*out, "after placement");
  return out;
}

}  // namespace

Ref<Graph> optimised(const Graph& g) {
  Ref<Graph> out = begun(g);
  auto passes = chosen();
  run_passes(*out, *passes, false, true);
  run_passes(*out, *passes, true, true);
  return out;
}

Ref<Graph> optimised_for(const Graph& g, std::span<Device* const> inputs, Places& places) {
  return placed(g, inputs, places, *chosen());
}
Ref<Graph> placed_for(const Graph& g, std::span<Device* const> inputs, Places& places) {
  return placed(g, inputs, places, {});
}

void set_passes(const std::string& names) {
  auto wanted = std::make_shared<const PassList>(chosen_by(names, "passes"));
  std::lock_guard lock(g_mutex);
  g_chosen = std::move(wanted);
}

void verify_passes(bool on) { verifying() = on; }
void record_passes(bool on) { g_recording = on; }

std::vector<PassRecord> take_pass_records() {
  std::lock_guard lock(g_mutex);
  return std::exchange(g_records, {});
}

}  // namespace holdfast
