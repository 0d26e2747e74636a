#include "holdfast/data/element_files.h"

#include <cstring>
#include <filesystem>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/io/checksums.h"
#include "holdfast/io/inflate.h"
#include "holdfast/io/refuse_file.h"
#include "holdfast/ops/random/seeds.h"

namespace holdfast::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHead = "holdfast elements 2\n";
constexpr std::string_view kDeflatedHead = "holdfast deflated 2\n";  // as long as the other
static_assert(kHead.size() == kDeflatedHead.size());
constexpr uint64_t kEnd = ~uint64_t{0};  // in place of a length: the number of elements follows
constexpr size_t kAtOnce = size_t{1} << 16;

constexpr std::string_view kFolderHead = "holdfast dataset 1\n";
constexpr const char* kFolderName = "dataset";
constexpr std::string_view kFileName = "elements.";

const std::string& in_its_folder(const std::string& path) {
  io::make_folders_for(path);
  return path;
}

std::string in_folder(const std::string& folder, std::string_view name) {
  return (fs::path(folder) / name).string();
}

std::string hexadecimal(uint64_t v) {
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(v >> shift) & 15];
  return out;
}

}  // namespace

bool deflates(const std::string& compression, const char* stage) {
  if (compression.empty() || compression == "NONE") return false;
  if (compression == "GZIP") return true;
  fail(Code::E1105, cat("`compression` of `", stage, "` is \"", compression, "\""),
       "elements are written as they are, or deflated one by one",
       {manual_fix("give \"GZIP\", or leave it out")});
}

void refuse_elements(const std::string& path, const std::string& why) {
  fail(Code::E1301, cat("elements of a dataset in a file: ", why), cat("the file is ", path));
}
void damaged_elements(const std::string& path, const std::string& why) {
  fail(Code::E1302, cat("elements of a dataset in a file: ", why), cat("the file is ", path),
       {manual_fix("write them again: the file may have been cut off when it was copied")});
}

ElementReader::ElementReader(const std::string& path) : path_(path), in_(path, std::ios::binary) {
  if (!in_) io::refuse_file(path, "opened");
  in_.seekg(0, std::ios::end);
  size_ = static_cast<uint64_t>(in_.tellg());
  in_.seekg(0);
  std::string head(kHead.size(), '\0');
  if (!in_.read(head.data(), static_cast<std::streamsize>(head.size())) ||
      (head != kHead && head != kDeflatedHead))
    refuse_elements(path, "the file is of another kind");
  deflated_ = head == kDeflatedHead;
  std::string bytes;
  if (!record(bytes)) damaged_elements(path, "it does not say what they are");
  Restoring from(bytes);
  spec_ = from.spec();
}

bool ElementReader::next(Nested& out) {
  std::string bytes;
  if (!record(bytes)) return false;
  Restoring from(bytes);
  out = from.element();
  if (auto wrong = spec_.mismatch(out))
    damaged_elements(path_, cat("element ", count_, ": ", *wrong));
  ++count_;
  return true;
}

void ElementReader::go_to(int64_t offset, int64_t count) {
  if (offset < 0 || static_cast<uint64_t>(offset) > size_)
    Restoring::refuse("it is behind the end of a file");
  in_.seekg(offset);
  count_ = static_cast<uint64_t>(count);
}

uint64_t ElementReader::number() {
  uint64_t v;
  if (!in_.read(reinterpret_cast<char*>(&v), sizeof v))
    damaged_elements(path_, "the file ends too early");
  return v;
}

bool ElementReader::record(std::string& bytes) {
  uint64_t length = number();
  if (length == kEnd) {
    if (number() != count_) damaged_elements(path_, "there are not as many as it says");
    in_.seekg(-static_cast<std::streamoff>(2 * sizeof length), std::ios::cur);  // ends again
    return false;
  }
  uint64_t sum = number();
  if (length > size_) damaged_elements(path_, "an element is larger than the file");
  bytes.resize(length);
  if (!in_.read(bytes.data(), static_cast<std::streamsize>(length)))
    damaged_elements(path_, "the file ends too early");
  if (io::crc32c(bytes) != sum)
    damaged_elements(path_, cat("the checksum of element ", count_, " differs"));
  if (deflated_) bytes = inflated(bytes);
  return true;
}

std::string ElementReader::inflated(std::string_view bytes) const {
  int64_t size = 0;
  if (bytes.size() >= sizeof size) {
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
  }
  std::string out;
  if (size >= 0 && size <= static_cast<int64_t>(bytes.size()) * io::kMostInflated) {
    out.resize(static_cast<size_t>(size));
    if (io::inflate_into(io::Deflated::kWithHeader, bytes, out.data(), size)) return out;
  }
  damaged_elements(path_, cat("element ", count_, " can't be inflated"));
}

ElementWriter::ElementWriter(const std::string& path, const ElementSpec& spec, bool deflated)
    : out_(in_its_folder(path)), deflated_(deflated) {
  pending_ = deflated ? kDeflatedHead : kHead;
  Saving head;
  head.spec(spec);
  record(head.take());
}

void ElementWriter::add(const Nested& element) {
  Saving to;
  to.element(element);
  record(to.take());
  ++count_;
}

void ElementWriter::save(Saving& to) {
  flush();
  ElementReader so_far(out_.temporary());
  to.number(static_cast<int64_t>(count_));
  Nested one;
  for (uint64_t i = 0; i < count_; ++i) {
    so_far.next(one);
    to.element(one);
  }
}

