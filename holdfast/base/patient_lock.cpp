#include "holdfast/base/patient_lock.h"

namespace holdfast {
namespace {

Patience g_patience;

}  // namespace

void set_patience(Patience p) { g_patience = p; }

Waiting::Waiting() : held_(g_patience.let_go ? g_patience.let_go() : nullptr) {}

Waiting::~Waiting() {
  if (held_) g_patience.take_back(held_);
}

}  // namespace holdfast
