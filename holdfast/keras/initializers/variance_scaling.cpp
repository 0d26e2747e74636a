// Initializers whose numbers spread by how many of them meet in one sum.
#include <algorithm>
#include <cmath>

#include "holdfast/keras/function.h"
#include "holdfast/ops/random.h"

namespace holdfast::keras {
namespace {

struct VarianceScalingOptions {
  double scale = 1;
  std::string mode = "fan_in", distribution = "truncated_normal";
  std::optional<int64_t> seed = {};
};

// Inputs and outputs of a weight: the last two axes, times what a window sees of the others.
std::pair<double, double> fans(const Shape& s) {
  if (s.rank() == 0) return {1, 1};
  if (s.rank() == 1) return {double(s[0]), double(s[0])};
  double window = 1;
  for (int i = 0; i + 2 < s.rank(); ++i) window *= double(s[i]);
  return {window * double(s[s.rank() - 2]), window * double(s[s.rank() - 1])};
}

Tensor drawn(const VarianceScalingOptions& o, const Shape& shape, DType dtype) {
  std::vector<int64_t> dims;
  for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape[i]);
  auto [in, out] = fans(shape);
  double fan = o.mode == "fan_in" ? in : o.mode == "fan_out" ? out : (in + out) / 2;
  double variance = o.scale / std::max(1.0, fan);
  if (o.distribution == "uniform") {
    double limit = std::sqrt(3 * variance);
    return random::uniform(dims,
                           {.minval = -limit, .maxval = limit, .dtype = dtype, .seed = o.seed});
  }
  if (o.distribution == "untruncated_normal")
    return random::normal(dims, {.stddev = std::sqrt(variance), .dtype = dtype, .seed = o.seed});
  // A normal that is cut at two deviations has a smaller deviation than it says.
  double deviation = std::sqrt(variance) / 0.87962566103423978;
  return random::truncated_normal(dims, {.stddev = deviation, .dtype = dtype, .seed = o.seed});
}

class VarianceScaling final : public Declares<VarianceScalingOptions, Initializer> {
 public:
  const ClassDef& definition() const override;
  void configured() override {
    const auto& o = options_;
    if (!(o.scale > 0))
      fail(Code::E1103, cat("VarianceScaling: `scale` is ", o.scale, ", expected more than 0"));
    if (o.mode != "fan_in" && o.mode != "fan_out" && o.mode != "fan_avg")
      unknown_identifier("`mode` of VarianceScaling", o.mode, {"fan_in", "fan_out", "fan_avg"});
    if (o.distribution == "normal") options_.distribution = "truncated_normal";
    if (o.distribution != "uniform" && o.distribution != "truncated_normal" &&
        o.distribution != "untruncated_normal")
      unknown_identifier("`distribution` of VarianceScaling", o.distribution,
                         {"uniform", "truncated_normal", "untruncated_normal"});
  }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    return drawn(options_, shape, dtype);
  }
};

ClassDef& variance_scaling =
    Declare<VarianceScaling>("initializers.VarianceScaling",
                             "Numbers that spread by the size of the weight.", &Initializer::def())
        .option<&VarianceScalingOptions::scale>("scale")
        .option<&VarianceScalingOptions::mode>("mode")
        .option<&VarianceScalingOptions::distribution>("distribution")
        .option<&VarianceScalingOptions::seed>("seed");
const ClassDef& VarianceScaling::definition() const { return variance_scaling; }

struct SeedOptions {
  std::optional<int64_t> seed = {};
};

// The classes that fix all but the seed.
struct Glorot {
  static constexpr double kScale = 1;
  static constexpr const char *kMode = "fan_avg", *kNormal = "GlorotNormal",
                              *kUniform = "GlorotUniform";
};
struct He {
  static constexpr double kScale = 2;
  static constexpr const char *kMode = "fan_in", *kNormal = "HeNormal", *kUniform = "HeUniform";
};
struct Lecun {
  static constexpr double kScale = 1;
  static constexpr const char *kMode = "fan_in", *kNormal = "LecunNormal",
                              *kUniform = "LecunUniform";
};

template <class Kind, bool uniform>
class Scaled final : public Declares<SeedOptions, Initializer> {
 public:
  static ClassDef& def() {
    static ClassDef& d =
        Declare<Scaled>(cat("initializers.", uniform ? Kind::kUniform : Kind::kNormal),
                        "Numbers that spread by the size of the weight.", &Initializer::def())
            .template option<&SeedOptions::seed>("seed");
    return d;
  }
  const ClassDef& definition() const override { return def(); }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    return drawn(
        {Kind::kScale, Kind::kMode, uniform ? "uniform" : "truncated_normal", this->options_.seed},
        shape, dtype);
  }
};

[[maybe_unused]] const ClassDef* all[] = {
    &Scaled<Glorot, false>::def(), &Scaled<Glorot, true>::def(), &Scaled<He, false>::def(),
    &Scaled<He, true>::def(),      &Scaled<Lecun, false>::def(), &Scaled<Lecun, true>::def()};

}  // namespace
}  // namespace holdfast::keras
