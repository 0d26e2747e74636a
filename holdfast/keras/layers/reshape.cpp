#include "holdfast/keras/layers/reshape.h"

#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"

namespace holdfast::keras::layers {
namespace {

ClassDef& flatten =
    Declare<FlattenLayer>("layers.Flatten", "All axes but the batch in one.", &Layer::def())
        .option<&FlattenOptions::data_format>("data_format")
        .layer_options();
ClassDef& reshaped =
    Declare<ReshapeLayer>("layers.Reshape",
                          "The same elements in another shape; the batch stays, and one size may "
                          "be -1.",
                          &Layer::def())
        .required<&ReshapeOptions::target_shape>("target_shape")
        .layer_options();
ClassDef& permuted =
    Declare<PermuteLayer>("layers.Permute",
                          "The axes in another order; `dims` counts from 1, behind the batch.",
                          &Layer::def())
        .required<&PermuteOptions::dims>("dims")
        .layer_options();
ClassDef& repeated =
    Declare<RepeatVectorLayer>(
        "layers.RepeatVector",
        "Each row `n` times: (batch, features) becomes (batch, n, features).", &Layer::def())
        .required<&RepeatVectorOptions::n>("n")
        .layer_options();

// How many elements an example has.
std::optional<int64_t> elements_behind(const Shape& s) {
  if (!s.has_rank() || s.rank() == 0) return {};
  return Shape(std::span<const int64_t>(s.begin() + 1, s.end())).elements();
}

// The shape of what comes behind the batch, put behind the batch of `inputs`.
Tensor with_batch(const Tensor& inputs, std::vector<int64_t> behind) {
  bool open = std::find(behind.begin(), behind.end(), -1) != behind.end();
  int64_t batch = inputs.shape().has_rank() ? inputs.shape()[0] : kUnknown;
  if (batch < 0 && open) {
    Tensor rest = Sizes(behind).tensor();
    return reshape(inputs, concat({cast(at(shape(inputs), slice(0, 1)), rest.dtype()), rest}, 0));
  }
  behind.insert(behind.begin(), batch);  // of sizes that are all known but one, that one follows
  return reshape(inputs, behind);
}

}  // namespace

const ClassDef& FlattenLayer::definition() const { return flatten; }
const ClassDef& ReshapeLayer::definition() const { return reshaped; }
const ClassDef& PermuteLayer::definition() const { return permuted; }
const ClassDef& RepeatVectorLayer::definition() const { return repeated; }

void FlattenLayer::check() { settle_format(options_.data_format, definition().name); }

Tensor FlattenLayer::call(const Tensor& inputs, const CallOptions&) {
  const Shape& s = inputs.shape();
  if (s.has_rank() && s.rank() < 1)
    fail(Code::E1102, cat(described(), ": `inputs` has the shape ", s.text(),
                          ", expected at least one axis, the batch"));
  Tensor x = inputs;
  if (channels_first(options_.data_format) && s.has_rank() && s.rank() > 2) {
    std::vector<int64_t> perm{0};
    for (int i = 2; i < s.rank(); ++i) perm.push_back(i);
    perm.push_back(1);
    x = transpose(inputs, {.perm = perm});
  }
  return with_batch(x, {elements_behind(s).value_or(kUnknown)});
}

void ReshapeLayer::check() {
  int open = 0;
  bool low = false;
  for (int64_t d : options_.target_shape) {
    open += d == -1;
    low |= d < -1;
  }
  if (low || open > 1)
    fail(Code::E1103, cat(definition().name, ": `target_shape` is ",
                          OptionType<std::vector<int64_t>>::get(options_.target_shape).to_json(),
                          ", expected sizes, of which one may be -1"));
}

Tensor ReshapeLayer::call(const Tensor& inputs, const CallOptions&) {
  const Shape& s = inputs.shape();
  std::vector<int64_t> to = options_.target_shape;
  // Checked here where sizes are known, so that the message names the layer.
  std::optional<int64_t> have = elements_behind(s);
  int64_t want = 1;
  bool open = false;
  for (int64_t d : to)
    if (d == -1)
      open = true;
    else
      want *= d;
  if (have) {
    if (open ? want == 0 || *have % want != 0 : *have != want)
      fail(Code::E1102,
           cat(described(), ": `inputs` has the shape ", s.text(), ", expected ",
               open ? "a multiple of " : "", want, " elements for each example"),
           cat("`target_shape` ", OptionType<std::vector<int64_t>>::get(to).to_json(), " has ",
               open ? "a multiple of " : "", want, " elements, an example ", *have));
    std::replace(to.begin(), to.end(), int64_t{-1}, open ? *have / want : 0);
  }
  return with_batch(inputs, to);
}

void PermuteLayer::check() {
  std::vector<int64_t> sorted = options_.dims;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int64_t>(i) + 1)
      fail(Code::E1103,
           cat(definition().name, ": `dims` is ",
               OptionType<std::vector<int64_t>>::get(options_.dims).to_json(),
               ", expected each of 1 to ", sorted.size(), " once"),
           "1 is the first axis behind the batch");
}

Tensor PermuteLayer::call(const Tensor& inputs, const CallOptions&) {
  need_axes(*this, inputs.shape(), static_cast<int>(options_.dims.size()) + 1,
            "the batch and those that `dims` names");
  std::vector<int64_t> perm{0};
  perm.insert(perm.end(), options_.dims.begin(), options_.dims.end());
  return transpose(inputs, {.perm = perm});
}

void RepeatVectorLayer::check() { need_at_least(options_.n, 1, "n", definition().name); }

Tensor RepeatVectorLayer::call(const Tensor& inputs, const CallOptions&) {
  need_axes(*this, inputs.shape(), 2, "[batch, features]");
  return tile(expand_dims(inputs, 1), {1, options_.n, 1});
}

}  // namespace holdfast::keras::layers
