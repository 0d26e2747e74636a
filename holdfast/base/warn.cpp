// Where diagnostics go besides the exception: warnings to a sink, both kinds to a JSON log.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <unordered_set>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/diagnostic_log.h"
#include "holdfast/base/text.h"

namespace holdfast {
namespace {

using Sink = void (*)(const Diagnostic&, const std::string&);

void to_stderr(const Diagnostic&, const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
}

std::atomic<Sink> g_sink{to_stderr};
std::atomic<bool> g_log_at_raise{true};

// The place a warning is about: its primary label, else the line that is executing.
std::string warned_place(const Diagnostic& d) {
  Loc at = locate(here());
  for (const Label& l : d.labels)
    if (l.primary) at = l.loc;
  return cat(info(d.code).name, " ", at.file, ":", at.line, ":", at.col_begin);
}

bool first_time(const Diagnostic& d) {
  static std::mutex mutex;
  static auto& seen = *new std::unordered_set<std::string>;
  std::string place = warned_place(d);  // may wait for a language's own lock, so before ours
  std::lock_guard lock(mutex);
  return seen.insert(std::move(place)).second;
}

}  // namespace

bool diag_mode(const char* word) noexcept {
  const char* set = std::getenv("HOLDFAST_DIAG");
  for (std::string_view rest = set ? set : ""; !rest.empty();) {
    size_t comma = rest.find(',');
    if (rest.substr(0, comma) == word) return true;
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return false;
}

void log_json(const Diagnostic& d) noexcept {
  const char* path = std::getenv("HOLDFAST_DIAG_JSON");
  if (!path || !*path) return;
  try {
    std::string line = to_json(d) + "\n";
    int fd = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return;
    // One write, so that lines of several processes do not mix. A full disk loses the log, not the
    // error.
    [[maybe_unused]] ssize_t written = ::write(fd, line.data(), line.size());
    ::close(fd);
  } catch (const std::exception&) {
    // Out of memory while reporting: the error itself matters more than its log.
  }
}

void set_log_at_raise(bool on) noexcept { g_log_at_raise = on; }
bool log_at_raise() noexcept { return g_log_at_raise; }

void set_warning_sink(Sink sink) { g_sink = sink ? sink : to_stderr; }

void warn(Diagnostic d) {
  if (diag_mode("error")) {
    d.severity = Severity::kError;
    raise(std::move(d));
  }
  d.severity = Severity::kWarning;
  if (!first_time(d)) return;
  log_json(d);
  g_sink.load()(d, render(d));
}

}  // namespace holdfast
