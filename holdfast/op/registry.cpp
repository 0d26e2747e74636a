#include "holdfast/op/registry.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"

namespace holdfast {
namespace {

struct Registry {
  std::vector<std::unique_ptr<OpDef>> owned_ops;
  std::vector<std::unique_ptr<FunctionDef>> owned_functions;
  std::vector<const OpDef*> ops;
  std::vector<const FunctionDef*> functions;
  std::unordered_map<std::string, OpDef*> by_name;
};

constinit std::atomic<uint64_t> g_added{0};

Registry& registry() {
  static Registry* r = new Registry;  // ops are used by statics of other files
  return *r;
}

}  // namespace

const std::vector<const OpDef*>& all_ops() { return registry().ops; }
const std::vector<const FunctionDef*>& all_functions() { return registry().functions; }

const OpDef* find_op(std::string_view name) {
  auto it = registry().by_name.find(std::string(name));
  return it == registry().by_name.end() ? nullptr : it->second;
}

uint64_t kernels_added() { return g_added.load(std::memory_order_relaxed); }

void add_kernel(std::string_view op, Kernel kernel) {
  auto it = registry().by_name.find(std::string(op));
  if (it == registry().by_name.end()) bug(cat("a kernel for an op that does not exist: ", op));
  auto& list = it->second->kernels;
  list.insert(list.begin(), kernel);
  it->second->prepares |= kernel.prepare != nullptr;
  ++g_added;
}

const OpDef* keep(std::unique_ptr<OpDef> op) {
  for (auto& in : op->inputs) {
    while (op->inputs[in.first].group != in.group) ++in.first;
  }
  Registry& r = registry();
  if (!r.by_name.emplace(op->name, op.get()).second) bug(cat("two ops are called ", op->name));
  r.owned_ops.push_back(std::move(op));
  r.ops.push_back(r.owned_ops.back().get());
  return r.ops.back();
}

const FunctionDef* keep(std::unique_ptr<FunctionDef> f) {
  Registry& r = registry();
  r.owned_functions.push_back(std::move(f));
  r.functions.push_back(r.owned_functions.back().get());
  return r.functions.back();
}

}  // namespace holdfast
