#include "holdfast/passes/passes.h"

namespace holdfast {

const std::vector<Pass>& all_passes() {
  static const std::vector<Pass> list{
      {"drop_dead", "Drops nodes that no output and no effect needs.", &drop_dead},
      {"early_updates", "Moves updates of variables to where their values are known.", &early_updates},
      {"fuse", "Joins elementwise nodes into one.", &fuse},
      {"fuse_updates", "Adds to variables inside the loop that computes what is added.", &fuse_updates},
  };
  return list;
}

Ref<Graph> optimised(const Graph& g) {
  Ref<Graph> out = clone(g);
  for (const Pass& pass : all_passes()) pass.run(*out);
  return out;
}

}  // namespace holdfast
