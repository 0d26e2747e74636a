// Things made on demand, one for each key, by any number of threads.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace holdfast {

/// Keeps what it made as long as it lives. Looking takes no lock; of two threads that make the same
/// one, the first is kept. For a handful of keys: they are looked through in turn.
template <class Key, class Value>
class Variants {
 public:
  Variants() = default;
  Variants(const Variants&) = delete;
  ~Variants() {
    for (Node* n = first_.load(std::memory_order_acquire); n;) delete std::exchange(n, n->next);
  }

  /// The value of `key`; `make()` gives it where there is none yet.
  template <class Make>
  const Value& get(const Key& key, Make&& make) const {
    Node* seen = first_.load(std::memory_order_acquire);
    if (const Node* n = find(seen, key)) return n->value;
    std::unique_ptr<Node> fresh(new Node{key, make(), seen});
    while (!first_.compare_exchange_weak(fresh->next, fresh.get(), std::memory_order_acq_rel))
      if (const Node* n = find(fresh->next, key)) return n->value;
    return fresh.release()->value;
  }

 private:
  struct Node {
    Key key;
    Value value;
    Node* next;
  };
  static const Node* find(const Node* n, const Key& key) {
    while (n && !(n->key == key)) n = n->next;
    return n;
  }
  mutable std::atomic<Node*> first_{nullptr};
};

}  // namespace holdfast
