#include "holdfast/expr/jit/registers.h"

#include <algorithm>
#include <bit>

namespace holdfast::jit {
namespace {

template <class F>
void each_read(const Body& b, const Uses& uses, F f) {
  for (size_t i = 0; i < b.nodes.size(); ++i) {
    const Node& n = b.nodes[i];
    if (n.op == Op::kBits) continue;
    for (int o : {n.a, n.b, n.c, n.d})
      if (o >= 0) f(static_cast<size_t>(uses.held(o)), static_cast<int>(i));
  }
  // A store or a fold follows the node it takes.
  for (const Store& s : b.stores) f(static_cast<size_t>(uses.held(s.node)), s.node);
  for (const FoldOf& s : b.folds) f(static_cast<size_t>(uses.held(s.node)), s.node);
}

// Registers that an instruction takes beside its operands and its result.
int borrowed_by(const Node& n) {
  switch (n.op) {
    case Op::kCompare:
    case Op::kChoose:
    case Op::kSelect: return 3;
    case Op::kHalf:
    case Op::kTable:
    case Op::kConvert: return 2;
    default: return 1;
  }
}

}  // namespace

Uses::Uses(const Body& b)
    : held_(b.nodes.size()), last_(b.nodes.size(), -1), first_(b.nodes.size() + 1, 0) {
  for (size_t i = 0; i < b.nodes.size(); ++i)
    held_[i] = b.nodes[i].op == Op::kBits ? held(b.nodes[i].a) : static_cast<int>(i);
  each_read(b, *this, [&](size_t value, int reader) {
    ++first_[value + 1];
    last_[value] = std::max(last_[value], reader);
  });
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  nodes_.resize(static_cast<size_t>(first_.back()));
  std::vector<int> filled(first_);
  each_read(b, *this, [&](size_t value, int reader) {
    nodes_[static_cast<size_t>(filled[value]++)] = reader;
  });
}

int Uses::next(int value, int node) const {
  int out = static_cast<int>(held_.size());
  for (int i = first_[static_cast<size_t>(value)]; i < first_[static_cast<size_t>(value) + 1]; ++i)
    if (int reader = nodes_[static_cast<size_t>(i)]; reader >= node) out = std::min(out, reader);
  return out;
}

int Uses::most(const Body& b, int chunks) const {
  std::vector<int> dying(b.nodes.size() + 1, 0);
  int live = 0, most = 0;
  for (size_t i = 0; i < b.nodes.size(); ++i) {
    const Node& n = b.nodes[i];
    bool shared = n.op == Op::kNumber || n.op == Op::kSingle;
    bool made = !shared && n.op != Op::kBits && last_[i] >= 0;
    if (made) ++dying[static_cast<size_t>(last_[i])];
    // A result may take the register of what is read last.
    int before = live, after = live + made - dying[i];
    most = std::max(most, chunks * std::max(before, after) + (before >= after ? 0 : 1) +
                              (shared || n.op == Op::kBits ? 0 : borrowed_by(n)));
    live = after;
  }
  return most;
}

Registers::Registers(const Body& b, const Uses& uses, int count, int chunks, Spill spill)
    : body_(b),
      uses_(uses),
      chunks_(chunks),
      spill_(std::move(spill)),
      registers_(b.nodes.size() * static_cast<size_t>(chunks), -1),
      slots_(registers_.size(), -1),
      free_(count >= 32 ? ~uint32_t{0} : bit(count) - 1) {}

int Registers::free_register() {
  if (free_) return std::countr_zero(free_);
  int latest = -1, latest_use = -1;
  for (int r = 0; r < static_cast<int>(owners_.size()); ++r) {
    const Owner& o = owners_[static_cast<size_t>(r)];
    if (o.node < 0 || (locked_ | borrowed_) & bit(r)) continue;
    int use = uses_.next(o.node, now_);
    if (use > latest_use) {
      latest = r;
      latest_use = use;
    }
  }
  Owner& out = owners_[static_cast<size_t>(latest)];
  size_t place = at(out.node, out.chunk);
  if (slots_[place] < 0) {
    slots_[place] = spills_++;
    spill_(latest, slots_[place], out.node);
  }
  registers_[place] = -1;
  out.node = -1;
  free_ |= bit(latest);
  return latest;
}

int Registers::give(int node, int chunk) {
  int r = free_register();
  free_ &= ~bit(r);
  owners_[static_cast<size_t>(r)] = {held(node), chunk};
  registers_[at(node, chunk)] = r;
  lock(r);
  return r;
}

void Registers::hand_over(int from, int to, int chunk) {
  int& r = registers_[at(from, chunk)];
  owners_[static_cast<size_t>(r)] = {held(to), chunk};
  registers_[at(to, chunk)] = r;
  r = -1;
}

int Registers::borrow() {
  int r = free_register();
  free_ &= ~bit(r);
  borrowed_ |= bit(r);
  return r;
}

void Registers::release(int value, int chunk) {
  int& r = registers_[at(value, chunk)];
  if (r < 0 || uses_.last(value) > now_) return;
  owners_[static_cast<size_t>(r)].node = -1;
  free_ |= bit(r);
  r = -1;
}

void Registers::release_dead(int chunk) {
  const Node& n = body_.nodes[static_cast<size_t>(now_)];
  for (int o : {n.a, n.b, n.c, n.d, now_})
    if (o >= 0) release(held(o), chunk);
}

void Registers::next(int node) {
  now_ = node;
  locked_ = 0;
  free_ |= borrowed_;
  borrowed_ = 0;
}

}  // namespace holdfast::jit
