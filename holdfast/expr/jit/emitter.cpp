// The function around its parts: its frame, the loop over rows, the loops over vectors and the
// rest.
#include "holdfast/expr/jit/emitter.h"

#include <algorithm>
#include <numeric>

#include "holdfast/expr/jit/fold_code.h"

namespace holdfast::jit {
namespace {

using Xbyak::Address;
using Xbyak::Label;
using Xbyak::Reg64;

constexpr size_t kRoom = 128 << 10;  // bytes of code at most
constexpr size_t kMostNodes = 2000;
constexpr int kSlot = 64;  // bytes of a place on the stack
constexpr int kMostSpills = 512;
constexpr int kFrameLater = 1 << 30;  // stands for the size of the frame until it is known

class Emitter final : FoldCode {
 public:
  Emitter(const Function& f, const Target& t, void* room)
      : FoldCode(f, t, room, kRoom), function_(f) {
    const Reg64 free[] = {r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15};
    size_t used = 0;
    pointers_.resize(static_cast<size_t>(f.arrays), -1);
    for (const Part& p : f.parts)
      for (size_t i = 0; i < p.arrays.size(); ++i) {
        int& r = pointers_[static_cast<size_t>(p.arrays[i])];
        if (is_array(p.body, i) && r < 0 && used < std::size(free)) r = free[used++].getIdx();
      }
  }

  /// Returns where the function begins.
  size_t function() {
    size_t parts = plans_.size();
    for (size_t p = 0; p < parts; ++p) {
      go_on_to(p);
      choose_registers();
    }
    places();
    pool();
    align(kSlot);
    size_t entry = getSize();
    enter();
    // What rows share is made ready once where there is one part; others overwrite it.
    bool one = parts == 1;
    go_on_to(0);
    if (one) shared();
    Label row, done;
    test(rdx, rdx);
    jle(done, T_NEAR);
    L(row);
    for (size_t p = 0; p < parts; ++p) {
      go_on_to(p);
      if (!one) shared();
      for (size_t i = 0; i < body().operands.size(); ++i)
        if (body().operands[i].per_row) splat(static_cast<int>(i));
      if (body().once)
        FoldCode::body(1, false);
      else if (body().folds.empty())
        one_row();
      else
        folded_row(function_.row);
    }
    dec(rdx);
    jz(done, T_NEAR);
    next_row();
    jmp(row, T_NEAR);
    L(done);
    leave();
    int frame = (spilled_ + spills_ * kSlot + kSlot - 1) / kSlot * kSlot;
    rewrite(frame_at_, static_cast<uint64_t>(frame), 4);
    return entry;
  }
  using FoldCode::getSize;

 private:
  void go_on_to(size_t part) {
    part_ = part;
    turn_to(part);
  }
  const Part& part() const { return function_.parts[part_]; }
  size_t arrays() const { return pointers_.size(); }
  // The function's array that is a part's operand, or that its stores or folds write.
  size_t array_of(size_t i) const { return static_cast<size_t>(part().arrays[i]); }
  static bool is_array(const Body& b, size_t i) {
    size_t inputs = b.operands.size(), stores = inputs + b.stores.size();
    return i < inputs ? !b.operands[i].single : i < stores && !b.once;
  }
  DType dtype(size_t i) const {
    size_t inputs = body().operands.size();
    return i < inputs ? body().operands[i].dtype : body().stores[i - inputs].dtype;
  }
  int cell(size_t i) const { return static_cast<int>(size_of(dtype(i))); }
  bool is_narrow(size_t i) const { return is_array(body(), i) && cell(i) < 4; }

  // -- the shape of the loop
  // As many vectors side by side as registers allow: their chains of operations overlap. What is
  // left holds the constants that are read most.
  void choose_registers() {
    Plan& p = *plan_;
    if (!body().folds.empty()) hold_back();
    int all = registers() - p.held_back, least = body().folds.empty() ? 1 : kForFolds;
    for (p.chunks = body().once ? 1 : 4;
         p.chunks > 1 && p.uses.most(body(), p.chunks) + least - 1 > all;)
      p.chunks /= 2;
    int left = all - p.uses.most(body(), p.chunks) - least;  // the rest needs one for its mask
    if (body().once) left = 0;
    std::vector<int> reads = reads_of(body()), order(reads.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return reads[static_cast<size_t>(a)] > reads[static_cast<size_t>(b)];
    });
    int next = all;
    for (int i : order) {
      Op op = at(i).op;
      if (left <= 0) break;
      if (op != Op::kNumber && op != Op::kSingle) continue;
      p.pinned[static_cast<size_t>(i)] = --next;
      --left;
    }
  }

  void shared() {
    for (size_t i = 0; i < body().operands.size(); ++i)
      if (body().operands[i].single && !body().operands[i].per_row) splat(static_cast<int>(i));
    for (size_t i = 0; i < plan_->pinned.size(); ++i) {
      const Node& n = body().nodes[i];
      if (plan_->pinned[i] >= 0 && n.op == Op::kNumber)
        vmovups(vec(plan_->pinned[i], n.lane), constant(static_cast<int>(i)));
    }
  }

