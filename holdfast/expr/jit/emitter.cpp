// The function around a body: its frame, the loop over rows, the loops over vectors and the rest.
#include "holdfast/expr/jit/emitter.h"

#include <algorithm>
#include <numeric>

#include "holdfast/expr/jit/vector_code.h"

namespace holdfast::jit {
namespace {

using Xbyak::Address;
using Xbyak::Label;
using Xbyak::Reg64;

constexpr size_t kRoom = 128 << 10;  // bytes of code at most
constexpr size_t kMostNodes = 2000;
constexpr int kSlot = 64;          // bytes of a place on the stack
constexpr int kMostSpills = 512;
constexpr int kFrameLater = 1 << 30;  // stands for the size of the frame until it is known

class Emitter final : VectorCode {
 public:
  Emitter(const Body& b, const Target& t, void* room) : VectorCode(b, t, room, kRoom) {
    const Reg64 free[] = {r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15};
    size_t used = 0;
    pointers_.resize(b.operands.size() + b.stores.size(), -1);
    for (size_t i = 0; i < pointers_.size(); ++i)
      if (is_array(i) && used < std::size(free)) pointers_[i] = free[used++].getIdx();
  }

  /// Returns where the function begins.
  size_t function() {
    choose_chunks();
    places();
    pool();
    align(kSlot);
    size_t entry = getSize();
    enter();
    for (size_t i = 0; i < body_.operands.size(); ++i)
      if (body_.operands[i].single && !body_.operands[i].per_row) splat(static_cast<int>(i));
    load_pinned();
    Label row, done;
    test(rdx, rdx);
    jle(done, T_NEAR);
    L(row);
    for (size_t i = 0; i < body_.operands.size(); ++i)
      if (body_.operands[i].per_row) splat(static_cast<int>(i));
    one_row();
    next_row();
    dec(rdx);
    jnz(row, T_NEAR);
    L(done);
    leave();
    int frame = (spilled_ + spills_ * kSlot + kSlot - 1) / kSlot * kSlot;
    rewrite(frame_at_, static_cast<uint64_t>(frame), 4);
    return entry;
  }
  using VectorCode::getSize;

 private:
  size_t arrays() const { return pointers_.size(); }
  bool is_array(size_t i) const { return i >= body_.operands.size() || !body_.operands[i].single; }
  DType dtype(size_t i) const {
    size_t inputs = body_.operands.size();
    return i < inputs ? body_.operands[i].dtype : body_.stores[i - inputs].dtype;
  }
  int cell(size_t i) const { return static_cast<int>(size_of(dtype(i))); }
  bool is_narrow(size_t i) const { return is_array(i) && cell(i) < 4; }

  // -- the shape of the loop
  // As many vectors side by side as registers allow: their chains of operations overlap. What is
  // left holds the constants that are read most.
  void choose_chunks() {
    for (chunks_ = 4; chunks_ > 1 && uses_.most(body_, chunks_) > registers();) chunks_ /= 2;
    int left = registers() - uses_.most(body_, chunks_) - 1;  // the rest needs one for its mask
    std::vector<int> reads = reads_of(body_), order(reads.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return reads[static_cast<size_t>(a)] > reads[static_cast<size_t>(b)];
    });
    int next = registers();
    for (int i : order) {
      Op op = body_.nodes[static_cast<size_t>(i)].op;
      if (left <= 0) break;
      if (op != Op::kNumber && op != Op::kSingle) continue;
      pinned_[static_cast<size_t>(i)] = --next;
      --left;
    }
  }

  void load_pinned() {
    for (size_t i = 0; i < pinned_.size(); ++i) {
      const Node& n = body_.nodes[i];
      if (pinned_[i] >= 0 && n.op == Op::kNumber)
        vmovups(vec(pinned_[i], n.lane), constant(static_cast<int>(i)));
    }
  }

  void one_row() {
    Label wide, wide_end, vector, vector_end, end;
    xor_(eax, eax);
    int step = chunks_ * lanes_;
    if (chunks_ > 1) {
      L(wide);
      lea(rcx, ptr[rax + step]);
      cmp(rcx, rsi);
      jg(wide_end, T_NEAR);
      body(chunks_, false);
      add(rax, step);
      jmp(wide, T_NEAR);
      L(wide_end);
    }
    L(vector);
    lea(rcx, ptr[rax + lanes_]);
    cmp(rcx, rsi);
    jg(vector_end, T_NEAR);
    body(1, false);
    add(rax, lanes_);
    jmp(vector, T_NEAR);
    L(vector_end);
    cmp(rax, rsi);
    jge(end, T_NEAR);
    begin_tail();
    body(1, true);
    end_tail();
    L(end);
  }

