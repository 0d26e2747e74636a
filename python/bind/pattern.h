// What the arguments of a traced function have to be for one of its traces: their structure, the
// types of their tensors, the values of the rest.
#pragma once

#include <vector>

#include "holdfast/graph/graph.h"
#include "python/bind/signature.h"

namespace holdfast::py {

using Inputs = InlineVector<Tensor, 8>;

class Pattern {
 public:
  /// From Python: `count` positional arguments, the names of keywords in order, and tokens of all
  /// of them, each followed by those of its parts: ("tensor", dtype, dims or None), ("value", v),
  /// ("weak", weak reference) or ("held", object), which are one object, ("sequence", type,
  /// length), ("mapping", type, keys), ("fields", type, names), ("custom", type, length, metadata).
  Pattern(Py_ssize_t count, PyObject* names, PyObject* tokens);
  Pattern() = default;

  /// Whether a call is such a one; collects its tensors. Where it runs code of the user's classes,
  /// an error of theirs counts as no: Python asks again, and says so.
  bool fits(const Bound& call, Inputs& in) const;
  /// The same for one argument, positional ones first.
  bool fits(size_t argument, PyObject* value, Inputs& in) const;

  size_t count() const { return begins_.size(); }
  size_t positional() const { return positional_; }
  /// Whether there is a tensor in an argument.
  bool is_open(size_t argument) const;

  template <class F>
  int visit(F&& f) const {
    for (const Token& t : tokens_) {
      if (int r = f(t.type_of.get())) return r;
      if (int r = f(t.value.get())) return r;
    }
    for (const Object& n : names_)
      if (int r = f(n.get())) return r;
    return 0;
  }

 private:
  struct Token {
    enum Kind : uint8_t { kTensor, kValue, kWeak, kHeld, kSequence, kMapping, kFields, kCustom };
    Kind kind = kTensor;
    Type type;
    Object type_of;  // the class of a container
    Object value;    // the value; the object; keys, names or metadata
    Py_ssize_t count = 0;
  };
  void parse(PyObject* tokens, Py_ssize_t& at);
  bool fits_from(size_t& at, PyObject* o, Inputs& in) const;
  bool fits_parts(const Token& t, size_t& at, PyObject* sequence, Inputs& in) const;
  bool fits_tensor(const Token& t, PyObject* o, Inputs& in) const;

  std::vector<Token> tokens_;
  std::vector<size_t> begins_;  // of each argument among the tokens
  std::vector<Object> names_;   // of keywords, interned
  size_t positional_ = 0;
};

}  // namespace holdfast::py
