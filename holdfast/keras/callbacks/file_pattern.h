// Names of files that are made from the numbers of an epoch: "{epoch:02d}-{val_loss:.2f}.keras".
#pragma once

#include <string>

#include "holdfast/keras/callback.h"

namespace holdfast::keras {

/// A value of a field: an integer or a number.
struct FieldValue {
  std::string name;
  double number = 0;
  bool integer = false;
};

/// Fills in the fields of a pattern, as Python's `str.format` does for numbers. Unknown fields and
/// formats that do not fit are refused; `what` names the pattern in messages.
HOLDFAST_API std::string fill_in(const std::string& pattern, const std::vector<FieldValue>& fields,
                                 const std::string& what);

}  // namespace holdfast::keras
