#include "holdfast/keras/models/plot.h"

#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/io/atomic_file.h"
#include "holdfast/keras/models/drawing.h"
#include "holdfast/keras/models/outline.h"

namespace holdfast::keras {
namespace {

void check(const ModelLayer& model, const PlotOptions& o) {
  if (!model.built())
    fail(Code::E1104, cat(model.described(), " is not built, so there is nothing to draw"),
         "layers are joined when the shape of the inputs is known",
         {manual_fix("call the model once, or its `build`")});
  const std::vector<std::string> ways{"TB", "BT", "LR", "RL"},
      lines{"ortho", "curved", "spline", "polyline", "line"};
  if (std::find(ways.begin(), ways.end(), o.rankdir) == ways.end())
    unknown_identifier("`rankdir` of a plot", o.rankdir, ways);
  if (std::find(lines.begin(), lines.end(), o.splines) == lines.end())
    unknown_identifier("`splines` of a plot", o.splines, lines);
  if (o.dpi < 1) fail(Code::E1103, cat("`dpi` of a plot is ", o.dpi, ", expected at least 1"));
}

// The name of a layer's activation; empty where it has none.
std::string activation_of(const Layer& layer) {
  const Option* option = layer.definition().find("activation");
  if (!option) return {};
  Config value = option->get(layer.Declared::option_place());
  auto* f = dynamic_cast<const Activation*>(value.live());
  if (!f) return {};
  if (auto* foreign = dynamic_cast<const StandsFor*>(f)) return foreign->function->name();
  Config name = f->config();
  return name.kind() == Config::Kind::kText ? name.as_text() : "";
}

std::string dtypes_text(const std::vector<DType>& dtypes) {
  std::string out;
  for (DType d : dtypes) out += cat(out.empty() ? "" : ", ", name(d));
  return out.empty() ? "?" : out;
}

Box box_of(const OutlineEntry& e, const std::string& group, const PlotOptions& o) {
  Box b;
  b.title = o.show_layer_names ? cat(e.name, " (", e.kind, ")") : e.kind;
  b.group = group;
  if (o.show_layer_activations && e.layer)
    if (std::string a = activation_of(*e.layer); !a.empty())
      b.lines.push_back(cat("Activation: ", a));
  if (o.show_dtype) b.lines.push_back(cat("Output dtype: ", dtypes_text(e.dtypes)));
  if (o.show_shapes) {
    if (!e.is_input) b.lines.push_back(cat("Input shape: ", shapes_text(e.inputs)));
    b.lines.push_back(cat("Output shape: ", shapes_text(e.outputs)));
  }
  if (o.show_trainable && e.layer && e.parameters > 0)
    b.lines.push_back(cat("Trainable: ", e.layer->trainable() ? "True" : "False"));
  return b;
}

class Draw {
 public:
  Draw(const ModelLayer& model, const PlotOptions& o) : options_(o) {
    Outline all = outline_of(model, {o.expand_nested, true});
    // Layers of which no calls are known are drawn in the order in which the model has them.
    std::vector<std::vector<size_t>> ends = add(all.entries, "", {});
    if (all.outputs.empty())
      for (size_t i = 1; i < ends.size(); ++i)
        if (!ends[i - 1].empty() && !ends[i].empty()) join(ends[i - 1][0], ends[i][0]);
  }
  Drawing drawing;

