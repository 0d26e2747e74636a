// Datasets as parts of elements: the windows of a dataset, or what a function gives.
#pragma once

#include "holdfast/data/dataset.h"

namespace holdfast::data {

/// How a dataset stands in an element: a scalar of dtype variant that leads to it.
HOLDFAST_API Tensor component_of(const Dataset& dataset);
/// The dataset that a tensor leads to; null for every other tensor.
HOLDFAST_API DatasetObject* dataset_in(const Tensor& t);
/// Which function made a dataset that stands in an element, and of what.
struct Origin final : RefCounted {
  uint64_t maker = 0;  // `MakesDatasets::number`
  Nested element;
  size_t leaf = 0;  // among the tensors of what it gave
};
/// What a function gave for an element, with that told of its datasets.
HOLDFAST_API Nested with_origins(const Nested& given, uint64_t maker, const Nested& element);
/// That of the dataset that a tensor leads to; null where nobody told it.
const Origin* origin_of(const Tensor& t);
/// Whether there is one among the tensors of an element, or of the form of a spec.
HOLDFAST_API bool holds_datasets(const Nested& element);
/// Throws where there is one: `stage` has no way to do its work with it.
HOLDFAST_API void refuse_datasets(const ElementSpec& spec, const char* stage);

/// Whether it is a dataset of elements that are there already.
bool holds_elements(const DatasetObject& dataset);
/// A dataset of elements that are there already.
HOLDFAST_API Dataset of_elements(const ElementSpec& spec, std::vector<Nested> elements);
/// A dataset of datasets, whose elements are of one structure.
HOLDFAST_API Dataset of_datasets(const std::vector<Dataset>& datasets);
/// All elements of a dataset that has an end; one without is refused. `in_first_order`: nothing is
/// drawn of what the iteration goes on with.
HOLDFAST_API std::vector<Nested> all_of(const DatasetObject& dataset, bool in_first_order = false);

}  // namespace holdfast::data
