// From the ops of an expression to what is done to a block, and in which memory.
#include <algorithm>
#include <array>
#include <string_view>

#include "holdfast/expr/fused.h"

namespace holdfast {

const RowTable& row_table() {
  static const RowTable table = [] {
    RowTable t;
    HOLDFAST_BEST_ISA(add_row_loops(t));
    return t;
  }();
  return table;
}

class Expr::Scheduler {
 public:
  explicit Scheduler(Expr& e) : e_(e), held_(e.values_.size()), spread_(e.values_.size(), -1) {
    for (size_t i = 0; i < held_.size(); ++i) held_[i] = static_cast<int>(i);
  }

  void actions() {
    for (const Instruction& k : e_.code_) {
      bool per_row = value(k.result).per_row;
      if (k.loop) {
        RowLoop rows = per_row ? nullptr : row_loop(k);
        InlineVector<int, 3> in;
        for (int o : k.operands) in.push_back(per_row || rows ? held(o) : along_domain(o));
        Action& a = act(rows ? Action::kRowLoop : Action::kLoop, in, k.result);
        a.loop = k.loop;
        a.rows = rows;
      } else if (k.fold.rows) {
        int from = along_domain(k.operands[0]);
        act(Action::kFold, {&from, 1}, k.result).fold = k.fold;
      } else {
        int from = per_row ? held(k.operands[0]) : along_domain(k.operands[0]);
        bool stored = std::find(e_.stores_.begin(), e_.stores_.end(), k.result) != e_.stores_.end();
        if (stored)
          act(Action::kCopy, {&from, 1}, k.result);
        else
          held_[static_cast<size_t>(k.result)] = from;  // the same numbers in the same order
      }
    }
  }

  void memory() {
    for (Value& v : e_.values_)
      if (v.number.defined() && !v.aside) v.slot = take(v);  // filled once, so shared with nobody
    for (size_t k = 0; k < e_.actions_.size(); ++k) {
      for (int o : operands(k)) value(o).last = static_cast<int>(k);
      value(e_.actions_[k].result).made = static_cast<int>(k);
    }
    for (size_t k = 0; k < e_.actions_.size(); ++k) {
      // What dies here may be overwritten by the result: loops read an element before they write
      // it.
      for (int o : operands(k)) {
        const Value& v = value(o);
        if (v.made < 0 || v.last != static_cast<int>(k)) continue;
        auto& list = free(v);
        if (std::find(list.begin(), list.end(), v.slot) == list.end()) list.push_back(v.slot);
      }
      Value& r = value(e_.actions_[k].result);
      r.slot = take(r);
    }
  }

 private:
  Value& value(int v) { return e_.values_[static_cast<size_t>(v)]; }
  int held(int v) const { return held_[static_cast<size_t>(v)]; }
  std::vector<int>& free(const Value& v) {
    return free_[static_cast<size_t>(size_of(v.dtype))][v.per_row];
  }

  std::span<const int> operands(size_t k) const {
    return {e_.actions_[k].in, static_cast<size_t>(e_.actions_[k].count)};
  }

  Action& act(Action::Kind kind, std::span<const int> in, int result) {
    Action a{.kind = kind,
             .per_row = value(result).per_row,
             .count = static_cast<int>(in.size()),
             .result = result};
    std::copy(in.begin(), in.end(), a.in);
    e_.actions_.push_back(a);
    return e_.actions_.back();
  }

  // The value with an element for each of the domain: what has one a row is written out once, when
  // it is first needed.
  int along_domain(int v) {
    v = held(v);
    if (!value(v).per_row) return v;
    if (spread_[static_cast<size_t>(v)] < 0) {
      spread_[static_cast<size_t>(v)] = static_cast<int>(e_.values_.size());
      DType d = value(v).dtype;
      e_.values_.push_back({.dtype = d});
      RowLoop loop = row_table().spreads[size_of(d)];
      act(Action::kRowLoop, {&v, 1}, spread_[static_cast<size_t>(v)]).rows = loop;
    }
    return spread_[static_cast<size_t>(v)];
  }

  // The loop of an op with one operand that has an element a row; null where there is none.
  RowLoop row_loop(const Instruction& k) {
    if (!k.op->elementwise || k.operands.size() != 2) return nullptr;
    bool first = value(held(k.operands[0])).per_row, second = value(held(k.operands[1])).per_row;
    if (first == second) return nullptr;
    DType d = value(k.operands[0]).dtype;
    return loop_for(k.op->scalar, d) == k.loop
               ? row_table().loops[static_cast<int>(k.op->scalar)][static_cast<int>(d)][second]
               : nullptr;
  }

  int take(const Value& v) {
    auto& list = free(v);
    if (!list.empty()) {
      int s = list.back();
      list.pop_back();
      return s;
    }
    e_.slots_.push_back({size_of(v.dtype), v.per_row});
    return static_cast<int>(e_.slots_.size()) - 1;
  }

  static constexpr size_t kMostBytes = 16;  // of an element
  Expr& e_;
  std::vector<int> held_;    // the value that has a value's numbers
  std::vector<int> spread_;  // and that has them repeated along rows
  std::array<std::array<std::vector<int>, 2>, kMostBytes + 1> free_;
};

void Expr::finish() {
  coded_ = values_.size();
  Scheduler s(*this);
  s.actions();
  s.memory();
}

}  // namespace holdfast
