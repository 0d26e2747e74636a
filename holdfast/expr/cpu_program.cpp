// From a list of instructions to what is done to a block, and in which memory.
#include "holdfast/expr/cpu_program.h"

#include <algorithm>
#include <array>

#include "holdfast/base/text.h"
#include "holdfast/expr/cpu/fold_table.h"
#include "holdfast/expr/cpu/select_table.h"
#include "holdfast/expr/jit/code.h"
#include "holdfast/expr/jit/rows.h"
#include "holdfast/expr/jit/stretch.h"

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
  Scheduler(const Expr& list, CpuProgram& p, bool emits)
      : list_(list),
        p_(p),
        emits_(emits),
        held_(list.values().size()),
        spread_(list.values().size(), -1) {
    for (size_t i = 0; i < held_.size(); ++i) held_[i] = static_cast<int>(i);
  }

  void actions() {
    for (const Instruction& k : list_.code()) {
      bool per_row = value(k.result).per_row;
      if (emits_ && emit(k)) continue;
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
        if (stored(k.result))
          act(Action::kCopy, {&from, 1}, k.result);
        else
          held_[static_cast<size_t>(k.result)] = from;  // the same numbers in the same order
      }
    }
  }

  /// Which values the stretches hand on, and their code. False where some could not be emitted.
  bool pieces() {
    for (const Action& a : p_.actions_)
      for (int o : a.kind == Action::kCode ? std::span<const int>() : operands(a)) hand_on(o, -1);
    for (size_t s = 0; s < stretches_.size(); ++s)
      for (int o : stretches_[s].in()) hand_on(o, static_cast<int>(s));
    for (int s : list_.stores()) hand_on(s, -1);
    for (const jit::Stretch& s : stretches_) {
      Piece& piece = p_.pieces_.emplace_back();
      piece.in = s.in();
      piece.out = s.out();
      piece.by_rows = s.by_rows();
      piece.function = jit::Function::of(s.finished());
      piece.code = jit::code_for(piece.function, false);
      if (piece.code) continue;
      p_.refused_ = "a list of this length";
      p_.pieces_.clear();
      return false;
    }
    for (size_t i = 0; i < p_.values_.size(); ++i) {
      Value& v = p_.values_[i];
      v.by_code = v.number.defined() || stored(static_cast<int>(i));
    }
    for (const Action& a : p_.actions_)
      if (a.kind != Action::kCode) {
        value(a.result).by_code = false;
        for (int o : operands(a)) value(o).by_code = false;
      }
    return true;
  }

  void memory() {
    for (Value& v : p_.values_)
      if (v.number.defined() && !v.by_code) v.slot = take(v);  // filled once, so shared with nobody
    for (size_t k = 0; k < p_.actions_.size(); ++k) {
      for (int o : operands(p_.actions_[k])) value(o).last = static_cast<int>(k);
      for (int r : results(p_.actions_[k])) value(r).made = static_cast<int>(k);
    }
    for (size_t k = 0; k < p_.actions_.size(); ++k) {
      const Action& a = p_.actions_[k];
      // Code writes one result while it still reads operands: they share nothing.
      if (a.kind == Action::kCode) take_results(a);
      // What dies here may be overwritten by the result: loops read an element before they write
      // it.
      for (int o : operands(a)) {
        const Value& v = value(o);
        if (v.made < 0 || v.last != static_cast<int>(k)) continue;
        auto& list = free(v);
        if (v.slot >= 0 && std::find(list.begin(), list.end(), v.slot) == list.end())
          list.push_back(v.slot);
      }
      if (a.kind != Action::kCode) take_results(a);
    }
  }

 private:
  Value& value(int v) { return p_.values_[static_cast<size_t>(v)]; }
  int held(int v) const { return held_[static_cast<size_t>(v)]; }
  std::vector<int>& free(const Value& v) {
    return free_[static_cast<size_t>(size_of(v.dtype))][v.per_row];
  }

  std::span<const int> operands(const Action& a) const {
    if (a.kind == Action::kCode) return stretches_[static_cast<size_t>(a.piece)].in();
    return {a.in, static_cast<size_t>(a.count)};
  }
  std::span<const int> results(const Action& a) const {
    if (a.kind == Action::kCode) return stretches_[static_cast<size_t>(a.piece)].out();
    return {&a.result, 1};
  }
  void take_results(const Action& a) {
    for (int r : results(a))
      if (!value(r).by_code) value(r).slot = take(value(r));
  }
  bool stored(int v) const {
    return std::find(list_.stores().begin(), list_.stores().end(), v) != list_.stores().end();
  }

  // Takes an instruction into the stretch of code in hand, or begins one with it. False: loops run
  // it.
  bool emit(const Instruction& k) {
    bool per_row = value(k.result).per_row;
    if (k.does == Does::kFold) return false;
    if (k.does == Does::kSame && !stored(k.result)) {
      held_[static_cast<size_t>(k.result)] = held(k.operands[0]);
      return true;
    }
    InlineVector<int, 3> in;
    for (size_t i = 0; i < (k.does == Does::kSame ? 1 : k.operands.size()); ++i)
      in.push_back(held(k.operands[i]));
    bool open = !p_.actions_.empty() && p_.actions_.back().kind == Action::kCode &&
                p_.actions_.back().per_row == per_row;
    if (open && stretches_.back().add(k, in)) return true;
    jit::Stretch fresh(list_, per_row ? jit::Stretch::Over::kRows : jit::Stretch::Over::kDomain);
    if (!fresh.add(k, in)) {
      std::string what = cat(k.op->name, " of ", name(list_.dtype(k.operands[0])));
      if (p_.refused_.find(what) == std::string::npos)
        p_.refused_ += cat(p_.refused_.empty() ? "" : ", ", what);
      return false;
    }
    p_.actions_.push_back(
        {.kind = Action::kCode, .per_row = per_row, .piece = static_cast<int>(stretches_.size())});
    stretches_.push_back(std::move(fresh));
    return true;
  }

  // A value that something beside its own stretch reads is stored by it.
  void hand_on(int v, int reader) {
    for (size_t s = 0; s < stretches_.size(); ++s) {
      jit::Stretch& maker = stretches_[s];
      const auto& out = maker.out();
      if (static_cast<int>(s) != reader && maker.makes(v) &&
          std::find(out.begin(), out.end(), v) == out.end())
        maker.store(v);
    }
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
  bool emits_;
  std::vector<jit::Stretch> stretches_;
  std::vector<int> held_;    // the value that has a value's numbers
  std::vector<int> spread_;  // and that has them repeated along rows
  std::array<std::array<std::vector<int>, 2>, kMostBytes + 1> free_;
};

