// Whether a part of a tensor can be a view of it, as far as shapes tell.
#pragma once

#include <algorithm>

#include "holdfast/op/op.h"

namespace holdfast {

/// `input` where elements of shape `part` may be one run of those of shape `from`: all of the inner
/// axes, and some of one axis outside them. Where numbers decide too, it is so for the usual ones:
/// no steps, and what is as long as an outer axis is a column.
inline int alias_of_run(const Shape& from, const Shape& part, int input) {
  auto next = [](const Shape& s, int& i) {
    while (i >= 0 && s[i] == 1) --i;
    return i >= 0 ? s[i--] : 1;
  };
  int f = from.rank() - 1, p = part.rank() - 1;
  int64_t of = next(from, f), take = next(part, p);
  bool rows = take == of;
  while (take > 1 && take == of) {
    of = next(from, f);
    take = next(part, p);
  }
  if (take == 0 || take == 1) return input;
  bool column =
      !rows && std::find(from.begin(), from.begin() + f + 1, take) != from.begin() + f + 1;
  return next(part, p) == 1 && !column ? input : kFresh;
}

}  // namespace holdfast
