// What models say of themselves, and what is made of them: summaries, drawings, clones.
#include "holdfast/base/text.h"
#include "holdfast/keras/models/clone.h"
#include "holdfast/keras/models/plot.h"
#include "holdfast/keras/models/summary.h"
#include "python/bind/call.h"
#include "python/bind/keras.h"
#include "python/bind/keras_layer.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

using keras::Layer;
using keras::ModelLayer;

keras::PlotOptions plot_options(nb::dict given) {
  keras::PlotOptions o;
  o.show_shapes = nb::cast<bool>(given["show_shapes"]);
  o.show_dtype = nb::cast<bool>(given["show_dtype"]);
  o.show_layer_names = nb::cast<bool>(given["show_layer_names"]);
  o.rankdir = nb::cast<std::string>(given["rankdir"]);
  o.expand_nested = nb::cast<bool>(given["expand_nested"]);
  o.dpi = nb::cast<int64_t>(given["dpi"]);
  o.show_layer_activations = nb::cast<bool>(given["show_layer_activations"]);
  o.show_trainable = nb::cast<bool>(given["show_trainable"]);
  o.splines = nb::cast<std::string>(given["splines"]);
  return o;
}

// A layer that a function of Python's gave.
Ref<Layer> layer_from(PyObject* o, const Layer& old) {
  auto* made = object_behind<Layer>(o);
  if (!made)
    type_error(
        cat("`clone_function` gave ", repr_of(o), " for ", old.described(), ", expected a layer"));
  return Ref<Layer>(made);
}

}  // namespace

void bind_keras_views(nb::module_& m) {
  m.def(
      "model_layer",
      [](nb::handle self, const std::string& name) {
        return run([&] {
          mark();
          return given(python_of(*layer_of<ModelLayer>(self.ptr()).get_layer(name)));
        });
      },
      "self"_a, "name"_a);
  m.def("model_summary", [](nb::handle self, nb::dict given) {
    return run([&] {
      mark();
      keras::SummaryOptions o;
      if (nb::handle line = given["line_length"]; !line.is_none())
        o.line_length = nb::cast<int64_t>(line);
      if (nb::handle at = given["positions"]; !at.is_none())
        o.positions = nb::cast<std::vector<double>>(at);
      o.expand_nested = nb::cast<bool>(given["expand_nested"]);
      o.show_trainable = nb::cast<bool>(given["show_trainable"]);
      if (nb::handle range = given["layer_range"]; !range.is_none())
        o.layer_range = nb::cast<std::pair<std::string, std::string>>(range);
      return keras::summary_text(layer_of<ModelLayer>(self.ptr()), o);
    });
  });
  m.def("model_dot", [](nb::handle self, nb::dict options) {
    return run([&] {
      mark();
      return keras::model_to_dot(layer_of<ModelLayer>(self.ptr()), plot_options(options));
    });
  });
  m.def("model_svg", [](nb::handle self, nb::dict options) {
    return run([&] {
      mark();
      return keras::model_to_svg(layer_of<ModelLayer>(self.ptr()), plot_options(options));
    });
  });
  m.def("plot_model", [](nb::handle self, const std::string& path, nb::dict options) {
    run([&] {
      mark();
      keras::plot_model(layer_of<ModelLayer>(self.ptr()), path, plot_options(options));
      return 0;
    });
  });
  m.def(
      "clone_model",
      [](nb::handle self, nb::handle input_tensors, nb::handle clone_function,
         nb::handle call_function, bool recursive) {
        return run([&] {
          mark();
          keras::CloneOptions o;
          if (!input_tensors.is_none())
            o.input_tensors = nested_from(input_tensors.ptr(), "`input_tensors`");
          o.recursive = recursive;
          o.compile = false;  // Python's models keep what they were compiled with
          o.foreign = true;
          o.clone_function = [&](Layer& old) {
            Object face = python_of(old);
            return layer_from(called(clone_function.ptr(), face.get()).get(), old);
          };
          if (!call_function.is_none())
            o.call_function = [&](Layer& layer, const keras::LayerCall& call,
                                  std::span<const Tensor> inputs) {
              return called_through(call_function.ptr(), layer, call, inputs);
            };
          return given(python_of(*keras::clone_model(layer_of<ModelLayer>(self.ptr()), o)));
        });
      },
      "self"_a, "input_tensors"_a.none(), "clone_function"_a, "call_function"_a.none(),
      "recursive"_a);
}

}  // namespace holdfast::py
