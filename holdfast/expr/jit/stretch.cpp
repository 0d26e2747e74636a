#include "holdfast/expr/jit/stretch.h"

#include <algorithm>

#include "holdfast/expr/jit/code.h"

namespace holdfast::jit {
namespace {

constexpr size_t kMostNodes = 1200;  // beyond, code would leave the first cache
constexpr size_t kMostArrays = 40;

}  // namespace

std::optional<int> Stretch::value(int v) {
  int& made = made_[static_cast<size_t>(v)];
  if (made >= 0) return made;
  const Expr::Value& value = list_.values()[static_cast<size_t>(v)];
  auto lane = lane_of(value.dtype);
  if (!lane) return std::nullopt;
  bool per_row = value.per_row && over_ != Over::kRows, number = value.number.defined();
  made = body_.add({.op = number || per_row ? Op::kSingle : Op::kLoad,
                    .lane = *lane,
                    .operand = static_cast<int16_t>(in_.size())});
  body_.operands.push_back(
      {.dtype = value.dtype, .single = number || per_row, .per_row = per_row && !number});
  in_.push_back(v);
  return made;
}

bool Stretch::add(const Instruction& k, std::span<const int> operands) {
  size_t nodes = body_.nodes.size(), in = in_.size();
  InlineVector<V, 3> from;
  std::optional<V> out;
  bool all = nodes < kMostNodes && in + results_.size() < kMostArrays;
  for (int o : operands) {
    auto node = all ? value(o) : std::nullopt;
    all = node.has_value();
    if (!all) break;
    from.push_back({&body_, *node});
  }
  if (all) out = lower(list_, k, {from.data(), from.size()}, with_avx512());
  if (!out) {
    body_.nodes.resize(nodes);
    body_.operands.resize(in);
    for (size_t i = in; i < in_.size(); ++i) made_[static_cast<size_t>(in_[i])] = -1;
    in_.resize(in);
    return false;
  }
  made_[static_cast<size_t>(k.result)] = out->id;
  results_.push_back(k.result);
  return true;
}

bool Stretch::makes(int v) const {
  return std::find(results_.begin(), results_.end(), v) != results_.end();
}

void Stretch::store(int v) {
  body_.stores.push_back({list_.dtype(v), made_[static_cast<size_t>(v)]});
  out_.push_back(v);
}

void Stretch::fold(Fold f, int v) { body_.folds.push_back({f, *value(v)}); }

bool Stretch::by_rows() const {
  return std::any_of(body_.operands.begin(), body_.operands.end(),
                     [](const Operand& o) { return o.per_row; });
}

Body Stretch::finished() const {
  Body b = body_;
  b.drop_unread();
  return b;
}

}  // namespace holdfast::jit
