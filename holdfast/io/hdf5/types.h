// What HDF5 says of elements: datatypes and dataspaces, as they are stored and as ours.
#pragma once

#include <string>
#include <vector>

#include "holdfast/io/hdf5/file.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast::io::hdf5 {

/// How the elements of a dataset or an attribute are stored.
struct StoredType {
  enum class How : uint8_t { kPlain, kFixedText, kText, kTwoBytes };
  How how = How::kPlain;
  DType dtype = DType::kInvalid;  // of kTwoBytes: not known, they are opaque
  int64_t size = 0;               // bytes an element takes in the file
  bool swapped = false;           // big-endian
  char padding = 0;               // of kFixedText: 0 up to a zero byte, 1 zeros, 2 spaces
};

/// Reads one datatype; `of` is what messages say is stored so.
StoredType parse_type(const File&, ByteCursor& at, const std::string& of);
Shape parse_space(const File&, std::string_view bytes, const std::string& of);
/// The shape that it may grow to; -1 where there is no limit.
Shape parse_most(const File&, std::string_view bytes, const std::string& of);
/// How many bytes so many elements take; refused where no memory holds them.
int64_t stored_bytes(const File&, const StoredType&, const Shape&, const std::string& of);
/// A tensor of elements as they lie in the file.
Tensor decode(const File&, const StoredType&, const Shape&, std::string raw, const std::string& of);

/// The datatype message for elements of a dtype, and the dataspace of a shape.
std::string type_message(DType);
std::string space_message(const Shape&);
/// The datatype of texts of variable length, and of two opaque bytes.
std::string text_type_message();
std::string two_bytes_message();

}  // namespace holdfast::io::hdf5
