// What the tests of bad arguments share: a call ends with an Error or not at all.
#pragma once

#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include <cstdlib>
#include <string>

namespace holdfast {

inline int64_t from_environment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

// Ends with an Error or not at all. What else is thrown fails the test.
template <class F>
void survives(const std::string& what, F f) {
  if (std::getenv("HOLDFAST_FUZZ_SHOW")) std::fprintf(stderr, "%s\n", what.c_str());
  try {
    f();
  } catch (const Error& e) {
    // What could not be said in words would be no answer.
    EXPECT_STRNE(e.what(), "") << what;
    EXPECT_NE(e.diagnostic().severity, Severity::kBug) << what << "\n" << e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << what << ": " << e.what();
  }
}

// A symbol of a trace that is over and has no value any more.
inline Tensor dead_symbol() {
  Tensor left;
  auto f = function([&](const Tensor& x) {
    left = x * 2;
    return x;
  });
  f.concrete({Type{float32, Shape{2}}});
  return left;
}

}  // namespace holdfast
