#include "holdfast/keras/layers/recurrent/stacked.h"

#include "holdfast/base/text.h"

namespace holdfast::keras::layers {
namespace {

using O = StackedRNNCellsOptions;
ClassDef& declared =
    Declare<StackedRNNCellsLayer>("layers.StackedRNNCells",
                                  "Cells on top of each other, as one cell.", &Layer::def())
        .required<&O::cells>("cells")
        .layer_options()
        .parameters({"inputs", "states", "training"})
        .property("state_size",
                  [](const Object& o) { return dynamic_cast<const CellLayer&>(o).state_size(); })
        .property("output_size", [](const Object& o) {
          return Config(dynamic_cast<const CellLayer&>(o).output_size());
        });

}  // namespace

StackedRNNCellsLayer::StackedRNNCellsLayer(const StackedRNNCellsOptions& o) { configure(o); }
const ClassDef& StackedRNNCellsLayer::definition() const { return declared; }

void StackedRNNCellsLayer::check() {
  if (options_.cells.empty())
    fail(Code::E1104, "StackedRNNCells: `cells` is empty, expected at least one cell");
  for (const LayerOption& cell : options_.cells) {
    if (!cell) fail(Code::E1104, "StackedRNNCells: one of `cells` is empty, expected a cell");
    state_size_of(*cell);
    hold(Ref<ModuleObject>(cell.layer));
    cell->name_it();
  }
}

Config StackedRNNCellsLayer::state_size() const {
  Config::List out;
  for (const LayerOption& cell : options_.cells) out.push_back(state_size_of(*cell));
  return out;
}

int64_t StackedRNNCellsLayer::output_size() const { return output_size_of(*options_.cells.back()); }

Nested StackedRNNCellsLayer::initial_state(const Tensor& batch_size) const {
  std::vector<Nested> out;
  for (const LayerOption& cell : options_.cells) out.push_back(initial_state_of(*cell, batch_size));
  return Nested::list(std::move(out));
}

void StackedRNNCellsLayer::build(const Shape& inputs) {
  Shape now = inputs;
  for (const LayerOption& cell : options_.cells) {
    build_inner(*cell, {now});
    now = Shape{inputs.has_rank() ? inputs[0] : kUnknown, output_size_of(*cell)};
  }
}

Nested StackedRNNCellsLayer::call_all(const Nested& inputs, const CallOptions& o) {
  const Nested* states = o.find("states");
  size_t cells = options_.cells.size();
  if (!states || !states->is_sequence() || states->size() != cells)
    fail(Code::E1104, cat(described(), ": `states` is ", states ? states->form() : "not given",
                          ", expected a list with the states of each of its ", cells, " cells"));
  Nested now = inputs;
  std::vector<Nested> after;
  for (size_t i = 0; i < cells; ++i) {
    CallOptions given{.training = o.training};
    given.named.emplace_back("states", (*states)[i]);
    Nested made = options_.cells[i]->run(now, std::move(given));
    if (!made.is_sequence() || made.size() != 2)
      fail(Code::E1104, cat(described(), ": its cell ", options_.cells[i]->described(), " gave ",
                            made.form(), ", expected an output and the new states"));
    now = made[0];
    after.push_back(made[1]);
  }
  return Nested::tuple({now, Nested::list(std::move(after))});
}

}  // namespace holdfast::keras::layers
