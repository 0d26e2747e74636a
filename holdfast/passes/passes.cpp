#include "holdfast/passes/passes.h"

namespace holdfast {

const std::vector<Pass>& all_passes() {
  static const std::vector<Pass> list{
      {"drop_dead", "Drops nodes that no output and no effect needs.", &drop_dead},
      {"fuse", "Joins elementwise nodes into one.", &fuse},
  };
  return list;
}

Ref<Graph> optimised(const Graph& g) {
  Ref<Graph> out = clone(g);
  for (const Pass& pass : all_passes()) pass.run(*out);
  return out;
}

}  // namespace holdfast
