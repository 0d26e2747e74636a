// Where the elements of a dataset lie, and reading them.
#pragma once

#include "holdfast/io/hdf5/types.h"

namespace holdfast::io::hdf5 {

/// Where the elements lie in one piece; nowhere if they do not.
int64_t whole_place(const File&, const Object& dataset, int64_t bytes, const std::string& of);
/// The elements of a dataset as its datatype says, row by row. What they take is held against what
/// the file can hold before memory is taken.
std::string read_elements(const File&, const Object& dataset, const StoredType&, const Shape&,
                          const std::string& of);

}  // namespace holdfast::io::hdf5
