// Initializers of one number.
#include "holdfast/keras/function.h"
#include "holdfast/ops/array.h"

namespace holdfast::keras {
namespace {

Tensor filled(const Shape& shape, double value, DType dtype) {
  std::vector<int64_t> dims;
  for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape[i]);
  return fill(dims, Tensor::scalar(value, dtype));
}

struct NoOptions {};

template <int value>
class Fixed final : public Declares<NoOptions, Initializer> {
 public:
  static ClassDef& def() {
    static ClassDef& d = Declare<Fixed>(value ? "initializers.Ones" : "initializers.Zeros",
                                        value ? "All ones." : "All zeros.", &Initializer::def());
    return d;
  }
  const ClassDef& definition() const override { return def(); }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    return filled(shape, value, dtype);
  }
};

[[maybe_unused]] const ClassDef* fixed[] = {&Fixed<0>::def(), &Fixed<1>::def()};

struct ConstantOptions {
  double value = 0;
};

class ConstantInitializer final : public Declares<ConstantOptions, Initializer> {
 public:
  const ClassDef& definition() const override;
  Tensor operator()(const Shape& shape, DType dtype) const override {
    return filled(shape, options_.value, dtype);
  }
};

ClassDef& constant =
    Declare<ConstantInitializer>("initializers.Constant", "All of one number.", &Initializer::def())
        .option<&ConstantOptions::value>("value");
const ClassDef& ConstantInitializer::definition() const { return constant; }

}  // namespace
}  // namespace holdfast::keras
