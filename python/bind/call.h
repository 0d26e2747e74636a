// Calling a registered function from Python.
#pragma once

#include "python/bind/py.h"

namespace holdfast::py {

/// The function that Python knows as `path`, or null.
const FunctionDef* find_function(std::string_view path);
/// Calls `def` with its first arguments given and defaults for the rest.
Tensors call_with_defaults(const FunctionDef& def, std::span<Arg> first);
/// A TensorShape.
Object shape_object(const Shape& s);
/// Its sizes as a tuple, None where they are not known; None for an unknown rank.
Object sizes_object(const Shape& s);
/// The shape that sizes say: None among them is one that is not known, None alone an unknown rank.
/// `what` names them in a message.
Shape shape_of(PyObject* sizes, const char* what = "the shape of a tensor");
/// `t[key]`, with any key Python allows for a tensor.
Tensor index_with(const Tensor& t, PyObject* key);
/// `v[key].assign(value)`.
void assign_with(const Variable& v, PyObject* key, const Tensor& value);

/// Once the interpreter has ended, Python ends every other thread that wants the GIL, by unwinding
/// it. Frames of C++ don't stand that: such a thread waits here for the end of the process. (Not
/// [[noreturn]]: before a call that is, a sanitizer looks at the stack, which is half unwound.)
void stay_to_the_end() noexcept;
/// Runs `take`, which waits for the GIL, perhaps to the end.
void wait_for_gil(void (*take)(void*), void* argument) noexcept;

/// A forked child has copies of all locks, and none of the threads that would open them. So `fork`
/// waits until no thread is between these two, for a second at most.
void enter_fork_gate();
void leave_fork_gate();

/// Lets other Python threads run while a kernel works on enough data to be worth it.
class Unlocked {
 public:
  explicit Unlocked(std::span<const Tensor> inputs,
                    bool worth = false);  // a `fork` waits for its end
  ~Unlocked() { relock(); }
  Unlocked(const Unlocked&) = delete;
  void relock() {
    if (!state_) return;
    leave_fork_gate();
    wait_for_gil([](void* s) { PyEval_RestoreThread(static_cast<PyThreadState*>(s)); },
                 std::exchange(state_, nullptr));
  }

 private:
  PyThreadState* state_ = nullptr;
};

}  // namespace holdfast::py
