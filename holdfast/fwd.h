// Names alone, for headers that mention our types and leave their use to a source file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast {

// -- values
enum class DType : uint8_t;
class Shape;
class Tensor;
template <class T, size_t N>
class InlineVector;
using Tensors = InlineVector<Tensor, 4>;
struct IndexedSlices;
class Variable;
struct VariableOptions;
class TensorAttribute;
template <class T>
class Bound;

// -- what functions take
class In;
class Ins;
class Sizes;

// -- gradients
class GradientTape;
struct TapeOptions;
struct Gradient;
class Source;
class ForwardAccumulator;

// -- modules, functions, graphs
class Module;
class ModuleObject;
template <class F, class P, class... C>
class Function;
struct FunctionOptions;
class ConcreteFunction;
class Graph;
class Node;
class OpenGraph;
class GraphScope;
class NameScope;
class InitScope;
class Session;

// -- devices
class Device;
class DeviceScope;

// -- errors
enum class Code : uint16_t;
struct Diagnostic;
class Error;

// -- counted objects
class RefCounted;
template <class T>
class Ref;

namespace random {
class Generator;
}

namespace data {
class Dataset;
class Iterator;
class ElementSpec;
}  // namespace data

namespace keras {
class Layer;
class Sequential;
namespace layers {
class DenseLayer;
}
}  // namespace keras

}  // namespace holdfast
