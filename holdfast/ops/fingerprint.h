// Rows as a few bytes that tell them apart.
#pragma once

#include <string>

#include "holdfast/op/in.h"

namespace holdfast {

struct FingerprintOptions {
  std::string method = "farmhash64";  // the one there is
};
/// Eight bytes for each row of the first axis, the same for equal rows on every machine.
HOLDFAST_API Tensor fingerprint(const In& data, const FingerprintOptions& = {});

}  // namespace holdfast
