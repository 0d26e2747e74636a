#include "holdfast/exec/known_calls.h"

#include <bit>
#include <cstring>

#include "holdfast/base/parallel.h"
#include "holdfast/op/arg_value.h"
#include "holdfast/op/registry.h"

namespace holdfast {
namespace {

constexpr size_t kMostInputs = 8;
constexpr int64_t kMostNumbers = 64;  // bytes of an operand that the shape rule looked at

struct Hash {
  uint64_t h = 0x9e3779b97f4a7c15u;
  void operator()(uint64_t x) { h = (h ^ x) * 0x100000001b3u + (h >> 29); }
};

// Attributes that can be compared. Tensors and objects can't, and would be kept alive.
template <class T, class... Of>
constexpr bool kOneOf = (std::is_same_v<T, Of> || ...);
template <class T>
constexpr bool kCompared =
    kOneOf<T, std::monostate, bool, int64_t, double, DType, std::string, Shape, Ints>;

struct HashAttr {
  Hash& hash;
  template <class T>
  bool operator()(const T& v) const {
    if constexpr (kOneOf<T, bool, int64_t, DType>) {
      hash(static_cast<uint64_t>(v));
    } else if constexpr (kOneOf<T, double>) {
      hash(std::bit_cast<uint64_t>(v));
    } else if constexpr (kOneOf<T, std::string>) {
      hash(v.size() << 8 | (v.empty() ? 0 : static_cast<unsigned char>(v[0])));
    } else if constexpr (kOneOf<T, Shape, Ints>) {
      for (int64_t x : v) hash(static_cast<uint64_t>(x));
    }
    return kCompared<T>;
  }
};

struct SameAttr {
  const Arg::Value& other;
  template <class T>
  bool operator()(const T& v) const {
    const T* o = std::get_if<T>(&other);
    if constexpr (kOneOf<T, double>)
      return o && std::bit_cast<uint64_t>(*o) == std::bit_cast<uint64_t>(v);
    else if constexpr (kCompared<T>)
      return o && *o == v;
    else
      return false;
  }
};

// Whether calls with these operands can be known again, and the hash of their types if so.
bool hash_call(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs, Device* device,
               uint64_t& out) {
  if (in.size() > kMostInputs) return false;
  Hash hash;
  hash(reinterpret_cast<uintptr_t>(&op));
  hash(reinterpret_cast<uintptr_t>(device));
  for (const Tensor& t : in) {
    if (!t.defined() || !t.rep()->buffer || !kPlain.has(t.dtype())) return false;
    // What lies elsewhere is copied before the kernel runs, with the warnings that go with it.
    if (t.device() != device || lies_askew(t)) return false;
    hash(static_cast<uint64_t>(t.dtype()));
    for (int64_t d : t.shape()) hash(static_cast<uint64_t>(d));
  }
  for (const Arg& a : attrs)
    if (!std::visit(HashAttr{hash}, a.value())) return false;
  out = hash.h;
  return true;
}

enum class Stage : uint8_t { kNone, kKeeps, kOver };
constinit thread_local Stage t_stage = Stage::kNone;
constinit thread_local KnownCalls* t_calls = nullptr;
struct AtThreadEnd {
  ~AtThreadEnd() {
    t_stage = Stage::kOver;
    delete std::exchange(t_calls, nullptr);
  }
};

}  // namespace

KnownCall::KnownCall(uint64_t hash, const OpDef& op, std::span<const Tensor> in, const Attrs& attrs,
                     const Infer& inferred, Device* device, const Chosen& chosen)
    : hash_(hash),
      op_(op),
      device_(device),
      threads_(num_threads()),
      deterministic_(holdfast::deterministic()),
      attrs_(attrs),
      gives_(op, {}, attrs_),
      chosen_(chosen) {
  for (size_t i = 0; i < in.size(); ++i) {
    bool looked_at = inferred.asked_for(static_cast<int>(i));
    in_.push_back({in[i].dtype(), in[i].shape(),
                   looked_at ? std::string(static_cast<const char*>(in[i].raw()),
                                           static_cast<size_t>(in[i].bytes()))
                             : std::string(),
                   looked_at});
  }
  gives_.dtypes = inferred.dtypes;
  gives_.shapes = inferred.shapes;
}

Ref<const KnownCall> KnownCall::of(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs,
                                   const Infer& inferred, Device* device, const Chosen& chosen) {
  uint64_t hash = 0;
  if (!hash_call(op, in, attrs, device, hash)) return nullptr;
  for (size_t i = 0; i < in.size(); ++i)
    if (inferred.asked_for(static_cast<int>(i)) &&
        (device->kind() != DeviceKind::kCpu || in[i].bytes() > kMostNumbers))
      return nullptr;
  for (const Shape& s : inferred.shapes)
    if (!s.is_full()) return nullptr;
  return make_ref<KnownCall>(hash, op, in, attrs, inferred, device, chosen);
}

bool KnownCall::is(uint64_t hash, const OpDef& op, std::span<const Tensor> in, const Attrs& attrs,
                   Device* device) const {
  if (hash != hash_ || &op != &op_ || device != device_ || in.size() != in_.size() ||
      attrs.size() != attrs_.size() || threads_ != num_threads() ||
      deterministic_ != holdfast::deterministic())
    return false;
  for (size_t i = 0; i < in.size(); ++i) {
    const Operand& o = in_[i];
    if (in[i].dtype() != o.dtype || !(in[i].shape() == o.shape)) return false;
    if (o.looked_at && std::memcmp(in[i].raw(), o.numbers.data(), o.numbers.size())) return false;
  }
  for (size_t i = 0; i < attrs.size(); ++i)
    if (!std::visit(SameAttr{attrs_[i].value()}, attrs[i].value())) return false;
  return true;
}

KnownCalls* KnownCalls::of_thread() {
  if (t_stage == Stage::kNone) [[unlikely]] {
    static thread_local AtThreadEnd at_end;
    (void)at_end;
    t_calls = new KnownCalls;
    t_stage = Stage::kKeeps;
  }
  return t_calls;
}

// A plugin brought kernels since: what was chosen may not be what would be chosen now.
void KnownCalls::forget_outdated() {
  uint64_t now = kernels_added();
  if (kernels_added_ == now) [[likely]]
    return;
  for (auto& c : calls_) c = nullptr;
  kernels_added_ = now;
}

Ref<const KnownCall> KnownCalls::find(const OpDef& op, std::span<const Tensor> in,
                                      const Attrs& attrs, Device* device) {
  uint64_t hash = 0;
  if (!hash_call(op, in, attrs, device, hash)) return nullptr;
  forget_outdated();
  auto* set = set_of(hash);
  for (size_t i = 0; i < kWays && set[i]; ++i) {
    if (!set[i]->is(hash, op, in, attrs, device)) continue;
    for (; i > 0; --i) std::swap(set[i], set[i - 1]);
    return set[0];
  }
  return nullptr;
}

void KnownCalls::keep(Ref<const KnownCall> call) {
  if (!call) return;
  forget_outdated();
  auto* set = set_of(call->hash());
  for (size_t i = kWays - 1; i > 0; --i) std::swap(set[i], set[i - 1]);
  set[0] = std::move(call);
}

}  // namespace holdfast
