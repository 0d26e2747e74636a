#include "python/bind/plain.h"

#include <bit>
#include <cmath>

#include "python/bind/py.h"

namespace holdfast::py {
namespace {

bool same_number(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

}  // namespace

Answer same_value(PyObject* was, PyObject* now) {
  if (was == now) return Answer::kYes;
  if (Py_TYPE(was) != Py_TYPE(now)) return Answer::kNo;
  if (PyBool_Check(was) || was == Py_None || was == Py_Ellipsis) return Answer::kNo;
  if (PyFloat_CheckExact(was))
    return answer(same_number(PyFloat_AS_DOUBLE(was), PyFloat_AS_DOUBLE(now)));
  if (PyComplex_CheckExact(was)) {
    Py_complex a = PyComplex_AsCComplex(was), b = PyComplex_AsCComplex(now);
    return answer(same_number(a.real, b.real) && same_number(a.imag, b.imag));
  }
  if (PyLong_CheckExact(was) || PyUnicode_CheckExact(was) || PyBytes_CheckExact(was)) {
    int equal = PyObject_RichCompareBool(was, now, Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal < 0 ? Answer::kUnsure : answer(equal == 1);
  }
  if (!PyTuple_CheckExact(was)) return Answer::kUnsure;
  if (PyTuple_GET_SIZE(was) != PyTuple_GET_SIZE(now)) return Answer::kNo;
  if (Py_EnterRecursiveCall("")) {
    PyErr_Clear();
    return Answer::kUnsure;
  }
  Answer all = Answer::kYes;
  for (Py_ssize_t i = 0; all == Answer::kYes && i < PyTuple_GET_SIZE(was); ++i)
    all = same_value(PyTuple_GET_ITEM(was, i), PyTuple_GET_ITEM(now, i));
  Py_LeaveRecursiveCall();
  return all;
}

void drop_error() {
  if (!PyErr_ExceptionMatches(PyExc_Exception)) throw PythonError{};
  PyErr_Clear();
}

bool is_plain_key(PyObject* o) {
  return PyUnicode_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o) || o == Py_None ||
         PyBytes_CheckExact(o) || PyFloat_CheckExact(o);
}

}  // namespace holdfast::py
