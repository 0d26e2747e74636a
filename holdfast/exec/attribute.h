// Tensors that modules hold and replace as they go: what `self.h = x` is in Python.
#pragma once

#include <string>

#include "holdfast/op/in.h"

namespace holdfast {

class AttributeRecord;
class Operand;

/// A place for a tensor that outlives a call. Traced code may read and assign it: each call reads
/// what is there then, and leaves behind what the code would have left, a tensor and not a symbol.
///
///   struct Cell : Module {
///     Cell() : Module("cell") {}
///     TensorAttribute h = attribute("h", zeros({4}));
///     Tensor operator()(const Tensor& x) { h = tanh(h + x); return h; }
///   };
///
/// Unlike a Variable it takes tensors of any shape and dtype, may be empty, and is no parameter:
/// training does not see it. Copies are the same attribute; `a = b.read()` takes over the value.
class HOLDFAST_API TensorAttribute {
 public:
  /// `name` is what messages call it.
  explicit TensorAttribute(std::string name = "attribute", Tensor initial = {});
  TensorAttribute(const TensorAttribute&);
  ~TensorAttribute();
  TensorAttribute& operator=(const TensorAttribute&) = delete;

  /// What it holds now; empty where it holds nothing.
  Tensor read() const;
  operator Tensor() const { return read(); }
  operator Operand() const;  // for `h + x`, and for whatever takes an In
  /// Whether it holds a tensor.
  explicit operator bool() const;
  const TensorAttribute& assign(const In& value) const;
  const TensorAttribute& operator=(const In& value) const { return assign(value); }
  /// Empties it.
  void reset() const;
  const std::string& name() const;

  class Place;  // what copies share

 private:
  friend class AttributeRecord;
  explicit TensorAttribute(Ref<Place> place);
  void put(Tensor value) const;

  Ref<Place> place_;
};

}  // namespace holdfast
