// Which vector register holds which value, while a body is emitted from its first node to its last.
//
// The body is straight code for a few vectors side by side ("chunks"), so the value that is read
// again latest is known: it leaves its register when none is free.
#pragma once

#include <functional>
#include <vector>

#include "holdfast/expr/jit/body.h"

namespace holdfast::jit {

class Registers {
 public:
  /// `spill(register, slot, node)` writes a register to the stack.
  using Spill = std::function<void(int, int, int)>;
  /// Registers 0 to count - 1 are given out.
  Registers(const Body&, int count, int chunks, Spill);

  /// Nodes of the same bits are one.
  int held(int node) const { return held_[static_cast<size_t>(node)]; }
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
  void lock(int reg) { locked_[static_cast<size_t>(reg)] = true; }
  /// Whether `node` is read last by the node in hand.
  bool dies(int node) const { return last_[static_cast<size_t>(held(node))] <= now_; }
  /// Lets go of what the node in hand reads last in this chunk.
  void release_dead(int chunk);
  /// The next instruction: `node` is in hand. What was borrowed is free.
  void next(int node);

  int most() const { return most_; }      // registers in use at once
  int spills() const { return spills_; }  // places on the stack

 private:
  size_t at(int node, int chunk) const { return static_cast<size_t>(held(node) * chunks_ + chunk); }
  int free_register();
  int next_use(int node) const;
  void occupied();

  struct Owner {
    int node = -1, chunk = 0;
  };
  const Body& body_;
  int chunks_, now_ = 0, most_ = 0, spills_ = 0;
  Spill spill_;
  std::vector<int> held_, last_, registers_, slots_;
  std::vector<std::vector<int>> uses_;
  std::vector<Owner> owners_;  // of each register
  std::vector<bool> locked_, borrowed_;
};

}  // namespace holdfast::jit
