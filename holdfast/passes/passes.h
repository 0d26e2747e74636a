// What makes a graph better without changing what it computes.
#pragma once

#include "holdfast/passes/place.h"

namespace holdfast {

/// For graphs on which devices a pass is.
enum class For : uint8_t {
  kAnyDevice,
  kCpus,  // whose nodes all run on CPUs: other devices have kernels that like other forms
};

/// A pass changes the graph it is given and says whether it did. Results keep their bits unless the
/// pass says otherwise; nodes with effects keep their order.
struct Pass {
  const char* name;
  const char* doc;
  bool (*run)(Graph&);
  bool last = false;  // once, after the others have nothing left to do: it hides what they look for
  For devices = For::kAnyDevice;
};

/// Computes what constants and known sizes decide.
HOLDFAST_API bool fold(Graph&);
/// Replaces ops that change nothing, or that something simpler gives.
HOLDFAST_API bool simplify(Graph&);
/// Removes transposes that cancel or move nothing.
HOLDFAST_API bool transposes(Graph&);
/// Moves channels of images to the end, where convolutions are faster; may change last bits.
HOLDFAST_API bool layouts(Graph&);
/// Lets products read through transposes, and squares by multiplying: what may change last bits.
HOLDFAST_API bool relax(Graph&);
/// Moves reshapes out from between elementwise ops.
HOLDFAST_API bool reshapes(Graph&);
/// Computes equal values once.
HOLDFAST_API bool cse(Graph&);
/// Takes results that nobody uses out of branches and loops.
HOLDFAST_API bool bodies(Graph&);
/// Drops nodes that no output and no effect needs.
HOLDFAST_API bool drop_dead(Graph&);
/// Moves updates of variables to where their values are known.
HOLDFAST_API bool early_updates(Graph&);
/// Joins elementwise nodes into Fused ones, so that what one gives the next never leaves the first
/// cache.
HOLDFAST_API bool fuse(Graph&);
/// Lets reductions over trailing axes read what they reduce while it is in the first cache.
HOLDFAST_API bool fuse_reductions(Graph&);
/// Joins what works over the same rows, so that a row is read once however often it is reduced.
HOLDFAST_API bool tile_rows(Graph&);
/// Adds to variables inside the loop that computes what is added.
HOLDFAST_API bool fuse_updates(Graph&);
HOLDFAST_API bool join_moves(Graph&);
/// Runs elementwise nodes over a convolution's result while it is in a cache.
HOLDFAST_API bool fuse_convolutions(Graph&);
/// Computes some values again rather than keep them, where much memory costs little work.
HOLDFAST_API bool recompute(Graph&);
/// Draws random numbers inside the loop that reads them.
HOLDFAST_API bool fuse_draws(Graph&);

/// All passes, in the order in which they run.
HOLDFAST_API const std::vector<Pass>& all_passes();
/// A copy of `g` after all passes, which run until none changes anything: for runs of it that stay
/// on the first CPU.
HOLDFAST_API Ref<Graph> optimised(const Graph& g);
/// The same for runs whose inputs (arguments, then captures) lie on these devices. Nodes have their
/// devices, and what lies elsewhere than its reader needs it is copied by nodes.
HOLDFAST_API Ref<Graph> optimised_for(const Graph& g, std::span<Device* const> inputs,
                                      Places& places);
/// The same without passes.
HOLDFAST_API Ref<Graph> placed_for(const Graph& g, std::span<Device* const> inputs, Places& places);

/// Which passes run from now on: "none", names with commas between them, or "" for all. Begins as
/// HOLDFAST_PASSES. Throws E1103 for a name that no pass has.
HOLDFAST_API void set_passes(const std::string& names);

/// Whether graphs are verified before and after each pass: from the start in builds without NDEBUG,
/// or if HOLDFAST_VERIFY is set.
HOLDFAST_API void verify_passes(bool on);

/// A graph as text when it came to the passes (`pass` is empty), and after each pass that changed
/// it.
struct PassRecord {
  std::string graph, pass, text;
};
/// Keeps records from now on, or stops; for tools.
HOLDFAST_API void record_passes(bool on);
/// Those kept so far, which are handed over.
HOLDFAST_API std::vector<PassRecord> take_pass_records();

}  // namespace holdfast
