// From Python objects to the arguments of a registered function.
#pragma once

#include <Python.h>

#include <string>
#include <utility>

#include "holdfast/op/function.h"

namespace holdfast::py {

/// What a call was given, by parameter; null: nothing.
using Given = InlineVector<PyObject*, 8>;

/// The dtype groups of one call, found as its arguments are converted.
struct Groups {
  InlineVector<std::pair<const std::string*, DType>, 4> known;
  DType get(const FunctionDef& def, const Given& given, const std::string& group);
  void settle(const std::string& group, DType d);
};

/// Converts `o` as parameter `p` of `def` says.
Arg to_arg(const FunctionDef& def, const Param& p, PyObject* o, const Given& given, Groups& groups);

}  // namespace holdfast::py
