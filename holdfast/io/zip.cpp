#include "holdfast/io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <unordered_set>

#include "holdfast/base/checked.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/io/byte_cursor.h"
#include "holdfast/io/byte_put.h"
#include "holdfast/io/inflate.h"

namespace holdfast::io {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr uint32_t kMost32 = 0xffffffff;
constexpr uint16_t kMost16 = 0xffff;
constexpr uint16_t kExtra64 = 1;  // the field with what does not fit into 32 bits
constexpr uint16_t kEncrypted = 1, kSizesBehind = 8, kUtf8 = 0x800;
constexpr uint16_t kDay = 0x21;  // 1980-01-01: the same model is the same bytes

// Why a name is none for a file inside an archive; null if it is one.
const char* bad_name(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > 4096) return "is too long";
  if (name.find('\0') != std::string_view::npos) return "holds a zero byte";
  if (name.find('\\') != std::string_view::npos) return "holds a backslash";
  if (name[0] == '/' || (name.size() > 1 && name[1] == ':')) return "is an absolute path";
  for (size_t at = 0; at <= name.size();) {
    size_t end = std::min(name.find('/', at), name.size());
    std::string_view part = name.substr(at, end - at);
    if (part == "..") return "leads out of the archive";
    if (part == "." || (part.empty() && end < name.size())) return "is no plain path";
    at = end + 1;
  }
  return nullptr;
}

uint32_t crc_of(std::string_view bytes, uint32_t before) {
  return static_cast<uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

uint32_t up_to(uint64_t v) { return v >= kMost32 ? kMost32 : static_cast<uint32_t>(v); }

uint16_t flags_of(std::string_view name) {
  for (char c : name)
    if (c & 0x80) return kUtf8;
  return 0;
}

}  // namespace

// -- writing

ZipWriter::ZipWriter(Sink to) : to_(std::move(to)) {}
ZipWriter::~ZipWriter() = default;

void ZipWriter::put(std::string_view bytes) {
  to_(bytes);
  at_ += bytes.size();
}

void ZipWriter::begin(const std::string& name, uint64_t size, uint32_t crc) {
  if (const char* why = bad_name(name))
    fail(Code::E1104, cat("a file in an archive can't be named ", shown(name)),
         cat("the name ", why));
  if (!names_.insert(name).second)
    fail(Code::E1104, cat("the archive holds ", shown(name), " already"));
  entries_.push_back({name, size, at_, crc});
  bool large = size >= kMost32;
  Put head;
  head.u32(kLocal).u16(large ? 45 : 20).u16(flags_of(name)).u16(0).u16(0).u16(kDay).u32(crc);
  head.u32(up_to(size)).u32(up_to(size)).u16(static_cast<uint16_t>(name.size()));
  head.u16(large ? 20 : 0).bytes(name);
  if (large) head.u16(kExtra64).u16(16).u64(size).u64(size);
  put(head.text());
}

void ZipWriter::add(const std::string& name, std::string_view bytes) {
  begin(name, bytes.size(), crc_of(bytes, 0));
  put(bytes);
}

void ZipWriter::add(const std::string& name, const std::function<void(const Sink&)>& produce) {
  uint64_t size = 0;
  uint32_t crc = 0;
  produce([&](std::string_view piece) {
    size += piece.size();
    crc = crc_of(piece, crc);
  });
  begin(name, size, crc);
  uint64_t from = at_;
  produce([&](std::string_view piece) { put(piece); });
  if (at_ - from != size) bug("what goes into an archive had two lengths");
}

void ZipWriter::finish() {
  uint64_t from = at_;
  for (const Entry& e : entries_) {
    Put more;
    if (e.size >= kMost32) more.u64(e.size).u64(e.size);
    if (e.offset >= kMost32) more.u64(e.offset);
    Put head;
    // Made by version 4.5 on Unix: the mode of a plain file stands in the upper half.
    head.u32(kCentral).u16(3 << 8 | 45).u16(more.size() ? 45 : 20).u16(flags_of(e.name)).u16(0);
    head.u16(0).u16(kDay).u32(e.crc).u32(up_to(e.size)).u32(up_to(e.size));
    head.u16(static_cast<uint16_t>(e.name.size()));
    head.u16(static_cast<uint16_t>(more.size() ? more.size() + 4 : 0)).u16(0).u16(0).u16(0);
    head.u32(0100600u << 16).u32(up_to(e.offset)).bytes(e.name);
    if (more.size()) head.u16(kExtra64).u16(static_cast<uint16_t>(more.size())).bytes(more.text());
    put(head.text());
  }
  uint64_t size = at_ - from, end = at_, count = entries_.size();
  Put tail;
  if (count >= kMost16 || size >= kMost32 || from >= kMost32) {
    tail.u32(kEnd64).u64(44).u16(3 << 8 | 45).u16(45).u32(0).u32(0).u64(count).u64(count);
    tail.u64(size).u64(from).u32(kLocator64).u32(0).u64(end).u32(1);
  }
  auto shown_count = static_cast<uint16_t>(std::min<uint64_t>(count, kMost16));
  tail.u32(kEnd)
      .u16(0)
      .u16(0)
      .u16(shown_count)
      .u16(shown_count)
      .u32(up_to(size))
      .u32(up_to(from))
      .u16(0);
  put(tail.text());
}