  void one_row() {
    Label wide, wide_end, vector, vector_end, end;
    xor_(eax, eax);
    int chunks = plan_->chunks, step = chunks * lanes();
    if (chunks > 1) {
      L(wide);
      lea(rcx, ptr[rax + step]);
      cmp(rcx, rsi);
      jg(wide_end, T_NEAR);
      FoldCode::body(chunks, false);
      ask_ahead(chunks, 0);
      add(rax, step);
      jmp(wide, T_NEAR);
      L(wide_end);
    }
    L(vector);
    lea(rcx, ptr[rax + lanes()]);
    cmp(rcx, rsi);
    jg(vector_end, T_NEAR);
    FoldCode::body(1, false);
    add(rax, lanes());
    jmp(vector, T_NEAR);
    L(vector_end);
    cmp(rax, rsi);
    jge(end, T_NEAR);
    last_elements();
    L(end);
  }

  // The part that computes most has the most time to spare, the first one waits for its own row. A
  // part that computes little is as fast as memory: the processor asks early enough by itself.
  size_t asking_part() const {
    constexpr size_t kLittle = 16;
    size_t loops = 0, best = function_.parts.size(), most = kLittle;
    for (size_t p = 0; p < function_.parts.size(); ++p) {
      const Body& b = function_.parts[p].body;
      if (b.once || loops++ == 0 || b.nodes.size() <= most) continue;
      best = p;
      most = b.nodes.size();
    }
    return best;
  }
  void ask_ahead(int chunks, int first) override {
    if (part_ != asking_part()) return;
    for (const Function::Ahead& a : function_.ahead) {
      int r = pointers_[static_cast<size_t>(a.array)];
      if (r < 0) continue;
      int64_t at = (function_.row + first * lanes()) * a.cell, end = at + chunks * lanes() * a.cell;
      for (; at < end; at += kSlot) {
        Address line = ptr[Reg64(r) + rax * a.cell + static_cast<int>(at)];
        a.written ? prefetchw(line) : prefetcht0(line);
      }
    }
  }

  // -- the last elements
  void last_elements() override {
    begin_tail();
    FoldCode::body(1, true);
    end_tail();
  }
  void begin_tail() {
    mov(rcx, rsi);
    sub(rcx, rax);  // how many
    if (target_.avx512) {
      push(rdx);
      mov(edx, -1);
      bzhi(edx, edx, ecx);
      kmovd(tail_lanes_, edx);
      pop(rdx);
      return;
    }
    // Element i is one of the last where i < count.
    vmovd(Xbyak::Xmm(0), ecx);
    vpbroadcastd(Xbyak::Ymm(0), Xbyak::Xmm(0));
    vpcmpgtd(Xbyak::Ymm(0), Xbyak::Ymm(0), ptr[rip + lanes_of_]);
    vmovups(tail_mask(4), Xbyak::Ymm(0));
    vpmovsxdq(Xbyak::Ymm(0), Xbyak::Xmm(0));
    vmovups(tail_mask(8), Xbyak::Ymm(0));
    for (size_t i = 0; i < body().operands.size(); ++i)
      if (is_narrow(i)) copy_narrow(i, true);
  }
  void end_tail() {
    if (target_.avx512) return;
    for (size_t i = body().operands.size(); i < body().operands.size() + body().stores.size(); ++i)
      if (is_narrow(i)) copy_narrow(i, false);
  }
  // Elements that AVX2 has no masks for go through the stack, one after another.
  void copy_narrow(size_t i, bool in) {
    Label more;
    push(rdx);
    push(rdi);
    constexpr int kPushed = 16;
    Reg64 base = rdi;
    if (pointers_[array_of(i)] >= 0)
      mov(rdi, Reg64(pointers_[array_of(i)]));
    else
      mov(rdi, ptr[rsp + kPushed + pointer_at(array_of(i))]);
    lea(rdi, ptr[base + rax * cell(i)]);
    mov(rcx, rsi);
    sub(rcx, rax);
    if (cell(i) == 2) shl(rcx, 1);
    L(more);  // from the last byte to the first
    Address array = byte[rdi + rcx - 1], own = byte[rsp + rcx + (kPushed + narrow_at(i) - 1)];
    in ? mov(dl, array) : mov(dl, own);
    in ? mov(own, dl) : mov(array, dl);
    dec(rcx);
    jnz(more);
    pop(rdi);
    pop(rdx);
  }

