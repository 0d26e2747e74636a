// Writes the numbers of each epoch to a file, a line at a time.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/callbacks.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras {
namespace {

using O = CSVLoggerOptions;
ClassDef& csv =
    Declare<CSVLoggerCallback>("callbacks.CSVLogger", "Writes the numbers of each epoch to a file.",
                               &Callback::def())
        .required<&O::filename>("filename")
        .option<&O::separator>("separator")
        .option<&O::append>("append");

// As Python writes it: the fewest digits that give the number back.
std::string written(double v) {
  if (std::isnan(v)) return "nan";
  return Config(v).to_json();
}

// The fewest digits that give a float32 back.
std::string written(float v) {
  char digits[32];
  auto [end, error] = std::to_chars(digits, digits + sizeof digits, v);
  double same = v;
  std::from_chars(digits, end, same);
  return written(same);
}

// Several numbers as Keras writes them: a list, in quotes that are part of the text.
std::string written(const Tensor& values) {
  std::string out;
  auto add = [&](const auto& numbers) {
    for (auto v : numbers) out += cat(out.empty() ? "" : ", ", written(v));
  };
  if (values.dtype() == float64)
    add(values.to_vector<double>());
  else
    add(cast(values, float32).to_vector<float>());
  return cat(R"("""[)", out, R"(]""")");
}

}  // namespace

const ClassDef& CSVLoggerCallback::definition() const { return csv; }

CSVLoggerCallback::~CSVLoggerCallback() { close(); }

void CSVLoggerCallback::on_train_begin(Logs&) {
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
    fail(Code::E1301, cat("CSVLogger: `", options_.filename, "` could not be opened for writing"));
}

void CSVLoggerCallback::on_epoch_end(int64_t epoch, Logs& logs) {
  auto* file = static_cast<FILE*>(file_);
  if (!file) return;
  std::map<std::string, std::string> row;
  logs.each([&](const std::string& name, const auto& value) { row[name] = written(value); });
  if (keys_.empty()) {
    for (const auto& [name, value] : row) keys_.push_back(name);
    auto validated = [](const std::string& k) { return k.starts_with("val_"); };
    // A later epoch may be the first that is validated, and the columns are fixed by now.
    if (std::none_of(keys_.begin(), keys_.end(), validated))
      for (size_t i = 0, n = keys_.size(); i < n; ++i) keys_.push_back("val_" + keys_[i]);
  }
  const char* sep = options_.separator.c_str();
  if (!begun_) {
    std::fputs("epoch", file);
    for (const std::string& k : keys_) std::fprintf(file, "%s%s", sep, k.c_str());
    std::fputs("\n", file);
    begun_ = true;
  }
  std::fprintf(file, "%lld", static_cast<long long>(epoch));
  for (const std::string& k : keys_) {
    auto value = row.find(k);
    std::fprintf(file, "%s%s", sep, value != row.end() ? value->second.c_str() : "NA");
  }
  std::fputs("\n", file);
  std::fflush(file);
}

void CSVLoggerCallback::close() {
  if (file_) std::fclose(static_cast<FILE*>(file_));
  file_ = nullptr;
}

}  // namespace holdfast::keras
