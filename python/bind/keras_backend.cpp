// What holds for all of Keras: the small number, the usual dtype, classes by name; and where
// symbols come from.
#include <unordered_set>

#include "holdfast/keras/backend.h"
#include "holdfast/keras/symbol.h"
#include "python/bind/call.h"
#include "python/bind/keras.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

// The Inputs behind symbols, those first that are reached first.
std::vector<Tensor> source_inputs(const std::vector<Tensor>& symbols) {
  std::vector<Tensor> out;
  std::unordered_set<const Node*> seen;
  std::vector<Edge> stack;
  for (size_t i = symbols.size(); i-- > 0;) {
    if (!keras::is_model_symbol(symbols[i]))
      fail(Code::E1104, "`tensor` has a value, expected a symbol of a model");
    stack.push_back(edge_of(symbols[i]));
  }
  while (!stack.empty()) {
    Edge e = stack.back();
    stack.pop_back();
    if (!e.node || !seen.insert(e.node.get()).second) continue;
    if (keras::is_input(*e.node)) out.push_back(symbol_for(e, keras::model_scope()));
    for (size_t i = e.node->inputs.size(); i-- > 0;) stack.push_back(e.node->inputs[i]);
  }
  return out;
}

// Python's function that refuses what several replicas would have to do together.
nb::object& replica_check() {
  static auto* f = new nb::object;
  return *f;
}

}  // namespace

void bind_keras_backend(nb::module_& m) {
  m.def("set_replica_check", [](nb::object check) {
    replica_check() = std::move(check);
    keras::set_replica_check([](const std::string& what) {
      if (WithGil gil; gil) replica_check()(what);
    });
  });
  m.def("keras_epsilon", &keras::epsilon);
  m.def("set_keras_epsilon", [](double value) {
    run([&] {
      mark();
      keras::set_epsilon(value);
      return 0;
    });
  });
  m.def("keras_floatx", [] { return std::string(name(keras::floatx())); });
  m.def("set_keras_floatx", [](nb::handle dtype) {
    run([&] {
      mark();
      keras::set_floatx(dtype_of_object(dtype.ptr()));
      return 0;
    });
  });
  m.def("has_class", &registry::has_class, "Whether a class is registered under a name.");
  m.def(
      "forget_class", [](const std::string& name) { registry::remove_class(name); },
      "Takes a name out of the registry of classes.");
  m.def("is_optional_input", [](const Tensor& symbol) {
    return run([&] {
      mark();
      return keras::is_model_symbol(symbol) && keras::is_optional_input(*node_of(symbol));
    });
  });
  m.def("source_inputs", [](const std::vector<Tensor>& symbols) {
    return run([&] {
      mark();
      return source_inputs(symbols);
    });
  });
}

}  // namespace holdfast::py
