#include "holdfast/keras/layers/einsum_dense.h"

#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/initializers/axes.h"
#include "holdfast/keras/layers/checks.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {
namespace {

using O = EinsumDenseOptions;
ClassDef& declared = Declare<EinsumDenseLayer>(
                         "layers.EinsumDense",
                         "`activation(einsum(equation, inputs, kernel) + bias)`.", &Layer::def())
                         .required<&O::equation>("equation")
                         .required<&O::output_shape>("output_shape")
                         .option<&O::activation>("activation")
                         .option<&O::bias_axes>("bias_axes")
                         .option<&O::kernel_initializer>("kernel_initializer")
                         .option<&O::bias_initializer>("bias_initializer")
                         .option<&O::kernel_regularizer>("kernel_regularizer")
                         .option<&O::bias_regularizer>("bias_regularizer")
                         .option<&O::kernel_constraint>("kernel_constraint")
                         .option<&O::bias_constraint>("bias_constraint")
                         .layer_options()
                         .option<&O::activity_regularizer>("activity_regularizer")
                         .option<&O::quantization_config>("quantization_config")
                         .key_before("output_shape", "equation")
                         .key_before("activity_regularizer", "kernel_constraint")
                         .weight<&EinsumDenseLayer::kernel>("kernel")
                         .weight<&EinsumDenseLayer::bias>("bias");

// The three parts of an equation. Axes without a letter come before the inputs' or behind them.
struct Equation {
  std::string inputs, kernel, outputs;
  bool left = false, right = false;
};

bool letters(const std::string& s) {
  return !s.empty() &&
         std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isalpha(c); });
}

// A part's dots taken away: before it (1), behind it (2), or none (0).
int take_dots(std::string& part) {
  if (part.starts_with("...")) {
    part.erase(0, 3);
    return 1;
  }
  if (part.ends_with("...")) {
    part.resize(part.size() - 3);
    return 2;
  }
  return 0;
}

Equation parsed(const std::string& text) {
  std::string plain;
  std::copy_if(text.begin(), text.end(), std::back_inserter(plain),
               [](char c) { return c != ' '; });
  size_t comma = plain.find(','), arrow = plain.find("->");
  Equation e;
  bool fits = comma != std::string::npos && arrow != std::string::npos && comma < arrow;
  if (fits) {
    e.inputs = plain.substr(0, comma);
    e.kernel = plain.substr(comma + 1, arrow - comma - 1);
    e.outputs = plain.substr(arrow + 2);
    int in = take_dots(e.inputs), out = take_dots(e.outputs);
    e.left = in == 1;
    e.right = in == 2;
    fits = in == out && letters(e.inputs) && letters(e.kernel) && letters(e.outputs);
  }
  if (!fits)
    fail(Code::E1104,
         cat("EinsumDense: `equation` is \"", text,
             "\", expected \"ab,bc->ac\", \"...b,bc->...c\" or \"ab...,bc->ac...\""),
         "letters before the comma are axes of the inputs, those behind it axes of the kernel");
  for (char c : e.outputs)
    if (e.inputs.find(c) == std::string::npos && e.kernel.find(c) == std::string::npos)
      fail(Code::E1104, cat("EinsumDense: `equation` is \"", text, "\", and '", c,
                            "' of the output is in neither the inputs nor the kernel"));
  for (char c : e.kernel)
    if (e.inputs.find(c) == std::string::npos && e.outputs.find(c) == std::string::npos)
      fail(Code::E1104, cat("EinsumDense: `equation` is \"", text, "\", and '", c,
                            "' of the kernel is in neither the inputs nor the output"));
  return e;
}

}  // namespace

const ClassDef& EinsumDenseLayer::definition() const { return declared; }

void EinsumDenseLayer::check() {
  Equation e = parsed(options_.equation);
  if (options_.bias_axes)
    for (char c : *options_.bias_axes)
      if (e.outputs.find(c) == std::string::npos)
        fail(Code::E1104, cat("EinsumDense: `bias_axes` is \"", *options_.bias_axes, "\", and '", c,
                              "' is not in the output of \"", options_.equation, "\""));
  refuse_quantized("EinsumDense", options_.quantization_config);
}

