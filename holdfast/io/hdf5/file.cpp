#include "holdfast/io/hdf5/file.h"

#include <deque>

#include "holdfast/io/checksums.h"

namespace holdfast::io::hdf5 {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";

void check_widths(const File& file) {
  for (size_t n : {file.offset_bytes, file.length_bytes})
    if (n != 4 && n != 8)
      file.source.refuse(cat("its places are written in ", file.offset_bytes,
                             " bytes and its sizes in ", file.length_bytes, "; 4 and 8 are read"));
}

void check_base(const File& file, int64_t base, int64_t end) {
  if (base != 0)
    file.source.refuse(cat("it begins at ", base, ", behind a block of somebody else's"));
  if (end > file.source.size())
    file.source.damaged(cat("it ought to have ", end, " bytes, and has ", file.source.size()));
}

// Version 0 and 1: the root group is an entry of a symbol table.
void old_superblock(File& file, ByteCursor& at, uint8_t version) {
  at.skip(4);
  file.offset_bytes = at.u8();
  file.length_bytes = at.u8();
  check_widths(file);
  at.skip(1 + 2 + 2 + 4 + (version == 1 ? 4 : 0));
  int64_t base = file.offset(at);
  file.offset(at);
  int64_t end = file.offset(at);
  int64_t driver = file.offset(at);
  check_base(file, base, end);
  if (driver != kNowhere) file.source.refuse("it is one of a family of files");
  file.length(at);
  file.root = file.offset(at);
}

// Version 2 and 3.
void new_superblock(File& file, ByteCursor& at, std::string_view block) {
  file.offset_bytes = at.u8();
  file.length_bytes = at.u8();
  check_widths(file);
  at.skip(1);
  int64_t base = file.offset(at);
  file.offset(at);  // more settings, none of which we need
  int64_t end = file.offset(at);
  file.root = file.offset(at);
  check_sum(file, block, at.at(), "its superblock");
  check_base(file, base, end);
}

struct Block {
  int64_t place, count;
};

// The messages of one stretch of a header; continuations go to the end of `blocks`.
void old_messages(const File& file, ByteCursor& at, size_t wanted, Object& out,
                  std::deque<Block>& blocks, size_t& seen);
void add(const File& file, uint16_t type, uint8_t flags, std::string_view bytes, Object& out,
         std::deque<Block>& blocks, std::string_view what) {
  if (type == static_cast<uint16_t>(Kind::kNil)) return;
  if (type > static_cast<uint16_t>(Kind::kLast))
    file.source.refuse(cat(what, " holds a message of type ", type, ", which is not known"));
  auto kind = static_cast<Kind>(type);
  if (kind == Kind::kContinuation) {
    ByteCursor next(file.source, bytes, what);
    int64_t place = file.offset(next);
    blocks.push_back({place, file.length(next)});
    return;
  }
  if (flags & 2)
    file.source.refuse(cat(what, " shares a message of type ", type,
                           " with others (a named datatype); shared messages are not read"));
  out.messages.push_back({kind, std::string(bytes)});
}

void old_messages(const File& file, ByteCursor& at, size_t wanted, Object& out,
                  std::deque<Block>& blocks, size_t& seen) {
  while (at.left() >= 8 && seen < wanted) {
    uint16_t type = at.u16();
    size_t count = at.u16();
    uint8_t flags = at.u8();
    at.skip(3);
    add(file, type, flags, at.take(count), out, blocks, at.what());
    ++seen;
  }
}

void new_messages(const File& file, ByteCursor& at, bool ordered, Object& out,
                  std::deque<Block>& blocks) {
  size_t head = ordered ? 6 : 4;
  while (at.left() >= head) {  // what is less is a gap
    uint16_t type = at.u8();
    size_t count = at.u16();
    uint8_t flags = at.u8();
    if (ordered) at.skip(2);
    add(file, type, flags, at.take(count), out, blocks, at.what());
  }
}

// Each block of a header once, none longer than the file allows.
template <class F>
void each_block(const File& file, std::deque<Block>& blocks, std::string_view what, F read) {
  Visits visits;
  while (!blocks.empty()) {
    Block b = blocks.front();
    blocks.pop_front();
    visits.visit(file, b.place, what);
    std::string bytes = file.part(b.place, b.count);
    read(bytes);
  }
}

Object old_object(const File& file, int64_t place, const std::string& what) {
  std::string prefix = file.part(place, 16);
  ByteCursor at(file.source, prefix, what);
  at.skip(2);
  size_t wanted = at.u16(), seen = 0;
  at.skip(4);
  int64_t count = at.u32();
  Object out{place, {}};
  std::deque<Block> blocks = {{place + 16, count}};
  each_block(file, blocks, what, [&](const std::string& bytes) {
    ByteCursor messages(file.source, bytes, what);
    old_messages(file, messages, wanted, out, blocks, seen);
  });
  return out;
}

Object new_object(const File& file, int64_t place, const std::string& what) {
  // The longest prefix: signature, version, flags, four times, two limits, an eight-byte size.
  constexpr int64_t kLongestPrefix = 4 + 1 + 1 + 16 + 4 + 8;
  std::string prefix =
      file.source.read(place, std::min(kLongestPrefix, file.source.size() - place));
  ByteCursor at(file.source, prefix, what);
  at.expect("OHDR");
  at.version(2, 2);
  uint8_t flags = at.u8();
  if (flags & 0x20) at.skip(16);
  if (flags & 0x10) at.skip(4);
  int64_t count = at.size(size_t{1} << (flags & 3));
  auto begin = static_cast<int64_t>(at.at());
  bool ordered = flags & 4;

  Object out{place, {}};
  std::deque<Block> blocks;
  if (count > file.source.size()) file.source.damaged(cat(what, " has ", count, " bytes"));
  std::string first = file.part(place, begin + count + 4);
  check_sum(file, first, static_cast<size_t>(begin + count), what);
  ByteCursor messages(
      file.source,
      std::string_view(first).substr(static_cast<size_t>(begin), static_cast<size_t>(count)), what);
  new_messages(file, messages, ordered, out, blocks);
  each_block(file, blocks, what, [&](const std::string& bytes) {
    ByteCursor more(file.source, bytes, what);
    more.expect("OCHK");
    if (bytes.size() < 8) file.source.damaged(cat(what, " goes on in ", bytes.size(), " bytes"));
    check_sum(file, bytes, bytes.size() - 4, what);
    ByteCursor inside(file.source, std::string_view(bytes).substr(4, bytes.size() - 8), what);
    new_messages(file, inside, ordered, out, blocks);
  });
  return out;
}

}  // namespace

