#include "holdfast/keras/backend.h"

#include <atomic>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast::keras {
namespace {

std::atomic<double> small{1e-7};
std::atomic<DType> usual{float32};
std::atomic<ReplicaCheck> replica_check{nullptr};

}  // namespace

double epsilon() { return small; }
void set_epsilon(double value) {
  if (!(value > 0)) fail(Code::E1103, cat("`epsilon` is ", value, ", expected more than 0"));
  small = value;
}

DType floatx() { return usual; }
void set_floatx(DType dtype) {
  if (!is_floating(dtype))
    fail(Code::E1104, cat("`floatx` is ", name(dtype), ", expected a dtype of floats"));
  usual = dtype;
}

void need_one_replica(const std::string& what) {
  if (ReplicaCheck check = replica_check) check(what);
}
void set_replica_check(ReplicaCheck check) { replica_check = check; }

}  // namespace holdfast::keras
