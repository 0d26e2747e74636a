// Datasets of files of elements.
#pragma once

#include "holdfast/data/dataset.h"

namespace holdfast::data {

struct ElementFolder;

/// One for each file of a folder.
std::vector<Dataset> parts_of(const std::string& path, const ElementFolder& folder);
/// Elements of all files of a folder, of up to ten of them in turn.
Dataset in_turn(const ElementSpec& spec, const std::string& path);
/// What the language that wrote a folder says of its elements.
HOLDFAST_API std::string stored_about(const std::string& path);

}  // namespace holdfast::data
