#include "holdfast/keras/policy.h"

#include <mutex>

#include "holdfast/base/diagnostic.h"

namespace holdfast::keras {
namespace {

struct Global {
  std::mutex mutex;
  std::string name = "float32";
};
Global& global() {
  static auto* g = new Global;
  return *g;
}

}  // namespace

Policy::Policy(DType both) : name(holdfast::name(both)), compute(both), variable(both) {}

Policy::Policy(Named, const std::string& wanted) : name(wanted) {
  if (wanted == "mixed_bfloat16" || wanted == "mixed_float16") {
    compute = wanted == "mixed_bfloat16" ? bfloat16 : float16;
    variable = float32;
    return;
  }
  OptionType<DType>::set(compute, Config(wanted), "a dtype policy");
  variable = compute;
}

Policy::Policy() : Policy(global_policy()) {}

Policy global_policy() {
  std::string name;
  {
    std::lock_guard lock(global().mutex);
    name = global().name;
  }
  return Policy(name);
}

void set_global_policy(const Policy& policy) {
  std::lock_guard lock(global().mutex);
  global().name = policy.name;
}

Config OptionType<Policy>::written(const Policy& v) {
  return ConfigObject{"DTypePolicy", {{"name", v.name}}, {}};
}

void OptionType<Policy>::set(Policy& v, const Config& c, const std::string& what) {
  if (c.is_null()) {
    v = Policy();
  } else if (c.kind() == Config::Kind::kObject) {  // as Keras writes it
    const Config* name = c.as_object().config.find("name");
    if (!name) fail(Code::E1104, cat(what, " is a policy without a name"));
    v = Policy(name->as_text(what));
  } else {
    v = Policy(c.as_text(what));
  }
}

}  // namespace holdfast::keras
