#include "holdfast/expr/jit/fold_code.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "holdfast/expr/jit/value.h"

namespace holdfast::jit {

using Xbyak::Address;
using Xbyak::Label;
using Xbyak::Reg64;
using Xbyak::Xmm;

namespace {

constexpr int64_t kRun = 16;    // steps that are joined before they meet the rest
constexpr int64_t kShort = 16;  // shorter rows begin with their first element

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
uint64_t end_of(Fold f) {
  using Limits = std::numeric_limits<T>;
  return static_cast<uint64_t>(f == Fold::kMax ? Limits::min() : Limits::max());
}

// The fold of nothing, and what leaves the bits of anything that it is joined to: beside sums,
// whose nothing would turn -0 into 0, they are one.
uint64_t nothing(Fold f, Lane l) {
  if (f == Fold::kProd) return bits_of(l, 1);
  if (f != Fold::kMax && f != Fold::kMin) return bits_of(l, 0);
  if (is_float(l)) return bits_of(l, f == Fold::kMax ? -kInfinity : kInfinity);
  return l == Lane::kI64 ? end_of<int64_t>(f) : end_of<int32_t>(f);
}
uint64_t neutral(Fold f, Lane l) {
  bool sums = f == Fold::kSum || f == Fold::kMean;
  return sums && is_float(l) ? bits_of(l, -0.0) : nothing(f, l);
}

}  // namespace

void FoldCode::hold_back() {
  int all = static_cast<int>(body().folds.size()) * vectors();
  // A few vectors side by side matter more than sums in registers.
  bool fits =
      target_.avx512 && all <= 8 && plan_->uses.most(body(), 2) + all + kForFolds <= registers();
  plan_->held_back = fits ? all : 0;
}

int FoldCode::running(size_t index, int vector) const {
  if (plan_->held_back == 0) return -1;
  return registers() - 1 - static_cast<int>(index) * vectors() - vector;
}
Address FoldCode::running_slot(size_t index, int vector) {
  return ptr[rsp + fold_place(index) + vector * lanes() * bytes_of(lane(index))];
}
Address FoldCode::all_slot(size_t index, int vector) {
  return ptr[rsp + fold_place(index) + kAll + vector * lanes() * bytes_of(lane(index))];
}

void FoldCode::fill(const Xmm& to, Lane l, uint64_t bits) {
  Xmm one(to.getIdx());
  mov(rcx, bits);
  vmovq(one, rcx);
  bytes_of(l) == 8 ? vpbroadcastq(to, one) : vpbroadcastd(to, one);
}

void FoldCode::join(size_t index, const Xmm& to, const Xmm& a, const Xmm& b, const Xmm& spare,
                    const Xmm& mask) {
  bool wide = bytes_of(lane(index)) == 8;
  if (!is_float(lane(index))) return join_whole(index, to, a, b, mask);
  switch (of(index).fold) {
    case Fold::kProd: wide ? vmulpd(to, a, b) : vmulps(to, a, b); return;
    case Fold::kMax: wide ? vmaxpd(spare, a, b) : vmaxps(spare, a, b); break;
    case Fold::kMin: wide ? vminpd(spare, a, b) : vminps(spare, a, b); break;
    default: wide ? vaddpd(to, a, b) : vaddps(to, a, b); return;
  }
  // A NaN, once seen, stays: the processor's own give the second operand where either is one.
  constexpr uint8_t kUnordered = 3;
  if (target_.avx512) {
    wide ? vcmppd(k1, a, a, kUnordered) : vcmpps(k1, a, a, kUnordered);
    wide ? vblendmpd(to | k1, spare, a) : vblendmps(to | k1, spare, a);
    return;
  }
  wide ? vcmppd(mask, a, a, kUnordered) : vcmpps(mask, a, a, kUnordered);
  wide ? vblendvpd(to, spare, a, mask) : vblendvps(to, spare, a, mask);
}

void FoldCode::join_whole(size_t index, const Xmm& to, const Xmm& a, const Xmm& b,
                          const Xmm& mask) {
  bool wide = bytes_of(lane(index)) == 8;
  Fold fold = of(index).fold;
  switch (fold) {
    case Fold::kProd: wide ? vpmullq(to, a, b) : vpmulld(to, a, b); return;
    case Fold::kMax:
    case Fold::kMin: break;
    default: wide ? vpaddq(to, a, b) : vpaddd(to, a, b); return;
  }
  bool most = fold == Fold::kMax;
  if (!wide) {
    most ? vpmaxsd(to, a, b) : vpminsd(to, a, b);
  } else if (target_.avx512) {
    most ? vpmaxsq(to, a, b) : vpminsq(to, a, b);
  } else {
    vpcmpgtq(mask, a, b);
    most ? vblendvpd(to, b, a, mask) : vblendvpd(to, a, b, mask);
  }
}

// -- inside the body
void FoldCode::fold(size_t index, const Xmm& v, int chunk) {
  Lane l = lane(index);
  if (behind_) {
    auto from = static_cast<int>(kLast - whole_ * bytes_of(l));
    return vmovups(ptr[rsp + rax * bytes_of(l) + (fold_place(index) + from)], v);
  }
  bool compares = of(index).fold == Fold::kMax || of(index).fold == Fold::kMin;
  Xmm spare = compares ? borrow(l) : v, mask = compares && !target_.avx512 ? borrow(l) : v;
  if (int r = running(index, chunk); r >= 0)
    return join(index, vec(r, l), vec(r, l), v, spare, mask);
  Xmm t = borrow(l);
  vmovups(t, running_slot(index, chunk));
  join(index, t, t, v, spare, mask);
  vmovups(running_slot(index, chunk), t);
}

// -- around it
void FoldCode::folded_row(int64_t n) {
  whole_ = n / step() * step();
  bool several = whole_ > kRun * step();
  size_t count = body().folds.size();
  xor_(eax, eax);
  if (whole_ > 0) {
    Label run, more, all;
    for (size_t f = 0; f < count && several; ++f) {
      Xmm none = vec(0, lane(f));
      fill(none, lane(f), neutral(of(f).fold, lane(f)));
      for (int v = 0; v < vectors() / 4; ++v) vmovups(all_slot(f, v), none);
    }
    L(run);
    begin_run();
    mov(edi, static_cast<uint32_t>(whole_));
    if (several) {
      lea(rcx, ptr[rax + static_cast<int>(kRun * step())]);
      cmp(rcx, rdi);
      cmovl(rdi, rcx);
    }
    L(more);
    for (int v = 0; v < vectors(); v += plan_->chunks) {
      body(plan_->chunks, false, v);
      ask_ahead(plan_->chunks, v);
    }
    add(rax, step());
    cmp(rax, rdi);
    jl(more, T_NEAR);
    for (size_t f = 0; f < count; ++f) end_run(f, several);
    if (several) {
      cmp(rax, static_cast<uint32_t>(whole_));
      jl(run, T_NEAR);
    }
  }
  int64_t last = n - whole_, vectors = last / lanes();
  behind_ = true;
  if (vectors > 0) {
    Label more;
    L(more);
    body(1, false);
    add(rax, lanes());
    cmp(rax, static_cast<uint32_t>(whole_ + vectors * lanes()));
    jl(more, T_NEAR);
  }
  if (last % lanes()) last_elements();
  behind_ = false;
  for (size_t f = 0; f < count; ++f) finish(f, n);
}

void FoldCode::begin_run() {
  for (size_t f = 0; f < body().folds.size(); ++f) {
    Xmm none = vec(0, lane(f));
    fill(none, lane(f), neutral(of(f).fold, lane(f)));
    for (int v = 0; v < vectors(); ++v) {
      if (int r = running(f, v); r >= 0)
        vmovups(vec(r, lane(f)), none);
      else
        vmovups(running_slot(f, v), none);
    }
  }
}

// Four runs stand side by side, each in as many vectors as 64 bytes take.
void FoldCode::end_run(size_t f, bool several) {
  int parts = vectors() / 4, bytes = lanes() * bytes_of(lane(f));
  auto get = [&](int to, int vector) {
    if (int r = running(f, vector); r >= 0)
      vmovups(low(to, bytes), low(r, bytes));
    else
      vmovups(low(to, bytes), running_slot(f, vector));
  };
  for (int p = 0; p < parts; ++p) {
    get(0, p);
    get(2, parts + p);
    join_low(f, bytes, 0, 0, 2);
    get(1, 2 * parts + p);
    get(2, 3 * parts + p);
    join_low(f, bytes, 1, 1, 2);
    join_low(f, bytes, 0, 0, 1);
    if (several) {
      vmovups(low(2, bytes), all_slot(f, p));
      join_low(f, bytes, 0, 2, 0);
    }
    vmovups(all_slot(f, p), low(0, bytes));
  }
}

// The halves of what is left, again and again; the result in register 0.
void FoldCode::tree(size_t f) {
  int bytes = lanes() * bytes_of(lane(f));
  for (int parts = vectors() / 4; parts > 1; parts /= 2)
    for (int p = 0; p < parts / 2; ++p) {
      vmovups(low(0, bytes), all_slot(f, p));
      vmovups(low(1, bytes), all_slot(f, p + parts / 2));
      join_low(f, bytes, 0, 0, 1);
      vmovups(all_slot(f, p), low(0, bytes));
    }
  vmovups(low(0, bytes), all_slot(f, 0));
  Xmm all(0), upper(1);
  for (bytes /= 2; bytes >= bytes_of(lane(f)); bytes /= 2) {
    if (bytes == 32)
      vextractf64x4(Xbyak::Ymm(1), Xbyak::Zmm(0), 1);
    else if (bytes == 16)
      vextractf128(upper, Xbyak::Ymm(0), 1);
    else if (bytes == 8)
      vunpckhpd(upper, all, all);
    else
      vmovshdup(upper, all);
    join_low(f, std::max(bytes, 16), 0, 0, 1);
  }
}

void FoldCode::finish(size_t f, int64_t n) {
  Lane l = lane(f);
  bool wide = bytes_of(l) == 8;
  Fold fold = of(f).fold;
  Xmm all(0), more(1);
  if (whole_ > 0)
    tree(f);
  else
    fill(all, l, n < kShort ? neutral(fold, l) : nothing(fold, l));
  if (whole_ < n) {
    Label next;
    xor_(eax, eax);
    L(next);
    Address one = ptr[rsp + rax * bytes_of(l) + (fold_place(f) + kLast)];
    wide ? vmovsd(more, one) : vmovss(more, one);
    join_low(f, 16, 0, 0, 1);
    inc(rax);
    cmp(rax, static_cast<uint32_t>(n - whole_));
    jl(next);
  }
  if (fold == Fold::kMean) {
    fill(more, l, bits_of(l, static_cast<double>(n)));
    wide ? vdivsd(all, all, more) : vdivss(all, all, more);
  }
  Reg64 to = pointer(body().operands.size() + body().stores.size() + f);
  wide ? vmovsd(ptr[to], all) : vmovss(ptr[to], all);
}

}  // namespace holdfast::jit
