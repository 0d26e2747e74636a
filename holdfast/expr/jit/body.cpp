#include "holdfast/expr/jit/body.h"

#include <algorithm>
#include <numeric>

namespace holdfast::jit {
namespace {

template <class F>
void each_operand(Node& n, F f) {
  for (int* o : {&n.a, &n.b, &n.c, &n.d})
    if (*o >= 0) f(*o);
}

bool reads(const Node& n, int v) { return n.a == v || n.b == v || n.c == v || n.d == v; }

// What the sum or difference `n` becomes where the product `m` is one side of it.
Node fused(const Node& n, int product, const Node& m) {
  Node out = n;
  bool first = n.a == product;
  out.op = n.op == Op::kAdd ? Op::kMulAdd : first ? Op::kMulSub : Op::kSubMul;
  out.c = first ? n.b : n.a;
  out.a = m.a;
  out.b = m.b;
  return out;
}

}  // namespace

int Body::add(const Node& n) {
  nodes.push_back(n);
  return static_cast<int>(nodes.size()) - 1;
}

int Body::number(Lane lane, uint64_t bits) {
  Node n{.op = Op::kNumber, .lane = lane, .bits = bits};
  auto at = std::find(nodes.begin(), nodes.end(), n);
  return at == nodes.end() ? add(n) : static_cast<int>(at - nodes.begin());
}

void Body::contract(int from, int result) {
  int end = static_cast<int>(nodes.size());
  for (int p = from; p < end; ++p) {
    const Node product = nodes[static_cast<size_t>(p)];
    if (product.op != Op::kMul || p == result) continue;
    bool all = true, any = false;
    for (int i = p + 1; i < end && all; ++i) {
      const Node& n = nodes[static_cast<size_t>(i)];
      if (!reads(n, p)) continue;
      any = true;
      all = (n.op == Op::kAdd || n.op == Op::kSub) && n.a != n.b;
    }
    if (!all || !any) continue;
    for (int i = p + 1; i < end; ++i)
      if (reads(nodes[static_cast<size_t>(i)], p))
        nodes[static_cast<size_t>(i)] = fused(nodes[static_cast<size_t>(i)], p, product);
  }
}

std::vector<int> reads_of(const Body& b) {
  std::vector<int> out(b.nodes.size(), 0);
  for (Node n : b.nodes) each_operand(n, [&](int o) { ++out[static_cast<size_t>(o)]; });
  for (const Store& s : b.stores) ++out[static_cast<size_t>(s.node)];
  for (const FoldOf& f : b.folds) ++out[static_cast<size_t>(f.node)];
  return out;
}

void Body::drop_unread() {
  std::vector<bool> needed(nodes.size(), false);
  for (const Store& s : stores) needed[static_cast<size_t>(s.node)] = true;
  for (const FoldOf& f : folds) needed[static_cast<size_t>(f.node)] = true;
  for (size_t i = nodes.size(); i-- > 0;)
    if (needed[i]) each_operand(nodes[i], [&](int o) { needed[static_cast<size_t>(o)] = true; });
  std::vector<int> now(nodes.size(), -1);
  std::vector<Node> kept;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!needed[i]) continue;
    now[i] = static_cast<int>(kept.size());
    each_operand(nodes[i], [&](int& o) { o = now[static_cast<size_t>(o)]; });
    kept.push_back(nodes[i]);
  }
  nodes = std::move(kept);
  for (Store& s : stores) s.node = now[static_cast<size_t>(s.node)];
  for (FoldOf& f : folds) f.node = now[static_cast<size_t>(f.node)];
}

int Body::widest() const {
  int most = 4;
  for (const Node& n : nodes) most = std::max(most, bytes_of(n.lane));
  return most;
}

uint64_t Body::hash() const {
  uint64_t h = nodes.size();
  auto mix = [&](uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  };
  auto place = [](int v) { return static_cast<uint64_t>(static_cast<uint16_t>(v)); };
  for (const Operand& o : operands)
    mix(static_cast<uint64_t>(o.dtype) << 2 | static_cast<uint64_t>(o.single) << 1 | o.per_row);
  for (const Node& n : nodes) {
    mix(static_cast<uint64_t>(n.op) << 32 | static_cast<uint64_t>(n.lane) << 24 |
        static_cast<uint64_t>(n.immediate) << 16 | place(n.operand));
    mix(place(n.a) << 48 | place(n.b) << 32 | place(n.c) << 16 | place(n.d));
    mix(n.bits);
  }
  for (const Store& s : stores) mix(static_cast<uint64_t>(s.dtype) << 32 | place(s.node));
  for (const FoldOf& f : folds) mix(static_cast<uint64_t>(f.fold) << 32 | place(f.node));
  mix(once);
  return h;
}

Function Function::of(Body body) {
  Function out;
  out.arrays = static_cast<int>(body.operands.size() + body.stores.size());
  std::vector<int> arrays(static_cast<size_t>(out.arrays));
  std::iota(arrays.begin(), arrays.end(), 0);
  out.parts.push_back({std::move(body), std::move(arrays)});
  return out;
}

uint64_t Function::hash() const {
  auto h = static_cast<uint64_t>(row);
  auto mix = [&](uint64_t v) { h = ((h ^ v) * 0x9e3779b97f4a7c15u) ^ (h >> 29); };
  for (const Part& p : parts) {
    mix(p.body.hash());
    for (int a : p.arrays) mix(static_cast<uint64_t>(a));
  }
  return h;
}

}  // namespace holdfast::jit
