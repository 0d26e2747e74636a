// Writes the numbers of each epoch to a file, a line at a time.
#include <cstdio>

#include "holdfast/base/diagnostic.h"
#include "holdfast/keras/callback.h"

namespace holdfast::keras {
namespace {

struct CSVOptions {
  std::string filename = {};
  std::string separator = ",";
  bool append = false;
};

class CSVLogger : public Declares<CSVOptions, Callback> {
 public:
  ~CSVLogger() override { close(); }
  const ClassDef& definition() const override;
  bool wants(Moment m) const override {
    return m == Moment::kTrainBegin || m == Moment::kEpochEnd || m == Moment::kTrainEnd;
  }
  void on_train_begin(Logs&) override {
    close();
    keys_.clear();
    begun_ = options_.append;
    if (FILE* old = options_.append ? std::fopen(options_.filename.c_str(), "r") : nullptr) {
      begun_ = std::fgetc(old) != EOF;
      std::fclose(old);
    } else {
      begun_ = false;
    }
    file_ = std::fopen(options_.filename.c_str(), options_.append ? "a" : "w");
    if (!file_)
      fail(Code::E1301,
           cat("CSVLogger: `", options_.filename, "` could not be opened for writing"));
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    if (!file_) return;
    if (keys_.empty())
      for (const auto& [name, value] : logs) keys_.push_back(name);
    const char* sep = options_.separator.c_str();
    if (!begun_) {
      std::fputs("epoch", file_);
      for (const std::string& k : keys_) std::fprintf(file_, "%s%s", sep, k.c_str());
      std::fputs("\n", file_);
      begun_ = true;
    }
    std::fprintf(file_, "%lld", static_cast<long long>(epoch));
    for (const std::string& k : keys_) {
      const double* v = logs.find(k);
      if (v)
        std::fprintf(file_, "%s%.17g", sep, *v);
      else
        std::fprintf(file_, "%sNA", sep);
    }
    std::fputs("\n", file_);
    std::fflush(file_);
  }
  void on_train_end(Logs&) override { close(); }

 private:
  void close() {
    if (file_) std::fclose(file_);
    file_ = nullptr;
  }
  FILE* file_ = nullptr;
  std::vector<std::string> keys_;
  bool begun_ = false;
};

using O = CSVOptions;
ClassDef& csv = Declare<CSVLogger>("callbacks.CSVLogger",
                                   "Writes the numbers of each epoch to a file.", &Callback::def())
                    .required<&O::filename>("filename")
                    .option<&O::separator>("separator")
                    .option<&O::append>("append");
const ClassDef& CSVLogger::definition() const { return csv; }

}  // namespace
}  // namespace holdfast::keras
