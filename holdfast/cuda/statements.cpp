#include "holdfast/cuda/statements.h"

#include <algorithm>
#include <set>

#include "holdfast/base/text.h"

namespace holdfast::cuda {
namespace {

constexpr DTypes kComputed = kReals | kBools;  // others are only moved

const char* fold_name(Fold f) {
  switch (f) {
    case Fold::kSum: return "FoldSum";
    case Fold::kMean: return "FoldMean";
    case Fold::kProd: return "FoldProd";
    case Fold::kMax: return "FoldMax";
    case Fold::kMin: return "FoldMin";
    case Fold::kSquares: return "FoldSquares";
    default: return "FoldHalfSquares";
  }
}

std::string function_name(const Expr& e, const Instruction& k) {
  return cat(info(k.scalar).name, "_", name(e.dtype(k.operands[0])));
}

}  // namespace

const char* c_type(DType d) {
  switch (d) {
    case DType::kBool: return "bool";
    case DType::kInt8: return "signed char";
    case DType::kInt16: return "short";
    case DType::kInt32: return "int";
    case DType::kInt64: return "long long";
    case DType::kUInt8: return "unsigned char";
    case DType::kUInt16: return "unsigned short";
    case DType::kUInt32: return "unsigned";
    case DType::kUInt64: return "unsigned long long";
    case DType::kFloat16: return "half";
    case DType::kBFloat16: return "bfloat";
    case DType::kFloat32: return "float";
    case DType::kFloat64: return "double";
    case DType::kComplex64: return "cell8";
    case DType::kComplex128: return "cell16";
    default: return "void";
  }
}

DType computed_in(DType d) {
  return d == DType::kFloat16 || d == DType::kBFloat16 ? DType::kFloat32 : d;
}

const char* refuse_list(const Expr& e) {
  for (const Instruction& k : e.code()) {
    if (k.does == Does::kSame || k.does == Does::kSelect) continue;
    DType d = e.dtype(k.operands[0]);
    if (!kComputed.has(d) || !kComputed.has(e.dtype(k.result)))
      return "complex numbers are computed on the host";
    if (k.does == Does::kFold && k.fold == Fold::kHalfSquares && !is_floating(d))
      return "half the squares of integers are computed on the host";
  }
  return nullptr;
}

Words::Words(const Expr& e) : e_(e), behind_(e.values().size()) {
  for (size_t i = 0; i < behind_.size(); ++i) behind_[i] = static_cast<int>(i);
  for (const Instruction& k : e.code())
    if (k.does == Does::kSame) behind_[static_cast<size_t>(k.result)] = behind(k.operands[0]);
}

std::string Words::functions() const {
  constexpr const char* kNames[] = {"x", "y", "z"};
  std::string t;
  std::set<std::string> known;
  for (const Instruction& k : e_.code()) {
    if (k.does != Does::kScalar || !known.insert(function_name(e_, k)).second) continue;
    const char* type = c_type(computed_in(e_.dtype(k.operands[0])));
    t += cat("__device__ __forceinline__ ", c_type(e_.dtype(k.result)), " ", function_name(e_, k),
             "(");
    for (int i = 0; i < info(k.scalar).arity; ++i)
      t += cat(i ? ", " : "", "const ", type, " ", kNames[i]);
    t += cat(") {\n  using T = ", type, ";\n  return static_cast<", c_type(e_.dtype(k.result)),
             ">(", info(k.scalar).expression, ");\n}\n");
  }
  return t;
}

std::string Words::name(int v, const Walks* walks) const {
  int b = behind(v);
  bool made = e_.values()[static_cast<size_t>(b)].instruction >= 0;
  return cat(made ? "v" : "x", b, walks && walks->held(b) ? "[k * V + j]" : "");
}

std::string Words::value(const Instruction& k, const Walks* walks) const {
  std::vector<std::string> operands;
  for (int o : k.operands)
    if (!e_.values()[static_cast<size_t>(o)].aside) operands.push_back(name(o, walks));
  DType from = e_.dtype(k.operands[0]), to = e_.dtype(k.result);
  switch (k.does) {
    case Does::kCast:
      return cat("static_cast<", c_type(to), ">(convert<", c_type(computed_in(to)),
                 ">(static_cast<", c_type(computed_in(from)), ">(", operands[0], ")))");
    case Does::kSelect: return cat(operands[0], " ? ", operands[1], " : ", operands[2]);
    case Does::kScalar: break;
    default: return operands[0];
  }
  std::string t = function_name(e_, k) + "(";
  for (size_t i = 0; i < operands.size(); ++i) t += cat(i ? ", " : "", operands[i]);
  return t + ")";
}

std::string Words::fold(const Instruction& k) const {
  return cat(fold_name(k.fold), "<", c_type(computed_in(e_.dtype(k.result))), ">");
}

Walks::Walks(const Expr& e, const Words& words, std::vector<bool> moving)
    : e_(e),
      words_(words),
      moving_(std::move(moving)),
      of_(e.values().size(), 0),
      first_(of_.size(), INT32_MAX),
      last_(of_.size(), -1) {
  for (const Instruction& k : e.code()) {
    if (k.does == Does::kSame) continue;
    int now = 0;
    for (int o : k.operands)
      if (!e.values()[static_cast<size_t>(o)].aside) now = std::max(now, of(o));
    for (int o : k.operands) read(o, now);
    of_[at(k.result)] = now + (k.does == Does::kFold);
    count_ = std::max(count_, of(k.result) + 1);
  }
  for (int s : e.stores()) read(s, of(s));
}

bool Walks::held(int v) const {
  const Expr::Value& value = e_.values()[at(v)];
  if (value.instruction < 0) return moving_[at(v)];
  return !value.per_row && last(v) > of(v);
}

void Walks::read(int v, int walk) {
  first_[at(v)] = std::min(first_[at(v)], walk);
  last_[at(v)] = std::max(last_[at(v)], walk);
}

}  // namespace holdfast::cuda
