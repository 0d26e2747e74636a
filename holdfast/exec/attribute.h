// Tensors that modules hold and replace as they go: what `self.h = x` is in Python.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "holdfast/exec/trace_state.h"
#include "holdfast/op/in.h"

namespace holdfast {

class AttributeRecord;
class Operand;
class Tracer;

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
  TensorAttribute(const TensorAttribute&) = default;
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
  const std::string& name() const { return place_->name; }

  /// What copies share.
  class Place final : public RefCounted {
   public:
    explicit Place(std::string name) : name(std::move(name)) {}
    Tensor get() const {
      std::lock_guard lock(mutex_);
      return value_;
    }
    void set(Tensor t) {
      std::lock_guard lock(mutex_);
      std::swap(value_, t);
    }
    const std::string name;

   private:
    mutable std::mutex mutex_;
    Tensor value_;
  };

 private:
  friend class AttributeRecord;
  explicit TensorAttribute(Ref<Place> place) : place_(std::move(place)) {}
  void put(Tensor value) const;

  Ref<Place> place_;
};

/// The attributes that one trace reads and assigns.
class HOLDFAST_API AttributeRecord {
 public:
  /// In force on this thread while it lives.
  explicit AttributeRecord(Tracer& tracer);
  ~AttributeRecord();
  AttributeRecord(const AttributeRecord&) = delete;
  /// The record that code which runs now belongs to; null where there is none.
  static AttributeRecord* current();

  Tensor read(const Ref<TensorAttribute::Place>& place);
  bool holds(const Ref<TensorAttribute::Place>& place);
  void assign(const Ref<TensorAttribute::Place>& place, Tensor value);

  /// Ends it: appends what was assigned to the outputs. Null where no attribute took part.
  Ref<TraceState> finish(Tensors& outputs);

 private:
  struct Use;
  Use& use_of(const Ref<TensorAttribute::Place>& place);

  Tracer& tracer_;
  std::vector<Use> uses_;
  AttributeRecord* around_;
};

}  // namespace holdfast
