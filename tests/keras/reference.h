// What the real Keras gave, read from the files of tests/python/keras_reference.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "holdfast/holdfast.h"

namespace holdfast::keras::reference {

inline Config read(const std::string& file) {
  std::ifstream in(std::string(HOLDFAST_TEST_DIR) + "/python/keras_reference/" + file);
  std::stringstream text;
  text << in.rdbuf();
  return Config::from_json(text.str());
}

inline const Config& at(const Config& dict, const char* key) {
  const Config* found = dict.as_dict(key).find(key);
  if (!found) throw std::runtime_error(std::string("the reference has no ") + key);
  return *found;
}

inline std::vector<float> numbers(const Config& list) {
  std::vector<float> out;
  for (const Config& one : list.as_list()) out.push_back(static_cast<float>(one.as_number()));
  return out;
}
inline std::vector<int64_t> sizes(const Config& list) {
  std::vector<int64_t> out;
  for (const Config& one : list.as_list()) out.push_back(one.as_integer());
  return out;
}

inline void expect_near(const Tensor& got, const std::vector<float>& wanted, float tolerance,
                        const std::string& what) {
  std::vector<float> values = cast(got, float32).to_vector<float>();
  ASSERT_EQ(values.size(), wanted.size()) << what;
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], wanted[i], tolerance * (1 + std::abs(wanted[i])))
        << what << ", element " << i;
}

/// The message of what `f` throws.
template <class F>
std::string refused(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error came";
}

}  // namespace holdfast::keras::reference
