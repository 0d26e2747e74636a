// What every loss is: a number for each example, and how they become one.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "holdfast/exec/nested.h"
#include "holdfast/keras/function.h"
#include "holdfast/keras/held.h"
#include "holdfast/op/in.h"

namespace holdfast::keras {

/// What every loss may be told. The reductions are "sum_over_batch_size" (the mean), "mean", "sum",
/// "mean_with_sample_weight" (over the sum of the weights), and "none".
struct LossOptions {
  std::optional<std::string> reduction = "sum_over_batch_size";
  std::string name = {};          // that of the class, if not given
  DType dtype = DType::kInvalid;  // kInvalid: `floatx`
};

/// Base of losses. A program derives from it and says what each example costs:
///
///   struct Quartic : keras::Loss {
///     Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
///       return reduce_mean(square(square(y_true - y_pred)), {.axis = -1});
///     }
///   };
class HOLDFAST_API Loss : public Object, public Declared, public HasConfig {
 public:
  using Options = LossOptions;
  static constexpr const char* kFolder = "losses";
  static ClassDef& def();

  const ClassDef& definition() const override { return def(); }
  const ObjectClass& object_class() const override { return definition().kind; }
  void* option_place() override { return &common_; }
  void configured() override { take_options(common_); }
  void configure(const LossOptions& o) { take_options(o); }
  void visit(Visitor&) const override;
  std::string text() const override { return described(); }

  /// The losses of all examples, weighted and reduced. A mask that goes along with `y_pred` counts
  /// as weights of 0 and 1.
  Tensor operator()(const In& y_true, const In& y_pred, const MaybeIn& sample_weight = {},
                    const MaybeIn& mask = {});
  /// The same of outputs that lie in one list or dict, which the loss is given as they lie there.
  /// Masks do not count.
  Tensor of_parts(const Nested& y_true, const Nested& y_pred, const Tensor& sample_weight = {});
  /// The whole of a call where a class of another language says it; false if it does not.
  virtual bool own_value(const Nested& y_true, const Nested& y_pred, const Tensor& sample_weight,
                         Tensor& out);
  /// What a call computes from `call` and the reduction.
  Tensor reduced(const In& y_true, const In& y_pred, const MaybeIn& sample_weight = {},
                 const MaybeIn& mask = {});
  /// A loss for each example, both tensors in the dtype of the loss.
  virtual Tensor call(const Tensor& y_true, const Tensor& y_pred);
  /// A loss for each example of parts in a list or dict. Losses that compare two tensors take parts
  /// of one shape as one, with an axis for the parts.
  virtual Tensor call_parts(const Nested& y_true, const Nested& y_pred);
  /// Whether `y_true` are numbers of classes, which stay as they are.
  virtual bool takes_classes() const { return false; }
  /// What the loss can be made from again.
  virtual ConfigDict get_config() const;
  virtual std::string class_name() const;
  virtual std::string registered_name() const { return {}; }
  Config config() const override;

  std::string name() const;
  const std::optional<std::string>& reduction() const { return common_.reduction; }
  DType dtype() const;
  /// "loss `huber_loss` (Huber)", for messages.
  std::string described() const;

  template <class O>
  void take_options(const O& o) {
    set_options({.reduction = o.reduction, .name = o.name, .dtype = o.dtype});
  }
  static Ref<Loss> from(const Ref<Object>& object, const std::string& what);

 private:
  void set_options(LossOptions);

  LossOptions common_;
};

using LossOption = Choice<Loss>;
/// Any loss.
using AnyLoss = Held<Loss>;

/// The loss of a name ("mse"), of a config, or of a function.
HOLDFAST_API Ref<Loss> loss(const Config& described);

/// Weighs values, masks them, and reduces them as a loss does.
HOLDFAST_API Tensor reduce_weighted(Tensor values, Tensor sample_weight, Tensor mask,
                                    const std::optional<std::string>& reduction);
/// Two tensors of which one has a last axis of size 1 more: that one loses it, or the other gets
/// one if it has one axis only.
HOLDFAST_API std::pair<Tensor, Tensor> same_rank(const Tensor& a, const Tensor& b);

}  // namespace holdfast::keras