void EinsumDenseLayer::build(const Shape& inputs) {
  const O& o = options_;
  Equation e = parsed(o.equation);
  auto count = static_cast<int>(e.inputs.size());
  if (!inputs.has_rank() || inputs.rank() < count ||
      (!e.left && !e.right && inputs.rank() != count))
    fail(Code::E1102,
         cat(described(), ": `inputs` has the shape ", inputs.text(), ", expected ",
             e.left || e.right ? "at least " : "", count, " axes for \"", o.equation, "\""));
  int more = inputs.rank() - count;
  auto size_in = [&](char c) -> int64_t {
    return inputs[static_cast<int>(e.inputs.find(c)) + (e.left ? more : 0)];
  };
  // The whole output: the batch, what has no letter, and the sizes that were given.
  std::vector<int64_t> whole(o.output_shape.begin(), o.output_shape.end());
  whole.insert(whole.begin(), inputs[0]);
  if (e.left)
    for (int i = 1; i < more; ++i) whole.insert(whole.begin() + i, inputs[i]);
  else
    for (int i = inputs.rank() - more; i < inputs.rank(); ++i) whole.push_back(inputs[i]);
  if (whole.size() != e.outputs.size() + static_cast<size_t>(more))
    fail(Code::E1102, cat(described(), ": `output_shape` is ", o.output_shape.text(), ", expected ",
                          static_cast<int64_t>(e.outputs.size()) - (e.left && more > 0 ? 0 : 1),
                          " sizes, those of \"", e.outputs, "\" without the batch"));
  auto size_out = [&](char c) {
    return whole[e.outputs.find(c) + static_cast<size_t>(e.left ? more : 0)];
  };
  for (char c : e.inputs)
    if (e.outputs.find(c) != std::string::npos && size_out(c) >= 0 && size_in(c) >= 0 &&
        size_out(c) != size_in(c))
      fail(Code::E1102,
           cat(described(), ": `inputs` has the shape ", inputs.text(), ", where '", c, "' is ",
               size_in(c), ", expected ", size_out(c), ", as in `output_shape`"));
  auto known = [&](int64_t size, char c) {
    if (size < 0)
      fail(Code::E1102,
           cat(described(), ": `inputs` has the shape ", inputs.text(),
               ", expected a known size of '", c, "' in \"", o.equation, "\""),
           "the kernel has weights for each element of it");
    return size;
  };
  std::vector<int64_t> dims, summed, kept;  // axes of the kernel: those of sums, and the others
  for (char c : e.kernel) {
    const bool out = e.outputs.find(c) != std::string::npos;
    (out ? kept : summed).push_back(static_cast<int64_t>(dims.size()));
    dims.push_back(known(out ? size_out(c) : size_in(c), c));
  }
  InitializerOption first_kernel = o.kernel_initializer;
  if (first_kernel)
    first_kernel = initializers::along_axes(o.kernel_initializer.function, summed, kept);
  kernel = add_weight({.name = "kernel",
                       .shape = dims,
                       .initializer = first_kernel,
                       .regularizer = o.kernel_regularizer,
                       .constraint = o.kernel_constraint});
  if (!o.bias_axes || o.bias_axes->empty()) return;
  size_t first = e.outputs.find_first_of(*o.bias_axes);
  std::vector<int64_t> biased;
  for (char c : e.outputs.substr(first))
    biased.push_back(o.bias_axes->find(c) != std::string::npos ? known(size_out(c), c) : 1);
  if (!e.left) biased.insert(biased.end(), static_cast<size_t>(more), 1);
  bias = add_weight({.name = "bias",
                     .shape = biased,
                     .initializer = o.bias_initializer,
                     .regularizer = o.bias_regularizer,
                     .constraint = o.bias_constraint});
}

std::optional<InputSpec> EinsumDenseLayer::input_spec() const {
  if (!built_for() || built_for()->empty() || !built_for()->front().has_rank()) return {};
  return InputSpec{.axes = built_for()->front().rank()};
}

Tensor EinsumDenseLayer::call(const Tensor& inputs, const CallOptions&) {
  const O& o = options_;
  need_built(*this, kernel, "kernel");
  Equation e = parsed(o.equation);
  if (inputs.shape().has_rank() && built_for() && !built_for()->empty() &&
      built_for()->front().has_rank()) {
    need_axes(*this, inputs.shape(), built_for()->front().rank(), "those it was built for");
    int more = e.left ? inputs.rank() - static_cast<int>(e.inputs.size()) : 0;
    for (size_t i = 0; i < e.kernel.size(); ++i)
      if (size_t at = e.inputs.find(e.kernel[i]); at != std::string::npos)
        need_size(*this, inputs.shape(), static_cast<int>(at) + more,
                  kernel.shape()[static_cast<int>(i)], "the layer was built for that size");
  }
  std::string equation = o.equation;
  if ((e.left || e.right) && inputs.shape().has_rank()) {  // letters keep sizes known
    const std::string used = e.inputs + e.kernel + e.outputs;
    auto wanted = static_cast<size_t>(inputs.rank()) - e.inputs.size();
    std::string free;
    for (char c : std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
      if (free.size() < wanted && used.find(c) == std::string::npos) free += c;
    if (free.size() < wanted)
      fail(Code::E1102, cat(described(), ": `inputs` has the shape ", inputs.shape().text(),
                            ", expected at most ", free.size(), " axes without a letter"));
    equation = e.left ? cat(free, e.inputs, ",", e.kernel, "->", free, e.outputs)
                      : cat(e.inputs, free, ",", e.kernel, "->", e.outputs, free);
  }
  Tensor y = einsum(equation, {as_factor(*this, inputs), read(kernel)});
  if (bias.defined()) y = y + read(bias);
  return o.activation ? (*o.activation)(y) : y;
}

}  // namespace holdfast::keras::layers
