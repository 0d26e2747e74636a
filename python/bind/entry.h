// One trace of a function that is called without Python: what fits it, what it reads, what it
// gives and what it leaves behind.
#pragma once

#include "holdfast/exec/concrete.h"
#include "holdfast/exec/watched.h"
#include "python/bind/guards.h"
#include "python/bind/pattern.h"
#include "python/bind/stores.h"

namespace holdfast::py {

/// What `make_trace` gave of what a trace goes by; null for None.
Ref<TraceFacts> facts_of(PyObject* held);

class Entry final : public RefCounted {
 public:
  /// From Python, what `Trace.record` gives: (function, count, names, tokens, places, guards,
  /// captured, late, result, stores, finish, name, facts).
  explicit Entry(PyObject* description);

  const Pattern& pattern() const { return pattern_; }
  /// Whether what it went by on objects of C++ is as it was.
  bool facts_hold() const { return !facts_ || facts_->hold(); }
  /// Whether a call may run it, if they hold; collects the inputs, captures included.
  bool fits(const Bound& call, Inputs& in) const;
  /// Appends what it captured, read anew. False where a place holds no such tensor any more.
  bool add_captured(const Places& now, Inputs& in) const;
  Places places() const { return places_.read(); }
  /// Runs it on inputs, performs its stores, gives its result.
  PyObject* run(const Bound& call, Inputs& in);

  template <class F>
  int visit(F&& f) const {
    for (const Object* o : {&code_, &finish_, &name_})
      if (int r = f(o->get())) return r;
    if (int r = pattern_.visit(f)) return r;
    if (int r = places_.visit(f)) return r;
    for (const Guard& g : guards_)
      if (int r = g.visit(f)) return r;
    for (const Store& s : stores_)
      if (int r = s.visit(f)) return r;
    return result_.visit(f);
  }

 private:
  struct Late {
    size_t input, place;
  };
  Ref<ConcreteFunction> function_;
  Ref<TraceFacts> facts_;  // null where it went by nothing of the kind
  Object code_;            // keeps the Python code alive that the graph calls
  Pattern pattern_;
  Locations places_;
  std::vector<Guard> guards_;
  std::vector<Tensor> captured_;
  std::vector<Late> late_;  // captures that are read from their places at each call
  std::vector<Store> stores_;
  Template result_;
  Object finish_;  // performs stores and makes the result out of all outputs; where C can't
  Object name_;
};

}  // namespace holdfast::py