// -- reading

namespace {

struct End {
  int64_t count = 0, size = 0, offset = 0, place = 0;
};

// The end of the directory is the last thing in the file, but for a comment.
End find_end(const ByteSource& source) {
  constexpr int64_t kEndBytes = 22, kLocatorBytes = 20;
  int64_t tail = std::min<int64_t>(source.size(), kEndBytes + kMost16);
  if (tail < kEndBytes) source.refuse("it is no zip archive: it is too short");
  std::string bytes = source.read(source.size() - tail, tail);
  End out;
  for (int64_t at = tail - kEndBytes; at >= 0; --at) {
    ByteCursor c(source, std::string_view(bytes).substr(static_cast<size_t>(at)),
                 "the directory's end");
    if (c.u32() != kEnd) continue;
    uint16_t disk = c.u16(), first = c.u16(), here = c.u16(), all = c.u16();
    uint32_t size = c.u32(), offset = c.u32();
    if (c.u16() != static_cast<uint64_t>(tail - kEndBytes - at)) continue;
    out.place = source.size() - tail + at;
    if (out.place >= kLocatorBytes) {
      std::string locator = source.read(out.place - kLocatorBytes, kLocatorBytes);
      ByteCursor l(source, locator, "the directory's locator");
      if (l.u32() == kLocator64) {
        l.skip(4);
        out.place = l.size();
        std::string end = source.read(out.place, 56);
        ByteCursor e(source, end, "the directory's end");
        if (e.u32() != kEnd64) source.damaged("the directory's end is not where it ought to be");
        e.skip(20);
        int64_t count = e.size();
        out.count = e.size();
        out.size = e.size();
        out.offset = e.size();
        if (count != out.count) source.refuse("it is one of several disks");
        return out;
      }
    }
    if (disk != 0 || first != 0 || here != all) source.refuse("it is one of several disks");
    out.count = all, out.size = size, out.offset = offset;
    return out;
  }
  source.refuse("it is no zip archive: its directory is missing");
}

}  // namespace

ZipReader::ZipReader(ByteSource source, const ZipLimits& limits) : source_(std::move(source)) {
  read_directory(limits);
}

void ZipReader::read_directory(const ZipLimits& limits) {
  End end = find_end(source_);
  if (end.count > limits.entries)
    source_.refuse(cat("it holds ", end.count, " entries; at most ", limits.entries, " are read"));
  // The directory ends where its end begins.
  if (end.offset > end.place || end.size != end.place - end.offset)
    source_.damaged(cat("its directory of ", end.size, " bytes is not at ", end.offset));
  directory_ = end.offset;
  std::string bytes = source_.read(end.offset, end.size);
  ByteCursor at(source_, bytes, "its directory");
  for (int64_t i = 0; i < end.count; ++i) read_entry(at);
  if (at.left()) source_.damaged(cat("its directory has ", at.left(), " bytes too many"));

  std::unordered_set<std::string_view> names;
  int64_t total = 0;
  for (const ZipEntry& e : entries_) {
    if (!names.insert(e.name).second) source_.refuse(cat("it holds ", shown(e.name), " twice"));
    auto most = checked_mul(e.stored, limits.ratio);
    if (e.size > limits.small && most && e.size > *most)
      source_.refuse(cat(shown(e.name), " would take ", e.size, " bytes, and ", e.stored,
                         " are stored of it: more than ", limits.ratio, " times as much"));
    auto sum = checked_add(total, e.size);
    total = sum ? *sum : INT64_MAX;
  }
  auto most = checked_mul(source_.size(), limits.ratio);
  if (total > limits.small_total && most && total > *most)
    source_.refuse(cat("its files would take ", total, " bytes, and it has ", source_.size()));
  std::sort(stretches_.begin(), stretches_.end());
  int64_t used = 0;
  for (auto [begin, finish] : stretches_) {
    if (begin < used) source_.refuse("its files lie on one another");
    used = finish;
  }
  if (used > directory_) source_.refuse("its files lie on its directory");
}

