// In which dtypes a layer computes and keeps its weights.
#pragma once

#include <string>

#include "holdfast/keras/declare.h"

namespace holdfast::keras {

/// "float32", "bfloat16", or "mixed_bfloat16": computes in bfloat16 and keeps weights in float32.
struct HOLDFAST_API Policy {
  Policy();  // the one in force
  Policy(DType both);
  [[gnu::always_inline]] Policy(const char* called,
                                const std::source_location& at = std::source_location::current())
      : Policy((mark_caller(at), Named()), called) {}
  [[gnu::always_inline]] Policy(const std::string& called,
                                const std::source_location& at = std::source_location::current())
      : Policy((mark_caller(at), Named()), called) {}
  bool operator==(const Policy&) const = default;

  std::string name;
  DType compute, variable;

 private:
  struct Named {};
  Policy(Named, const std::string& called);
};
/// What layers are given that say none.
HOLDFAST_API Policy global_policy();
HOLDFAST_API void set_global_policy(const Policy& policy);

template <>
struct HOLDFAST_API OptionType<Policy> {
  static Config get(const Policy& v) { return v.name; }
  static Config written(const Policy& v);
  static void set(Policy& v, const Config& c, const std::string& what);
};

}  // namespace holdfast::keras
