#include "holdfast/io/table.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "holdfast/io/byte_cursor.h"
#include "holdfast/io/byte_put.h"
#include "holdfast/io/checksums.h"
#include "holdfast/io/snappy.h"

namespace holdfast::io {
namespace {

constexpr uint64_t kMagic = 0xdb4775248b80fb57;
constexpr int64_t kFooter = 48, kTrailer = 5;  // of a block: its compression and its checksum
constexpr size_t kBlockBytes = size_t{1} << 18, kRestart = 16;

struct Handle {
  int64_t offset = 0, size = 0;
};

// Rows of which each leaves out what its key shares with the one before; every so often one does
// not, and the block ends with where those are.
class Block {
 public:
  explicit Block(size_t restart) : restart_(restart) {}
  void add(std::string_view key, std::string_view value) {
    size_t shared = 0;
    if (count_ % restart_ == 0)
      restarts_.push_back(static_cast<uint32_t>(out_.size()));
    else
      while (shared < std::min(key.size(), last_.size()) && key[shared] == last_[shared]) ++shared;
    out_.varint(shared).varint(key.size() - shared).varint(value.size());
    out_.bytes(key.substr(shared)).bytes(value);
    last_ = key;
    ++count_;
  }
  size_t bytes() const { return out_.size(); }
  /// Appends the block to a table.
  Handle end(std::string& table) {
    if (restarts_.empty()) restarts_.push_back(0);
    for (uint32_t r : restarts_) out_.u32(r);
    out_.u32(static_cast<uint32_t>(restarts_.size()));
    Handle at{static_cast<int64_t>(table.size()), static_cast<int64_t>(out_.size())};
    out_.u8(0);
    uint32_t crc = masked_crc32c(crc32c(out_.text()));
    table += out_.u32(crc).text();
    return at;
  }

 private:
  size_t restart_, count_ = 0;
  Put out_;
  std::string last_;
  std::vector<uint32_t> restarts_;
};

void put(Put& out, Handle h) {
  out.varint(static_cast<uint64_t>(h.offset)).varint(static_cast<uint64_t>(h.size));
}

Handle handle(const ByteSource& source, ByteCursor& at) {
  uint64_t offset = at.varint(), size = at.varint();
  auto end = static_cast<uint64_t>(source.size() - kFooter - kTrailer);
  if (offset > end || size > end - offset)
    source.damaged(cat("it has a block of ", size, " bytes at ", offset, ", outside it"));
  return {static_cast<int64_t>(offset), static_cast<int64_t>(size)};
}

std::string block(const ByteSource& source, Handle h) {
  std::string bytes = source.read(h.offset, h.size + kTrailer);
  std::string_view all = bytes;
  ByteCursor trailer(source, all.substr(static_cast<size_t>(h.size)), "a block's end");
  uint8_t compression = trailer.u8();
  if (trailer.u32() != masked_crc32c(crc32c(all.substr(0, static_cast<size_t>(h.size) + 1))))
    source.damaged(cat("the block at ", h.offset, " has another checksum than its bytes"));
  if (compression > 1)
    source.refuse(cat("the block at ", h.offset, " is compressed in the way ", compression,
                      "; none and Snappy are read"));
  std::string_view stored = all.substr(0, static_cast<size_t>(h.size));
  if (compression == 0) return std::string(stored);
  std::optional<std::string> out = unsnappied(stored);
  if (!out) source.damaged(cat("the block at ", h.offset, " is not what Snappy writes"));
  return std::move(*out);
}

// `room` is how many bytes of keys and values may still come: keys that share everything would make
// a large table of a small file.
TableRows rows_of(const ByteSource& source, Handle h, int64_t& room) {
  std::string bytes = block(source, h);
  std::string what = cat("the block at ", h.offset);
  if (bytes.size() < 4) source.damaged(cat(what, " is empty"));
  ByteCursor tail(source, std::string_view(bytes).substr(bytes.size() - 4), what);
  uint64_t restarts = tail.u32();
  if (restarts > (bytes.size() - 4) / 4) source.damaged(cat(what, " has ", restarts, " restarts"));
  ByteCursor at(source, std::string_view(bytes).substr(0, bytes.size() - 4 - 4 * restarts), what);
  TableRows out;
  std::string key;
  while (at.left()) {
    uint64_t shared = at.varint(), own = at.varint(), value = at.varint();
    // A key may not be made of ever more shared bytes.
    constexpr uint64_t kLongestKey = 1 << 16;
    if (shared > key.size() || own > kLongestKey || shared + own > kLongestKey)
      source.damaged(cat(what, " has a key of which ", shared, " bytes are shared"));
    key.resize(shared);
    key += at.take(own);
    room -= static_cast<int64_t>(key.size());
    if (room < 0) source.refuse("its keys would take many times the bytes that it has");
    out.emplace_back(key, std::string(at.take(value)));
  }
  return out;
}

}  // namespace

std::string table_bytes(const TableRows& rows) {
  std::string out;
  Block data(kRestart), index(1), nothing(1);
  for (size_t i = 0; i < rows.size(); ++i) {
    data.add(rows[i].first, rows[i].second);
    if (data.bytes() < kBlockBytes && i + 1 < rows.size()) continue;
    Put at;
    put(at, data.end(out));
    index.add(rows[i].first, at.text());
    data = Block(kRestart);
  }
  Put footer;
  put(footer, nothing.end(out));
  put(footer, index.end(out));
  footer.zeros(static_cast<size_t>(kFooter) - 8 - footer.size()).u64(kMagic);
  return out + footer.text();
}

TableRows read_table(const ByteSource& source) {
  if (source.size() < kFooter + kTrailer) source.refuse("it is no table: it is too short");
  std::string tail = source.read(source.size() - kFooter, kFooter);
  ByteCursor footer(source, tail, "its end");
  ByteCursor magic(source, std::string_view(tail).substr(static_cast<size_t>(kFooter) - 8),
                   "its end");
  if (magic.u64() != kMagic) source.refuse("it is no table: its last bytes are others");
  handle(source, footer);
  Handle index = handle(source, footer);
  TableRows out;
  int64_t room = 64 * source.size() + (int64_t{1} << 20);
  std::unordered_set<int64_t> seen;
  for (const auto& [last, where] : rows_of(source, index, room)) {
    ByteCursor at(source, where, "its index");
    Handle h = handle(source, at);
    if (!seen.insert(h.offset).second)
      source.damaged(cat("the block at ", h.offset, " is listed twice"));
    for (auto& row : rows_of(source, h, room)) {
      if (!out.empty() && row.first <= out.back().first)
        source.damaged(cat("the key ", shown(row.first), " is out of order"));
      out.push_back(std::move(row));
    }
  }
  return out;
}

}  // namespace holdfast::io
