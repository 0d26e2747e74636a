#include "holdfast/expr/jit/rows.h"

#include <algorithm>

#include "holdfast/expr/jit/code.h"
#include "holdfast/expr/jit/stretch.h"

namespace holdfast::jit {
namespace {

constexpr int64_t kMostCells = 4096;  // of a row; the loops join longer ones in blocks
constexpr int kCheap = 2;  // instructions that are computed again sooner than stored and loaded

// Whether there is code for the fold.
bool folds(Fold f, DType d, int64_t row) {
  if (row > kMostCells || f == Fold::kSquares || f == Fold::kHalfSquares) return false;
  switch (d) {
    case DType::kFloat32:
    case DType::kFloat64: return true;
    case DType::kInt32: return f != Fold::kMean;
    case DType::kInt64: return f != Fold::kMean && (f != Fold::kProd || with_avx512());
    default: return false;
  }
}

bool is_cheap(const Instruction& k) {
  if (k.does != Does::kScalar) return k.does == Does::kSame;
  switch (k.scalar) {
    case Scalar::kNeg:
    case Scalar::kAdd:
    case Scalar::kSub:
    case Scalar::kMul:
    case Scalar::kSquare:
    case Scalar::kSquaredDifference: return true;
    default: return false;
  }
}

// A fold ends the loop that computes what it folds; what needs its result begins behind it. So each
// value has a level, the number of folds that come before it, and each level is one loop, before
// which what has one element a row is computed.
class RowPlanner {
 public:
  explicit RowPlanner(const Expr& e)
      : list_(e),
        values_(e.values().size()),
        arrays_(values_, -1),
        held_(values_),
        level_(values_, 0),
        made_in_(values_, -1) {}

  std::optional<RowFunction> plan() {
    levels();
    for (int l = 0; l < static_cast<int>(needed_.size()); ++l) {
      for (const Instruction& k : list_.code())
        if (k.does == Does::kFold && level_of(k.result) == l + 1) need(k.operands[0], l);
      for (int s : list_.stores())
        if (!value(s).per_row && instruction(s) && level_of(s) == l) need(s, l);
    }
    if (!write()) return std::nullopt;
    hand_on();
    return finished();
  }

 private:
  struct Loop {
    bool once;  // for what has one element a row
    Stretch stretch;
    std::vector<int> folded = {};  // the results of its folds
  };

  const Expr::Value& value(int v) const { return list_.values()[static_cast<size_t>(v)]; }
  const Instruction* instruction(int v) const {
    int k = value(v).instruction;
    return k < 0 ? nullptr : &list_.code()[static_cast<size_t>(k)];
  }
  int level_of(int v) const { return level_[static_cast<size_t>(v)]; }
  int held(int v) const { return held_[static_cast<size_t>(v)]; }
  bool stored(int v) const {
    return std::find(list_.stores().begin(), list_.stores().end(), v) != list_.stores().end();
  }
  static std::span<const int> operands(const Instruction& k) {
    bool first = k.does == Does::kSame || k.does == Does::kFold;
    return {k.operands.begin(), first ? 1 : k.operands.size()};
  }

  void levels() {
    int most = 0;
    for (size_t v = 0; v < values_; ++v) held_[v] = static_cast<int>(v);
    for (const Instruction& k : list_.code()) {
      auto r = static_cast<size_t>(k.result);
      if (k.does == Does::kSame && !stored(k.result)) held_[r] = held(k.operands[0]);
      for (int o : operands(k)) level_[r] = std::max(level_[r], level_of(held(o)));
      if (k.does == Does::kFold) ++level_[r];
      most = std::max(most, level_[r]);
    }
    needed_.assign(static_cast<size_t>(most) + 1, std::vector<bool>(list_.code().size(), false));
  }

  // How many instructions make a value again from what is in memory; more than kCheap where one
  // takes long.
  int cost(int v) const {
    v = held(v);
    const Instruction* k = instruction(v);
    if (!k || value(v).per_row) return 0;
    if (!is_cheap(*k)) return kCheap + 1;
    int out = 1;
    for (int o : operands(*k)) out += cost(o);
    return out;
  }

  // The loop of a level computes the value, or reads what an earlier one made.
  void need(int v, int level) {
    v = held(v);
    const Instruction* k = instruction(v);
    if (!k || value(v).per_row) return;
    auto seen = needed_[static_cast<size_t>(level)].begin() + value(v).instruction;
    int& first = made_in_[static_cast<size_t>(v)];
    if (*seen || (first >= 0 && first < level && cost(v) > kCheap)) return;
    if (first < 0) first = level;
    *seen = true;
    for (int o : operands(*k)) need(o, level);
  }

