// Who is told of variables that are made and changed, whatever code does it: strategies, to which
// variables belong.
#pragma once

#include "holdfast/tensor/variable_state.h"

namespace holdfast {

class HOLDFAST_API VariableWatcher {
 public:
  virtual ~VariableWatcher() = default;
  /// A variable was made, on this thread.
  virtual void made(VariableState&) = 0;
  /// An op is about to change a variable, or to be written into a graph where it will. Throws to
  /// refuse.
  virtual void changes(VariableState&) = 0;
};

/// The one of this process, told from now on and for ever; null, as long as nobody asked, costs a
/// look. One that has been told of something stays.
HOLDFAST_API void set_variable_watcher(VariableWatcher*);
HOLDFAST_API VariableWatcher* variable_watcher();

}  // namespace holdfast