  // -- the last elements
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
    for (size_t i = 0; i < body_.operands.size(); ++i)
      if (is_narrow(i)) copy_narrow(i, true);
  }
  void end_tail() {
    if (target_.avx512) return;
    for (size_t i = body_.operands.size(); i < arrays(); ++i)
      if (is_narrow(i)) copy_narrow(i, false);
  }
  // Elements that AVX2 has no masks for go through the stack, one after another.
  void copy_narrow(size_t i, bool in) {
    Label more;
    push(rdx);
    push(rdi);
    constexpr int kPushed = 16;
    Reg64 base = rdi;
    if (pointers_[i] >= 0)
      mov(rdi, Reg64(pointers_[i]));
    else
      mov(rdi, ptr[rsp + kPushed + pointer_at(i)]);
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

  // -- the frame: singles, masks, bytes of the last elements, pointers, spilled values
  void places() {
    int at = 0;
    singles_ = at;
    at += static_cast<int>(body_.operands.size()) * kSlot;
    masks_ = at;
    at += 2 * kSlot;
    narrow_ = at;
    at += static_cast<int>(arrays()) * kSlot;
    pointer_slots_ = at;
    at += static_cast<int>(arrays()) * 8;
    saved_ = at;
    at += 8;
    spilled_ = (at + kSlot - 1) / kSlot * kSlot;  // last: how many there are is known at the end
  }
  int pointer_at(size_t i) const { return pointer_slots_ + static_cast<int>(i) * 8; }
  int narrow_at(size_t i) const { return narrow_ + static_cast<int>(i) * kSlot; }

  void enter() {
    for (int r : kept_) push(Reg64(r));
    mov(rcx, rsp);
    sub(rsp, kFrameLater);
    frame_at_ = getSize() - 4;
    and_(rsp, -kSlot);
    mov(ptr[rsp + saved_], rcx);
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
    for (size_t i = 0; i < arrays(); ++i) {
      bool moves = is_array(i) || body_.operands[i].per_row;
      if (!moves) continue;
      mov(rcx, rsi);
      if (!is_array(i))
        mov(ecx, cell(i));
      else if (cell(i) > 1)
        shl(rcx, cell(i) == 8 ? 3 : cell(i) == 4 ? 2 : 1);
      if (pointers_[i] >= 0)
        add(Reg64(pointers_[i]), rcx);
      else
        add(ptr[rsp + pointer_at(i)], rcx);
    }
  }

  // -- places for the body
  Address array(size_t i, int bytes, int chunk) override {
    int offset = chunk * lanes_ * bytes;
    if (pointers_[i] >= 0) return ptr[Reg64(pointers_[i]) + rax * bytes + offset];
    mov(rcx, ptr[rsp + pointer_at(i)]);
    return ptr[rcx + rax * bytes + offset];
  }
  Address narrow_tail(size_t i) override { return ptr[rsp + narrow_at(i)]; }
  Address spill_slot(int s) override {
    if (s >= kMostSpills) throw Xbyak::Error(Xbyak::ERR_CODE_IS_TOO_BIG);
    return ptr[rsp + spilled_ + s * kSlot];
  }
  Address single_slot(int o) override { return ptr[rsp + singles_ + o * kSlot]; }
  Address tail_mask(int bytes) override { return ptr[rsp + masks_ + (bytes == 8 ? kSlot : 0)]; }
  Reg64 single_pointer(int o) override {
    mov(rcx, ptr[rsp + pointer_at(static_cast<size_t>(o))]);
    return rcx;
  }

  static constexpr int kept_[] = {Xbyak::Operand::RBX, Xbyak::Operand::RBP, Xbyak::Operand::R12,
                                  Xbyak::Operand::R13, Xbyak::Operand::R14, Xbyak::Operand::R15};
  std::vector<int> pointers_;  // the general register of an array; -1: on the stack
  int chunks_ = 1;
  int singles_ = 0, spilled_ = 0, masks_ = 0, narrow_ = 0, pointer_slots_ = 0, saved_ = 0;
  size_t frame_at_ = 0;
  Label lanes_of_;
};

}  // namespace

Emitted emit(const Body& body, const Target& target) {
  if (body.nodes.size() > kMostNodes) return {};
  Emitted out{.bytes = std::make_unique_for_overwrite<uint8_t[]>(kRoom)};
  try {
    Emitter e(body, target, out.bytes.get());
    out.entry = e.function();
    out.size = e.getSize();
  } catch (const Xbyak::Error&) {
    return {};
  }
  return out;
}

}  // namespace holdfast::jit