 private:
  // Adds entries; gives for each the boxes that its results come from. `given` are the boxes that
  // the Inputs of a model inside stand for.
  std::vector<std::vector<size_t>> add(const std::vector<OutlineEntry>& entries,
                                       const std::string& group, const std::vector<size_t>& given) {
    std::vector<std::vector<size_t>> ends;
    size_t input = 0;
    for (const OutlineEntry& e : entries) {
      std::vector<size_t> from;
      for (const Source& s : e.from) {
        const std::vector<size_t>& of = ends[s.entry];
        if (!of.empty()) from.push_back(of[std::min(static_cast<size_t>(s.result), of.size() - 1)]);
      }
      if (e.is_input && input < given.size()) {
        ends.push_back({given[input++]});
        continue;
      }
      if (!e.inside.empty() && !e.gives.empty()) {
        std::string name = group.empty() ? e.name : cat(group, "/", e.name);
        std::vector<std::vector<size_t>> inner = add(e.inside, name, from);
        std::vector<size_t> gives;
        for (const Source& s : e.gives)
          if (!inner[s.entry].empty()) gives.push_back(inner[s.entry][0]);
        ends.push_back(gives);
        continue;
      }
      size_t box = drawing.boxes.size();
      drawing.boxes.push_back(box_of(e, group, options_));
      for (size_t f : from) join(f, box);
      ends.push_back({box});
    }
    return ends;
  }
  void join(size_t from, size_t to) {
    if (from == to) return;
    for (const Arrow& a : drawing.arrows)
      if (a.from == from && a.to == to) return;
    drawing.arrows.push_back({from, to, {}});
  }
  const PlotOptions& options_;
};

// A text in quotes, as Graphviz reads it.
std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

std::string model_to_dot(const ModelLayer& model, const PlotOptions& o) {
  check(model, o);
  Drawing d = Draw(model, o).drawing;
  std::string out =
      cat("digraph ", quoted(model.name()), " {\n  graph [rankdir=", o.rankdir, ", dpi=", o.dpi,
          ", splines=", o.splines, "];\n  node [shape=box, style=\"rounded,filled\", ",
          "fillcolor=\"#f4f6fa\", fontname=monospace];\n");
  auto node = [&](size_t i, const char* indent) {
    const Box& b = d.boxes[i];
    std::string label = b.title;
    for (const std::string& l : b.lines) label += "\n" + l;
    std::string text = quoted(label);
    for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos;)
      text.replace(at, 1, "\\n");
    out += cat(indent, "n", i, " [label=", text, "];\n");
  };
  std::vector<std::string> groups;
  for (size_t i = 0; i < d.boxes.size(); ++i) {
    const std::string& g = d.boxes[i].group;
    if (g.empty())
      node(i, "  ");
    else if (std::find(groups.begin(), groups.end(), g) == groups.end())
      groups.push_back(g);
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    out += cat("  subgraph cluster_", g, " {\n    label=", quoted(groups[g]), ";\n");
    for (size_t i = 0; i < d.boxes.size(); ++i)
      if (d.boxes[i].group == groups[g]) node(i, "    ");
    out += "  }\n";
  }
  for (const Arrow& a : d.arrows) out += cat("  n", a.from, " -> n", a.to, ";\n");
  return out + "}\n";
}

std::string model_to_svg(const ModelLayer& model, const PlotOptions& o) {
  check(model, o);
  Drawing d = Draw(model, o).drawing;
  // A drawing has no clusters: boxes of models inside say which one they are of.
  for (Box& b : d.boxes)
    if (!b.group.empty()) b.lines.insert(b.lines.begin(), cat("in ", b.group));
  arrange(d, o.rankdir);
  return svg_of(d, o.splines, static_cast<double>(o.dpi) / 200, o.rankdir);
}

void plot_model(const ModelLayer& model, const std::string& path, const PlotOptions& o) {
  std::string text;
  if (path.ends_with(".svg"))
    text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + model_to_svg(model, o);
  else if (path.ends_with(".html") || path.ends_with(".htm"))
    text = cat("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>", model.name(),
               "</title></head>\n<body>\n", model_to_svg(model, o), "</body></html>\n");
  else if (path.ends_with(".dot") || path.ends_with(".gv"))
    text = model_to_dot(model, o);
  else
    fail(Code::E1105, cat("`plot_model`: `to_file` is `", path, "`, whose format is not supported"),
         "drawings are written as `.svg`, `.html` or `.dot`",
         {manual_fix("let the name end in `.svg`")});
  io::AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace holdfast::keras
