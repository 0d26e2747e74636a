// Files of records, as TensorFlow writes them: each is its length, a sum of the length, its bytes
// and a sum of those.
#pragma once

#include <string>
#include <string_view>

#include "holdfast/base/owned.h"
#include "holdfast/io/stream.h"

namespace holdfast::io {

class HOLDFAST_API RecordReader {
 public:
  RecordReader(const std::string& path, Compression how, int64_t buffer_bytes = 0)
      : stream_(path, how, buffer_bytes) {}
  /// The next record; false at the end. Damage is told with the number of the record and its place.
  bool next(std::string& out);
  /// After an error: whether only the bytes of a record were wrong, so that the next one can be
  /// read.
  bool goes_on() const { return goes_on_; }
  /// Where the next record begins, and its number.
  int64_t offset() const { return stream_.at(); }
  int64_t number() const { return number_; }
  /// Goes to the place that `offset` and `number` told; false where the file is shorter.
  bool seek(int64_t offset, int64_t number);

 private:
  [[noreturn]] void damaged(int64_t record, int64_t at, const std::string& how);
  Stream stream_;
  int64_t number_ = 0;
  bool goes_on_ = false;
};

/// How records are compressed: the parameters of zlib's `deflateInit2`.
struct RecordOptions {
  Compression compression = Compression::kNone;
  int level = -1, window_bits = 15, memory_level = 9, strategy = 0;
};

/// Writes such a file from its start. What was written is sure to be there once it is closed.
class HOLDFAST_API RecordWriter {
 public:
  explicit RecordWriter(const std::string& path, const RecordOptions& options = {});
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  void write(std::string_view record);
  /// Hands over what was written to the system.
  void flush();
  /// Nothing can be written after it. Twice is as good as once.
  void close();
  bool closed() const;

 private:
  class File;
  Owned<File> file_;
};

}  // namespace holdfast::io
