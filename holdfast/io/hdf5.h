// HDF5, as far as files of weights go: groups, datasets, attributes.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/io/byte_source.h"
#include "holdfast/io/sink.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast::io {

/// A file in the making: a tree of groups and datasets. Nothing is written until it is asked for,
/// so that every place in the file is known by then and one pass writes it. Paths are names with
/// slashes between them; the root is "". What is written reads as h5py's own files do: groups with
/// symbol tables, contiguous data. A bfloat16 dataset is stored as Keras stores it: two opaque
/// bytes an element, and an attribute `dtype` that says so.
class HOLDFAST_API H5Writer {
 public:
  H5Writer();
  ~H5Writer();
  H5Writer(H5Writer&&) noexcept;

  /// Makes a group, with those above it. One that is there already stays as it is.
  void group(const std::string& path);
  /// A dataset, with the groups above it. Its elements are in the host's memory and are kept, not
  /// copied, until the file is written.
  void dataset(const std::string& path, const Tensor& value);
  /// An attribute of what stands at `path`.
  void attribute(const std::string& path, const std::string& name, const Tensor& value);
  void attribute(const std::string& path, const std::string& name, const std::string& text);

  /// Writes the whole file; may be called again.
  void write(const Sink& to) const;
  std::string bytes() const;
  /// The file is there whole, or not at all.
  void save(const std::string& path) const;

  struct Node;

 private:
  Node& at(const std::string& path, bool make);
  std::unique_ptr<Node> root_;
};

/// A file that is there. All groups and headers are read and checked when it is opened: links out
/// of the file, groups that hold themselves, places outside the file and every part of the format
/// that is not known are refused by name then. Elements are read when asked for; how many there are
/// is held against what the file can hold before memory is taken.
class HOLDFAST_API H5Reader {
 public:
  explicit H5Reader(ByteSource source);
  ~H5Reader();
  H5Reader(H5Reader&&) noexcept;

  bool has_group(const std::string& path) const;
  bool has_dataset(const std::string& path) const;
  /// The names in a group: as they were made where the file says so, else in their own order.
  std::vector<std::string> children(const std::string& path) const;
  DType dtype(const std::string& path) const;
  Shape shape(const std::string& path) const;
  /// The elements of a dataset. Texts come as string tensors, an enumeration of FALSE and TRUE as
  /// bools, the pairs r and i as complex numbers.
  Tensor read(const std::string& path) const;
  /// The attributes of a group or a dataset, in the order of their names.
  std::vector<std::pair<std::string, Tensor>> attributes(const std::string& path) const;
  /// One of them; undefined where there is none.
  Tensor attribute(const std::string& path, const std::string& name) const;
  const ByteSource& source() const;

  struct Tree;

 private:
  std::unique_ptr<Tree> tree_;
};

}  // namespace holdfast::io