  // -- the frame: singles, masks, bytes of the last elements, folds, pointers, spilled values
  void places() {
    size_t operands = 0, narrow = 0;
    int folds = 0;
    for (const Part& p : function_.parts) {
      operands = std::max(operands, p.body.operands.size());
      narrow = std::max(narrow, p.body.operands.size() + p.body.stores.size());
      folds = std::max(folds, static_cast<int>(p.body.folds.size()));
    }
    int at = 0;
    singles_ = at;
    at += static_cast<int>(operands) * kSlot;
    masks_ = at;
    at += 2 * kSlot;
    narrow_ = at;
    at += static_cast<int>(narrow) * kSlot;
    folds_ = at;
    at += folds * kFoldBytes;
    pointer_slots_ = at;
    at += static_cast<int>(arrays()) * 8;
    saved_ = at;
    steps_ = at + 8;
    at += 16;
    spilled_ = (at + kSlot - 1) / kSlot * kSlot;  // last: how many there are is known at the end
  }
  int pointer_at(size_t array) const { return pointer_slots_ + static_cast<int>(array) * 8; }
  int narrow_at(size_t i) const { return narrow_ + static_cast<int>(i) * kSlot; }

  void enter() {
    for (int r : kept_) push(Reg64(r));
    mov(rax, rsp);
    sub(rsp, kFrameLater);
    frame_at_ = getSize() - 4;
    and_(rsp, -kSlot);
    mov(ptr[rsp + saved_], rax);
    mov(ptr[rsp + steps_], rcx);
    for (size_t i = 0; i < arrays(); ++i) {
      Reg64 to = pointers_[i] >= 0 ? Reg64(pointers_[i]) : rcx;
      mov(to, ptr[rdi + static_cast<int>(i) * 8]);
      if (pointers_[i] < 0) mov(ptr[rsp + pointer_at(i)], to);
    }
  }
  void leave() {
    mov(rsp, ptr[rsp + saved_]);
    for (size_t i = std::size(kept_); i-- > 0;) pop(Reg64(kept_[i]));
    vzeroupper();
    ret();
    align(kSlot);
    L(lanes_of_);
    for (uint32_t i = 0; i < 8; ++i) dd(i);
  }

  void next_row() {
    mov(rcx, ptr[rsp + steps_]);
    for (size_t i = 0; i < arrays(); ++i) {
      if (pointers_[i] >= 0) {
        add(Reg64(pointers_[i]), ptr[rcx + static_cast<int>(i) * 8]);
        continue;
      }
      mov(rax, ptr[rcx + static_cast<int>(i) * 8]);
      add(ptr[rsp + pointer_at(i)], rax);
    }
  }

  // -- places for the bodies
  Address array(size_t i, int bytes, int chunk) override {
    int r = pointers_[array_of(i)], offset = chunk * lanes() * bytes;
    Reg64 base = r >= 0 ? Reg64(r) : rcx;
    if (r < 0) mov(rcx, ptr[rsp + pointer_at(array_of(i))]);
    return body().once ? ptr[base] : ptr[base + rax * bytes + offset];
  }
  Address narrow_tail(size_t i) override { return ptr[rsp + narrow_at(i)]; }
  Address spill_slot(int s) override {
    if (s >= kMostSpills) throw Xbyak::Error(Xbyak::ERR_CODE_IS_TOO_BIG);
    return ptr[rsp + spilled_ + s * kSlot];
  }
  Address single_slot(int o) override { return ptr[rsp + singles_ + o * kSlot]; }
  Address tail_mask(int bytes) override { return ptr[rsp + masks_ + (bytes == 8 ? kSlot : 0)]; }
  int fold_place(size_t index) override { return folds_ + static_cast<int>(index) * kFoldBytes; }
  Reg64 pointer(size_t i) override {
    int r = pointers_[array_of(i)];
    if (r >= 0) return Reg64(r);
    mov(rcx, ptr[rsp + pointer_at(array_of(i))]);
    return rcx;
  }
  Reg64 single_pointer(int o) override { return pointer(static_cast<size_t>(o)); }

  static constexpr int kept_[] = {Xbyak::Operand::RBX, Xbyak::Operand::RBP, Xbyak::Operand::R12,
                                  Xbyak::Operand::R13, Xbyak::Operand::R14, Xbyak::Operand::R15};
  const Function& function_;
  size_t part_ = 0;
  std::vector<int> pointers_;  // the general register of an array; -1: on the stack
  int singles_ = 0, spilled_ = 0, masks_ = 0, narrow_ = 0, folds_ = 0;
  int pointer_slots_ = 0, saved_ = 0, steps_ = 0;
  size_t frame_at_ = 0;
  Label lanes_of_;
};

}  // namespace

Emitted emit(const Function& function, const Target& target) {
  size_t nodes = 0;
  for (const Part& p : function.parts) nodes += p.body.nodes.size();
  if (nodes > kMostNodes) return {};
  Emitted out{.bytes = std::make_unique_for_overwrite<uint8_t[]>(kRoom)};
  try {
    Emitter e(function, target, out.bytes.get());
    out.entry = e.function();
    out.size = e.getSize();
  } catch (const Xbyak::Error&) {
    return {};
  }
  return out;
}

}  // namespace holdfast::jit
