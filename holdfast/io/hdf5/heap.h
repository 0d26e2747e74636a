// Where names, texts and large groups keep their bytes.
#pragma once

#include <map>

#include "holdfast/io/hdf5/file.h"

namespace holdfast::io::hdf5 {

/// The names of an old group.
class LocalHeap {
 public:
  LocalHeap(const File&, int64_t place);
  /// The text at an offset, up to its zero byte.
  std::string text(uint64_t offset) const;

 private:
  const File& file_;
  std::string data_;
};

/// The texts of variable length, by the collection they are in and their number there.
class GlobalHeap {
 public:
  explicit GlobalHeap(const File& file) : file_(file) {}
  std::string_view object(int64_t collection, uint32_t number);

 private:
  struct Collection {
    std::string bytes;
    std::map<uint32_t, std::pair<size_t, size_t>> objects;  // where each begins, and its size
  };
  const Collection& collection(int64_t place);
  const File& file_;
  std::map<int64_t, Collection> read_;
};

/// The links or attributes of an object that has many: blocks of doubling size.
class FractalHeap {
 public:
  FractalHeap(const File&, int64_t place);
  std::string object(std::string_view id) const;

 private:
  std::string managed(uint64_t offset, uint64_t length) const;
  std::string huge(uint64_t id) const;
  int64_t row_size(size_t row) const;
  size_t direct_rows() const;

  const File& file_;
  size_t id_bytes_ = 0, offset_bytes_ = 0, length_bytes_ = 0, width_ = 0, root_rows_ = 0;
  mutable std::map<int64_t, std::string> blocks_;  // the indirect ones that were met
  int64_t first_size_ = 0, largest_direct_ = 0, root_ = kNowhere, huge_tree_ = kNowhere;
};

/// The records of a tree of version 2, in its order. `type` is what they must be of.
std::vector<std::string> tree_records(const File&, int64_t place, uint8_t type);

/// How many bytes numbers up to `limit` are written in.
size_t width_of(uint64_t limit);

}  // namespace holdfast::io::hdf5
