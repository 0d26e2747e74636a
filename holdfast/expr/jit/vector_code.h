// The body of a loop as vector instructions. The loops around it are emitter.cpp's.
#pragma once

#include <xbyak/xbyak.h>

#include <memory>
#include <variant>
#include <vector>

#include "holdfast/expr/jit/emitter.h"
#include "holdfast/expr/jit/registers.h"

namespace holdfast::jit {

/// A register, or a place in memory.
class Place {
 public:
  Place(const Xbyak::Xmm& v) : at_(v) {}
  Place(const Xbyak::Address& a) : at_(a) {}
  bool in_memory() const { return at_.index() == 1; }
  const Xbyak::Xmm& reg() const { return std::get<0>(at_); }
  const Xbyak::Operand& operator*() const {
    if (const auto* v = std::get_if<0>(&at_)) return *v;
    return std::get<1>(at_);
  }

 private:
  std::variant<Xbyak::Xmm, Xbyak::Address> at_;
};

class VectorCode : public Xbyak::CodeGenerator {
 protected:
  /// A part of the function, and what was decided of it.
  struct Plan {
    Plan(const Body& b, const Target& t);
    const Body& body;
    const Uses uses;
    const int lanes;          // elements of a vector
    int chunks = 1;           // vectors side by side
    int held_back = 0;        // registers that are not given out, for what is folded
    std::vector<int> pinned;  // the register of a constant or single, by node; -1: in memory
    std::vector<int> places;  // of a constant in the pool
  };

  VectorCode(const Function&, const Target&, void* room, size_t bytes);

  /// Turns to a part: what follows is about it.
  void turn_to(size_t part) { plan_ = &plans_[part]; }
  /// Emits the body for some vectors side by side, the first of which is the `first` from here;
  /// `tail`: for fewer elements than one has.
  void body(int chunks, bool tail, int first = 0);
  /// The element of a single in every lane of its register, or of its place on the stack.
  void splat(int operand);
  /// The constants, in front of the code, and the place of one.
  void pool();
  Xbyak::Address constant(int node);

  // -- places, of which the frame decides
  virtual Xbyak::Address array(size_t index, int bytes, int chunk) = 0;
  virtual Xbyak::Address narrow_tail(size_t index) = 0;
  virtual Xbyak::Address spill_slot(int) = 0;
  virtual Xbyak::Address single_slot(int operand) = 0;
  /// Takes in a fold's node, which is in a register.
  virtual void fold(size_t index, const Xbyak::Xmm&, int chunk) = 0;
  /// Lanes that the last elements fill, for elements of 4 and of 8 bytes.
  virtual Xbyak::Address tail_mask(int bytes) = 0;
  /// A general register with the address of a single.
  virtual Xbyak::Reg64 single_pointer(int operand) = 0;

  int registers() const { return target_.avx512 ? 32 : 16; }
  Xbyak::Xmm vec(int r, int bytes) const;
  Xbyak::Xmm vec(int r, Lane l) const { return vec(r, lanes() * bytes_of(l)); }
  Xbyak::Xmm borrow(Lane l) { return vec(registers_->borrow(), l); }
  const Body& body() const { return plan_->body; }
  int lanes() const { return plan_->lanes; }
  const Node& at(int node) const { return body().nodes[static_cast<size_t>(node)]; }

  const Target target_;
  std::vector<Plan> plans_;
  Plan* plan_ = nullptr;
  int spills_ = 0;  // places on the stack that bodies took
  bool tail_ = false;
  const Xbyak::Opmask tail_lanes_ = k2;

 private:
  bool in_memory(int node, int chunk) const;
  Xbyak::Address memory(int node, int chunk);
  Xbyak::Xmm in_register(int node, int chunk, Lane);
  Place operand(int node, int chunk, Lane);
  Xbyak::Xmm result(int node, int chunk);
  Xbyak::Xmm low_half(const Xbyak::Xmm& v) const { return vec(v.getIdx(), v.getBit() / 16); }

  void emit_node(int node, int chunk);
  void binary(int node, int chunk);
  void multiply_add(int node, int chunk);
  void shift(int node, int chunk);
  void convert(int node, int chunk);
  void round_to_half(int node, int chunk);
  void look_up(int node, int chunk);
  void compare(int node, int chunk);
  void choose(int node, int chunk);
  void select(int node, int chunk);
  void load(int node, int chunk);
  void store(const Store&, size_t index, int chunk);
  void store_one(const Store&, const Xbyak::Xmm&, const Xbyak::Address&);
  void store_truth(const Xbyak::Xmm&, const Xbyak::Address&);
  void store_short(DType, const Xbyak::Xmm&, const Xbyak::Address&);
  /// The comparison of a node's a and b, for AVX-512.
  void compare_to_k1(const Node&, int chunk);
  /// The same without it, as a register full of masks. True: they are the other way.
  bool masks(const Node&, int chunk, const Xbyak::Xmm& to);
  void blend(const Xbyak::Xmm& to, const Xbyak::Xmm& no, const Xbyak::Operand& yes,
             const Xbyak::Xmm& mask, Lane);
  void narrowed(const Xbyak::Xmm& to, const Xbyak::Xmm& from);

  std::unique_ptr<Registers> registers_;
  int first_ = 0;
  Xbyak::Label pool_;
};

}  // namespace holdfast::jit
