// The safetensors format: a header in JSON that says what each tensor is and where it lies, then
// the elements, row by row.
#pragma once

#include <string>
#include <vector>

#include "holdfast/base/by_name.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast::io {

/// What a file says of one tensor. Offsets count from the end of the header.
struct StoredTensor {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape;
  int64_t begin = 0, end = 0;
};

/// What a file holds, in the order in which it lies there; nothing but the header is read. A file
/// that is not what the format says is refused by what is wrong with it: lengths, offsets that
/// overlap or leave holes, shapes, dtypes, names that come twice.
HOLDFAST_API std::vector<StoredTensor> safetensors_header(const std::string& path);
/// The tensors of a file by their names. What the header says is checked before memory is taken.
HOLDFAST_API ByName<Tensor> read_safetensors(const std::string& path);
/// Writes tensors that are in the host's memory. The file is there whole, or not at all.
HOLDFAST_API void write_safetensors(const std::string& path, const ByName<Tensor>& tensors);

}  // namespace holdfast::io
