#include "holdfast/autodiff/backward.h"

#include "holdfast/autodiff/deferred_formula.h"
#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/list.h"
#include "holdfast/ops/math.h"

namespace holdfast {
namespace {

Tensor zeros_of(const Tensor& t) {
  return t.dtype() == DType::kVariant ? list_zeros_like(t) : zeros_like(t);
}

// What has arrived for one tensor so far.
struct Arrived {
  Tensor dense;
  std::vector<IndexedSlices> slices;

  void add(const Tensor& t) {
    if (!dense.defined())
      dense = t;
    else
      dense = t.dtype() == DType::kVariant ? list_add(dense, t) : holdfast::add(dense, t);
  }
  bool any() const { return dense.defined() || !slices.empty(); }
  Gradient total() const {
    if (slices.empty()) return {dense};
    if (!dense.defined() && slices.size() == 1) return {Tensor(), slices[0]};
    if (!dense.defined()) return {Tensor(), concat_slices(slices)};
    Gradient g{Tensor(), concat_slices(slices)};
    return {holdfast::add(dense, g.tensor())};
  }
};

// A gradient has the shape of what it is the gradient of, which may know more of it.
Tensor with_shape_of(const Tensor& y, const Tensor& dy) {
  if (!dy.defined() || !y.defined() || !dy.is_symbolic() || dy.dtype() == DType::kVariant)
    return dy;
  auto both = dy.shape().merged(y.shape());
  return !both || *both == dy.shape() ? dy : ensure_shape(dy, y.shape());
}

class Sweep {
 public:
  Sweep(std::vector<Record>& records, const IdMap& watched, const std::vector<Source>& sources)
      : records_(records) {
    for (const Source& s : sources)
      if (watched.has(s.id())) reaches_.set(s.id(), 1);
    for (const Record& r : records_) {
      bool leads = false;
      for (uint64_t id : r.in_ids) leads = leads || reaches_.has(id);
      if (leads)
        for (uint64_t id : r.out_ids)
          if (id) reaches_.set(id, 1);
    }
  }

  void seed(const Tensor& target, const Tensor& upstream) {
    DeviceScope beside(
        target.device() ? target.device()
                        : context().device);  // the first gradient is made where its target lives
    Tensor dy = upstream.defined() ? upstream : ones_like(target);
    if (dy.dtype() != target.dtype() || !broadcast(dy.shape(), target.shape()))
      fail(Code::E1102,
           cat("output_gradients: got ", type_text(dy), " for a target of ", type_text(target)));
    at(target.id()).add(dy);
  }

  void step(Record& r) {
    bool arrived = false, leads = false;
    for (uint64_t id : r.out_ids) arrived = arrived || (id && index_.has(id) && at(id).any());
    uint32_t wanted = 0;
    for (size_t i = 0; i < r.in_ids.size(); ++i) {
      if (!r.in_ids[i] || !reaches_.has(r.in_ids[i])) continue;
      leads = true;
      wanted |= 1u << (i < 31 ? i : 31);
    }
    if (!arrived || !leads) return;
    if (r.op && r.inputs.size() == 1 && r.inputs[0].dtype() == DType::kResource &&
        r.outputs.size() == 1) {
      Arrived& from = at(r.out_ids[0]);  // a variable's read passes sparse gradients on as they are
      Arrived copy = from;
      Arrived& to = at(r.in_ids[0]);
      if (copy.dense.defined()) to.add(copy.dense);
      for (auto& s : copy.slices) to.slices.push_back(s);
      return;
    }
    Tensors upstream;
    for (uint64_t id : r.out_ids) {
      Gradient g = id && index_.has(id) ? at(id).total() : Gradient{};
      upstream.push_back(g.none() ? Tensor() : g.tensor());
    }
    for (size_t i = 0; i < upstream.size() && i < r.outputs.size(); ++i)
      upstream[i] = with_shape_of(r.outputs[i], upstream[i]);
    set_site(r.where);
    r.op ? run_formula(r, upstream, wanted) : run_custom(r, upstream);
  }

  Gradient result(const Source& s, Unconnected unconnected) {
    if (reaches_.has(s.id()) && index_.has(s.id())) {
      Gradient g = at(s.id()).total();
      if (!g.none()) return g;
    }
    if (unconnected == Unconnected::kZero) return {zeros_like(s.type())};
    return {};
  }

 private:
  Arrived& at(uint64_t id) {
    int32_t i = index_.find(id);
    if (i < 0) {
      i = static_cast<int32_t>(arrived_.size());
      arrived_.emplace_back();
      index_.set(id, i);
    }
    return arrived_[static_cast<size_t>(i)];
  }

  void deliver(const Record& r, size_t i, const Tensor& dx) {
    if (dx.defined() && r.in_ids[i] && reaches_.has(r.in_ids[i])) at(r.in_ids[i]).add(dx);
  }

