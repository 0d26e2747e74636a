// What a traced function returns or stores: a structure to be filled with the outputs of each call.
#pragma once

#include <vector>

#include "python/bind/py.h"

namespace holdfast::py {

class Template {
 public:
  /// From Python: ("slot", i), ("constant", value), ("nested", structure, parts) where each part is
  /// one again, ("made", callable, parts), whose parts are arguments.
  explicit Template(PyObject* description);
  Template() = default;

  /// The structure with outputs in its slots.
  Object filled(const Tensors& outputs) const;
  /// The outputs it takes, in order.
  template <class F>
  void each_slot(F&& f) const {
    if (kind_ == kSlot) f(slot_);
    for (const Template& p : parts_) p.each_slot(f);
  }
  template <class F>
  int visit(F&& f) const {
    if (int r = f(object_.get())) return r;
    for (const Template& p : parts_)
      if (int r = p.visit(f)) return r;
    return 0;
  }

 private:
  enum Kind : uint8_t { kSlot, kConstant, kList, kTuple, kDict, kNested, kMade };
  Kind kind_ = kConstant;
  size_t slot_ = 0;
  Object object_;  // the constant, the structure to be like, the callable; a dict's keys
  std::vector<Template> parts_;
  std::vector<size_t> order_;  // of a dict: the part for each key, in the order it was filled in
};

}  // namespace holdfast::py
