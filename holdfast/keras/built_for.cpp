#include "holdfast/keras/built_for.h"

#include "holdfast/base/text.h"
#include "holdfast/keras/symbol.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/refuse.h"

namespace holdfast::keras {
namespace {

// Whether shapes differ in more than the batch.
bool differ(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return false;
  if (a.rank() != b.rank()) return true;
  for (int i = 1; i < a.rank(); ++i)
    if (a[i] >= 0 && b[i] >= 0 && a[i] != b[i]) return true;
  return false;
}

// "model/dense", as far as it has a place in something.
std::string path_of(const Layer& layer) {
  std::string path = layer.scope_name();
  while (path.ends_with('/')) path.pop_back();
  return path.empty() ? layer.name() : path;
}

std::string layer_code(const char* name, const std::string& options) {
  if (language() == Language::kCpp) return cat("keras::layers::", name, "(", options, ")");
  return cat(module_alias(), ".keras.layers.", name, "(", options, ")");
}

std::string way_out(const std::string& what, const Shape& expected, const Shape& got) {
  int r = expected.rank();
  if (got.rank() == r - 1) {
    bool rest = true;  // one example, without the axis of a batch
    for (int i = 1; i < r; ++i)
      rest = rest && (expected[i] < 0 || got[i - 1] < 0 || expected[i] == got[i - 1]);
    if (rest) return cat("one example is a batch of one: `", written(Advice::kNewAxis, {"x"}), "`");
  }
  if (r == 2 && got.rank() > r) {
    int64_t each = 1;
    for (int i = 1; i < got.rank(); ++i) each = got[i] < 0 || each < 0 ? -1 : each * got[i];
    if (each == expected[1] || each < 0 || expected[1] < 0)
      return cat("make one axis of those after the batch: `", layer_code("Flatten", ""),
                 "` before it");
  }
  int last = got.rank() - 1;
  if (r == got.rank() && expected[last] != got[last])
    return cat("give ", what, " a last axis of ", expected[last],
               ": change what comes before it, or make a layer of its own for ", got.text());
  return cat("give ", what, " the shape ", expected.text(), ", or make a layer of its own for ",
             got.text());
}

}  // namespace

void refuse_other_shapes(const Layer& layer, const Nested& got, const Error& said) {
  if (said.code() != Code::E1102 && said.code() != Code::E0904) return;
  if (!layer.built() || !layer.built_for()) return;
  const std::vector<Shape>& expected = *layer.built_for();
  std::vector<Tensor> tensors = got.leaves();
  for (size_t i = 0; i < expected.size() && i < tensors.size(); ++i) {
    const Shape& now = tensors[i].shape();
    if (!differ(expected[i], now)) continue;
    Diagnostic d;
    d.code = Code::E1201;
    d.op = layer.name();
    d.headline = cat("layer `", path_of(layer), "` (", layer.class_name(), ") was built for ",
                     expected[i].text(), ", and got ", now.text());
    d.subject = describe(tensors[i], "inputs");
    std::vector<LayerCall*> calls = layer.calls();
    Where built = !calls.empty() && calls[0]->node ? calls[0]->node->where : layer.called_eagerly();
    if (Loc at = locate(built); at.line > 0)
      d.labels.push_back(
          {Role::kPlaced, std::move(at), cat("built here, for ", expected[i].text()), false});
    d.labels.push_back(used_here(cat("called here with ", now.text())));
    d.why = cat("its weights were made for ", expected[i].text(), ", received was ", now.text(),
                "; the sizes of weights stay as they are");
    d.fixes.push_back(manual_fix(way_out("it", expected[i], now)));
    raise(std::move(d));
  }
}

void refuse_input(const Layer& model, const std::string& input, const Shape& expected,
                  const Shape& got, Where born) {
  Diagnostic d;
  d.code = Code::E1201;
  d.op = model.name();
  d.headline = cat(model.described(), ": the input `", input, "` has the shape ", got.text(),
                   ", expected ", expected.text());
  if (Loc at = locate(born); at.line > 0)
    d.labels.push_back(
        {Role::kBorn, std::move(at), cat("the Input `", input, "`, ", expected.text()), false});
  d.labels.push_back(used_here(cat("called here with ", got.text())));
  d.why = cat("the model was made with an Input of the shape ", expected.text(), ", received was ",
              got.text());
  d.fixes.push_back(manual_fix(way_out(cat("`", input, "`"), expected, got)));
  raise(std::move(d));
}

}  // namespace holdfast::keras
