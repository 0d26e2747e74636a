// A model as a drawing: SVG with a layout of our own, or text for Graphviz.
#pragma once

#include "holdfast/keras/model.h"

namespace holdfast::keras {

struct PlotOptions {
  bool show_shapes = false;
  bool show_dtype = false;
  bool show_layer_names = true;
  std::string rankdir = "TB";  // where arrows go: TB, BT, LR or RL
  bool expand_nested = false;
  int64_t dpi = 200;
  bool show_layer_activations = false;
  bool show_trainable = false;
  std::string splines = "ortho";  // arrows: ortho, curved, spline, polyline or line
};

HOLDFAST_API std::string model_to_dot(const ModelLayer& model, const PlotOptions& = {});
HOLDFAST_API std::string model_to_svg(const ModelLayer& model, const PlotOptions& = {});
/// Writes a drawing. The name tells the format: `.svg`, `.html` or `.dot`.
HOLDFAST_API void plot_model(const ModelLayer& model, const std::string& path,
                             const PlotOptions& = {});

}  // namespace holdfast::keras