  bool write() {
    for (size_t l = 0; l < needed_.size(); ++l) {
      int level = static_cast<int>(l);
      Loop before{true, Stretch(list_, Stretch::Over::kRow)};
      Loop loop{false, Stretch(list_, Stretch::Over::kDomain)};
      for (size_t i = 0; i < list_.code().size(); ++i) {
        const Instruction& k = list_.code()[i];
        bool per_row = value(k.result).per_row;
        if (per_row
                ? k.does == Does::kFold || held(k.result) != k.result || level_of(k.result) != level
                : !needed_[l][i])
          continue;
        InlineVector<int, 3> in;
        for (int o : operands(k)) in.push_back(held(o));
        if (!(per_row ? before : loop).stretch.add(k, in)) return false;
      }
      for (const Instruction& k : list_.code())
        if (k.does == Does::kFold && level_of(k.result) == level + 1) {
          if (!folds(k.fold, list_.dtype(k.operands[0]), list_.row())) return false;
          if (!loop.folded.empty() && list_.dtype(loop.folded[0]) != list_.dtype(k.result))
            return false;
          loop.stretch.fold(k.fold, held(k.operands[0]));
          loop.folded.push_back(k.result);
        }
      if (!before.stretch.empty()) loops_.push_back(std::move(before));
      if (!loop.stretch.empty() || !loop.folded.empty()) loops_.push_back(std::move(loop));
    }
    return true;
  }

  // The loop in which a value is made first.
  Loop* maker(int v) {
    for (Loop& l : loops_)
      if (l.stretch.makes(v)) return &l;
    return nullptr;
  }
  void hand_on(int v) {
    Loop* by = maker(v);
    if (!by) return;
    const auto& out = by->stretch.out();
    if (std::find(out.begin(), out.end(), v) == out.end()) by->stretch.store(v);
  }
  void hand_on() {
    for (Loop& l : loops_)
      for (int v : std::vector<int>(l.stretch.in())) hand_on(v);
    for (int s : list_.stores()) hand_on(s);
  }

  int array(int v) {
    int& a = arrays_[static_cast<size_t>(v)];
    if (a < 0) {
      a = out_.function.arrays++;
      out_.values.push_back(v);
    }
    return a;
  }

  RowFunction finished() {
    out_.function.row = list_.row();
    for (const Loop& l : loops_) {
      Part part;
      for (int v : l.stretch.in()) part.arrays.push_back(array(v));
      for (int v : l.stretch.out()) part.arrays.push_back(array(v));
      for (int v : l.folded) part.arrays.push_back(array(v));
      part.body = l.stretch.finished();
      out_.function.parts.push_back(std::move(part));
    }
    for (size_t a = 0; a < out_.values.size(); ++a) {
      int v = out_.values[a];
      bool written = stored(v);
      if (!value(v).per_row && !value(v).number.defined() && (written || value(v).input >= 0))
        out_.function.ahead.push_back(
            {static_cast<int>(a), static_cast<int>(size_of(value(v).dtype)), written});
    }
    keep_apart();
    return std::move(out_);
  }

  void keep_apart() {
    // When a value is written, and an input is read for the last time: part, then node.
    using When = std::pair<size_t, int>;
    std::vector<When> written(values_), read(list_.inputs());
    const auto& parts = out_.function.parts;
    for (size_t p = 0; p < parts.size(); ++p) {
      const Body& b = parts[p].body;
      auto at = [&](size_t i) { return out_.values[static_cast<size_t>(parts[p].arrays[i])]; };
      for (size_t n = 0; n < b.nodes.size(); ++n) {
        const Node& node = b.nodes[n];
        if (node.op != Op::kLoad && node.op != Op::kSingle) continue;
        int input = value(at(static_cast<size_t>(node.operand))).input;
        if (input >= 0) read[static_cast<size_t>(input)] = {p, static_cast<int>(n)};
      }
      size_t outs = b.operands.size();
      for (size_t s = 0; s < b.stores.size(); ++s)
        written[static_cast<size_t>(at(outs + s))] = {p, b.stores[s].node};
      for (size_t f = 0; f < b.folds.size(); ++f)
        written[static_cast<size_t>(at(outs + b.stores.size() + f))] = {
            p, static_cast<int>(b.nodes.size())};
    }
    for (size_t o = 0; o < list_.stores().size(); ++o)
      for (size_t i = 0; i < read.size(); ++i)
        if (read[i] > written[static_cast<size_t>(list_.stores()[o])])
          out_.apart.emplace_back(o, i);
  }

  const Expr& list_;
  size_t values_;
  std::vector<int> arrays_;                // of the function, by value
  std::vector<int> held_;                  // the value that has a value's numbers
  std::vector<int> level_;                 // by value
  std::vector<int> made_in_;               // the first loop that computes a value
  std::vector<std::vector<bool>> needed_;  // which instructions each loop computes
  std::vector<Loop> loops_;
  RowFunction out_;
};

}  // namespace

std::optional<RowFunction> rows_of(const Expr& e) { return RowPlanner(e).plan(); }

}  // namespace holdfast::jit
