// Sorted tables of keys and values, as TensorFlow's index files are: blocks with shared prefixes
// and checksums, and a block that says where the others are.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "holdfast/io/byte_source.h"

namespace holdfast::io {

using TableRows = std::vector<std::pair<std::string, std::string>>;

/// The bytes of a table. Keys are in order, and none comes twice.
std::string table_bytes(const TableRows& rows);
/// The rows of a table, each block's checksum compared. Blocks may be compressed with Snappy.
TableRows read_table(const ByteSource& source);

}  // namespace holdfast::io
