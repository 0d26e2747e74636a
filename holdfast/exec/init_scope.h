// Out of whatever is being traced.
#pragma once

#include <optional>
#include <source_location>

#include "holdfast/graph/open_graph.h"

namespace holdfast {

/// Ops run at once while it lives, whatever is being traced; tapes do not see them.
class HOLDFAST_API Lifted {
 public:
  Lifted();
  ~Lifted();
  Lifted(const Lifted&) = delete;

 private:
  Interpreter* interpreter_;
  Where lifted_;
  NoTapes unseen_;
};

/// Leaves whatever is being traced: ops run at once, and once only. In a graph that is written by
/// hand they join that graph, whatever is written inside of it, and wait for nothing.
///
///   auto step = function([&](Tensor x) {
///     InitScope once;
///     ...
class HOLDFAST_API InitScope {
 public:
  [[gnu::always_inline]] explicit InitScope(
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    enter();
  }
  ~InitScope();
  InitScope(const InitScope&) = delete;

 private:
  void enter();

  std::optional<Lifted> lifted_;
  Ref<OpenGraph> graph_;
  std::optional<GraphScope> within_;
};

/// The hand-written graph around whatever is being written; null where there is none.
HOLDFAST_API OpenGraph* root_graph();

}  // namespace holdfast
