// Initializers of given numbers.
#include "holdfast/base/diagnostic.h"
#include "holdfast/keras/initializers/draw.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::initializers {
namespace {

struct NoOptions {};

template <int value>
class Fixed final : public Declares<NoOptions, Initializer> {
 public:
  static ClassDef& def() {
    static ClassDef& d = Declare<Fixed>(value ? "initializers.Ones" : "initializers.Zeros",
                                        value ? "All ones." : "All zeros.", &Initializer::def())
                             .alias(value ? "initializers.one" : "initializers.zero");
    return d;
  }
  const ClassDef& definition() const override { return def(); }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    return fill(sizes_of(shape), Tensor::scalar(value, dtype));
  }
};

[[maybe_unused]] const ClassDef* fixed[] = {&Fixed<0>::def(), &Fixed<1>::def()};

// A list of lists of numbers as its numbers and its sizes.
void flatten(const Config& value, size_t depth, std::vector<double>& numbers,
             std::vector<int64_t>& sizes) {
  const std::string what = "`value` of Constant";
  if (value.kind() != Config::Kind::kList) {
    numbers.push_back(value.kind() == Config::Kind::kBool ? value.as_bool()
                                                          : value.as_number(what));
    if (depth != sizes.size())
      fail(Code::E1103, cat(what, " has lists beside numbers, expected lists of one depth"));
    return;
  }
  const Config::List& items = value.as_list();
  if (depth == sizes.size() && numbers.empty()) sizes.push_back(static_cast<int64_t>(items.size()));
  if (depth >= sizes.size() || sizes[depth] != static_cast<int64_t>(items.size()))
    fail(Code::E1103, cat(what, " has rows of different lengths"));
  for (const Config& one : items) flatten(one, depth + 1, numbers, sizes);
}

class ConstantInitializer final : public Declares<ConstantOptions, Initializer> {
 public:
  const ClassDef& definition() const override;
  Tensor operator()(const Shape& shape, DType dtype) const override {
    if (sizes_.empty())
      return fill(sizes_of(shape), cast(Tensor::scalar(numbers_[0], float64), dtype));
    return broadcast_to(cast(reshape(constant(numbers_), sizes_), dtype), sizes_of(shape));
  }

 protected:
  void check() override {
    numbers_.clear();
    sizes_.clear();
    flatten(numbers_of(options_.value), 0, numbers_, sizes_);
  }

 private:
  std::vector<double> numbers_ = {0};
  std::vector<int64_t> sizes_;
};

ClassDef& constant_class =
    Declare<ConstantInitializer>("initializers.Constant",
                                 "All of one number, or a list that is broadcast.",
                                 &Initializer::def())
        .option<&ConstantOptions::value>("value");
const ClassDef& ConstantInitializer::definition() const { return constant_class; }

}  // namespace

Ref<Initializer> Constant(const ConstantOptions& o, Caller) { return made<ConstantInitializer>(o); }
Ref<Initializer> Zeros(Caller) { return make_ref<Fixed<0>>(); }
Ref<Initializer> Ones(Caller) { return make_ref<Fixed<1>>(); }

}  // namespace holdfast::keras::initializers