void ZipReader::read_entry(ByteCursor& at) {
  if (at.u32() != kCentral) source_.damaged("its directory does not hold what it ought to");
  at.skip(4);
  uint16_t flags = at.u16(), method = at.u16();
  at.skip(4);
  ZipEntry e;
  e.crc = at.u32();
  e.stored = at.u32();
  e.size = at.u32();
  size_t name = at.u16(), extra = at.u16(), comment = at.u16();
  at.skip(8);
  int64_t offset = at.u32();
  e.name = std::string(at.take(name));
  ByteCursor fields(source_, at.take(extra), "an entry's fields");
  at.skip(comment);
  while (fields.left() >= 4) {
    uint16_t id = fields.u16();
    ByteCursor field(source_, fields.take(fields.u16()), "an entry's sizes");
    if (id != kExtra64) continue;
    if (e.size == kMost32) e.size = field.size();
    if (e.stored == kMost32) e.stored = field.size();
    if (offset == kMost32) offset = field.size();
  }
  std::string_view path = e.name;
  bool folder = !path.empty() && path.back() == '/';
  if (folder) path.remove_suffix(1);
  if (const char* why = bad_name(path)) source_.refuse(cat("the name ", shown(e.name), " ", why));
  if (flags & kEncrypted) source_.refuse(cat(shown(e.name), " is encrypted"));
  if (method != 0 && method != 8)
    source_.refuse(cat(shown(e.name), " is compressed by method ", method,
                       "; stored and deflated files are read"));
  e.deflated = method == 8;
  if (!e.deflated && e.size != e.stored)
    source_.damaged(cat(shown(e.name), " has ", e.size, " bytes, and ", e.stored, " are stored"));
  if (e.stored > source_.size())
    source_.damaged(cat(shown(e.name), " takes ", e.stored, " bytes of ", source_.size()));
  auto most = checked_mul(e.stored + 1, kMostInflated);
  if (e.deflated && most && e.size > *most)
    source_.refuse(
        cat(shown(e.name), " would take ", e.size, " bytes, and ", e.stored, " are stored of it"));
  check_local(e, offset);
  stretches_.emplace_back(offset, e.data + e.stored);
  if (folder && e.size) source_.refuse(cat("the folder ", shown(e.name), " has bytes"));
  if (!folder) entries_.push_back(std::move(e));
}

// What stands before the bytes themselves must say the same.
void ZipReader::check_local(ZipEntry& e, int64_t offset) const {
  std::string head = source_.read(offset, 30);
  ByteCursor at(source_, head, "the head of an entry");
  if (at.u32() != kLocal) source_.damaged(cat(shown(e.name), " is not at ", offset));
  at.skip(2);
  uint16_t flags = at.u16(), method = at.u16();
  at.skip(4);
  uint32_t crc = at.u32(), stored = at.u32(), size = at.u32();
  int64_t name = at.u16(), extra = at.u16();
  bool same = method == (e.deflated ? 8 : 0) && source_.read(offset + 30, name) == e.name;
  if (!(flags & kSizesBehind))
    same = same && crc == e.crc &&
           (size == up_to(static_cast<uint64_t>(e.size)) || size == kMost32) &&
           (stored == up_to(static_cast<uint64_t>(e.stored)) || stored == kMost32);
  if (!same) source_.damaged(cat("directory and entry do not say the same of ", shown(e.name)));
  if (flags & kEncrypted) source_.refuse(cat(shown(e.name), " is encrypted"));
  e.data = offset + 30 + name + extra;
  if (e.data > source_.size() || e.stored > source_.size() - e.data)
    source_.damaged(cat(shown(e.name), " goes on behind the end"));
}

const ZipEntry* ZipReader::find(std::string_view name) const {
  for (const ZipEntry& e : entries_)
    if (e.name == name) return &e;
  return nullptr;
}

const ZipEntry& ZipReader::at(const std::string& name) const {
  if (const ZipEntry* e = find(name)) return *e;
  source_.refuse(cat("it holds no ", shown(name)));
}

std::string ZipReader::read(const std::string& name) const {
  const ZipEntry& e = at(name);
  std::string out = source_.read(e.data, e.stored);
  if (e.deflated) {
    std::string whole(static_cast<size_t>(e.size), '\0');
    if (!inflate_into(Deflated::kRaw, out, whole.data(), e.size))
      source_.damaged(cat(shown(name), " does not inflate to ", e.size, " bytes"));
    out = std::move(whole);
  }
  if (crc_of(out, 0) != e.crc)
    source_.damaged(cat(shown(name), " has another checksum than its bytes"));
  return out;
}

ByteSource ZipReader::open(const std::string& name) const {
  const ZipEntry& e = at(name);
  std::string called = cat(source_.name(), "/", name);
  if (e.deflated) return ByteSource::of_memory(std::move(called), read(name));
  constexpr int64_t kPiece = int64_t{1} << 20;
  uint32_t crc = 0;
  std::string piece;
  for (int64_t at = 0; at < e.size; at += kPiece) {
    piece.resize(static_cast<size_t>(std::min(kPiece, e.size - at)));
    source_.read(e.data + at, piece.data(), static_cast<int64_t>(piece.size()));
    crc = crc_of(piece, crc);
  }
  if (crc != e.crc) source_.damaged(cat(shown(name), " has another checksum than its bytes"));
  return source_.part(std::move(called), e.data, e.size);
}

}  // namespace holdfast::io
