// Datasets of what files hold: records, lines, pieces of one size.
#pragma once

#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "holdfast/data/dataset.h"

namespace holdfast::data {

/// The files that a dataset reads: their names, or a dataset of names.
class HOLDFAST_API FileNames {
 public:
  FileNames(const char* one) : FileNames(std::string(holdfast::detail::text_of(one))) {}
  FileNames(const std::string& one) : FileNames(std::vector<std::string>{one}) {}
  FileNames(std::vector<std::string> several) : paths_(std::move(several)) {}
  FileNames(std::initializer_list<std::string> several)
      : FileNames(std::vector<std::string>(several)) {}
  /// Of scalars of text.
  FileNames(const Dataset& names);
  Dataset dataset() const;

 private:
  std::vector<std::string> paths_;
  std::optional<Dataset> names_;
};

struct FilesOptions {
  std::string compression_type = {};  // "", "ZLIB" or "GZIP"
  int64_t buffer_size = 0;            // how many bytes are read at a time; 0: as many as suit
  /// Of how many files elements are taken in turn, one of each; none: file after file.
  std::optional<int64_t> num_parallel_reads = {};
};
struct FixedLengthRecordOptions {
  int64_t header_bytes = 0, footer_bytes = 0;  // left out at both ends of each file
  int64_t buffer_size = 0;
  std::string compression_type = {};
  std::optional<int64_t> num_parallel_reads = {};
};

struct CsvRecordsOptions {
  bool header = false;          // the first record of each file is left out
  bool use_quote_delim = true;  // between quotes the end of a line is no end
  char field_delim = ',';       // a field that begins with a quote ends with one
  std::string compression_type = {};
  int64_t buffer_size = 0;
  std::optional<int64_t> num_parallel_reads = {};
};

namespace detail {
HOLDFAST_API Dataset csv_records(const FileNames& files, const CsvRecordsOptions& o);
HOLDFAST_API Dataset records(const FileNames& files, const FilesOptions& o);
HOLDFAST_API Dataset lines(const FileNames& files, const FilesOptions& o);
HOLDFAST_API Dataset pieces(const FileNames& files, int64_t record_bytes,
                            const FixedLengthRecordOptions& o);
}  // namespace detail

/// The records of files that `io::RecordWriter`, or TensorFlow, wrote.
inline Dataset TFRecordDataset(const FileNames& filenames, const FilesOptions& o = {},
                               const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::records(filenames, o);
}
/// The lines of text files, without what ends them.
inline Dataset TextLineDataset(const FileNames& filenames, const FilesOptions& o = {},
                               const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::lines(filenames, o);
}
/// The records of CSV files, each as its text: `io::decode_csv` takes them apart.
inline Dataset CsvRecords(const FileNames& filenames, const CsvRecordsOptions& o = {},
                          const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::csv_records(filenames, o);
}
/// Pieces of `record_bytes` bytes.
inline Dataset FixedLengthRecordDataset(
    const FileNames& filenames, int64_t record_bytes, const FixedLengthRecordOptions& o = {},
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::pieces(filenames, record_bytes, o);
}

}  // namespace holdfast::data
