// Datasets as arguments of traced functions: one trace serves all that have the same elements.
#pragma once

#include "holdfast/data/dataset.h"

namespace holdfast::data {

/// An opaque scalar that leads to a dataset, by which it is handed to a graph.
HOLDFAST_API Tensor carrier_of(const Dataset& dataset);
/// The dataset that a scalar of a graph leads to in each run; `spec` is what its elements are.
HOLDFAST_API Dataset dataset_argument(const Tensor& carrier, const ElementSpec& spec);
/// How many elements a dataset of a graph has when the graph runs.
HOLDFAST_API Tensor cardinality_in_graph(const Dataset& dataset);

}  // namespace holdfast::data
