#include "holdfast/keras/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "holdfast/base/text.h"
#include "holdfast/keras/training.h"

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

using Clock = std::chrono::steady_clock;

std::string number(double v) {
  char buffer[40];
  double size = v < 0 ? -v : v;
  std::snprintf(buffer, sizeof buffer, size != 0 && (size < 1e-3 || size >= 1e4) ? "%.4e" : "%.4f",
                v);
  return buffer;
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

class Progress final : public Callback {
 public:
  bool wants(Moment m) const override {
    switch (m) {
      // Numbers of a batch are read where somebody sees them.
      case Moment::kTrainBatchEnd:
      case Moment::kTestBatchEnd:
      case Moment::kPredictBatchEnd: return redraws();
      case Moment::kTrainBatchBegin:
      case Moment::kTestBatchBegin:
      case Moment::kPredictBatchBegin:
      case Moment::kEpochBegin:
      case Moment::kEpochEnd:
      case Moment::kTestBegin:
      case Moment::kTestEnd:
      case Moment::kPredictBegin:
      case Moment::kPredictEnd:
      case Moment::kTrainBegin: return true;
      default: return false;
    }
  }
  void on_train_begin(Logs&) override { training_ = true; }
  void on_epoch_begin(int64_t epoch, Logs&) override {
    say(cat("Epoch ", epoch + 1, "/", plan().epochs, "\n"));
    start();
  }
  void on_train_batch_begin(int64_t, Logs&) override { ++done_; }
  void on_train_batch_end(int64_t, Logs& logs) override { draw(logs); }
  void on_epoch_end(int64_t, Logs& logs) override { finish(logs); }
  void on_test_begin(Logs&) override {
    if (!training_) start();
  }
  void on_test_batch_begin(int64_t, Logs&) override {
    if (!training_) ++done_;
  }
  void on_test_batch_end(int64_t, Logs& logs) override {
    if (!training_) draw(logs);
  }
  void on_test_end(Logs& logs) override {
    if (!training_) finish(logs);
  }
  void on_predict_begin(Logs&) override { start(); }
  void on_predict_batch_begin(int64_t, Logs&) override { ++done_; }
  void on_predict_batch_end(int64_t, Logs& logs) override { draw(logs); }
  void on_predict_end(Logs& logs) override { finish(logs); }

 private:
  void say(const std::string& text) { training_output().write(text); }
  void start() {
    done_ = 0;
    began_ = drawn_ = Clock::now();
    redraws_ = redraws();
  }
  bool redraws() const { return plan().verbose == 1 && training_output().is_terminal(); }
  double since() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  void draw(const Logs& logs) {
    auto now = Clock::now();
    if (now - drawn_ < std::chrono::milliseconds(50) && done_ != 1) return;
    drawn_ = now;
    double each = since() / double(done_);
    std::string left =
        plan().steps > 0 ? cat(" ", duration(each * double(plan().steps - done_))) : "";
    say(cat("\r\033[K", line(logs, cat(left, " ", per_step(each)))));
  }

  void finish(const Logs& logs) {
    double whole = since();
    double each = whole / double(std::max<int64_t>(1, done_));
    say(cat(redraws_ ? "\r\033[K" : "", line(logs, cat(" ", duration(whole), " ", per_step(each))),
            "\n"));
  }

  std::string line(const Logs& logs, const std::string& time) const {
    int64_t steps = plan().steps > 0 ? plan().steps : done_;
    int full = steps > 0 ? static_cast<int>(kWidth * std::min(done_, steps) / steps) : 0;
    std::string bar;
    for (int i = 0; i < kWidth; ++i) bar += i < full ? "━" : "─";
    std::string numbers;
    for (const auto& [name, value] : logs) numbers += cat(" - ", name, ": ", number(value));
    std::string memory;
    if (redraws_) memory = cat(" - ", static_cast<int64_t>(megabytes()), " MB");
    return cat(done_, "/", plan().steps > 0 ? cat(steps) : "?", " ", bar, time, numbers, memory);
  }

  int64_t done_ = 0;
  Clock::time_point began_, drawn_;
  bool redraws_ = false, training_ = false;
};

}  // namespace

Ref<Callback> make_progress() { return make_ref<Progress>(); }

}  // namespace holdfast::keras