  void run_formula(Record& r, const Tensors& upstream, uint32_t wanted) {
    if (!r.op->elementwise && needs_ranks(r)) return run_later(r, upstream, wanted);
    if (context().interpreter)
      for (const Tensors* list : {&r.inputs, &r.outputs})
        for (const Tensor& t : *list) went_by_sizes(t);
    Grad g(*r.op, r.inputs, r.outputs, r.attrs, upstream, wanted);
    Tensors dx;
    try {
      dx = r.op->gradient(g);
    } catch (const NotKnownYet&) {
      return run_later(r, upstream, wanted);
    }
    for (size_t i = 0; i < dx.size() && i < r.in_ids.size(); ++i) {
      if (!dx[i].defined() || !(wanted >> (i < 31 ? i : 31) & 1)) continue;
      // Elementwise formulas speak of the broadcast shape; what arrives has the operand's own.
      deliver(r, i, r.op->elementwise ? sum_to(dx[i], r.inputs[i]) : dx[i]);
    }
    for (auto& [i, slices] : g.sparse()) {
      uint64_t id = r.in_ids[static_cast<size_t>(i)];
      if (id && reaches_.has(id)) at(id).slices.push_back(slices);
    }
  }

  void run_later(const Record& r, const Tensors& upstream, uint32_t wanted) {
    Tensors dx = deferred_formula(r, upstream, wanted);
    for (size_t i = 0; i < dx.size(); ++i) deliver(r, i, dx[i]);
  }

  void run_custom(Record& r, const Tensors& upstream) {
    const GradientTape::Backward* backward = r.custom.get();
    const GradientTape::Paths* paths = r.paths.get();
    size_t spoken_of = upstream.size(), last = 0;
    for (size_t i = 0; i < upstream.size(); ++i)
      if (upstream[i].defined()) last = i;
    for (const Choice& c : r.choices)
      if (last < c.outputs && c.outputs < spoken_of) {
        backward = c.backward.get();
        paths = c.paths.get();
        spoken_of = c.outputs;
      }
    auto leads = [&](size_t input) {
      if (!r.in_ids[input] || !reaches_.has(r.in_ids[input])) return false;
      if (!paths || paths->leads.empty()) return true;
      for (size_t i = 0; i < spoken_of; ++i)
        if (upstream[i].defined() && paths->leads[i][input]) return true;
      return false;
    };
    std::vector<size_t> reached;
    for (size_t i = 0; i < r.in_ids.size(); ++i)
      if (leads(i)) reached.push_back(i);
    if (paths && reached.empty()) return;
    std::vector<Tensor> dy;
    for (size_t i = 0; i < spoken_of; ++i)
      dy.push_back(upstream[i].defined() || !r.outputs[i].defined() ||
                           r.outputs[i].dtype() == DType::kResource
                       ? upstream[i]
                       : zeros_of(r.outputs[i]));
    std::vector<Tensor> dx = (*backward)(dy);
    // In a graph the ops inside are there too; what arrived has been passed on.
    for (uint64_t id : r.out_ids)
      if (id && index_.has(id)) at(id) = Arrived();
    size_t rest = r.in_ids.size();  // where indices and shapes begin
    std::vector<size_t> none;
    for (size_t i : paths ? paths->sparse : none) {
      IndexedSlices rows{std::exchange(dx[i], Tensor()), dx[rest], dx[rest + 1]};
      rest += 2;
      if (rows.values.defined() && leads(i)) at(r.in_ids[i]).slices.push_back(std::move(rows));
    }
    for (size_t i : reached)
      if (i < dx.size()) deliver(r, i, dx[i]);
  }

  std::vector<Record>& records_;
  IdMap reaches_, index_;
  std::vector<Arrived> arrived_;
};

}  // namespace

std::vector<Gradient> run_backward(std::vector<Record>& records, const IdMap& watched,
                                   const std::vector<Tensor>& targets,
                                   const std::vector<Source>& sources,
                                   const std::vector<Tensor>& upstream, Unconnected unconnected,
                                   bool consume) {
  if (!upstream.empty() && upstream.size() != targets.size())
    fail(Code::E1102,
         cat("output_gradients: got ", upstream.size(), " for ", targets.size(), " targets"));
  Where asked = here();
  const uint64_t first = TensorRep(DType::kInvalid, {}, nullptr).id;
  // A persistent tape may still record while its own gradient runs: walk what was there.
  size_t n = records.size();
  Sweep b(records, watched, sources);
  for (size_t i = 0; i < targets.size(); ++i)
    if (flows(targets[i].dtype())) b.seed(targets[i], upstream.empty() ? Tensor() : upstream[i]);
  for (size_t i = n; i-- > 0;) {
    Record r = consume ? std::move(records[i]) : records[i];
    b.step(r);
  }
  set_site(asked);
  if (consume) records.clear();
  std::vector<Gradient> out;
  for (const Source& s : sources) {
    out.push_back(b.result(s, unconnected));
    // A script stores it in the line that asks for it, and looks there; what is older is a tensor
    // of the program's own, handed on.
    const bool script = asked && asked->origin != Origin::kCpp;
    if (Tensor& g = out.back().dense; script && g.defined() && g.id() >= first)
      g.rep()->born = asked;
  }
  return out;
}

Tensor Grad::dy(int i) const {
  const Tensor& t = upstream_[static_cast<size_t>(i)];
  return t.defined() ? t : zeros_of(y(i));
}

void Grad::sparse(int i, IndexedSlices s) { sparse_.emplace_back(i, std::move(s)); }

}  // namespace holdfast
