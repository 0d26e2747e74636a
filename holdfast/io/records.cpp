#include "holdfast/io/records.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/io/byte_put.h"
#include "holdfast/io/checksums.h"
#include "holdfast/io/refuse_file.h"

namespace holdfast::io {
namespace {

constexpr size_t kHead = 12, kFoot = 4;

uint64_t number_at(std::string_view bytes, size_t at, size_t count) {
  uint64_t out = 0;
  for (size_t i = count; i-- > 0;) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

bool sum_fits(std::string_view bytes, uint64_t sum) {
  return masked_crc32c(crc32c(bytes)) == static_cast<uint32_t>(sum);
}

}  // namespace

void RecordReader::damaged(int64_t record, int64_t at, const std::string& how) {
  damaged_contents(stream_.path(), cat("record ", record, ", at byte ", at, ", ", how));
}

bool RecordReader::next(std::string& out) {
  int64_t at = stream_.at(), record = number_;
  goes_on_ = false;
  std::string_view head = stream_.look(kHead);
  if (head.empty()) return false;
  if (head.size() < kHead) damaged(record, at, "is cut off in its length");
  uint64_t length = number_at(head, 0, 8);
  if (!sum_fits(head.substr(0, 8), number_at(head, 8, 4)))
    damaged(record, at,
            record == 0 ? "has a length that its sum does not fit: is it a file of records, and "
                          "compressed as was said?"
                        : "has a length that its sum does not fit");
  constexpr uint64_t kMost = uint64_t{1} << 62;
  if (length > kMost) damaged(record, at, cat("is said to have ", length, " bytes"));
  size_t whole = kHead + static_cast<size_t>(length) + kFoot;
  std::string_view all = stream_.look(whole);
  if (all.size() < whole)
    damaged(record, at,
            cat("is cut off: it has ", length, " bytes, and ",
                all.size() - std::min(all.size(), kHead), " are left"));
  std::string_view bytes = all.substr(kHead, static_cast<size_t>(length));
  bool good = sum_fits(bytes, number_at(all, whole - kFoot, kFoot));
  if (good) out.assign(bytes);
  stream_.skip(whole);
  ++number_;
  goes_on_ = true;
  if (!good) damaged(record, at, "has bytes that their sum does not fit");
  return true;
}

bool RecordReader::seek(int64_t offset, int64_t number) {
  number_ = number;
  return stream_.seek(offset);
}

/// A file that is written from its start, compressed on the way.
class RecordWriter::File {
 public:
  File(const std::string& path, const RecordOptions& o) : path_(path) {
    check_path(path);
    if (o.compression != Compression::kNone) {
      int bits = o.window_bits + (o.compression == Compression::kGzip ? 16 : 0);
      if (deflateInit2(&z_, o.level, Z_DEFLATED, bits, o.memory_level, o.strategy) != Z_OK)
        fail(Code::E1103, "the options of the compression are not those that zlib knows");
      deflating_ = true;
    }
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) {
      if (deflating_) deflateEnd(&z_);
      refuse_file(path, "opened for writing");
    }
  }
  ~File() {
    if (deflating_) deflateEnd(&z_);
    if (file_ >= 0) ::close(file_);
  }
  File(const File&) = delete;

  void add(std::string_view bytes) {
    if (deflating_)
      deflated(bytes, Z_NO_FLUSH);
    else
      pending_ += bytes;
    if (pending_.size() >= kPending) hand_over();
  }
  void flush() {
    if (deflating_) deflated({}, Z_SYNC_FLUSH);
    hand_over();
  }
  void close() {
    if (file_ < 0) return;
    if (deflating_) deflated({}, Z_FINISH);
    hand_over();
    if (::close(std::exchange(file_, -1)) != 0) refuse_file(path_, "written");
  }
  bool closed() const { return file_ < 0; }
  const std::string& path() const { return path_; }

 private:
  static constexpr size_t kPending = 256u << 10;

  void deflated(std::string_view bytes, int how) {
    char out[16384];
    do {
      constexpr size_t kMost = 1u << 30;  // zlib counts in 32 bits
      std::string_view piece = bytes.substr(0, kMost);
      bytes.remove_prefix(piece.size());
      z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
      z_.avail_in = static_cast<uInt>(piece.size());
      do {
        z_.next_out = reinterpret_cast<Bytef*>(out);
        z_.avail_out = sizeof out;
        deflate(&z_, bytes.empty() ? how : Z_NO_FLUSH);
        pending_.append(out, sizeof out - z_.avail_out);
      } while (z_.avail_out == 0);
    } while (!bytes.empty());
  }
  void hand_over() {
    const char* at = pending_.data();
    for (size_t left = pending_.size(); left > 0;) {
      ssize_t n = ::write(file_, at, left);
      if (n < 0 && errno != EINTR) refuse_file(path_, "written");
      if (n <= 0) continue;
      at += n;
      left -= static_cast<size_t>(n);
    }
    pending_.clear();
  }

  const std::string path_;
  std::string pending_;
  z_stream z_{};
  bool deflating_ = false;
  int file_ = -1;
};

RecordWriter::RecordWriter(const std::string& path, const RecordOptions& options)
    : file_(make_owned<File>(path, options)) {}

RecordWriter::~RecordWriter() {
  try {
    file_->close();
  } catch (const Error&) {  // nobody is left to be told
  }
}

void RecordWriter::write(std::string_view record) {
  if (file_->closed())
    refuse_contents(file_->path(), "its writer is closed: no record can be added");
  Put head;
  head.u64(record.size());
  head.u32(masked_crc32c(crc32c(head.text())));
  file_->add(head.text());
  file_->add(record);
  file_->add(Put().u32(masked_crc32c(crc32c(record))).text());
}

void RecordWriter::flush() {
  if (!file_->closed()) file_->flush();
}
void RecordWriter::close() { file_->close(); }
bool RecordWriter::closed() const { return file_->closed(); }

}  // namespace holdfast::io
