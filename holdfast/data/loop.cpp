#include "holdfast/data/loop.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/data/inner.h"
#include "holdfast/data/position.h"
#include "holdfast/op/op.h"

namespace holdfast::data {
namespace {

struct Spec final : RefCounted {
  explicit Spec(const ElementSpec& s) : spec(s), leaves(s.leaves()) {}
  std::string text() const override { return spec.text(); }
  const ElementSpec spec;
  const std::vector<ElementType> leaves;
};

struct SpecAttrs {
  Attr<RefCounted> spec;
};
struct DatasetAttrs {
  Attr<RefCounted> dataset;
};

const Spec& spec_in(const SpecAttrs& a) {
  auto* spec = dynamic_cast<const Spec*>(a.spec());
  if (!spec) fail(Code::E1104, "`spec` is not what the elements of a dataset are");
  return *spec;
}

Position& position_in(const Call& c) {
  auto* position = dynamic_cast<Position*>(c.in(0).rep()->beyond.get());
  if (!position) fail(Code::E1104, "a loop over a dataset is at no position of one");
  return *position;
}

Status begin(Call& c) {
  RefCounted* from = c.attrs<DatasetAttrs>().dataset();
  Ref<Position> position;
  if (auto* open = dynamic_cast<OpenDataset*>(from)) {
    // A loop that was written twice, to find its shapes, leaves one behind that nobody asks: it
    // begins nothing, and draws no seeds.
    position = make_ref<Position>(open->dataset);
    position->bind(open->bound(c, 0));
  } else if (auto* iterator = dynamic_cast<IteratorObject*>(from)) {
    position = make_ref<Position>(Ref<IteratorObject>(iterator));
  }
  if (!position) return {Code::E1104, "`dataset` is neither a dataset nor an iterator of one"};
  Tensor carrier = Tensor::scalar(int64_t{0});
  carrier.rep()->beyond = std::move(position);
  c.set_out(0, std::move(carrier));
  return {};
}

// Of an iterator that was not begun: the class is another one than at the end, by which loops end.
Status not_begun() {
  return {Code::E1103, "the iterator was not initialized",
          "its `initializer` runs before its first element is asked for"};
}

Status advance(Call& c) {
  Position& at = position_in(c);
  Ref<IteratorObject> iterator = at.iterator();
  if (!iterator) return not_begun();
  at.element = {};
  c.set_out(0, Tensor::scalar(iterator->next(at.element)));
  return {};
}

void infer_element(Infer& s) {
  for (const ElementType& t : spec_in(s.attrs<SpecAttrs>()).leaves) s.output(t.dtype, t.shape);
}

Status give(Call& c, const Nested& element) {
  if (auto wrong = spec_in(c.attrs<SpecAttrs>()).spec.mismatch(element))
    return {Code::E1102, "an element of a dataset: " + *wrong};
  std::vector<Tensor> leaves = element.leaves();
  for (size_t i = 0; i < leaves.size(); ++i) c.set_out(static_cast<int>(i), leaves[i]);
  return {};
}

Status element(Call& c) {
  Nested now = std::move(position_in(c).element);
  return give(c, now);
}

Status get_next(Call& c) {
  Nested now;
  Ref<IteratorObject> iterator = position_in(c).iterator();
  if (!iterator) return not_begun();
  if (!iterator->next(now)) return {Code::E1402, kEndOfSequence};
  return give(c, now);
}

Status single(Call& c) {
  Nested only, another;
  Ref<IteratorObject> iterator = position_in(c).iterator();
  if (!iterator) return not_begun();
  constexpr const char* kWhy = "`get_single_element` takes the only one";
  if (!iterator->next(only)) return {Code::E1103, "the dataset has no element", kWhy};
  if (iterator->next(another)) return {Code::E1103, "the dataset has several elements", kWhy};
  return give(c, only);
}

const Op single_op = RAW_OP(DatasetToSingleElement)
                         .doc("The only element of a dataset; an error where there are others.")
                         .inputs("position: K!")
                         .attr("spec")
                         .attrs<&SpecAttrs::spec>()
                         .infer(infer_element)
                         .kernel("iterator", single)
                         .on_host()
                         .stateful()
                         .no_gradient();

const Op get_next_op = RAW_OP(IteratorGetNext)
                           .doc("The next element of an iterator; an error at the end.")
                           .inputs("position: K!")
                           .attr("spec")
                           .attrs<&SpecAttrs::spec>()
                           .infer(infer_element)
                           .kernel("iterator", get_next)
                           .on_host()
                           .stateful()
                           .no_gradient();

const Op begin_op = RAW_OP(DatasetLoop)
                        .doc("Begins an iteration of a dataset, which is made of `tensors`.")
                        .inputs("tensors*: any")
                        .attr("dataset")
                        .attrs<&DatasetAttrs::dataset>()
                        .infer(+[](Infer& s) { s.output(int64, Shape{}); })
                        .kernel("iterator", begin)
                        .on_host()
                        .stateful()
                        .no_gradient();
const Op advance_op = RAW_OP(DatasetLoopNext)
                          .doc("Goes to the next element of a dataset: whether there is one.")
                          .inputs("position: K!")
                          .infer(+[](Infer& s) { s.output(boolean, Shape{}); })
                          .kernel("iterator", advance)
                          .on_host()
                          .stateful()
                          .no_gradient();
const Op element_op = RAW_OP(DatasetLoopElement)
                          .doc("The element of a dataset that a loop has come to.")
                          .inputs("position: K!")
                          .attr("spec")
                          .attrs<&SpecAttrs::spec>()
                          .infer(infer_element)
                          .kernel("iterator", element)
                          .on_host()
                          .stateful()
                          .no_gradient();

}  // namespace

Tensor begin_loop(const Dataset& dataset) {
  Tensors out;
  auto open = make_ref<OpenDataset>(dataset.object());
  apply(begin_op.def(), open->symbols, {Arg(Ref<RefCounted>(open))}, out);
  return out[0];
}

Tensor begin_loop(const Iterator& iterator) {
  Tensors out;
  apply(begin_op.def(), {}, {Arg(Ref<RefCounted>(iterator.object()))}, out);
  return out[0];
}

Tensor advance_loop(const Tensor& position) {
  Tensors out;
  apply(advance_op.def(), std::span(&position, 1), {}, out);
  return out[0];
}

Nested loop_element(const Tensor& position, const ElementSpec& spec) {
  refuse_datasets(spec, "a loop of a graph");
  Tensors out;
  apply(element_op.def(), std::span(&position, 1), {Arg(Ref<RefCounted>(make_ref<Spec>(spec)))},
        out);
  return spec.form().with_leaves({out.data(), out.size()});
}

Nested next_element(const Tensor& position, const ElementSpec& spec) {
  refuse_datasets(spec, "an iterator in a graph");
  Tensors out;
  apply(get_next_op.def(), std::span(&position, 1), {Arg(Ref<RefCounted>(make_ref<Spec>(spec)))},
        out);
  return spec.form().with_leaves({out.data(), out.size()});
}

Nested single_element(const Dataset& dataset) {
  const ElementSpec& spec = dataset.element_spec();
  refuse_datasets(spec, "`get_single_element` in a graph");
  Tensor position = begin_loop(dataset);
  Tensors out;
  apply(single_op.def(), std::span(&position, 1), {Arg(Ref<RefCounted>(make_ref<Spec>(spec)))},
        out);
  return spec.form().with_leaves({out.data(), out.size()});
}

Nested Dataset::only_element() const { return single_element(*this); }

}  // namespace holdfast::data
