// Zip archives.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "holdfast/io/byte_source.h"
#include "holdfast/io/sink.h"

namespace holdfast::io {

/// An archive in the making. Entries are stored as they are, one after the other.
class HOLDFAST_API ZipWriter {
 public:
  explicit ZipWriter(Sink to);
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;
  /// Adds an entry; a name that leads out of the archive, or that is there already, is refused.
  void add(const std::string& name, std::string_view bytes);
  /// Likewise, for what need not be in memory as one: `produce` hands its bytes to a sink. It is
  /// called twice, since an entry's length and checksum stand before it.
  void add(const std::string& name, const std::function<void(const Sink&)>& produce);
  /// Writes the directory. Without it there is no archive.
  void finish();

 private:
  struct Entry {
    std::string name;
    uint64_t size = 0, offset = 0;
    uint32_t crc = 0;
  };
  void put(std::string_view bytes);
  void begin(const std::string& name, uint64_t size, uint32_t crc);
  Sink to_;
  std::vector<Entry> entries_;
  std::unordered_set<std::string> names_;
  uint64_t at_ = 0;
};

/// What an archive says of one file in it.
struct ZipEntry {
  std::string name;
  int64_t size = 0, stored = 0;  // bytes of the file, and those they take in the archive
  bool deflated = false;
  uint32_t crc = 0;
  int64_t data = 0;  // where its bytes begin
};

/// How much of an archive's word is taken. A file above `small` bytes may be at most `ratio` times
/// as large as what is stored of it, and so may all of them together above `small_total`.
struct ZipLimits {
  int64_t ratio = 100;
  int64_t small = int64_t{1} << 24;
  int64_t small_total = int64_t{1} << 30;
  int64_t entries = 100'000;
};

/// An archive that is there. Its directory is read and checked when it is opened: names that lead
/// out of the archive or come twice, entries that are encrypted or lie on one another, and sizes
/// that no honest archive has are refused then, before memory is taken for anything.
class HOLDFAST_API ZipReader {
 public:
  explicit ZipReader(ByteSource source, const ZipLimits& limits = {});
  /// Files, in the archive's order; folders are not listed.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  const ZipEntry* find(std::string_view name) const;
  /// The bytes of a file, once their checksum is seen to be right.
  std::string read(const std::string& name) const;
  /// Likewise, to be read by place; what is not compressed stays where it is.
  ByteSource open(const std::string& name) const;
  const ByteSource& source() const { return source_; }

 private:
  void read_directory(const ZipLimits&);
  void read_entry(class ByteCursor&);
  void check_local(ZipEntry&, int64_t offset) const;
  const ZipEntry& at(const std::string& name) const;
  ByteSource source_;
  std::vector<ZipEntry> entries_;
  std::vector<std::pair<int64_t, int64_t>> stretches_;  // where each entry begins and ends
  int64_t directory_ = 0;
};

}  // namespace holdfast::io
