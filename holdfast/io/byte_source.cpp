#include "holdfast/io/byte_source.h"

#include <cstring>

#include "holdfast/base/columns.h"
#include "holdfast/base/text.h"
#include "holdfast/io/input_file.h"
#include "holdfast/io/refuse_file.h"

namespace holdfast::io {

ByteSource ByteSource::of_file(const std::string& path) {
  ByteSource out;
  auto file = std::make_shared<InputFile>(path);
  out.name_ = path;
  out.size_ = file->size();
  out.file_ = std::move(file);
  return out;
}

ByteSource ByteSource::of_memory(std::string name, std::string bytes) {
  auto kept = std::make_shared<const std::string>(std::move(bytes));
  ByteSource out = of_view(std::move(name), *kept);
  out.kept_ = std::move(kept);
  return out;
}

ByteSource ByteSource::of_view(std::string name, std::string_view bytes) {
  ByteSource out;
  out.name_ = std::move(name);
  out.memory_ = bytes.data();
  out.size_ = static_cast<int64_t>(bytes.size());
  return out;
}

ByteSource ByteSource::part(std::string name, int64_t offset, int64_t size) const {
  check(offset, size);
  ByteSource out = *this;
  out.name_ = std::move(name);
  out.begin_ += offset;
  out.size_ = size;
  return out;
}

void ByteSource::check(int64_t offset, int64_t count) const {
  if (offset >= 0 && count >= 0 && offset <= size_ && count <= size_ - offset) return;
  damaged(cat("it has ", size_, " bytes, and ", count, " are wanted from ", offset, " on"));
}

void ByteSource::read(int64_t offset, void* to, int64_t count) const {
  check(offset, count);
  if (count == 0) return;
  if (file_)
    file_->read(begin_ + offset, to, static_cast<size_t>(count));
  else
    std::memcpy(to, memory_ + begin_ + offset, static_cast<size_t>(count));
}

std::string ByteSource::read(int64_t offset, int64_t count) const {
  check(offset, count);
  std::string out(static_cast<size_t>(count), '\0');
  read(offset, out.data(), count);
  return out;
}

void ByteSource::refuse(const std::string& reason) const { refuse_contents(name_, reason); }

void ByteSource::damaged(const std::string& reason) const { damaged_contents(name_, reason); }

std::string shown(std::string_view name) {
  constexpr size_t kShown = 200;
  bool whole = name.size() <= kShown;
  return cat("`", one_line(name.substr(0, kShown)), whole ? "`" : "...`");
}

}  // namespace holdfast::io
