// Figures of the real Keras, which scripts below tests/python/keras_reference recorded.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "holdfast/holdfast.h"
#include "holdfast/keras/declare.h"

namespace holdfast::keras {

/// One file of them: arrays under names, and cases that refer to them.
class Figures {
 public:
  explicit Figures(const std::string& file) {
    std::ifstream in(std::string(HOLDFAST_TEST_DIR "/python/keras_reference/") + file);
    std::stringstream text;
    text << in.rdbuf();
    all_ = Config::from_json(text.str());
  }

  const Config::List& cases() const { return all_.as_dict().find("cases")->as_list(); }
  /// The array of a name; an empty tensor for none.
  Tensor array(const Config* name) const {
    if (!name) return {};
    return tensor(*all_.as_dict().find("data")->as_dict().find(name->as_text()));
  }
  static Tensor tensor(const Config& described) {
    const ConfigDict& d = described.as_dict();
    std::vector<int64_t> shape;
    for (const Config& n : d.find("shape")->as_list()) shape.push_back(n.as_integer());
    const std::string& dtype = d.find("dtype")->as_text();
    std::vector<double> values;
    for (const Config& v : d.find("values")->as_list()) values.push_back(number(v));
    Tensor t = Tensor::of<double>(values, Shape(shape));
    return cast(t, dtype == "float32" ? float32 : dtype == "int32" ? int32 : boolean);
  }
  static double number(const Config& v) {
    if (v.kind() == Config::Kind::kBool) return v.as_bool();
    if (v.kind() == Config::Kind::kText) return std::stod(v.as_text());  // "nan", "inf"
    return v.as_number();
  }

 private:
  Config all_;
};

/// Compares with a recorded array, as exactly as float32 can tell.
inline void expect_near(const Tensor& got, const Tensor& wanted, const std::string& what,
                        double relative = 2e-5, double absolute = 2e-6) {
  ASSERT_EQ(got.shape(), wanted.shape()) << what;
  std::vector<double> a = cast(got, float64).to_vector<double>(),
                      b = cast(wanted, float64).to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]) ? std::isnan(a[i]) : a[i] == b[i]) continue;
    EXPECT_NEAR(a[i], b[i], absolute + relative * std::abs(b[i])) << what << " [" << i << "]";
  }
}

}  // namespace holdfast::keras
