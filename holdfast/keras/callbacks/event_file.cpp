#include "holdfast/keras/callbacks/event_file.h"

#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/io/checksums.h"

namespace holdfast::keras {
namespace {

// -- protocol buffers, as far as events need them

void put_varint(std::string& out, uint64_t v) {
  for (; v >= 128; v >>= 7) out += static_cast<char>(v | 128);
  out += static_cast<char>(v);
}
template <class T>
void put_fixed(std::string& out, T v) {
  for (size_t i = 0; i < sizeof v; ++i) out += static_cast<char>(v >> (8 * i));
}
std::string number_field(int field, int64_t v) {
  std::string out;
  put_varint(out, static_cast<uint64_t>(field) << 3);
  put_varint(out, static_cast<uint64_t>(v));
  return out;
}
std::string double_field(int field, double v) {
  std::string out;
  put_varint(out, static_cast<uint64_t>(field) << 3 | 1);
  put_fixed(out, std::bit_cast<uint64_t>(v));
  return out;
}
std::string bytes_field(int field, const std::string& v) {
  std::string out;
  put_varint(out, static_cast<uint64_t>(field) << 3 | 2);
  put_varint(out, v.size());
  return out + v;
}

constexpr int kFloat = 1, kString = 7;  // TensorProto's dtypes

std::string scalar_tensor(int dtype, const std::string& value) {
  return number_field(1, dtype) + bytes_field(2, "") + value;
}
std::string metadata(const std::string& plugin, const std::string& content) {
  std::string data = bytes_field(1, plugin);
  if (!content.empty()) data += bytes_field(2, content);
  return bytes_field(1, data);
}
double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}
std::string event(int64_t step, const std::string& tag, const std::string& tensor,
                  const std::string& about) {
  std::string value = bytes_field(1, tag) + bytes_field(8, tensor) + bytes_field(9, about);
  return double_field(1, now()) + number_field(2, step) + bytes_field(5, bytes_field(1, value));
}

}  // namespace

EventFile::EventFile(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    fail(Code::E1301,
         cat("TensorBoard: the folder `", folder, "` can't be made: ", failed.message()));
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "localhost");
  static std::atomic<int> made = 0;  // files of one second differ
  path_ = (std::filesystem::path(folder) /
           cat("events.out.tfevents.", static_cast<int64_t>(now()), ".", std::string(host), ".",
               static_cast<int64_t>(::getpid()), ".", made++, ".v2"))
              .string();
  file_ = std::fopen(path_.c_str(), "wb");
  if (!file_) fail(Code::E1301, cat("TensorBoard: `", path_, "` can't be opened for writing"));
  write(double_field(1, now()) + bytes_field(3, "brain.Event:2"));
}

EventFile::~EventFile() {
  if (file_) std::fclose(file_);
}

// Its length, the sum of that, the event, the sum of that.
void EventFile::write(const std::string& bytes) {
  std::string record;
  put_fixed(record, static_cast<uint64_t>(bytes.size()));
  put_fixed(record, io::masked_crc32c(io::crc32c(record)));
  record += bytes;
  put_fixed(record, io::masked_crc32c(io::crc32c(bytes)));
  if (std::fwrite(record.data(), 1, record.size(), file_) != record.size())
    fail(Code::E1301, cat("TensorBoard: `", path_, "` can't be written"));
}

void EventFile::scalar(const std::string& tag, double value, int64_t step) {
  std::string number;
  put_varint(number, 5 << 3 | 2);  // packed floats
  put_varint(number, 4);
  put_fixed(number, std::bit_cast<uint32_t>(static_cast<float>(value)));
  write(event(step, tag, scalar_tensor(kFloat, number), metadata("scalars", "")));
}

void EventFile::text(const std::string& tag, const std::string& value, int64_t step,
                     const std::string& plugin, const std::string& content) {
  write(event(step, tag, scalar_tensor(kString, bytes_field(8, value)), metadata(plugin, content)));
}

void EventFile::flush() {
  if (std::fflush(file_) != 0)
    fail(Code::E1301, cat("TensorBoard: `", path_, "` can't be written"));
}

}  // namespace holdfast::keras