CpuProgram::CpuProgram(const Expr& e, By by)
    : stores_(e.stores()), list_(e), row_(e.row()), code_(e.code().size()) {
  for (const Expr::Value& v : e.values())
    values_.push_back({.dtype = v.dtype,
                       .per_row = v.per_row,
                       .input = v.input,
                       .number = v.aside ? Tensor() : v.number});
  if (by == By::kCode && row_ && emit_rows()) return;
  Scheduler s(e, *this, by == By::kCode);
  s.actions();
  if (s.pieces()) s.memory();
  if (pieces_.empty() || !row_ || keeps_rows(row_)) return;
  pieces_.clear();
  refused_ = "rows that leave the second cache";
}

bool CpuProgram::emit_rows() {
  auto rows = jit::rows_of(list_);
  Ref<jit::Code> code = rows ? jit::code_for(rows->function, false) : Ref<jit::Code>();
  if (!code) return false;
  for (int i : rows->values) {
    Value& v = values_[static_cast<size_t>(i)];
    v.by_code = v.number.defined() || std::find(stores_.begin(), stores_.end(), i) != stores_.end();
    if (v.input >= 0 || v.by_code) continue;
    v.slot = static_cast<int>(slots_.size());
    slots_.push_back({size_of(v.dtype), v.per_row, !v.per_row});
  }
  whole_ = true;
  if (!keeps_rows(row_)) {
    whole_ = false;
    slots_.clear();
    for (Value& v : values_) v.slot = -1;
    return false;
  }
  actions_.push_back({.kind = Action::kCode, .piece = 0});
  Piece& piece = pieces_.emplace_back();
  piece.in = std::move(rows->values);
  piece.by_rows = true;
  piece.function = std::move(rows->function);
  piece.code = std::move(code);
  apart_ = std::move(rows->apart);
  return true;
}

bool CpuProgram::collides(std::span<const Tensor> in, std::span<const Tensor> out) const {
  return std::any_of(apart_.begin(), apart_.end(), [&](const auto& p) {
    const Tensor& read = in[p.second];
    return read.defined() && out[p.first].raw() == read.raw();
  });
}

CpuProgram::~CpuProgram() { Ref<const CpuProgram>::take(emitted_.load()); }

const CpuProgram* CpuProgram::emitted(int64_t elements) const {
  const CpuProgram* made = emitted_.load(std::memory_order_acquire);
  if (!made) {
    int64_t work = elements * static_cast<int64_t>(code_);
    if (work_.fetch_add(work, std::memory_order_relaxed) + work < jit::worth_emitting() ||
        jit::unavailable())
      return nullptr;
    auto fresh = make_ref<const CpuProgram>(list_, By::kCode);
    // Of two threads that made one, the first keeps its own.
    if (emitted_.compare_exchange_strong(made, fresh.get(), std::memory_order_acq_rel))
      made = fresh.leak();
  }
  return made->pieces_.empty() ? nullptr : made;
}

std::string CpuProgram::explained() const {
  if (const char* why = jit::unavailable()) return cat("loops: ", why);
  const CpuProgram* e = emitted_.load(std::memory_order_acquire);
  if (!e) return "loops: not run often enough for machine code";
  std::string loops = e->refused_.empty() ? "" : cat(" for ", e->refused_);
  if (e->pieces_.empty()) return cat("loops: no machine code", loops);
  return cat("machine code, ", jit::with_avx512() ? "avx512" : "avx2",
             loops.empty() ? "" : "; loops", loops);
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
