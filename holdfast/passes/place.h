// Where the nodes of a graph run, and what is copied between devices for them.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "holdfast/graph/graph.h"
#include "holdfast/op/kernel.h"

namespace holdfast {

class VariableState;

/// Whether all of `g` runs on the first CPU where its inputs and its variables lie there. Nodes
/// follow, in this order, what was asked for, their operands, and the device of whatever nobody
/// placed.
HOLDFAST_API bool stays_on_cpu(const Graph& g);

/// The variables that `g` names itself, its branches and loops included; those among its inputs are
/// known to a call alone.
std::vector<VariableState*> variables_in(const Graph& g);

/// Where a value lies: of a handle where its variable does, of a list where its first element does;
/// the first CPU for what has no value.
Device* place_of(const Tensor& t);
Device* place_of(VariableState& v);
/// Whether such tensors lead to values and hold none themselves: handles and lists.
inline bool opaque(DType d) { return d == DType::kResource || d == DType::kVariant; }

/// Why a node runs where it does.
enum class Reason : uint8_t {
  kHost,      // its op runs on the host, whatever the device
  kText,      // strings live on the host
  kVariable,  // its variable lives there
  kAsked,     // the program said so
  kOperands,  // its operands lie there
  kUnasked,   // nobody said anything: the default
  kNoKernel,  // where it would run, there is no kernel for it
  kCopy,      // it brings a value there
  kBodies,    // its branches or its body have places of their own
};

/// A node's place.
struct HOLDFAST_API Place {
  Device* device = nullptr;
  Reason reason = Reason::kOperands;
  InlineVector<Device*, 1> lies;  // where each output lies; null for handles and lists
  Device* from = nullptr;         // of kNoKernel: where it would have run; of kCopy: what it reads
  std::string refusals;           // why kernels did not take it
  Chosen chosen;                  // on other devices than CPUs: what runs it, where that is known
  Ref<Node> node;                 // kept, so that no other node comes to lie where it lay
  /// "its operands lie there"
  std::string text(const Node& n) const;
};
using Places = std::unordered_map<const Node*, Place>;

/// Whether all sizes that a node reads and gives are known beforehand.
bool sizes_are_known(const Node& n);

/// Whether `g` runs on CPUs alone where its inputs (arguments, then captures) lie there.
bool runs_on_cpus(const Graph& g, std::span<Device* const> inputs);
/// Gives each node its device, and says why.
void place(Graph& g, std::span<Device* const> inputs, Places& places);
/// Chooses kernels on devices that are no CPUs. What a device has none for runs on the first CPU,
/// or in smaller pieces. Adds nodes that copy what lies elsewhere than its reader needs it. After
/// passes that join nodes.
void settle_places(Graph& g, std::span<Device* const> inputs, Places& places);

}  // namespace holdfast
