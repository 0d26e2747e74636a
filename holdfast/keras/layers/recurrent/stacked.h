// Cells on top of each other, as one cell.
#pragma once

#include "holdfast/keras/layers/recurrent/cell.h"
#include "holdfast/keras/model.h"

namespace holdfast::keras::layers {

struct StackedRNNCellsOptions {
  std::vector<LayerOption> cells = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API StackedRNNCellsLayer : public Declares<StackedRNNCellsOptions, CellLayer> {
 public:
  StackedRNNCellsLayer() = default;
  explicit StackedRNNCellsLayer(const StackedRNNCellsOptions& o);
  const ClassDef& definition() const override;
  Config state_size() const override;
  int64_t output_size() const override;
  Nested initial_state(const Tensor& batch_size) const override;
  void build(const Shape& inputs) override;
  Nested call_all(const Nested& inputs, const CallOptions&) override;

 private:
  void check() override;
};

/// What each cell gives is what the next one is given.
using StackedRNNCells = Handle<StackedRNNCellsLayer>;

}  // namespace holdfast::keras::layers
