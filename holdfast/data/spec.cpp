#include "holdfast/data/spec.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/functions.h"
#include "holdfast/data/inner.h"
#include "holdfast/op/refuse.h"

namespace holdfast::data {
namespace {

// A tensor that is a dtype and a shape, and nothing more.
Tensor without_value(DType dtype, const Shape& shape) {
  return Tensor(make_ref<TensorRep>(dtype, shape, nullptr));
}

// The same for a tensor that has one; a dataset is known by what its elements are.
Tensor without_value(const Tensor& t) {
  if (DatasetObject* inner = dataset_in(t)) return component_of(promised(inner->spec()));
  return without_value(t.dtype(), t.shape());
}

std::string text_of(const Nested& n) {
  if (n.is_none()) return "None";
  if (n.is_tensor())
    if (DatasetObject* inner = dataset_in(n.tensor()))
      return cat("dataset(", inner->spec().text(), ")");
  if (n.is_tensor()) return type_text(n.tensor().dtype(), n.tensor().shape());
  std::string out;
  for (size_t i = 0; i < n.size(); ++i) {
    if (i) out += ", ";
    if (n.is_dict()) out += cat("'", n.key(i), "': ");
    out += text_of(n[i]);
  }
  if (n.is_dict()) return cat("{", out, "}");
  if (n.kind() == Nested::Kind::kList) return cat("[", out, "]");
  return cat("(", out, n.size() == 1 ? ",)" : ")");
}

}  // namespace

ElementSpec::ElementSpec(DType dtype, const Shape& shape) : form_(without_value(dtype, shape)) {}

ElementSpec ElementSpec::tuple(const std::vector<ElementSpec>& items) {
  std::vector<Nested> forms;
  for (const ElementSpec& item : items) forms.push_back(item.form_);
  ElementSpec out;
  out.form_ = Nested::tuple(std::move(forms));
  return out;
}

ElementSpec ElementSpec::dict(const std::vector<std::pair<std::string, ElementSpec>>& entries) {
  std::vector<Nested::Entry> forms;
  for (const auto& [key, spec] : entries) forms.emplace_back(key, spec.form_);
  ElementSpec out;
  out.form_ = Nested::dict(std::move(forms));
  return out;
}

ElementSpec ElementSpec::of(const Nested& element) {
  ElementSpec out;
  out.form_ = element.map([](const Tensor& t) { return without_value(t); });
  return out;
}

ElementSpec ElementSpec::of_rows(const Nested& tensors) { return of(tensors).unbatched(); }

std::vector<ElementType> ElementSpec::leaves() const {
  std::vector<ElementType> out;
  for (const Tensor& t : form_.leaves()) out.push_back({t.dtype(), t.shape()});
  return out;
}

ElementSpec ElementSpec::with_leaves(const std::vector<ElementType>& types) const {
  std::vector<Tensor> leaves = form_.leaves();
  for (size_t i = 0; i < types.size() && i < leaves.size(); ++i)
    if (!dataset_in(leaves[i])) leaves[i] = without_value(types[i].dtype, types[i].shape);
  ElementSpec out;
  out.form_ = form_.with_leaves(leaves);
  return out;
}

ElementSpec ElementSpec::batched(int64_t size) const {
  refuse_datasets(*this, "batch");
  std::vector<ElementType> types = leaves();
  for (ElementType& t : types) {
    if (!t.shape.has_rank()) continue;
    Dims dims{size};
    for (int64_t d : t.shape) dims.push_back(d);
    t.shape = Shape(std::move(dims));
  }
  return with_leaves(types);
}

ElementSpec ElementSpec::unbatched() const {
  std::vector<ElementType> types = leaves();
  for (ElementType& t : types)
    if (t.shape.has_rank() && t.shape.rank() > 0)
      t.shape = Shape(std::span(t.shape.begin() + 1, t.shape.end()));
  return with_leaves(types);
}

std::optional<std::string> ElementSpec::mismatch(const Nested& element) const {
  if (element.form() != form_.form())
    return cat("it has the form ", element.form(), ", expected ", form_.form());
  std::vector<Tensor> got = element.leaves();
  std::vector<ElementType> want = leaves();
  std::vector<Tensor> forms = form_.leaves();
  for (size_t i = 0; i < got.size(); ++i) {
    DatasetObject *inner = dataset_in(got[i]), *promise = dataset_in(forms[i]);
    if (inner && promise && inner->spec().joined(promise->spec())) continue;
    if (inner || promise)
      return cat(got.size() > 1 ? cat("component ", i, " is ") : "it is ", text_of(got[i]),
                 ", expected ", text_of(forms[i]));
    if (got[i].dtype() != want[i].dtype || !got[i].shape().compatible(want[i].shape))
      return cat(got.size() > 1 ? cat("component ", i, " is ") : "it is ",
                 type_text(got[i].dtype(), got[i].shape()), ", expected ",
                 type_text(want[i].dtype, want[i].shape));
  }
  return std::nullopt;
}

std::optional<ElementSpec> ElementSpec::joined(const ElementSpec& other) const {
  if (form_.form() != other.form_.form()) return std::nullopt;
  std::vector<ElementType> a = leaves(), b = other.leaves();
  std::vector<Tensor> mine = form_.leaves(), theirs = other.form_.leaves();
  ElementSpec out = *this;
  for (size_t i = 0; i < a.size(); ++i) {
    DatasetObject *inner = dataset_in(mine[i]), *also = dataset_in(theirs[i]);
    if (inner || also) {
      std::optional<ElementSpec> both;
      if (inner && also) both = inner->spec().joined(also->spec());
      if (!both) return std::nullopt;
      mine[i] = component_of(promised(*both));
      continue;
    }
    if (a[i].dtype != b[i].dtype) return std::nullopt;
    Shape& shape = a[i].shape;
    if (shape.rank() != b[i].shape.rank()) {
      shape = Shape::unknown();
      continue;
    }
    for (int axis = 0; axis < shape.rank(); ++axis)
      if (shape[axis] != b[i].shape[axis]) shape.dims()[static_cast<size_t>(axis)] = kUnknown;
  }
  out.form_ = form_.with_leaves(mine);
  return out.with_leaves(a);
}

std::string ElementSpec::text() const { return text_of(form_); }

bool ElementSpec::operator==(const ElementSpec& o) const { return text() == o.text(); }

}  // namespace holdfast::data
