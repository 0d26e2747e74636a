// A run in parts: some results are wanted before the last values are fed.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "holdfast/exec/session.h"
#include "holdfast/graph/node_map.h"

namespace holdfast {

/// One run of a session that is given its feeds, and asked for its fetches, little by little. What
/// has been computed is kept, so that every op runs once. One thread at a time.
class HOLDFAST_API PartialRun {
 public:
  /// All that will be fetched and fed. The session outlives it.
  PartialRun(Session& session, const std::vector<Fetch>& fetches, const std::vector<Tensor>& feeds);

  /// The values of `fetches` from what was fed so far and now. Each is fetched and fed once.
  Tensors run(const std::vector<Fetch>& fetches, const Session::Feeds& feeds = {});

 private:
  void feed(const Tensor& key, const Tensor& value);
  void need_planned(const Fetch& fetch);
  void compute(const std::vector<Edge>& edges, const std::vector<Ref<Node>>& ops);

  Session& session_;
  std::unordered_set<EdgeKey, EdgeHash> fetches_, feeds_;  // to come
  std::unordered_set<const Node*> ops_;                    // to be asked for
  std::vector<Edge> known_;                                // fed or computed
  std::unordered_map<EdgeKey, Tensor, EdgeHash> values_;   // of these
  std::unordered_set<const Node*> done_;
};

}  // namespace holdfast
