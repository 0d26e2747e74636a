// The kernel of a short-time Fourier transform: waves under a window.
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "holdfast/base/diagnostic.h"
#include "holdfast/keras/initializers/draw.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::initializers {
namespace {

// Windows that are sums of cosines, by their coefficients.
const std::map<std::string, std::vector<double>>& cosine_sums() {
  static const auto* known = new std::map<std::string, std::vector<double>>{
      {"blackman", {0.42, 0.5, 0.08}},
      {"blackmanharris", {0.35875, 0.48829, 0.14128, 0.01168}},
      {"boxcar", {1}},
      {"flattop", {0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368}},
      {"hamming", {0.54, 0.46}},
      {"hann", {0.5, 0.5}},
      {"nuttall", {0.3635819, 0.4891775, 0.1365995, 0.0106411}}};
  return *known;
}

// A periodic window is one of a length more without its last number.
std::vector<double> window_of(const std::string& name, int64_t length, bool periodic) {
  const std::vector<double>& factors = cosine_sums().at(name);
  std::vector<double> out(static_cast<size_t>(length), 1.0);
  const int64_t steps = periodic ? length : length - 1;
  if (length == 1 || steps == 0) return out;
  for (int64_t i = 0; i < length; ++i) {
    double sum = 0;
    for (size_t k = 0; k < factors.size(); ++k)
      sum += (k % 2 ? -1 : 1) * factors[k] *
             std::cos(2 * std::numbers::pi * static_cast<double>(k) * static_cast<double>(i) /
                      static_cast<double>(steps));
    out[static_cast<size_t>(i)] = sum;
  }
  return out;
}

class StftInitializer final : public Declares<STFTOptions, Initializer> {
 public:
  const ClassDef& definition() const override;
  Tensor operator()(const Shape& shape, DType dtype) const override {
    need_floats(*this, dtype);
    if (shape.rank() != 3 || shape[2] < 2)
      fail(Code::E1102, cat("the initializer STFT was asked for the shape ", shape.text(),
                            ", expected [length of a frame, 1, at least 2 frequencies]"));
    const int64_t length = shape[0], bands = shape[2];
    const std::vector<double> window = weights(length);
    std::vector<double> out;
    out.reserve(static_cast<size_t>(length) * static_cast<size_t>(bands));
    for (int64_t t = 0; t < length; ++t)
      for (int64_t f = 0; f < bands; ++f) {
        double angle = -std::numbers::pi * static_cast<double>(t) * static_cast<double>(f) /
                       static_cast<double>(bands - 1);
        double wave = options_.side == "real" ? std::cos(angle) : std::sin(angle);
        out.push_back(wave * window[static_cast<size_t>(t)]);
      }
    Tensor kernel = cast(Tensor::of<double>(out, {length, 1, bands}), dtype);
    return shape[1] == 1 ? kernel : broadcast_to(kernel, sizes_of(shape));
  }

 protected:
  void check() override {
    if (options_.side != "real" && options_.side != "imag")
      unknown_identifier("`side` of STFT", options_.side, {"imag", "real"});
    if (options_.scaling && *options_.scaling != "density" && *options_.scaling != "spectrum")
      unknown_identifier("`scaling` of STFT", *options_.scaling, {"density", "spectrum"});
    const Config& window = options_.window;
    if (window.kind() != Config::Kind::kText || cosine_sums().contains(window.as_text())) return;
    std::string known;
    for (const auto& [name, factors] : cosine_sums()) known += (known.empty() ? "" : ", ") + name;
    fail(Code::E1105, cat("the window \"", window.as_text(), "\" of STFT is not supported"),
         cat("there are ", known), {manual_fix("give the numbers of the window as a list")});
  }

 private:
  // The window over one frame, brought to one energy or one sum.
  std::vector<double> weights(int64_t length) const {
    std::vector<double> out(static_cast<size_t>(length), 1.0);
    if (options_.window.is_null()) return out;
    if (options_.window.kind() == Config::Kind::kText)
      out = window_of(options_.window.as_text(), length, options_.periodic);
    else
      out = listed();
    if (static_cast<int64_t>(out.size()) != length)
      fail(Code::E1102, cat("`window` of STFT has ", out.size(), " numbers, expected ", length,
                            ", the length of a frame"));
    if (!options_.scaling) return out;
    double sum = 0;
    for (double w : out) sum += *options_.scaling == "density" ? w * w : std::fabs(w);
    if (*options_.scaling == "density") sum = std::sqrt(sum);
    for (double& w : out) w /= sum;
    return out;
  }

  std::vector<double> listed() const {
    std::vector<double> out;
    for (const Config& one : numbers_of(options_.window).as_list("`window` of STFT"))
      out.push_back(one.as_number("`window` of STFT"));
    return out;
  }
};

ClassDef& stft_class =
    Declare<StftInitializer>("initializers.STFT",
                             "Waves of all frequencies under a window: the kernel of a short-time "
                             "Fourier transform.",
                             &Initializer::def())
        .option<&STFTOptions::side>("side")
        .option<&STFTOptions::window>("window")
        .option<&STFTOptions::scaling>("scaling")
        .option<&STFTOptions::periodic>("periodic")
        .key_before("periodic", "scaling")
        .alias("initializers.STFTInitializer");
const ClassDef& StftInitializer::definition() const { return stft_class; }

}  // namespace

Ref<Initializer> STFT(const STFTOptions& o, Caller) { return made<StftInitializer>(o); }

}  // namespace holdfast::keras::initializers
