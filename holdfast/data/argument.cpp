#include "holdfast/data/argument.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/data/position.h"
#include "holdfast/op/op.h"

namespace holdfast::data {
namespace {

class Argument final : public DatasetObject, public MayBeOpen, public StandsForDataset {
 public:
  Argument(const Tensor& carrier, const ElementSpec& spec)
      : DatasetObject(spec, {}), carrier_(carrier) {}
  const char* name() const override { return "argument"; }
  int64_t cardinality() const override {
    // Nobody knows it while the graph is written.
    const Ref<Iteration>& now = Working::current();
    return now && now->bound ? given().cardinality() : kUnknownCardinality;
  }
  void add_open(std::vector<Tensor>& to) const override { to = {carrier_}; }
  Owned<Cursor> start() const override { return given().begin(); }
  void draw_as_begun() const override { given().draw_as_begun(); }
  const DatasetObject* stands_for(const Bound* now) const override {
    for (size_t i = 0; now && i < now->symbols.size(); ++i)
      if (now->symbols[i].id() == carrier_.id())
        return dynamic_cast<const DatasetObject*>(now->values[i].rep()->beyond.get());
    return nullptr;
  }

 private:
  const DatasetObject& given() const {
    Tensor value = bound(carrier_, "a dataset that is an argument");
    auto* found = dynamic_cast<const DatasetObject*>(value.rep()->beyond.get());
    if (!found) fail(Code::E1104, "a scalar that leads to no dataset stands for one");
    return *found;
  }
  const Tensor carrier_;
};

struct CountedAttrs {
  Attr<RefCounted> dataset;
};

Status count(Call& c) {
  auto* open = dynamic_cast<OpenDataset*>(c.attrs<CountedAttrs>().dataset());
  if (!open) return {Code::E1104, "`dataset` is no dataset"};
  Working on(make_ref<Iteration>(open->bound(c, 0)));
  c.set_out(0, Tensor::scalar(open->dataset->cardinality()));
  return {};
}

const Op cardinality_op = RAW_OP(DatasetCardinality)
                              .doc("How many elements a dataset has, which is made of `tensors`.")
                              .inputs("tensors*: any")
                              .attr("dataset")
                              .attrs<&CountedAttrs::dataset>()
                              .infer(+[](Infer& s) { s.output(int64, Shape{}); })
                              .kernel("stages", count)
                              .on_host()
                              .stateful()
                              .no_gradient();

}  // namespace

Tensor carrier_of(const Dataset& dataset) {
  Tensor out = Tensor::scalar(int64_t{0});
  out.rep()->beyond = Ref<RefCounted>(dataset.object());
  return out;
}

Dataset dataset_argument(const Tensor& carrier, const ElementSpec& spec) {
  return Dataset(make_ref<Argument>(carrier, spec));
}

Tensor cardinality_in_graph(const Dataset& dataset) {
  auto open = make_ref<OpenDataset>(dataset.object());
  int64_t known = dataset.cardinality();
  if (open->symbols.empty() || known != kUnknownCardinality) return Tensor::scalar(known);
  Tensors out;
  apply(cardinality_op.def(), open->symbols, {Arg(Ref<RefCounted>(open))}, out);
  return out[0];
}

}  // namespace holdfast::data
