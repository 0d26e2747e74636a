// Python objects that graphs hold.
#pragma once

#include <functional>
#include <memory>

#include "holdfast/graph/graph.h"
#include "python/bind/py.h"

namespace holdfast::py {

/// A Python object that C++ holds: let go of with the GIL, and never after the interpreter ended.
/// Once it is lent it is kept alive by somebody whom Python's collector knows, and here only known.
class Held final : public RefCounted {
 public:
  explicit Held(Object o) : object_(std::move(o)) {}
  ~Held() override;

  /// The object; empty where it was lent and is gone. With the GIL, as the two below.
  Object get() const;
  /// The object for its keeper, who alone keeps it alive from now on.
  Object lend();
  /// Keeps it alive again, until it is lent again.
  void take_back();

 private:
  Object object_;  // once lent: a weak reference to it
  bool lent_ = false;
};

/// What a node may hold besides graphs and values: something with Python objects inside.
class HoldsPython {
 public:
  virtual ~HoldsPython() = default;
  virtual std::vector<Held*> held() const = 0;
};

/// Python code as a gradient: takes the GIL, and carries its exception out.
struct PyBackward {
  Ref<Held> code;
  std::vector<Tensor> operator()(const std::vector<Tensor>& upstream) const;
};

/// The Python code that a graph and its bodies call, and the variables they use, lent to one Python
/// object that is given back; empty where there is none. A graph that held them itself would keep a
/// cycle alive for ever: code often knows the function that calls it, and so may variables.
Object lend_to_keeper(const Graph& g);
/// Makes the graph hold it itself again, since its nodes are written into another one.
void take_back_code(const Graph& g);
/// A way to keep such an object alive that does not keep it alive itself.
std::function<Ref<RefCounted>()> lease_on(PyObject* keeper);

}  // namespace holdfast::py
