// Plain Python values: those that code can only tell apart by what they say.
#pragma once

#include <Python.h>

namespace holdfast::py {

/// What C can say without running the user's code; kUnsure where only Python can tell.
enum class Answer : uint8_t { kNo, kYes, kUnsure };
inline Answer answer(bool yes) { return yes ? Answer::kYes : Answer::kNo; }

/// Whether two values are the same for code that reads them, as `same_value` of
/// `_tensors/plain.py`: of one type and equal, zeros of one sign, one NaN as good as another.
Answer same_value(PyObject* was, PyObject* now);
/// Drops an error of the user's code: Python runs that code again, and says so. What is no error,
/// such as an interrupt, goes on: throws PythonError.
void drop_error();
/// Whether it is of a type whose hash and comparison are Python's own: fit for a dict's key.
bool is_plain_key(PyObject* o);

}  // namespace holdfast::py
