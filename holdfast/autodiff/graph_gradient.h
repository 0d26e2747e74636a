// The gradient of a graph, as two graphs.
#pragma once

#include <cstdint>

#include "holdfast/autodiff/tape.h"
#include "holdfast/graph/graph.h"

namespace holdfast {

class Tracer;

struct GraphGradient {
  Ref<Graph> forward;  // the graph's outputs, then what the gradient needs of its inside
  Ref<Graph>
      backward;  // takes those and then what arrives for each of `targets`; gives one gradient a
                 // source. That of a branch or a body may capture more of what is around it.
  std::vector<size_t> targets;    // outputs that a gradient can arrive for
  std::vector<size_t> residuals;  // which outputs of `forward` the first inputs of `backward` are
  std::vector<size_t> sparse;     // sources whose gradient is rows; indices and dense shapes are
                                  // further outputs of `backward`
  std::vector<std::vector<bool>> leads;  // [target][source]: whether that gradient depends on what
                                         // arrives there; empty: it does where there is one
};

struct DifferentiateOptions {
  size_t outputs = SIZE_MAX;  // of the first so many
  bool share = false;         // what is an output of the graph already is not handed out again
  bool sparse = false;        // gradients of variables may be rows
};
/// With respect to `sources`: placeholders of `g`, or handles of variables. A gradient that no path
/// reaches is an empty edge.
HOLDFAST_API GraphGradient differentiate(const Ref<Graph>& g, const std::vector<Ref<Node>>& sources,
                                         const DifferentiateOptions& = {});

struct GradientsOptions {
  std::vector<Tensor> upstream = {};  // weighs the targets; empty: ones
  std::vector<Tensor> stop = {};      // tensors that count as constants
  Unconnected unconnected = Unconnected::kNone;
};
/// d(sum of targets)/d(each source), written into the graph that holds them. A source is a tensor
/// of the graph, or a variable's handle.
HOLDFAST_API std::vector<Gradient> gradients_in(Tracer&, const std::vector<Tensor>& targets,
                                                const std::vector<Tensor>& sources,
                                                const GradientsOptions& = {});

}  // namespace holdfast
