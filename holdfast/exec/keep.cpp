#include "holdfast/exec/keep.h"

#include <mutex>
#include <utility>

#include "holdfast/exec/keep_record.h"
#include "holdfast/graph/trace.h"

namespace holdfast {
namespace {

thread_local KeepRecord* g_record = nullptr;

class KeptState final : public TraceState {
 public:
  KeptState(std::vector<Tensor> symbols, size_t results)
      : symbols_(std::move(symbols)), results_(results) {}
  bool read(std::span<Tensor>) const override { return true; }
  void perform(Tensors& outputs) const override {
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < symbols_.size(); ++i) {
      symbol_of(symbols_[i])->first = outputs[results_ + i];
      symbol_of(symbols_[i])->kept = true;
    }
    outputs.resize(results_);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Tensor> symbols_;
  size_t results_;
};

}  // namespace

KeepRecord::KeepRecord() : around_(std::exchange(g_record, this)) {}
KeepRecord::~KeepRecord() { g_record = around_; }

Ref<TraceState> KeepRecord::finish(Tensors& outputs) {
  if (kept_.empty()) return nullptr;
  size_t results = outputs.size();
  for (const Tensor& t : kept_) outputs.push_back(t);
  return make_ref<KeptState>(std::exchange(kept_, {}), results);
}

Tensor keep(In in) {
  Tensor t = in.tensor();
  if (g_record && t.defined() && t.is_symbolic()) g_record->kept_.push_back(t);
  return t;
}

}  // namespace holdfast