int64_t File::offset(ByteCursor& at) const {
  uint64_t raw = at.number(offset_bytes);
  uint64_t none = offset_bytes == 8 ? ~uint64_t{0} : 0xffffffffu;
  if (raw == none) return kNowhere;
  if (raw > static_cast<uint64_t>(source.size()))
    source.damaged(
        cat(at.what(), " points to ", raw, ", and the file has ", source.size(), " bytes"));
  return static_cast<int64_t>(raw);
}

std::string File::part(int64_t place, int64_t count) const {
  std::string out = source.read(place, count);
  spent += count;
  if (spent / 4 > source.size() + 4096) source.damaged("its parts lie on one another");
  return out;
}

const Message* Object::find(Kind kind) const {
  for (const Message& m : messages)
    if (m.kind == kind) return &m;
  return nullptr;
}

void check_sum(const File& file, std::string_view block, size_t covered, std::string_view what) {
  ByteCursor sum(file.source, block.substr(covered), what);
  if (sum.u32() != lookup3(block.substr(0, covered)))
    file.source.damaged(cat(what, " has another checksum than its bytes"));
}

void read_superblock(File& file) {
  constexpr int64_t kLongest = 100;
  std::string block = file.source.read(0, std::min(kLongest, file.source.size()));
  if (!block.starts_with(kSignature))
    file.source.refuse("it is no HDF5 file: the signature is missing");
  ByteCursor at(file.source, block, "its superblock");
  at.skip(kSignature.size());
  uint8_t version = at.version(0, 3);
  if (version < 2)
    old_superblock(file, at, version);
  else
    new_superblock(file, at, block);
  if (file.root == kNowhere) file.source.damaged("it has no root group");
}

Object read_object(const File& file, int64_t place) {
  std::string what = cat("the object header at ", place);
  char first = 0;
  file.source.read(place, &first, 1);
  if (first == 'O') return new_object(file, place, what);
  if (first != 1)
    file.source.refuse(
        cat(what, " has version ", static_cast<uint8_t>(first), "; 1 and 2 are read"));
  return old_object(file, place, what);
}

}  // namespace holdfast::io::hdf5
