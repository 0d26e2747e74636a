// Initializers whose numbers spread by how many of them meet in one sum.
#include <algorithm>
#include <cmath>

#include "holdfast/base/diagnostic.h"
#include "holdfast/keras/initializers/axes.h"
#include "holdfast/keras/initializers/draw.h"

namespace holdfast::keras::initializers {
namespace {

// How many inputs and outputs a weight joins.
std::pair<double, double> fans(const VarianceScalingOptions& o, const Shape& s) {
  if (o.input_axes && o.output_axes) {
    auto sizes = [&](const std::vector<int64_t>& axes, const char* what) {
      double out = 1;
      for (int64_t axis : axes) {
        int64_t at = axis < 0 ? axis + s.rank() : axis;
        if (at < 0 || at >= s.rank())
          fail(Code::E1103, cat("VarianceScaling: `", what, "` has the axis ", axis,
                                ", and the weight has the shape ", s.text()));
        out *= static_cast<double>(s[static_cast<int>(at)]);
      }
      return out;
    };
    return {sizes(*o.input_axes, "input_axes"), sizes(*o.output_axes, "output_axes")};
  }
  if (s.rank() == 0) return {1, 1};
  if (s.rank() == 1) return {double(s[0]), double(s[0])};
  double window = 1;  // what a window of a convolution sees
  for (int i = 0; i + 2 < s.rank(); ++i) window *= double(s[i]);
  return {window * double(s[s.rank() - 2]), window * double(s[s.rank() - 1])};
}

Tensor drawn(const VarianceScalingOptions& o, const Shape& shape, DType dtype) {
  auto [in, out] = fans(o, shape);
  double fan = o.mode == "fan_in" ? in : o.mode == "fan_out" ? out : (in + out) / 2;
  double variance = o.scale / std::max(1.0, fan);
  if (o.distribution == "uniform") {
    double limit = std::sqrt(3 * variance);
    return uniform(shape, -limit, limit, dtype, o.seed);
  }
  if (o.distribution == "untruncated_normal")
    return normal(shape, 0, std::sqrt(variance), dtype, o.seed);
  // A normal that is cut at two deviations has a smaller deviation than it says.
  double deviation = std::sqrt(variance) / 0.87962566103423978;
  return truncated_normal(shape, 0, deviation, dtype, o.seed);
}

class VarianceScalingInitializer final : public Declares<VarianceScalingOptions, Initializer> {
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
    need_floats(*this, dtype);
    return drawn(options_, shape, dtype);
  }
};

ClassDef& variance_scaling =
    Declare<VarianceScalingInitializer>("initializers.VarianceScaling",
                                        "Numbers that spread by the size of the weight.",
                                        &Initializer::def())
        .option<&VarianceScalingOptions::scale>("scale")
        .option<&VarianceScalingOptions::mode>("mode")
        .option<&VarianceScalingOptions::distribution>("distribution")
        .option<&VarianceScalingOptions::seed>("seed")
        .option<&VarianceScalingOptions::input_axes>("input_axes")
        .option<&VarianceScalingOptions::output_axes>("output_axes")
        .key_before("seed", "scale");
const ClassDef& VarianceScalingInitializer::definition() const { return variance_scaling; }

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
class Scaled final : public Declares<ScaledOptions, Initializer> {
 public:
  static ClassDef& def() {
    static ClassDef& d =
        Declare<Scaled>(cat("initializers.", uniform ? Kind::kUniform : Kind::kNormal),
                        "Numbers that spread by the size of the weight.", &Initializer::def())
            .template option<&ScaledOptions::seed>("seed")
            .template option<&ScaledOptions::input_axes>("input_axes")
            .template option<&ScaledOptions::output_axes>("output_axes");
    return d;
  }
  const ClassDef& definition() const override { return def(); }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    need_floats(*this, dtype);
    const ScaledOptions& o = this->options_;
    return drawn({Kind::kScale, Kind::kMode, uniform ? "uniform" : "truncated_normal", o.seed,
                  o.input_axes, o.output_axes},
                 shape, dtype);
  }
};

[[maybe_unused]] const ClassDef* all[] = {
    &Scaled<Glorot, false>::def(), &Scaled<Glorot, true>::def(), &Scaled<He, false>::def(),
    &Scaled<He, true>::def(),      &Scaled<Lecun, false>::def(), &Scaled<Lecun, true>::def()};

}  // namespace

Ref<Initializer> along_axes(const Ref<Initializer>& given, const std::vector<int64_t>& inputs,
                            const std::vector<int64_t>& outputs) {
  const ClassDef& def = given->definition();
  const Option *in = def.find("input_axes"), *out = def.find("output_axes");
  if (!in || !out || !def.make) return given;
  const void* said = static_cast<const Declared&>(*given).option_place();
  if (!in->get(said).is_null() && !out->get(said).is_null()) return given;
  Ref<Object> copy = def.make();
  auto& made = dynamic_cast<Declared&>(*copy);
  for (const Option& o : def.options) o.set(made.option_place(), o.get(said), o.name);
  in->set(made.option_place(), Config(Config::List(inputs.begin(), inputs.end())), in->name);
  out->set(made.option_place(), Config(Config::List(outputs.begin(), outputs.end())), out->name);
  made.configured();
  return Ref<Initializer>(&dynamic_cast<Initializer&>(*copy));
}

Ref<Initializer> VarianceScaling(const VarianceScalingOptions& o, Caller) {
  return made<VarianceScalingInitializer>(o);
}
Ref<Initializer> GlorotNormal(const ScaledOptions& o, Caller) {
  return made<Scaled<Glorot, false>>(o);
}
Ref<Initializer> GlorotUniform(const ScaledOptions& o, Caller) {
  return made<Scaled<Glorot, true>>(o);
}
Ref<Initializer> HeNormal(const ScaledOptions& o, Caller) { return made<Scaled<He, false>>(o); }
Ref<Initializer> HeUniform(const ScaledOptions& o, Caller) { return made<Scaled<He, true>>(o); }
Ref<Initializer> LecunNormal(const ScaledOptions& o, Caller) {
  return made<Scaled<Lecun, false>>(o);
}
Ref<Initializer> LecunUniform(const ScaledOptions& o, Caller) {
  return made<Scaled<Lecun, true>>(o);
}

}  // namespace holdfast::keras::initializers
