// Python's models.
#include <unordered_set>

#include "holdfast/autodiff/tape.h"
#include "holdfast/base/text.h"
#include "holdfast/exec/function.h"
#include "holdfast/keras/functional.h"
#include "holdfast/keras/layers/input_layer.h"
#include "holdfast/keras/sequential.h"
#include "holdfast/op/stand_in.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "python/bind/call.h"
#include "python/bind/keras.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

using keras::FunctionalLayer;
using keras::Layer;
using keras::ModelLayer;
using keras::SequentialLayer;

nb::list listed(const std::vector<Ref<Layer>>& layers) {
  nb::list out;
  for (const Ref<Layer>& l : layers) out.append(given(python_of(*l)));
  return out;
}

// Trains a layer by plain descent on squared errors. The loop is C++'s and runs without the GIL: a
// step is traced once, through the layer's Python `call` if it has one.
std::vector<float> train_steps(Layer& layer, const Tensor& x, const Tensor& y, int64_t steps,
                               float rate) {
  WithoutGil without;
  keras::AnyLayer model{Ref<Layer>(&layer)};
  model(x);
  auto step = function([&](Tensor inputs, Tensor targets) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(model(inputs, {.training = true}) - targets));
    auto weights = model->trainable_variables();
    auto slopes = tape.gradients({loss}, {weights.begin(), weights.end()});
    for (size_t i = 0; i < weights.size(); ++i)
      if (!slopes[i].none()) weights[i].assign_sub(slopes[i].tensor() * rate);
    return loss;
  });
  std::vector<float> losses;
  for (int64_t i = 0; i < steps; ++i) losses.push_back(step(x, y).item<float>());
  return losses;
}

// Lets Python's side add to a message about Inputs that a model lacks what it knows of names.
void complete_in_python(Diagnostic& d, const keras::MissingInputs& about) {
  WithGil gil;
  if (!gil) return;
  auto listed_symbols = [](const std::vector<Tensor>& tensors) {
    nb::list out;
    for (const Tensor& t : tensors) out.append(nb::cast(t));
    return out;
  };
  nb::object said = given(to_dict(d));
  nb::module_::import_("holdfast._messages.missing_inputs")
      .attr("complete")(said, listed_symbols(about.missing), listed_symbols(about.given),
                        listed_symbols(about.unused));
  d = from_dict(said.ptr());
}

}  // namespace

void bind_keras_models(nb::module_& m) {
  keras::complete_missing() = &complete_in_python;
  stand_ins().name = [](const Tensor& t) -> std::string {
    WithGil gil;
    if (!gil) return {};
    return nb::cast<std::string>(
        nb::module_::import_("holdfast._messages.diagnostics").attr("name_in_frame")(nb::cast(t)));
  };
  m.def(
      "keras_input",
      [](nb::handle shape, nb::handle batch_shape, nb::handle batch_size, nb::handle dtype,
         const std::string& name, bool optional) {
        return run([&] {
          mark();
          keras::InputOptions o;
          o.optional = optional;
          if (!shape.is_none()) o.shape = shape_of(shape.ptr(), "`shape`");
          if (!batch_shape.is_none()) o.batch_shape = shape_of(batch_shape.ptr(), "`batch_shape`");
          if (!batch_size.is_none()) o.batch_size = nb::cast<int64_t>(batch_size);
          if (!dtype.is_none()) o.dtype = dtype_of_object(dtype.ptr());
          o.name = name;
          return keras::make_input(o);
        });
      },
      "shape"_a.none(), "batch_shape"_a.none(), "batch_size"_a.none(), "dtype"_a.none(), "name"_a,
      "optional"_a = false);
  m.def("model_graph", [](nb::handle self, nb::handle inputs, nb::handle outputs) {
    run([&] {
      mark();
      auto& model = layer_of<FunctionalLayer>(self.ptr());
      model.set_graph(nested_from(inputs.ptr(), "`inputs`"),
                      nested_from(outputs.ptr(), "`outputs`"));
      return 0;
    });
  });
  m.def("same_symbol", [](const Tensor& a, const Tensor& b) {
    return a.is_symbolic() && b.is_symbolic() && edge_of(a) == edge_of(b);
  });
  m.def("inputs_behind", [](const Tensor& t) {
    // The Inputs that a symbol of a model is computed from, nearest first.
    nb::list out;
    if (!keras::is_model_symbol(t)) return out;
    std::unordered_set<const Node*> seen{node_of(t)};
    std::vector<Ref<Node>> queue{Ref<Node>(node_of(t))};
    for (size_t i = 0; i < queue.size(); ++i) {
      const Ref<Node> node = queue[i];
      if (keras::is_input(*node)) out.append(nb::cast(symbol_for({node, 0}, keras::model_scope())));
      for (const Edge& e : node->inputs)
        if (e.node && seen.insert(e.node.get()).second) queue.push_back(e.node);
    }
    return out;
  });
  m.def("model_inputs", [](nb::handle self) {
    return run([&] {
      if (auto* s = object_behind<SequentialLayer>(self.ptr()))
        return given(python_from(s->inputs()));
      return given(python_from(layer_of<FunctionalLayer>(self.ptr()).inputs()));
    });
  });
  m.def("model_outputs", [](nb::handle self) {
    return run([&] {
      if (auto* s = object_behind<SequentialLayer>(self.ptr()))
        return given(python_from(s->outputs()));
      return given(python_from(layer_of<FunctionalLayer>(self.ptr()).outputs()));
    });
  });
  m.def("model_layers", [](nb::handle self) {
    return run([&] {
      auto& model = layer_of<ModelLayer>(self.ptr());
      auto* graph = dynamic_cast<keras::FunctionalLayer*>(&model);
      return listed(graph ? graph->layers_and_inputs() : model.layers());
    });
  });
  m.def("set_input_of_layer", [](nb::handle self, const Tensor& input) {
    run([&] {
      layer_of<keras::layers::InputLayerLayer>(self.ptr()).take(input);
      return 0;
    });
  });
  m.def("input_of_layer", [](nb::handle self) {
    return run([&] {
      mark();
      return layer_of<keras::layers::InputLayerLayer>(self.ptr()).output();
    });
  });
  m.def("model_operations", [](nb::handle self) {
    return run([&] {
      nb::list out;  // a layer, an Input's name, or None for an op
      for (const auto& o : layer_of<FunctionalLayer>(self.ptr()).operations()) {
        if (o.layer)
          out.append(given(python_of(*o.layer)));
        else if (keras::is_input(*o.node))
          out.append(o.node->name);
        else
          out.append(nb::none());
      }
      return out;
    });
  });
  m.def("sequential_add", [](nb::handle self, nb::handle layer) {
    run([&] {
      mark();
      layer_of<SequentialLayer>(self.ptr())
          .add(keras::AnyLayer(Ref<Layer>(&layer_of(layer.ptr()))));
      return 0;
    });
  });
  m.def("sequential_input", [](nb::handle self, const Tensor& symbol) {
    run([&] {
      mark();
      layer_of<SequentialLayer>(self.ptr()).set_input(symbol);
      return 0;
    });
  });
  m.def("sequential_pop", [](nb::handle self) {
    return run([&] {
      mark();
      return given(python_of(*layer_of<SequentialLayer>(self.ptr()).pop()));
    });
  });
  m.def("train_steps",
        [](nb::handle layer, const Tensor& x, const Tensor& y, int64_t steps, float rate) {
          return run([&] { return train_steps(layer_of(layer.ptr()), x, y, steps, rate); });
        });
}

}  // namespace holdfast::py
