// Training as it is shown.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>

#include "holdfast/base/text.h"
#include "holdfast/keras/callbacks.h"
#include "holdfast/keras/input_wait.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras {

Output& training_output() {
  static auto* out = new Output{[](const std::string& text) {
                                  std::fwrite(text.data(), 1, text.size(), stdout);
                                  std::fflush(stdout);
                                },
                                [] { return isatty(1) == 1; }};
  return *out;
}

namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string number(double v) {
  char buffer[40];
  double size = v < 0 ? -v : v;
  std::snprintf(buffer, sizeof buffer, size != 0 && (size < 1e-3 || size >= 1e4) ? "%.4e" : "%.4f",
                v);
  return buffer;
}

// Of several numbers their mean, as Keras shows them.
double one_of(double value) { return value; }
double one_of(const Tensor& values) {
  std::vector<double> all = cast(values, float64).to_vector<double>();
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

std::string duration(double seconds) {
  char buffer[40];
  if (seconds < 60)
    std::snprintf(buffer, sizeof buffer, "%.0fs", seconds);
  else if (seconds < 3600)
    std::snprintf(buffer, sizeof buffer, "%d:%02d", int(seconds) / 60, int(seconds) % 60);
  else
    std::snprintf(buffer, sizeof buffer, "%d:%02d:%02d", int(seconds) / 3600,
                  int(seconds) / 60 % 60, int(seconds) % 60);
  return buffer;
}

std::string per_step(double seconds) {
  char buffer[40];
  if (seconds >= 1)
    std::snprintf(buffer, sizeof buffer, "%.0fs/step", seconds);
  else if (seconds >= 1e-3)
    std::snprintf(buffer, sizeof buffer, "%.0fms/step", seconds * 1e3);
  else
    std::snprintf(buffer, sizeof buffer, "%.0fus/step", seconds * 1e6);
  return buffer;
}

// "43% waiting for input", where that is worth a word: the pipeline is what `explain` is for.
std::string waiting(double whole) {
  constexpr double kSeconds = 0.2, kShare = 0.1;
  double waited = input_wait();
  if (waited < kSeconds || waited < kShare * whole) return {};
  return cat(" - ", static_cast<int>(100 * std::min(1.0, waited / whole)), "% waiting for input");
}

// Resident memory of the process.
double megabytes() {
  long pages = 0, resident = 0;
  if (FILE* f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(f);
  }
  return double(resident) * double(sysconf(_SC_PAGESIZE)) / 1e6;
}

constexpr int kWidth = 20;

void say(const std::string& text) { training_output().write(text); }

ClassDef& logger = Declare<ProgbarLoggerCallback>("callbacks.ProgbarLogger",
                                                  "Shows how training goes.", &Callback::def());

}  // namespace

const ClassDef& ProgbarLoggerCallback::definition() const { return logger; }

bool ProgbarLoggerCallback::wants(Moment m) const {
  return plan().verbose > 0 && m != Moment::kTrainBatchBegin && m != Moment::kTestBatchBegin &&
         m != Moment::kPredictBatchBegin;
}

void ProgbarLoggerCallback::on_epoch_begin(int64_t epoch, Logs&) {
  if (plan().epochs > 1) say(cat("Epoch ", epoch + 1, "/", plan().epochs, "\n"));
  start();
}

// Inside `fit` the line of the epoch tells of the validation.
void ProgbarLoggerCallback::on_test_begin(Logs&) {
  if (!training_) start();
}
void ProgbarLoggerCallback::on_test_batch_end(int64_t batch, Logs& logs) {
  if (!training_) draw(batch, logs);
}
void ProgbarLoggerCallback::on_test_end(Logs& logs) {
  if (!training_) finish(logs);
}

void ProgbarLoggerCallback::start() {
  done_ = 0;
  began_ = drawn_ = seconds_now();
  input_wait() = 0;
  redraws_ = redraws();
}

bool ProgbarLoggerCallback::redraws() const {
  return plan().verbose == 1 && training_output().is_terminal();
}

void ProgbarLoggerCallback::draw(int64_t batch, const Logs& logs) {
  bool first = done_ == 0;
  done_ = batch + 1;
  if (!redraws_) return;
  double now = seconds_now();
  if (now - drawn_ < 0.05 && !first) return;
  drawn_ = now;
  double each = (now - began_) / double(done_);
  std::string left =
      plan().steps > 0 ? cat(" ", duration(each * double(plan().steps - done_))) : "";
  say(cat("\r\033[K", line(logs, cat(left, " ", per_step(each)), false)));
}

void ProgbarLoggerCallback::finish(const Logs& logs) {
  double whole = seconds_now() - began_;
  double each = whole / double(std::max<int64_t>(1, done_));
  const char* between = plan().verbose == 2 ? " - " : " ";
  std::string time = cat(between, duration(whole), between, per_step(each));
  say(cat(redraws_ ? "\r\033[K" : "", line(logs, time, true), "\n"));
}

// "4/4 ━━━━ 0s 2ms/step - loss: 0.5"; without the bar where one line per epoch is wanted.
std::string ProgbarLoggerCallback::line(const Logs& logs, const std::string& time,
                                        bool done) const {
  int64_t steps = plan().steps > 0 ? plan().steps : done_;
  std::string bar;
  if (plan().verbose != 2) {
    int full = steps > 0 ? static_cast<int>(kWidth * std::min(done_, steps) / steps) : 0;
    bar = " ";
    for (int i = 0; i < kWidth; ++i) bar += i < full ? "━" : "─";
  }
  std::string numbers;
  logs.each([&](const std::string& name, const auto& value) {
    numbers += cat(" - ", name, ": ", number(one_of(value)));
  });
  std::string memory;
  if (redraws_) memory = cat(" - ", static_cast<int64_t>(megabytes()), " MB");
  std::string of = plan().steps > 0 || done ? cat(steps) : "?";
  return cat(done_, "/", of, bar, time, numbers, waiting(seconds_now() - began_), memory);
}

}  // namespace holdfast::keras
