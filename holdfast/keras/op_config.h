// Ops that a functional model calls on symbols, in its config: as the operations of Keras that
// compute the same. What Keras has no operation for is written as an op of ours, which Keras
// refuses by its name.
#pragma once

#include "holdfast/base/config.h"
#include "holdfast/graph/graph.h"

namespace holdfast::keras {

/// A call of an op as a config has it.
struct OperationCall {
  std::string module, class_name;
  ConfigDict config;  // without the name
  Config::List args;
};

/// How a call is written. `operand` gives the config of a symbol. What no config can hold, such as
/// a variable or a body of a loop, is refused with the op's name; `model` names who asks.
OperationCall describe_call(const Node& node,
                            const holdfast::Callback<Config(const Edge&)>& operand,
                            const std::string& model);

/// Whether an object of a config is such a call, and not a layer.
bool is_operation(const ConfigObject& said);

/// Makes a call again: `symbol` gives what an argument refers to. One that there is no op for here
/// is refused by its name.
Tensors make_call(const ConfigObject& said, const ConfigDict& call,
                  const holdfast::Callback<Tensor(const Config&)>& symbol);

/// A tensor with a value as Keras writes one, and back.
Config value_config(const Tensor& value, const std::string& what);
Tensor value_from(const ConfigObject& said, const std::string& what);

}  // namespace holdfast::keras
