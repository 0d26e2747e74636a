// Branches and loops over tensors. On values they run at once; inside a trace they become one op,
// with graphs for bodies.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "holdfast/base/callback.h"
#include "holdfast/op/in.h"

namespace holdfast {

using BranchFn = Callback<Tensors()>;
using LoopFn = Callback<Tensors(std::span<const Tensor>)>;

/// What messages call the parts of a branch or a loop.
struct ControlNames {
  std::string first = "true branch", second = "false branch";  // of a loop: condition and body
};

/// What `true_fn` or `false_fn` gives, as `pred` says. Inside a trace both are written down, and
/// one runs.
HOLDFAST_API Tensors cond(In pred, const BranchFn& true_fn, const BranchFn& false_fn,
                          const ControlNames& = {});

struct LoopOptions {
  std::vector<std::optional<Shape>> shape_invariants = {};  // looser shapes of the variables
  bool back_prop = true;                                    // false: gradients end at the results
  std::optional<int64_t> maximum_iterations = {};
};

namespace detail {
HOLDFAST_API Tensors repeat_while(const LoopFn& cond, const LoopFn& body,
                                  std::span<const Tensor> loop_vars, const LoopOptions&,
                                  const ControlNames&);
}  // namespace detail

/// Runs `body` on the variables while `cond` holds of them. A dimension that changes becomes
/// unknown.
[[gnu::always_inline]] inline Tensors while_loop(
    const LoopFn& cond, const LoopFn& body, std::span<const Tensor> loop_vars,
    const LoopOptions& options = {}, const ControlNames& names = {"condition", "body"},
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::repeat_while(cond, body, loop_vars, options, names);
}

/// The same values, where gradients end.
HOLDFAST_API Tensors without_gradient(std::span<const Tensor>);

}  // namespace holdfast
