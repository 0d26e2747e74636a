// What a call is refused with.
#pragma once

#include <holdfast/base/diagnostic.h>

namespace holdfast {

/// The code of the error that `f` ends in; none where it ends well.
template <class F>
Code refused(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return Code{};
}

}  // namespace holdfast
