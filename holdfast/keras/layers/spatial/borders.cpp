#include "holdfast/keras/layers/spatial/borders.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::keras::layers {
namespace {

ClassDef& cropping1d =
    Declare<Cropping1DLayer>("layers.Cropping1D", "Without the first and the last steps.",
                             &Layer::def())
        .option<&Cropping1DOptions::cropping>("cropping")
        .layer_options();
template <class L>
ClassDef& declare_cropping(const char* path, const char* doc) {
  return Declare<L>(path, doc, &Layer::def())
      .template option<&CroppingOptions::cropping>("cropping")
      .template option<&CroppingOptions::data_format>("data_format")
      .layer_options();
}
template <class L>
ClassDef& declare_padding(const char* path, const char* doc) {
  return Declare<L>(path, doc, &Layer::def())
      .template option<&ZeroPaddingOptions::padding>("padding")
      .template option<&ZeroPaddingOptions::data_format>("data_format")
      .layer_options();
}
ClassDef& cropping2d =
    declare_cropping<Cropping2DLayer>("layers.Cropping2D", "Images without their borders.");
ClassDef& cropping3d =
    declare_cropping<Cropping3DLayer>("layers.Cropping3D", "Volumes without their borders.");
ClassDef& padding1d = declare_padding<ZeroPadding1DLayer>("layers.ZeroPadding1D",
                                                          "Zeros before and after the steps.");
ClassDef& padding2d =
    declare_padding<ZeroPadding2DLayer>("layers.ZeroPadding2D", "Images with a border of zeros.");
ClassDef& padding3d =
    declare_padding<ZeroPadding3DLayer>("layers.ZeroPadding3D", "Volumes with a border of zeros.");

Config pairs(int axes, int64_t each) {
  return Config::List(static_cast<size_t>(axes), Config(Config::List{each, each}));
}

Tensor cropped(const Layer& layer, const Tensor& x, const Borders& borders, int first) {
  const Shape& s = x.shape();
  std::vector<int64_t> begin(static_cast<size_t>(s.rank()), 0), size(begin.size(), -1);
  std::vector<int64_t> cut(begin.size(), 0);
  bool open = false;
  for (size_t i = 0; i < borders.amounts.size(); ++i) {
    auto [before, after] = borders.amounts[i];
    size_t axis = static_cast<size_t>(first) + i;
    int64_t have = s[static_cast<int>(axis)];
    if (have >= 0 && before + after >= have)
      fail(Code::E1102,
           cat(layer.described(), ": `inputs` has the shape ", s.text(), ", expected more than ",
               before + after, " along axis ", axis),
           cat("expected more than ", before + after, " along axis ", axis,
               ": `cropping` takes away ", before, " before and ", after,
               " after it, and nothing would be left"));
    begin[axis] = before;
    cut[axis] = before + after;
    if (have >= 0)
      size[axis] = have - before - after;
    else
      open |= after > 0;  // -1 is all that is left, which is right where nothing is cut behind
  }
  if (!open) return slice(x, begin, size);
  Tensor all = shape(x) - constant(std::vector<int32_t>(cut.begin(), cut.end()));
  Tensor y = slice(x, begin, all);
  Shape known = s;
  for (size_t i = 0; i < cut.size(); ++i)
    if (known.dims()[i] >= 0) known.dims()[i] -= cut[i];
  return y.shape() == known ? y : ensure_shape(y, known);
}

}  // namespace

const ClassDef& Cropping1DLayer::definition() const { return cropping1d; }
const ClassDef& Cropping2DLayer::definition() const { return cropping2d; }
const ClassDef& Cropping3DLayer::definition() const { return cropping3d; }
const ClassDef& ZeroPadding1DLayer::definition() const { return padding1d; }
const ClassDef& ZeroPadding2DLayer::definition() const { return padding2d; }
const ClassDef& ZeroPadding3DLayer::definition() const { return padding3d; }

