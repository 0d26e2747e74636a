// What a plan does, for people.
#include <algorithm>
#include <mutex>

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/exec/fast_plan.h"
#include "holdfast/expr/cpu_program.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array/copy.h"

namespace holdfast {
namespace {

int64_t bytes_of(const Type& t) {
  return t.shape.is_full() ? t.shape.size() * size_of(t.dtype) : 0;
}

}  // namespace

MemoryReport FastPlan::memory() const {
  MemoryReport r;
  r.arena = arena_bytes_;
  r.blocks = std::max(static_cast<int>(arenas_.size()), 1);
  r.steps = static_cast<int>(plan_.steps_.size());
  std::vector<int64_t> live(plan_.steps_.size(), 0);
  std::vector<const Step*> maker(plan_.initial_.size(), nullptr);
  for (const Step& s : plan_.steps_)
    for (size_t i = 0; i < s.node->outputs.size(); ++i) maker[static_cast<size_t>(s.out) + i] = &s;
  for (size_t i = 0; i < storages_.size(); ++i) {
    const Storage& s = storages_[i];
    const Step& by = *maker[static_cast<size_t>(s.slot)];
    const Type& t = by.node->outputs[static_cast<size_t>(s.slot - by.out)];
    r.separate += s.span.bytes;
    for (int k = s.span.first; k <= s.span.last; ++k) live[static_cast<size_t>(k)] += s.span.bytes;
    const Device* on = arenas_[static_cast<size_t>(s.arena)].device;
    r.buffers.push_back({s.span, s.offset, type_text(t.dtype, t.shape), by.node->op->name,
                         by.node->where, s.shared, on == cpu() ? "" : on->short_name()});
  }
  for (int64_t l : live) r.most_live = std::max(r.most_live, l);
  for (int o : plan_.outputs_)
    if (o >= 0 && maker[static_cast<size_t>(o)])
      r.results += bytes_of(
          maker[static_cast<size_t>(o)]
              ->node->outputs[static_cast<size_t>(o - maker[static_cast<size_t>(o)]->out)]);
  std::stable_sort(r.buffers.begin(), r.buffers.end(), [](auto& a, auto& b) {
    return a.device != b.device ? a.device < b.device : a.offset < b.offset;
  });
  return r;
}

std::string FastPlan::explain() const {
  std::lock_guard lock(mutex_);
  int64_t total = 0;
  for (size_t k = 0; k < plan_.steps_.size(); ++k) total += nanoseconds_[k];
  int copies = 0;
  for (const Step& s : plan_.steps_) copies += s.node->op == &copy_op();
  std::string of;
  for (const Ref<Node>& n : plan_.graph().inputs)
    of += cat(of.empty() ? "" : ", ", type_text(n->outputs[0].dtype, n->outputs[0].shape));
  std::string out =
      cat("plan of `", plan_.graph().scope->name, "`: ", plan_.steps_.size(), " steps for (", of,
          ")", !plan_.placed_ ? "" : cat(", ", copies, " of them copies between devices"), "\n");
  for (size_t k = 0; k < plan_.steps_.size(); ++k) {
    const Step& s = plan_.steps_[k];
    const Node& n = *s.node;
    int64_t bytes = 0;
    for (const Type& t : n.outputs) bytes += bytes_of(t);
    std::string share = total ? cat(nanoseconds_[k] * 100 / total, "%") : "";
    if (total && timed_runs_) share = cat(nanoseconds_[k] / 1000 / timed_runs_, " us ", share);
    share.insert(0, share.size() < 14 ? 14 - share.size() : 0, ' ');
    out += cat(share, "  ", k, "  ", n.op->name, " -> ");
    for (size_t i = 0; i < n.outputs.size(); ++i)
      out += cat(i ? ", " : "", type_text(n.outputs[i].dtype, n.outputs[i].shape));
    const Chosen* bound = bound_[k].load(std::memory_order_acquire);
    out += cat("  kernel ", bound ? bound->kernel.name : "chosen at each run", ", ", bytes,
               " bytes", n.again ? ", computed again to save memory" : "");
    Loc at = locate(n.where);
    if (!at.file.empty()) out += cat("  ", short_path(at.file), ":", at.line);
    out += "\n";
    if (s.place) out += cat("         on ", s.device->short_name(), ": ", s.place->text(n), "\n");
    if (!refusals_[k].empty()) out += cat("         refused: ", refusals_[k], "\n");
    for (const Arg& a : n.attrs)
      if (auto* e = expr_in(a))
        out += cat("         fused", e->row() ? cat(", rows of ", e->row()) : "", ": ", e->text(),
                   "\n",
                   s.device->kind() == DeviceKind::kCpu
                       ? cat("         ", cpu_program(*e).explained(), "\n")
                       : "");
  }
  return out;
}

}  // namespace holdfast
