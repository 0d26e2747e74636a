// Graphs as text, and back. docs/graphs.md describes the form.
#pragma once

#include <string_view>

#include "holdfast/graph/graph.h"

namespace holdfast {

/// What a graph's text leaves out: values of many elements, variables, objects that only their op
/// understands. The text refers to them by number.
struct Payload {
  std::vector<Tensor>
      captures;  // of the graph and then of the graphs inside it, in the order of the text
  std::vector<Tensor> tensors;
  std::vector<Ref<RefCounted>> objects;
};

struct TextOptions {
  int64_t most_elements = 64;  // of a value that is written out; larger ones are left out
  Payload* payload = nullptr;  // where what is left out goes
};

/// The graph as text. Two graphs have the same text if they hold the same nodes under the same
/// names.
HOLDFAST_API std::string to_text(const Graph& g, const TextOptions& options = {});
/// The graph that a text describes. Without a payload, variables are fresh ones that hold zeros,
/// captures have no outer value, and a value that was left out is refused. Throws E1103 with line
/// and column.
HOLDFAST_API Ref<Graph> parse_graph(std::string_view text, const Payload* payload = nullptr);

/// Whether two arguments are the same: numbers and values bit by bit, variables and objects by
/// identity.
HOLDFAST_API bool same(const Arg& a, const Arg& b);
/// Equal for equal arguments.
HOLDFAST_API uint64_t hash_of(const Arg& a);
/// Whether two values are the same bit by bit, in dtype, shape and device.
HOLDFAST_API bool same_value(const Tensor& a, const Tensor& b);

}  // namespace holdfast