void ElementWriter::restore(Restoring& from) {
  for (int64_t n = from.count(); n > 0; --n) add(from.element());
}

void ElementWriter::finish() {
  number(kEnd);
  number(count_);
  flush();
  out_.commit();
}

void ElementWriter::record(const std::string& plain) {
  std::string packed;
  if (deflated_) {
    int64_t size = static_cast<int64_t>(plain.size());
    packed.append(reinterpret_cast<const char*>(&size), sizeof size);
    packed += io::deflated(plain);
  }
  const std::string& bytes = deflated_ ? packed : plain;
  number(bytes.size());
  number(io::crc32c(bytes));
  pending_ += bytes;
  if (pending_.size() >= kAtOnce) flush();
}

void ElementWriter::flush() {
  out_.write(pending_.data(), pending_.size());
  pending_.clear();
}

int64_t count_in(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  uint64_t last[2] = {0, 0};
  in.seekg(-static_cast<std::streamoff>(sizeof last), std::ios::end);
  if (!in.read(reinterpret_cast<char*>(last), sizeof last) || last[0] != kEnd)
    damaged_elements(path, "the file ends too early");
  return static_cast<int64_t>(last[1]);
}

void FromFile::save(Saving& to) const {
  to.number(file_.offset());
  to.number(file_.count());
}

void FromFile::restore(Restoring& from) {
  int64_t offset = from.number();
  file_.go_to(offset, from.number());
}

std::optional<ElementFolder> ElementFolder::find(const std::string& path) {
  std::string file = in_folder(path, kFolderName);
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!bytes.starts_with(kFolderHead)) refuse_elements(file, "the file is of another kind");
  std::string_view rest = std::string_view(bytes).substr(kFolderHead.size());
  uint32_t sum = 0;
  if (rest.size() < sizeof sum) damaged_elements(file, "the file ends too early");
  std::memcpy(&sum, rest.data(), sizeof sum);
  rest.remove_prefix(sizeof sum);
  if (io::crc32c(rest) != sum) damaged_elements(file, "its checksum differs");
  ElementFolder out;
  Restoring from(rest);
  out.about = from.text();
  for (int64_t n = from.count(); n > 0; --n) {
    int64_t shard = from.number();
    out.files.emplace(shard, in_folder(path, from.text()));
  }
  return out;
}

ElementFolderWriter::ElementFolderWriter(std::string path, ElementSpec spec, bool deflated)
    : path_(std::move(path)),
      mark_(hexadecimal(random::nondeterministic_bits())),
      spec_(std::move(spec)),
      deflated_(deflated) {}

ElementFolderWriter::~ElementFolderWriter() {
  if (finished_) return;
  std::error_code none;
  for (const auto& [shard, part] : parts_) fs::remove(in_folder(path_, part.name), none);
}

ElementWriter& ElementFolderWriter::file(int64_t shard) {
  Part& part = parts_[shard];
  if (!part.out) {
    part.name = cat(kFileName, mark_, "-", shard);
    io::make_folders_for(in_folder(path_, part.name));
    io::FolderLock lock(path_);  // who removes others sees that it is in the making
    part.out = make_owned<ElementWriter>(in_folder(path_, part.name), spec_, deflated_);
  }
  return *part.out;
}

void ElementFolderWriter::add(int64_t shard, const Nested& element) {
  file(shard).add(element);
  ++count_;
}

void ElementFolderWriter::save(Saving& to) {
  to.number(static_cast<int64_t>(parts_.size()));
  for (auto& [shard, part] : parts_) {
    to.number(shard);
    part.out->save(to);
  }
}

void ElementFolderWriter::restore(Restoring& from) {
  for (int64_t n = from.count(); n > 0; --n) {
    ElementWriter& part = file(from.number());
    part.restore(from);
    count_ += part.count();
  }
}

void ElementFolderWriter::finish(const std::string& about) {
  if (parts_.empty()) file(0);
  io::FolderLock lock(path_);
  replace(about);
}

void ElementFolderWriter::finish_first() {
  if (parts_.empty()) file(0);
  io::FolderLock lock(path_);
  if (!ElementFolder::find(path_)) replace({});
}

void ElementFolderWriter::replace(const std::string& about) {
  Saving names;
  names.text(about);
  names.number(static_cast<int64_t>(parts_.size()));
  for (auto& [shard, part] : parts_) {
    part.out->finish();
    names.number(shard);
    names.text(part.name);
  }
  std::string bytes = names.take();
  uint32_t sum = io::crc32c(bytes);
  io::AtomicFile list(in_folder(path_, kFolderName));
  list.write(kFolderHead.data(), kFolderHead.size());
  list.write(&sum, sizeof sum);
  list.write(bytes.data(), bytes.size());
  list.commit();
  finished_ = true;
  remove_others();
}

void ElementFolderWriter::remove_others() const {
  std::error_code none;  // they are only in the way
  for (const auto& entry : fs::directory_iterator(path_, none)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(kFileName) || name.starts_with(cat(kFileName, mark_))) continue;
    bool in_the_making = name.ends_with(".part") && !io::is_abandoned(entry.path().string());
    if (!in_the_making) fs::remove(entry.path(), none);
  }
}

}  // namespace holdfast::data
