#include "holdfast/expr/jit/vector_code.h"

#include <algorithm>

#include "holdfast/expr/jit/math.h"

namespace holdfast::jit {

using Xbyak::Address;
using Xbyak::Xmm;

namespace {

bool commutes(Op op) {
  switch (op) {
    case Op::kAdd:
    case Op::kMul:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kWholeAdd:
    case Op::kWholeMul: return true;
    default: return false;
  }
}

// The predicate of AVX-512's comparisons of integers.
uint8_t whole_predicate(Compare by) {
  switch (by) {
    case Compare::kGreaterEqual: return 5;
    case Compare::kGreater: return 6;
    default: return static_cast<uint8_t>(by);
  }
}

}  // namespace

VectorCode::Plan::Plan(const Body& b, const Target& t)
    : body(b),
      uses(b),
      lanes((t.avx512 ? 64 : 32) / b.widest()),
      pinned(b.nodes.size(), -1),
      places(b.nodes.size(), -1) {}

VectorCode::VectorCode(const Function& f, const Target& t, void* room, size_t bytes)
    : CodeGenerator(bytes, room), target_(t) {
  plans_.reserve(f.parts.size());
  int numbers = 0;
  for (const Part& p : f.parts) {
    Plan& plan = plans_.emplace_back(p.body, t);
    for (size_t i = 0; i < p.body.nodes.size(); ++i)
      if (p.body.nodes[i].op == Op::kNumber) plan.places[i] = numbers++;
  }
}

Xmm VectorCode::vec(int r, int bytes) const {
  if (bytes == 64) return Xbyak::Zmm(r);
  if (bytes == 32) return Xbyak::Ymm(r);
  return Xmm(r);
}

void VectorCode::pool() {
  align(64);
  L(pool_);
  for (const Plan& plan : plans_)
    for (const Node& n : plan.body.nodes) {
      if (n.op != Op::kNumber) continue;
      for (int i = 0; i < (target_.avx512 ? 64 : 32); i += bytes_of(n.lane))
        bytes_of(n.lane) == 8 ? dq(n.bits) : dd(static_cast<uint32_t>(n.bits));
    }
}

void VectorCode::body(int chunks, bool tail, int first) {
  const Body& b = body();
  int left = registers() - plan_->held_back;
  for (int p : plan_->pinned) left -= p >= 0;
  tail_ = tail;
  first_ = first;
  registers_ = std::make_unique<Registers>(
      b, plan_->uses, left, chunks,
      [this](int r, int slot, int node) { vmovups(spill_slot(slot), vec(r, at(node).lane)); });
  for (int i = 0; i < static_cast<int>(b.nodes.size()); ++i)
    for (int u = 0; u < chunks; ++u) {
      registers_->next(i);
      emit_node(i, u);
      for (size_t k = 0; k < b.stores.size(); ++k)
        if (b.stores[k].node == i) store(b.stores[k], b.operands.size() + k, u);
      for (size_t k = 0; k < b.folds.size(); ++k)
        if (b.folds[k].node == i) {
          registers_->next(i);  // each fold borrows anew
          fold(k, in_register(i, u, at(i).lane), first + u);
        }
      registers_->release_dead(u);
    }
  spills_ = std::max(spills_, registers_->spills());
}

// -- where values are
bool VectorCode::in_memory(int node, int chunk) const {
  node = registers_->held(node);
  return plan_->pinned[static_cast<size_t>(node)] < 0 && registers_->of(node, chunk) < 0;
}

Address VectorCode::constant(int node) {
  return ptr[rip + plan_->places[static_cast<size_t>(node)] * (target_.avx512 ? 64 : 32) + pool_];
}

Address VectorCode::memory(int node, int chunk) {
  node = registers_->held(node);
  if (at(node).op == Op::kNumber) return constant(node);
  if (at(node).op == Op::kSingle) return single_slot(at(node).operand);
  return spill_slot(registers_->slot(node, chunk));
}

Xmm VectorCode::in_register(int node, int chunk, Lane lane) {
  node = registers_->held(node);
  if (plan_->pinned[static_cast<size_t>(node)] >= 0)
    return vec(plan_->pinned[static_cast<size_t>(node)], lane);
  if (int r = registers_->of(node, chunk); r >= 0) {
    registers_->lock(r);
    return vec(r, lane);
  }
  Address from = memory(node, chunk);
  bool shared = at(node).op == Op::kNumber || at(node).op == Op::kSingle;
  Xmm to = vec(shared ? registers_->borrow() : registers_->give(node, chunk), lane);
  vmovups(to, from);
  return to;
}

Place VectorCode::operand(int node, int chunk, Lane lane) {
  if (in_memory(node, chunk)) return memory(node, chunk);
  return in_register(node, chunk, lane);
}

Xmm VectorCode::result(int node, int chunk) {
  return vec(registers_->give(node, chunk), at(node).lane);
}

// -- operations
void VectorCode::emit_node(int i, int chunk) {
  switch (at(i).op) {
    case Op::kLoad: return load(i, chunk);
    case Op::kNumber:
    case Op::kSingle:
    case Op::kBits: return;  // they are where they are
    case Op::kMulAdd:
    case Op::kMulSub:
    case Op::kSubMul: return multiply_add(i, chunk);
    case Op::kShiftLeft:
    case Op::kShiftRight:
    case Op::kShiftRightSigned: return shift(i, chunk);
    case Op::kConvert: return convert(i, chunk);
    case Op::kHalf: return round_to_half(i, chunk);
    case Op::kTable: return look_up(i, chunk);
    case Op::kCompare: return compare(i, chunk);
    case Op::kChoose: return choose(i, chunk);
    case Op::kSelect: return select(i, chunk);
    default: return binary(i, chunk);
  }
}

void VectorCode::binary(int i, int chunk) {
  Node n = at(i);
  bool wide = bytes_of(n.lane) == 8;
  if (n.op == Op::kSqrt || n.op == Op::kRound) {
    Xmm x = in_register(n.a, chunk, n.lane);
    registers_->release_dead(chunk);
    Xmm to = result(i, chunk);
    uint8_t how = n.immediate | 8;  // raises nothing
    if (n.op == Op::kSqrt)
      wide ? vsqrtpd(to, x) : vsqrtps(to, x);
    else if (target_.avx512)
      wide ? vrndscalepd(to, x, how) : vrndscaleps(to, x, how);
    else
      wide ? vroundpd(to, x, how) : vroundps(to, x, how);
    return;
  }
  if (commutes(n.op) && in_memory(n.a, chunk)) std::swap(n.a, n.b);
  Xmm x = in_register(n.a, chunk, n.lane);
  auto y = operand(n.b, chunk, n.lane);
  registers_->release_dead(chunk);
  Xmm to = result(i, chunk);
  switch (n.op) {
    case Op::kAdd: wide ? vaddpd(to, x, *y) : vaddps(to, x, *y); break;
    case Op::kSub: wide ? vsubpd(to, x, *y) : vsubps(to, x, *y); break;
    case Op::kMul: wide ? vmulpd(to, x, *y) : vmulps(to, x, *y); break;
    case Op::kDiv: wide ? vdivpd(to, x, *y) : vdivps(to, x, *y); break;
    case Op::kMin: wide ? vminpd(to, x, *y) : vminps(to, x, *y); break;
    case Op::kMax: wide ? vmaxpd(to, x, *y) : vmaxps(to, x, *y); break;
    case Op::kScale: wide ? vscalefpd(to, x, *y) : vscalefps(to, x, *y); break;
    case Op::kAnd: vandps(to, x, *y); break;
    case Op::kOr: vorps(to, x, *y); break;
    case Op::kXor: vxorps(to, x, *y); break;
    case Op::kAndNot: vandnps(to, x, *y); break;
    case Op::kWholeAdd: wide ? vpaddq(to, x, *y) : vpaddd(to, x, *y); break;
    case Op::kWholeSub: wide ? vpsubq(to, x, *y) : vpsubd(to, x, *y); break;
    case Op::kShiftLeftBy: wide ? vpsllvq(to, x, *y) : vpsllvd(to, x, *y); break;
    case Op::kShiftRightBy: wide ? vpsravq(to, x, *y) : vpsravd(to, x, *y); break;
    default: wide ? vpmullq(to, x, *y) : vpmulld(to, x, *y); break;
  }
}

// One of the three is overwritten: the form is chosen by which may be, and which is in memory.
void VectorCode::multiply_add(int i, int chunk) {
  const Node& n = at(i);
  bool wide = n.lane == Lane::kF64;
  int a = n.a, b = n.b, c = n.c;
  if (in_memory(a, chunk)) std::swap(a, b);
  Xmm x = in_register(a, chunk, n.lane);
  auto dies = [&](int v) {
    return registers_->of(v, chunk) >= 0 && registers_->dies(v) &&
           plan_->pinned[static_cast<size_t>(registers_->held(v))] < 0;
  };
#define HF_FORM(form, to, p, q)                                                              \
  switch (n.op) {                                                                            \
    case Op::kMulAdd: wide ? vfmadd##form##pd(to, p, q) : vfmadd##form##ps(to, p, q); break; \
    case Op::kMulSub: wide ? vfmsub##form##pd(to, p, q) : vfmsub##form##ps(to, p, q); break; \
    default: wide ? vfnmadd##form##pd(to, p, q) : vfnmadd##form##ps(to, p, q); break;        \
  }
  auto y = operand(b, chunk, n.lane);
  auto z = operand(c, chunk, n.lane);
  bool same = registers_->held(a) == registers_->held(b);
  bool read_twice =
      registers_->held(c) == registers_->held(a) || registers_->held(c) == registers_->held(b);
  if (dies(c) && !read_twice) {
    Xmm to = z.reg();
    HF_FORM(231, to, x, *y)
    registers_->hand_over(c, i, chunk);
  } else if (dies(a) && !same && !read_twice) {
    if (y.in_memory()) {
      Xmm add = in_register(c, chunk, n.lane);
      HF_FORM(132, x, add, *y)
    } else {
      HF_FORM(213, x, y.reg(), *z)
    }
    registers_->hand_over(a, i, chunk);
  } else if (dies(b) && !same && !read_twice) {
    Xmm to = y.reg();
    HF_FORM(213, to, x, *z)
    registers_->hand_over(b, i, chunk);
  } else {
    Xmm to = result(i, chunk);
    vmovups(to, *z);
    HF_FORM(231, to, x, *y)
  }
#undef HF_FORM
}

void VectorCode::shift(int i, int chunk) {
  const Node& n = at(i);
  bool wide = bytes_of(n.lane) == 8;
  Xmm x = in_register(n.a, chunk, n.lane);
  registers_->release_dead(chunk);
  Xmm to = result(i, chunk);
  if (n.op == Op::kShiftLeft)
    wide ? vpsllq(to, x, n.immediate) : vpslld(to, x, n.immediate);
  else if (n.op == Op::kShiftRight)
    wide ? vpsrlq(to, x, n.immediate) : vpsrld(to, x, n.immediate);
  else
    vpsrad(to, x, n.immediate);
}

// The low halves of 64-bit elements.
void VectorCode::narrowed(const Xmm& to, const Xmm& from) {
  if (target_.avx512) return vpmovqd(to, from);
  Xmm upper = Xmm(registers_->borrow());
  vextractf128(upper, Xbyak::Ymm(from.getIdx()), 1);
  vshufps(to, Xmm(from.getIdx()), upper, 0x88);
}

void VectorCode::convert(int i, int chunk) {
  const Node& n = at(i);
  Lane from = at(n.a).lane;
  Xmm x = in_register(n.a, chunk, from);
  Xmm to = result(i, chunk);
  auto is = [&](Lane a, Lane b) { return from == a && n.lane == b; };
  if (is(Lane::kF32, Lane::kF64)) return vcvtps2pd(to, x);
  if (is(Lane::kF64, Lane::kF32)) return vcvtpd2ps(to, x);
  if (is(Lane::kI32, Lane::kF32)) return vcvtdq2ps(to, x);
  if (is(Lane::kF32, Lane::kI32)) return vcvttps2dq(to, x);
  if (is(Lane::kI32, Lane::kF64)) return vcvtdq2pd(to, x);
  if (is(Lane::kF64, Lane::kI32)) return vcvttpd2dq(to, x);
  if (is(Lane::kI32, Lane::kI64)) return vpmovsxdq(to, x);
  if (is(Lane::kI64, Lane::kI32)) return narrowed(to, x);
  if (is(Lane::kI64, Lane::kF64)) return vcvtqq2pd(to, x);
  if (is(Lane::kI64, Lane::kF32)) return vcvtqq2ps(to, x);
  if (is(Lane::kF64, Lane::kI64)) return vcvttpd2qq(to, x);
  vcvttps2qq(to, x);
}

void VectorCode::round_to_half(int i, int chunk) {
  const Node& n = at(i);
  Xmm x = in_register(n.a, chunk, n.lane);
  registers_->release_dead(chunk);
  Xmm to = result(i, chunk);
  vcvtps2ph(low_half(to), x, 0);  // to the nearest
  vcvtph2ps(to, low_half(to));
}

void VectorCode::look_up(int i, int chunk) {
  const Node& n = at(i);
  Xmm index = in_register(n.a, chunk, at(n.a).lane), to = result(i, chunk);
  registers_->lock(to.getIdx());
  mov(rcx, reinterpret_cast<uint64_t>(table(n.immediate)));
  if (target_.avx512) {
    kxnord(k1, k1, k1);
    vgatherqpd(to | k1, ptr[rcx + index * 8]);
    return;
  }
  Xmm all = borrow(n.lane);
  vpcmpeqd(all, all, all);
  vgatherqpd(to, ptr[rcx + index * 8], all);
}

bool VectorCode::masks(const Node& n, int chunk, const Xmm& to) {
  Lane lane = at(n.a).lane;
  auto by = static_cast<Compare>(n.immediate);
  bool wide = bytes_of(lane) == 8;
  if (is_float(lane)) {
    Xmm x = in_register(n.a, chunk, lane);
    auto y = operand(n.b, chunk, lane);
    wide ? vcmppd(to, x, *y, n.immediate) : vcmpps(to, x, *y, n.immediate);
    return false;
  }
  // There are two comparisons: equal, and greater.
  bool equal = by == Compare::kEqual || by == Compare::kNotEqual;
  bool swapped = by == Compare::kLess || by == Compare::kGreaterEqual;
  Xmm x = in_register(swapped ? n.b : n.a, chunk, lane);
  auto y = operand(swapped ? n.a : n.b, chunk, lane);
  if (equal)
    wide ? vpcmpeqq(to, x, *y) : vpcmpeqd(to, x, *y);
  else
    wide ? vpcmpgtq(to, x, *y) : vpcmpgtd(to, x, *y);
  return by == Compare::kNotEqual || by == Compare::kLessEqual || by == Compare::kGreaterEqual;
}

void VectorCode::compare_to_k1(const Node& n, int chunk) {
  Lane lane = at(n.a).lane;
  bool wide = bytes_of(lane) == 8;
  Xmm x = in_register(n.a, chunk, lane);
  auto y = operand(n.b, chunk, lane);
  uint8_t by = whole_predicate(static_cast<Compare>(n.immediate));
  if (is_float(lane))
    wide ? vcmppd(k1, x, *y, n.immediate) : vcmpps(k1, x, *y, n.immediate);
  else
    wide ? vpcmpq(k1, x, *y, by) : vpcmpd(k1, x, *y, by);
}

void VectorCode::compare(int i, int chunk) {
  const Node& n = at(i);
  Lane lane = at(n.a).lane;
  bool wide = bytes_of(lane) == 8;
  if (target_.avx512) {
    compare_to_k1(n, chunk);
    vpmovm2d(result(i, chunk), k1);
    return;
  }
  Xmm mask = wide ? borrow(lane) : result(i, chunk);
  bool other = masks(n, chunk, mask);
  Xmm to = mask;
  if (wide) {
    to = result(i, chunk);
    narrowed(to, mask);
  }
  if (!other) return;
  Xmm all = borrow(Lane::kTruth);
  vpcmpeqd(all, all, all);
  vxorps(to, to, all);
}

void VectorCode::blend(const Xmm& to, const Xmm& no, const Xbyak::Operand& yes, const Xmm& mask,
                       Lane lane) {
  bool wide = bytes_of(lane) == 8;
  wide ? vblendvpd(to, no, yes, mask) : vblendvps(to, no, yes, mask);
}

void VectorCode::choose(int i, int chunk) {
  const Node& n = at(i);
  Lane lane = at(n.a).lane;
  bool wide = bytes_of(n.lane) == 8;
  if (target_.avx512) {
    compare_to_k1(n, chunk);
    Xmm no = in_register(n.d, chunk, n.lane);
    auto yes = operand(n.c, chunk, n.lane);
    registers_->release_dead(chunk);
    Xmm to = result(i, chunk);
    wide ? vblendmpd(to | k1, no, *yes) : vblendmps(to | k1, no, *yes);
    return;
  }
  Xmm mask = borrow(lane);
  bool other = masks(n, chunk, mask);
  int yes_node = other ? n.d : n.c, no_node = other ? n.c : n.d;
  Xmm no = in_register(no_node, chunk, n.lane);
  auto yes = operand(yes_node, chunk, n.lane);
  registers_->release_dead(chunk);
  blend(result(i, chunk), no, *yes, mask, n.lane);
}

void VectorCode::select(int i, int chunk) {
  const Node& n = at(i);
  bool wide = bytes_of(n.lane) == 8;
  Xmm which = in_register(n.a, chunk, Lane::kTruth), no = in_register(n.c, chunk, n.lane);
  auto yes = operand(n.b, chunk, n.lane);
  if (target_.avx512) {
    vpmovd2m(k1, which);
    Xmm to = result(i, chunk);
    wide ? vblendmpd(to | k1, no, *yes) : vblendmps(to | k1, no, *yes);
    return;
  }
  if (!wide) return blend(result(i, chunk), no, *yes, which, n.lane);
  Xmm mask = borrow(n.lane);
  vpmovsxdq(mask, which);
  blend(result(i, chunk), no, *yes, mask, n.lane);
}

// -- memory
void VectorCode::load(int i, int chunk) {
  const Node& n = at(i);
  auto index = static_cast<size_t>(n.operand);
  DType d = body().operands[index].dtype;
  auto cell = static_cast<int>(size_of(d));
  Xmm to = result(i, chunk);
  Address from = array(index, cell, first_ + chunk);
  bool masked = tail_ && target_.avx512;
  if (cell >= 4) {
    if (masked)
      cell == 8 ? vmovupd(to | tail_lanes_ | T_z, from) : vmovups(to | tail_lanes_ | T_z, from);
    else if (tail_) {
      Xmm mask = borrow(n.lane);
      vmovups(mask, tail_mask(cell));
      cell == 8 ? vmaskmovpd(to, mask, from) : vmaskmovps(to, mask, from);
    } else {
      vmovups(to, from);
    }
    return;
  }
  if (tail_ && !masked) from = narrow_tail(index);
  Xmm filled = masked ? Xmm(to | tail_lanes_ | T_z) : to;
  switch (d) {
    case DType::kInt8: vpmovsxbd(filled, from); break;
    case DType::kInt16: vpmovsxwd(filled, from); break;
    case DType::kBFloat16:
    case DType::kUInt16: vpmovzxwd(filled, from); break;
    case DType::kFloat16: vcvtph2ps(filled, from); break;
    default: vpmovzxbd(filled, from); break;
  }
  if (d == DType::kBFloat16) vpslld(to, to, 16);
  if (d != DType::kBool) return;
  if (target_.avx512) {
    vptestmd(k1, to, to);
    vpmovm2d(to, k1);
  } else {
    Xmm none = borrow(n.lane);
    vxorps(none, none, none);
    vpcmpgtd(to, to, none);
  }
}

void VectorCode::store_truth(const Xmm& truth, const Address& to) {
  Xmm bytes = borrow(Lane::kTruth);
  if (target_.avx512) {
    vpsrld(bytes, truth, 31);
    tail_ ? vpmovdb(to | tail_lanes_, bytes) : vpmovdb(to, bytes);
    return;
  }
  vpsrld(bytes, truth, 31);
  Xmm low(bytes.getIdx());
  if (lanes() == 8) {
    Xmm upper(registers_->borrow());
    vextracti128(upper, Xbyak::Ymm(bytes.getIdx()), 1);
    vpackssdw(low, low, upper);
  } else {
    vpackssdw(low, low, low);
  }
  vpacksswb(low, low, low);
  lanes() == 8 ? vmovq(to, low) : vmovd(to, low);
}

// 16-bit floats, which float32 holds already.
void VectorCode::store_short(DType d, const Xmm& from, const Address& to) {
  bool masked = tail_ && target_.avx512;
  if (d == DType::kFloat16) {
    vcvtps2ph(masked ? to | tail_lanes_ : to, from, 0);
    return;
  }
  Xmm shorts = borrow(Lane::kTruth);
  vpsrld(shorts, from, 16);
  if (target_.avx512) {
    masked ? vpmovdw(to | tail_lanes_, shorts) : vpmovdw(to, shorts);
    return;
  }
  Xmm low(shorts.getIdx()), upper = low;
  if (lanes() == 8) {
    upper = Xmm(registers_->borrow());
    vextracti128(upper, Xbyak::Ymm(shorts.getIdx()), 1);
  }
  vpackusdw(low, low, upper);
  lanes() == 8 ? vmovups(to, low) : vmovq(to, low);
}

// The first element alone.
void VectorCode::store_one(const Store& s, const Xmm& from, const Address& to) {
  if (size_of(s.dtype) == 2) {
    Xmm low(borrow(Lane::kTruth).getIdx());
    if (s.dtype == DType::kFloat16)
      vcvtps2ph(low, Xmm(from.getIdx()), 0);
    else
      vpsrld(low, Xmm(from.getIdx()), 16);
    vmovd(eax, low);
    mov(to, ax);
    return;
  }
  if (size_of(s.dtype) > 1) {
    Xmm low(from.getIdx());
    size_of(s.dtype) == 8 ? vmovsd(to, low) : vmovss(to, low);
    return;
  }
  Xmm bit = borrow(Lane::kTruth);
  vpsrld(bit, from, 31);
  vmovd(eax, Xmm(bit.getIdx()));  // no loop counts in it here
  mov(to, al);
}

void VectorCode::store(const Store& s, size_t index, int chunk) {
  auto cell = static_cast<int>(size_of(s.dtype));
  Lane lane = at(s.node).lane;
  Xmm from = in_register(s.node, chunk, lane);
  if (body().once) return store_one(s, from, array(index, cell, 0));
  Address to = array(index, cell, first_ + chunk);
  if (cell < 4 && tail_ && !target_.avx512) to = narrow_tail(index);
  if (cell == 1) return store_truth(from, to);
  if (cell == 2) return store_short(s.dtype, from, to);
  if (!tail_) return target_.streams ? vmovntps(to, from) : vmovups(to, from);
  if (target_.avx512) {
    cell == 8 ? vmovupd(to | tail_lanes_, from) : vmovups(to | tail_lanes_, from);
    return;
  }
  Xmm mask = borrow(lane);
  vmovups(mask, tail_mask(cell));
  cell == 8 ? vmaskmovpd(to, mask, from) : vmaskmovps(to, mask, from);
}

void VectorCode::splat(int o) {
  DType d = body().operands[static_cast<size_t>(o)].dtype;
  int pin = -1;
  bool used = false;
  for (size_t i = 0; i < body().nodes.size(); ++i)
    if (body().nodes[i].op == Op::kSingle && body().nodes[i].operand == o) {
      pin = plan_->pinned[i];
      used = true;
    }
  if (!used) return;  // nobody counted it when lanes were chosen: it may need a wider register
  Xbyak::Reg64 from = single_pointer(o);
  int cell = static_cast<int>(size_of(d)), r = pin >= 0 ? pin : 0;
  Xmm to = vec(r, lanes() * std::max(cell, 4));
  if (cell == 8) {
    target_.avx512 ? vbroadcastsd(Xbyak::Zmm(r), ptr[from])
                   : vbroadcastsd(Xbyak::Ymm(r), ptr[from]);
  } else if (cell == 4) {
    vbroadcastss(to, ptr[from]);
  } else {
    switch (d) {
      case DType::kInt8: movsx(ecx, byte[from]); break;
      case DType::kInt16: movsx(ecx, word[from]); break;
      case DType::kFloat16:
      case DType::kBFloat16:
      case DType::kUInt16: movzx(ecx, word[from]); break;
      default: movzx(ecx, byte[from]); break;
    }
    if (d == DType::kBool) neg(ecx);
    if (d == DType::kBFloat16) shl(ecx, 16);
    vmovd(Xmm(r), ecx);
    if (d == DType::kFloat16) vcvtph2ps(Xmm(r), Xmm(r));
    vpbroadcastd(to, Xmm(r));
  }
  if (pin < 0) vmovups(single_slot(o), to);
}

}  // namespace holdfast::jit
