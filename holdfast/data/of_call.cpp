#include "holdfast/data/of_call.h"

#include "holdfast/data/bound.h"
#include "holdfast/data/functions.h"
#include "holdfast/graph/graph.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/op.h"

namespace holdfast::data {
namespace {

/// What the scalar of such a node leads to.
struct KeptInRun final : RefCounted {
  std::string text() const override { return "what a stage keeps for one run"; }
  std::mutex mutex;
  Ref<RefCounted> kept;
};

Status begin(Call& c) {
  Tensor carrier = Tensor::scalar(int64_t{0});
  carrier.rep()->beyond = make_ref<KeptInRun>();
  c.set_out(0, std::move(carrier));
  return {};
}

const Op kept_op = RAW_OP(DatasetKept)
                       .doc("A fresh place for what a stage of a dataset keeps in this run.")
                       .inputs("")
                       .infer(+[](Infer& s) { s.output(int64, Shape{}); })
                       .kernel("stages", begin)
                       .on_host()
                       .stateful()
                       .no_gradient();

Tensor symbol_of_run() {
  if (!current_trace() || probing()) return {};
  Tensors out;
  apply(kept_op.def(), {}, {}, out);
  // Another symbol of the edge: that the dataset outlives the trace makes it no result of a call.
  return symbol_for(edge_of(out[0]), symbol_of(out[0])->scope);
}

}  // namespace

OfCallBase::OfCallBase() : symbol_(symbol_of_run()) {}

void OfCallBase::add_open(std::vector<Tensor>& to) const {
  if (!symbol_.defined()) return;
  // A dataset may outlive the trace that it is made in, and be used in another one.
  const Scope& owner = *symbol_of(symbol_)->scope;
  Tracer* writer = current_trace();
  if (writer && owner.open() && writer->scope()->inside(&owner)) to.push_back(symbol_);
}

Ref<RefCounted> OfCallBase::found(const Callback<Ref<RefCounted>()>& make) const {
  auto in = [&](std::mutex& mutex, Ref<RefCounted>& kept) {
    std::lock_guard lock(mutex);
    if (!kept) kept = make();
    return kept;
  };
  if (const Tensor* value = symbol_.defined() ? found_bound(symbol_) : nullptr)
    if (auto* run = dynamic_cast<KeptInRun*>(value->rep()->beyond.get()))
      return in(run->mutex, run->kept);
  return in(mutex_, own_);
}

}  // namespace holdfast::data
