#include "holdfast/expr/jit/registers.h"

#include <algorithm>

namespace holdfast::jit {

Registers::Registers(const Body& b, int count, int chunks, Spill spill)
    : body_(b),
      chunks_(chunks),
      spill_(std::move(spill)),
      held_(b.nodes.size()),
      last_(b.nodes.size(), -1),
      registers_(b.nodes.size() * static_cast<size_t>(chunks), -1),
      slots_(registers_.size(), -1),
      uses_(b.nodes.size()),
      owners_(static_cast<size_t>(count)),
      locked_(static_cast<size_t>(count), false),
      borrowed_(static_cast<size_t>(count), false) {
  for (size_t i = 0; i < b.nodes.size(); ++i) {
    const Node& n = b.nodes[i];
    held_[i] = n.op == Op::kBits ? held(n.a) : static_cast<int>(i);
    if (n.op == Op::kBits) continue;
    for (int o : {n.a, n.b, n.c, n.d})
      if (o >= 0) uses_[static_cast<size_t>(held(o))].push_back(static_cast<int>(i));
  }
  // A store follows the node it writes.
  for (const Store& s : b.stores) uses_[static_cast<size_t>(held(s.node))].push_back(s.node);
  for (size_t i = 0; i < uses_.size(); ++i) {
    std::sort(uses_[i].begin(), uses_[i].end());
    if (!uses_[i].empty()) last_[i] = uses_[i].back();
  }
}

int Registers::next_use(int node) const {
  const auto& uses = uses_[static_cast<size_t>(node)];
  auto next = std::lower_bound(uses.begin(), uses.end(), now_);
  return next == uses.end() ? static_cast<int>(body_.nodes.size()) : *next;
}

void Registers::occupied() {
  int used = 0;
  for (size_t r = 0; r < owners_.size(); ++r) used += owners_[r].node >= 0 || borrowed_[r];
  most_ = std::max(most_, used);
}

int Registers::free_register() {
  for (size_t r = 0; r < owners_.size(); ++r)
    if (owners_[r].node < 0 && !borrowed_[r]) return static_cast<int>(r);
  int latest = -1;
  for (size_t r = 0; r < owners_.size(); ++r) {
    if (locked_[r] || borrowed_[r]) continue;
    if (latest < 0 ||
        next_use(owners_[r].node) > next_use(owners_[static_cast<size_t>(latest)].node))
      latest = static_cast<int>(r);
  }
  Owner& out = owners_[static_cast<size_t>(latest)];
  size_t place = at(out.node, out.chunk);
  if (slots_[place] < 0) {
    slots_[place] = spills_++;
    spill_(latest, slots_[place], out.node);
  }
  registers_[place] = -1;
  out.node = -1;
  return latest;
}

int Registers::give(int node, int chunk) {
  int r = free_register();
  owners_[static_cast<size_t>(r)] = {held(node), chunk};
  registers_[at(node, chunk)] = r;
  lock(r);
  occupied();
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
  borrowed_[static_cast<size_t>(r)] = true;
  occupied();
  return r;
}

void Registers::release_dead(int chunk) {
  for (Owner& o : owners_) {
    if (o.node < 0 || o.chunk != chunk || last_[static_cast<size_t>(o.node)] > now_) continue;
    registers_[at(o.node, chunk)] = -1;
    o.node = -1;
  }
}

void Registers::next(int node) {
  now_ = node;
  std::fill(locked_.begin(), locked_.end(), false);
  std::fill(borrowed_.begin(), borrowed_.end(), false);
}

}  // namespace holdfast::jit