Borders::Borders(std::initializer_list<std::pair<int64_t, int64_t>> each) {
  Config::List out;
  for (auto [before, after] : each) out.push_back(Config::List{before, after});
  value = each.size() == 1 ? out[0] : Config(out);
}

void Borders::settle(int axes, const char* option, const std::string& of) {
  auto size_t_axes = static_cast<size_t>(axes);
  auto number = [](const Config& c) { return c.kind() == Config::Kind::kInteger; };
  auto list = [](const Config& c, size_t n) {
    return c.kind() == Config::Kind::kList && c.as_list().size() == n;
  };
  amounts.clear();
  bool fits = true;
  auto pair = [&](const Config& c) {
    if (number(c))
      amounts.emplace_back(c.as_integer(), c.as_integer());
    else if (list(c, 2) && number(c.as_list()[0]) && number(c.as_list()[1]))
      amounts.emplace_back(c.as_list()[0].as_integer(), c.as_list()[1].as_integer());
    else
      fits = false;
  };
  if (number(value))
    amounts.assign(size_t_axes, {value.as_integer(), value.as_integer()});
  else if (axes == 1)
    pair(value);
  else if (list(value, size_t_axes))
    for (const Config& each : value.as_list()) pair(each);
  else
    fits = false;
  for (auto [before, after] : amounts) fits &= before >= 0 && after >= 0;
  if (!fits)
    fail(Code::E1103,
         cat(of, ": `", option, "` is ", value.to_json(), ", expected a number of at least 0, ",
             axes == 1
                 ? "or two of them: before and after"
                 : cat("or for each of ", axes, " axes one or two of them: before and after")));
  Config::List out;
  for (auto [before, after] : amounts) out.push_back(Config::List{before, after});
  value = axes == 1 ? out[0] : Config(out);
}

void Cropping1DLayer::check() { options_.cropping.settle(1, "cropping", definition().name); }

Tensor Cropping1DLayer::call(const Tensor& inputs, const CallOptions&) {
  need_field(*this, inputs.shape(), 1, "channels_last");
  return cropped(*this, inputs, options_.cropping, 1);
}

Cropping2DLayer::Cropping2DLayer() : CroppingLayer(2, 0) { options_.cropping.value = pairs(2, 0); }
Cropping3DLayer::Cropping3DLayer() : CroppingLayer(3, 1) { options_.cropping.value = pairs(3, 1); }

void CroppingLayer::check() {
  if (options_.cropping.value.is_null()) options_.cropping.value = usual_;
  options_.cropping.settle(axes_, "cropping", definition().name);
  settle_format(options_.data_format, definition().name);
}

Tensor CroppingLayer::call(const Tensor& inputs, const CallOptions&) {
  need_field(*this, inputs.shape(), axes_, options_.data_format);
  return cropped(*this, inputs, options_.cropping, first_axis(options_.data_format));
}

ZeroPadding2DLayer::ZeroPadding2DLayer() : ZeroPaddingLayer(2) {
  options_.padding.value = Config::List{1, 1};
}
ZeroPadding3DLayer::ZeroPadding3DLayer() : ZeroPaddingLayer(3) {
  options_.padding.value = pairs(3, 1);
}

void ZeroPaddingLayer::check() {
  options_.padding.settle(axes_, "padding", definition().name);
  settle_format(options_.data_format, definition().name);
}

Tensor ZeroPaddingLayer::call(const Tensor& inputs, const CallOptions&) {
  need_field(*this, inputs.shape(), axes_, options_.data_format);
  std::vector<int32_t> flat(static_cast<size_t>(axes_ + 2) * 2, 0);
  size_t at = static_cast<size_t>(first_axis(options_.data_format)) * 2;
  for (auto [before, after] : options_.padding.amounts) {
    flat[at++] = static_cast<int32_t>(before);
    flat[at++] = static_cast<int32_t>(after);
  }
  return pad(inputs, reshape(constant(flat), {axes_ + 2, 2}));
}

}  // namespace holdfast::keras::layers
