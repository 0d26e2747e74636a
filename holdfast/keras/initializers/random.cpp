// Initializers that draw from one distribution, whatever the size of the weight.
#include "holdfast/base/diagnostic.h"
#include "holdfast/keras/initializers/draw.h"

namespace holdfast::keras::initializers {
namespace {

using Normal = RandomNormalOptions;
using Uniform = RandomUniformOptions;

template <bool truncated>
class NormalInitializer final : public Declares<Normal, Initializer> {
 public:
  static ClassDef& def() {
    static ClassDef& d =
        Declare<NormalInitializer>(
            truncated ? "initializers.TruncatedNormal" : "initializers.RandomNormal",
            truncated ? "Numbers of a normal distribution within two deviations of its mean."
                      : "Numbers of a normal distribution.",
            &Initializer::def())
            .template option<&Normal::mean>("mean")
            .template option<&Normal::stddev>("stddev")
            .template option<&Normal::seed>("seed")
            .key_before("seed", "mean")
            .alias(truncated ? "initializers.truncated_normal" : "initializers.normal");
    return d;
  }
  const ClassDef& definition() const override { return def(); }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    need_floats(*this, dtype);
    const Normal& o = options_;
    return truncated ? truncated_normal(shape, o.mean, o.stddev, dtype, o.seed)
                     : normal(shape, o.mean, o.stddev, dtype, o.seed);
  }

 protected:
  void check() override {
    if (!(options_.stddev >= 0))
      fail(Code::E1103,
           cat(def().name, ": `stddev` is ", options_.stddev, ", expected at least 0"));
  }
};

[[maybe_unused]] const ClassDef* normals[] = {&NormalInitializer<false>::def(),
                                              &NormalInitializer<true>::def()};

class UniformInitializer final : public Declares<Uniform, Initializer> {
 public:
  const ClassDef& definition() const override;
  Tensor operator()(const Shape& shape, DType dtype) const override {
    need_floats(*this, dtype);
    return uniform(shape, options_.minval, options_.maxval, dtype, options_.seed);
  }
};

ClassDef& uniform_class =
    Declare<UniformInitializer>("initializers.RandomUniform",
                                "Numbers that are equally likely between two bounds.",
                                &Initializer::def())
        .option<&Uniform::minval>("minval")
        .option<&Uniform::maxval>("maxval")
        .option<&Uniform::seed>("seed")
        .key_before("seed", "minval")
        .alias("initializers.uniform");
const ClassDef& UniformInitializer::definition() const { return uniform_class; }

}  // namespace

Ref<Initializer> RandomNormal(const RandomNormalOptions& o, Caller) {
  return made<NormalInitializer<false>>(o);
}
Ref<Initializer> TruncatedNormal(const RandomNormalOptions& o, Caller) {
  return made<NormalInitializer<true>>(o);
}
Ref<Initializer> RandomUniform(const RandomUniformOptions& o, Caller) {
  return made<UniformInitializer>(o);
}

}  // namespace holdfast::keras::initializers
