// Which vector register holds which value, while a body is emitted from its first node to its last.
//
// The body is straight code for a few vectors side by side ("chunks"), so the value that is read
// again latest is known: it leaves its register when none is free.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "holdfast/expr/jit/body.h"

namespace holdfast::jit {

/// Where the values of a body are read: the same for every way to emit it.
class Uses {
 public:
  explicit Uses(const Body&);

  /// Nodes of the same bits are one.
  int held(int node) const { return held_[static_cast<size_t>(node)]; }
  /// The node that reads a value last, or stores it; -1 where none does.
  int last(int value) const { return last_[static_cast<size_t>(value)]; }
  /// The first of them from `node` on; behind the last node where there is none.
  int next(int value, int node) const;
  /// How many registers a node needs for each of so many chunks side by side, at most, those that
  /// the instruction borrows among them.
  int most(const Body&, int chunks) const;

 private:
  std::vector<int> held_, last_;
  std::vector<int> first_, nodes_;  // the readers of value i: nodes_[first_[i]] and on
};

class Registers {
 public:
  /// `spill(register, slot, node)` writes a register to the stack.
  using Spill = std::function<void(int, int, int)>;
  /// Registers 0 to count - 1 are given out, at most 32.
  Registers(const Body&, const Uses&, int count, int chunks, Spill);

  int held(int node) const { return uses_.held(node); }
  /// The register of a node; -1 where it has none.
  int of(int node, int chunk) const { return registers_[at(node, chunk)]; }
  /// Its place on the stack; -1 where it was never spilled.
  int slot(int node, int chunk) const { return slots_[at(node, chunk)]; }
  /// Gives a node a register, which stays as long as it is read.
  int give(int node, int chunk);
  /// The register of `from` is now that of `to`, which overwrote it.
  void hand_over(int from, int to, int chunk);
  /// A register for the instruction in hand alone.
  int borrow();
  /// What the instruction in hand reads stays where it is until `next`.
  void lock(int reg) { locked_ |= bit(reg); }
  /// Whether `node` is read last by the node in hand.
  bool dies(int node) const { return uses_.last(held(node)) <= now_; }
  /// Lets go of what the node in hand reads last in this chunk.
  void release_dead(int chunk);
  /// The next instruction: `node` is in hand. What was borrowed is free.
  void next(int node);

  int spills() const { return spills_; }  // places on the stack

 private:
  static uint32_t bit(int reg) { return uint32_t{1} << reg; }
  size_t at(int node, int chunk) const { return static_cast<size_t>(held(node) * chunks_ + chunk); }
  int free_register();
  void release(int value, int chunk);

  struct Owner {
    int node = -1, chunk = 0;
  };
  const Body& body_;
  const Uses& uses_;
  int chunks_, now_ = 0, spills_ = 0;
  Spill spill_;
  std::vector<int> registers_, slots_;         // of each value in each chunk
  std::array<Owner, 32> owners_;               // of each register
  uint32_t free_, locked_ = 0, borrowed_ = 0;  // a bit for each register
};

}  // namespace holdfast::jit
