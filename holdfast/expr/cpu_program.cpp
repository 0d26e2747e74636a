// From a list of instructions to what is done to a block, and in which memory.
#include "holdfast/expr/cpu_program.h"

#include <algorithm>
#include <array>

#include "holdfast/expr/cpu/fold_table.h"
#include "holdfast/expr/cpu/select_table.h"

namespace holdfast {
namespace {

Loop select_loop(DType d) {
  static const SelectTable table = [] {
    SelectTable t;
    HOLDFAST_BEST_ISA(add_select_loops(t));
    return t;
  }();
  return table.loops[size_of(d)];
}

// The loop of an instruction that runs element by element; null for others.
Loop loop_of(const Expr& e, const Instruction& k) {
  switch (k.does) {
    case Does::kScalar: return loop_for(k.scalar, e.dtype(k.operands[0]));
    case Does::kCast: return cast_loop(e.dtype(k.operands[0]), e.dtype(k.result));
    case Does::kSelect: return select_loop(e.dtype(k.result));
    default: return nullptr;
  }
}

}  // namespace

const RowTable& row_table() {
  static const RowTable table = [] {
    RowTable t;
    HOLDFAST_BEST_ISA(add_row_loops(t));
    return t;
  }();
  return table;
}

class CpuProgram::Scheduler {
 public:
  Scheduler(const Expr& list, CpuProgram& p)
      : list_(list), p_(p), held_(list.values().size()), spread_(list.values().size(), -1) {
    for (size_t i = 0; i < held_.size(); ++i) held_[i] = static_cast<int>(i);
  }

  void actions() {
    for (const Instruction& k : list_.code()) {
      bool per_row = value(k.result).per_row;
      if (Loop loop = loop_of(list_, k)) {
        RowLoop rows = per_row ? nullptr : row_loop(k);
        InlineVector<int, 3> in;
        for (int o : k.operands) in.push_back(per_row || rows ? held(o) : along_domain(o));
        Action& a = act(rows ? Action::kRowLoop : Action::kLoop, in, k.result);
        a.loop = loop;
        a.rows = rows;
      } else if (k.does == Does::kFold) {
        int from = along_domain(k.operands[0]);
        act(Action::kFold, {&from, 1}, k.result).fold = &fold_loops(k.fold, value(from).dtype);
      } else {
        int from = per_row ? held(k.operands[0]) : along_domain(k.operands[0]);
        const auto& stores = list_.stores();
        bool stored = std::find(stores.begin(), stores.end(), k.result) != stores.end();
        if (stored)
          act(Action::kCopy, {&from, 1}, k.result);
        else
          held_[static_cast<size_t>(k.result)] = from;  // the same numbers in the same order
      }
    }
  }

  void memory() {
    for (Value& v : p_.values_)
      if (v.number.defined()) v.slot = take(v);  // filled once, so shared with nobody
    for (size_t k = 0; k < p_.actions_.size(); ++k) {
      for (int o : operands(k)) value(o).last = static_cast<int>(k);
      value(p_.actions_[k].result).made = static_cast<int>(k);
    }
    for (size_t k = 0; k < p_.actions_.size(); ++k) {
      // What dies here may be overwritten by the result: loops read an element before they write
      // it.
      for (int o : operands(k)) {
        const Value& v = value(o);
        if (v.made < 0 || v.last != static_cast<int>(k)) continue;
        auto& list = free(v);
        if (std::find(list.begin(), list.end(), v.slot) == list.end()) list.push_back(v.slot);
      }
      Value& r = value(p_.actions_[k].result);
      r.slot = take(r);
    }
  }

 private:
  Value& value(int v) { return p_.values_[static_cast<size_t>(v)]; }
  int held(int v) const { return held_[static_cast<size_t>(v)]; }
  std::vector<int>& free(const Value& v) {
    return free_[static_cast<size_t>(size_of(v.dtype))][v.per_row];
  }

  std::span<const int> operands(size_t k) const {
    return {p_.actions_[k].in, static_cast<size_t>(p_.actions_[k].count)};
  }

  Action& act(Action::Kind kind, std::span<const int> in, int result) {
    Action a{.kind = kind,
             .per_row = value(result).per_row,
             .count = static_cast<int>(in.size()),
             .result = result};
    std::copy(in.begin(), in.end(), a.in);
    p_.actions_.push_back(a);
    return p_.actions_.back();
  }

  // The value with an element for each of the domain: what has one a row is written out once, when
  // it is first needed.
  int along_domain(int v) {
    v = held(v);
    if (!value(v).per_row) return v;
    if (spread_[static_cast<size_t>(v)] < 0) {
      spread_[static_cast<size_t>(v)] = static_cast<int>(p_.values_.size());
      DType d = value(v).dtype;
      p_.values_.push_back({.dtype = d});
      RowLoop loop = row_table().spreads[size_of(d)];
      act(Action::kRowLoop, {&v, 1}, spread_[static_cast<size_t>(v)]).rows = loop;
    }
    return spread_[static_cast<size_t>(v)];
  }

  // The loop of an op with one operand that has an element a row; null where there is none.
  RowLoop row_loop(const Instruction& k) {
    if (k.does != Does::kScalar || k.operands.size() != 2) return nullptr;
    bool first = value(held(k.operands[0])).per_row, second = value(held(k.operands[1])).per_row;
    if (first == second) return nullptr;
    DType d = value(k.operands[0]).dtype;
    return row_table().loops[static_cast<int>(k.scalar)][static_cast<int>(d)][second];
  }

  int take(const Value& v) {
    auto& list = free(v);
    if (!list.empty()) {
      int s = list.back();
      list.pop_back();
      return s;
    }
    p_.slots_.push_back({size_of(v.dtype), v.per_row});
    return static_cast<int>(p_.slots_.size()) - 1;
  }

  static constexpr size_t kMostBytes = 16;  // of an element
  const Expr& list_;
  CpuProgram& p_;
  std::vector<int> held_;    // the value that has a value's numbers
  std::vector<int> spread_;  // and that has them repeated along rows
  std::array<std::array<std::vector<int>, 2>, kMostBytes + 1> free_;
};

CpuProgram::CpuProgram(const Expr& e) : stores_(e.stores()), row_(e.row()), code_(e.code().size()) {
  for (const Expr::Value& v : e.values())
    values_.push_back({.dtype = v.dtype,
                       .per_row = v.per_row,
                       .input = v.input,
                       .number = v.aside ? Tensor() : v.number});
  Scheduler s(e, *this);
  s.actions();
  s.memory();
}

const CpuProgram& cpu_program(const Expr& e) {
  return e.program<CpuProgram>(
      DeviceKind::kCpu, +[](const Expr& list) { return make_ref<CpuProgram>(list); });
}

bool CpuProgram::may_overwrite(size_t output, size_t input) const {
  const Value& out = values_[static_cast<size_t>(stores_[output])];
  for (const Value& v : values_) {
    if (v.input != static_cast<int>(input)) continue;
    // Read in another way, it would be needed by blocks to come.
    if (v.per_row != out.per_row || size_of(v.dtype) != size_of(out.dtype) || v.last > out.made)
      return false;
  }
  return true;
}

}  // namespace holdfast
