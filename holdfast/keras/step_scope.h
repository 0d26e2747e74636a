// A step of training while it runs: which values the symbols of its models have, and who asked.
#pragma once

#include <map>

#include "holdfast/graph/graph.h"
#include "holdfast/keras/symbol.h"

namespace holdfast::keras {

/// While it lives, steps on this thread are asked for by a line of the program: that of `fit`.
class HOLDFAST_API AskedHere {
 public:
  explicit AskedHere(Where line);
  ~AskedHere();
  AskedHere(const AskedHere&) = delete;

 private:
  Where was_;
};

/// In force on this thread while the code of a step is run, or traced. What closes over a symbol of
/// a model means the value that the step's last call of the model gave it. It ends with the code,
/// so that nothing of a trace is held when that is closed.
class HOLDFAST_API StepScope {
 public:
  /// `trains`: the step changes weights.
  explicit StepScope(bool trains);
  ~StepScope();
  StepScope(const StepScope&) = delete;
  static StepScope* current();

  /// The line of the program that asked for the step.
  Where asked() const { return asked_; }
  /// Whether it changes weights.
  bool trains() const { return trains_; }
  /// Whether it trains, and nobody has looked at its loss yet; once.
  bool take_watch() { return std::exchange(unwatched_, false); }
  /// A call gives an edge this value.
  void keep(const Edge& e, const Tensor& value) { values_[{e.node, e.output}] = value; }
  /// What a symbol is in this step; empty where no call of it has come across what it is made of.
  Tensor value_of(const Tensor& symbol) const;

 private:
  struct Before {
    bool operator()(const std::pair<Ref<Node>, int>& a, const std::pair<Ref<Node>, int>& b) const {
      return a.first.get() != b.first.get() ? a.first.get() < b.first.get() : a.second < b.second;
    }
  };
  std::map<std::pair<Ref<Node>, int>, Tensor, Before> values_;
  Where asked_;
  bool trains_, unwatched_;
  StepScope* around_;
};

}  // namespace holdfast::keras
