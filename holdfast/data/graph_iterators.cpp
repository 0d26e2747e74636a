#include "holdfast/data/graph_iterators.h"

#include <atomic>
#include <map>
#include <mutex>

#include "holdfast/base/columns.h"
#include "holdfast/base/text.h"
#include "holdfast/data/position.h"
#include "holdfast/op/op.h"

namespace holdfast::data {
namespace {

/// The iterators of all graphs by their names. A slot takes its entry away when it goes; positions
/// are counted, so that whoever has found one keeps it.
struct Named {
  std::mutex mutex;
  std::map<std::string, Ref<Position>> all;
  static Named& table() {
    static auto* here = new Named;  // slots may go at the very end of the process
    return *here;
  }
};

}  // namespace

class IteratorSlot final : public RefCounted {
 public:
  explicit IteratorSlot(Ref<OpenDataset> begins)
      : open(std::move(begins)),
        position(make_ref<Position>(open ? open->dataset : Ref<DatasetObject>())) {
    static std::atomic<int64_t> count{0};
    name = cat("iterator-", count++);
    std::lock_guard lock(Named::table().mutex);
    Named::table().all.emplace(name, position);
  }
  ~IteratorSlot() override {
    std::lock_guard lock(Named::table().mutex);
    Named::table().all.erase(name);
  }
  std::string text() const override { return name; }
  const Ref<OpenDataset> open;  // what it begins with by itself; null: nothing
  const Ref<Position> position;
  std::string name;
};

namespace {

Tensor carrier_of(const Ref<Position>& position) {
  Tensor out = Tensor::scalar(int64_t{0});
  out.rep()->beyond = position;
  return out;
}

struct SlotAttrs {
  Attr<RefCounted> slot;
};
struct BeginsAttrs {
  Attr<RefCounted> dataset;
};

IteratorSlot* slot_in(RefCounted* of) { return dynamic_cast<IteratorSlot*>(of); }

Status handle(Call& c) {
  auto* slot = slot_in(c.attrs<SlotAttrs>().slot());
  if (!slot) return {Code::E1104, "`slot` is no iterator of a graph"};
  if (slot->open && c.inputs() > 0) slot->position->bind(slot->open->bound(c, 0));
  c.set_out(0, carrier_of(slot->position));
  return {};
}

Status make(Call& c) {
  auto* position = dynamic_cast<Position*>(c.in(0).rep()->beyond.get());
  auto* open = dynamic_cast<OpenDataset*>(c.attrs<BeginsAttrs>().dataset());
  if (!position || !open) return {Code::E1104, "an iterator is to begin, and is none"};
  position->start(open->dataset, open->bound(c, 1));
  c.set_out(0, Tensor::scalar(true));
  return {};
}

Status name_of(Call& c) {
  Named& named = Named::table();
  std::lock_guard lock(named.mutex);
  for (const auto& [name, position] : named.all)
    if (position.get() == c.in(0).rep()->beyond.get()) {
      *c.out().mutable_raw<std::string>() = name;
      return {};
    }
  return {Code::E1104, "the handle leads to no iterator of a graph"};
}

Status find(Call& c) {
  const auto& name = *c.in().raw<std::string>();
  Named& named = Named::table();
  std::lock_guard lock(named.mutex);
  auto found = named.all.find(name);
  if (found == named.all.end())
    return {Code::E1103, cat("there is no iterator of the handle `", one_line(name), "`"),
            "a handle is what `string_handle` of an iterator gave, whose graph is still there"};
  c.set_out(0, carrier_of(found->second));
  return {};
}

void infer_scalar_of_string(Infer& s) { s.output(string, Shape{}); }

const Op handle_op = RAW_OP(IteratorV2)
                         .doc("An iterator of a graph, over a dataset that is made of `tensors`.")
                         .inputs("tensors*: any")
                         .attr("slot")
                         .attrs<&SlotAttrs::slot>()
                         .infer(+[](Infer& s) { s.output(int64, Shape{}); })
                         .kernel("iterator", handle)
                         .on_host()
                         .stateful()
                         .no_gradient();
const Op make_op = RAW_OP(MakeIterator)
                       .doc("Begins an iterator of a graph with the elements of a dataset.")
                       .inputs("iterator: K!, tensors*: any")
                       .attr("dataset")
                       .attrs<&BeginsAttrs::dataset>()
                       .infer(+[](Infer& s) { s.output(boolean, Shape{}); })
                       .kernel("iterator", make)
                       .on_host()
                       .stateful()
                       .no_gradient();
const Op name_op = RAW_OP(IteratorToStringHandle)
                       .doc("The name of an iterator of a graph.")
                       .inputs("resource_handle: K!")
                       .infer(infer_scalar_of_string)
                       .kernel("iterator", name_of)
                       .on_host()
                       .stateful()
                       .no_gradient();
const Op find_op = RAW_OP(IteratorFromStringHandleV2)
                       .doc("The iterator of a graph that has a name.")
                       .inputs("string_handle")
                       .dtypes(kStrings)
                       .infer(+[](Infer& s) {
                         s.need_rank(0, 0, 0);
                         s.output(int64, Shape{});
                       })
                       .kernel("iterator", find)
                       .on_host()
                       .stateful()
                       .no_gradient();

Tensor applied(const Op& op, std::span<const Tensor> inputs, const Attrs& attrs) {
  Tensors out;
  apply(op.def(), inputs, attrs, out);
  return out[0];
}

}  // namespace

Ref<RefCounted> iterator_slot(const Dataset* dataset) {
  return make_ref<IteratorSlot>(dataset ? make_ref<OpenDataset>(dataset->object())
                                        : Ref<OpenDataset>());
}

Tensor iterator_handle(const Ref<RefCounted>& slot) {
  auto* begins = slot_in(slot.get());
  std::span<const Tensor> tensors;
  if (begins && begins->open) tensors = begins->open->symbols;
  return applied(handle_op, tensors, {Arg(slot)});
}

Tensor initialize(const Tensor& handle, const Dataset& dataset) {
  auto open = make_ref<OpenDataset>(dataset.object());
  std::vector<Tensor> inputs{handle};
  inputs.insert(inputs.end(), open->symbols.begin(), open->symbols.end());
  return applied(make_op, inputs, {Arg(Ref<RefCounted>(open))});
}

Tensor string_handle(const Tensor& handle) { return applied(name_op, std::span(&handle, 1), {}); }

Tensor from_string_handle(const Tensor& name) { return applied(find_op, std::span(&name, 1), {}); }

}  // namespace holdfast::data
