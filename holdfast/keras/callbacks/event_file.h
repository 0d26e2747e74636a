// Files that TensorBoard reads: records of events, each with numbers or texts under tags.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace holdfast::keras {

/// A file of events in the making, below a folder that is made if need be.
class EventFile {
 public:
  explicit EventFile(const std::string& folder);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  void scalar(const std::string& tag, double value, int64_t step);
  /// A text for one of TensorBoard's plugins.
  void text(const std::string& tag, const std::string& value, int64_t step,
            const std::string& plugin, const std::string& content);
  void flush();

 private:
  void write(const std::string& event);

  std::string path_;
  FILE* file_ = nullptr;
};

}  // namespace holdfast::keras
