#include "holdfast/keras/losses/by_shapes.h"

#include "holdfast/keras/declare.h"

namespace holdfast::keras {
namespace {

class CrossentropyByShapes final : public Loss {
 public:
  explicit CrossentropyByShapes(std::string name) : told_(std::move(name)) {
    configure({.name = told_});
  }
  std::string class_name() const override { return "crossentropy"; }
  bool own_value(const Nested& y_true, const Nested& y_pred, const Tensor& sample_weight,
                 Tensor& out) override {
    const Shape labels = y_true.first("`y_true`").shape(), given = y_pred.first("`y_pred`").shape();
    Ref<Loss> meant = loss(labels_by_shapes(labels, given) + "_crossentropy");
    out = y_pred.is_tensor()
              ? (*meant)(y_true.tensor("`y_true`"), y_pred.tensor("`y_pred`"),
                         sample_weight.defined() ? MaybeIn(sample_weight) : MaybeIn())
              : meant->of_parts(y_true, y_pred, sample_weight);
    return true;
  }
  Config config() const override { return told_; }

 private:
  std::string told_;
};

}  // namespace

bool is_crossentropy_by_shapes(const std::string& name) {
  return name == "crossentropy" || name == "ce";
}

std::string labels_by_shapes(const Shape& y, const Shape& y_pred) {
  auto last = [](const Shape& s) { return s.has_rank() && s.rank() > 0 ? s[s.rank() - 1] : -1; };
  if (last(y_pred) == 1) return "binary";
  bool same = y.has_rank() && y_pred.has_rank() && y.rank() == y_pred.rank() &&
              last(y) == last(y_pred) && last(y_pred) > 1;
  return same ? "categorical" : "sparse_categorical";
}

Ref<Loss> crossentropy_by_shapes(const std::string& name) {
  return make_ref<CrossentropyByShapes>(name);
}

}  // namespace holdfast::keras
