// What every model is: a layer that knows its layers, and can be trained.
#pragma once

#include "holdfast/keras/callback.h"
#include "holdfast/keras/handle.h"
#include "holdfast/keras/metric.h"

namespace holdfast::keras {

class Compiled;
struct CompileOptions;
struct SummaryOptions;

/// A step of training, as the loop calls it: a batch in, numbers by name (or predictions) out.
class HOLDFAST_API StepFunction : public RefCounted {
 public:
  virtual Nested operator()(const Nested& batch) = 0;
};

class HOLDFAST_API ModelLayer : public Layer {
 public:
  static ClassDef& def();
  ModelLayer();
  ~ModelLayer() override;
  const ClassDef& definition() const override { return def(); }
  void visit(Visitor&) const override;
  void clear() override;

  /// The layers that it is made of, each once, in their order.
  virtual std::vector<Ref<Layer>> layers() const;
  /// The layer of a name; an unknown one is refused with those there are.
  Ref<Layer> get_layer(const std::string& name) const;
  Ref<Layer> get_layer(size_t index) const;

  /// Says how it is trained.
  void compile(const CompileOptions& options);
  /// What `compile` said; refused before.
  Compiled& compiled(const char* asked_by = "this") const;
  bool is_compiled() const { return static_cast<bool>(compiled_); }
  /// What `compile` was told, as a config; null before.
  virtual Config get_compile_config() const;
  /// Compiles it as such a config says, and makes what its optimizer keeps.
  void compile_from_config(const Config& config);

  /// Writes a table of its layers to where progress goes: shapes, parameters, FLOPs, bytes.
  void summary() const;
  void summary(const SummaryOptions& options) const;

  /// One step over a batch `(x,)`, `(x, y)` or `(x, y, sample_weight)`; gives its metrics.
  virtual Nested train_step(const Nested& data);
  virtual Nested test_step(const Nested& data);
  virtual Nested predict_step(const Nested& data);
  /// What is made small: the losses of outputs, and what layers added.
  virtual Tensor compute_loss(const Nested& x, const Nested& y, const Nested& y_pred,
                              const Nested& sample_weight);
  /// Brings the metrics up to date, and gives them.
  virtual Nested compute_metrics(const Nested& x, const Nested& y, const Nested& y_pred,
                                 const Nested& sample_weight);
  /// The steps as the loops call them: traced, unless `run_eagerly`.
  enum class StepKind : uint8_t { kTrain, kTest, kPredict };
  virtual Ref<StepFunction> make_step(StepKind kind);
  /// A model takes batches of any size.
  Config get_build_config() const override;
  /// What training begins anew with each epoch, and tells of: the loss and the metrics of
  /// `compile`, then those that the model and its layers keep. A program may override it.
  virtual std::vector<Ref<Metric>> metrics() const;
  /// What they say now, by the names that training tells them by.
  virtual Nested get_metrics_result();
  virtual void reset_metrics();

  /// Set by callbacks: the loop ends after the batch that is under way.
  bool stop_training = false, stop_evaluating = false, stop_predicting = false;
  /// A training that was interrupted.
  struct Resumed {
    int64_t epoch = 0;
    int64_t batches = 0;        // of that epoch, that were trained on
    std::string position = {};  // of the data behind them; empty: the epoch begins anew
  };
  /// Where `fit` goes on, if a callback says so when training begins.
  std::optional<Resumed> resumes_at = {};

 private:
  Ref<Compiled> compiled_;
};

/// How another language's models are asked; each gives false where the class does not override it.
struct ModelHooks {
  bool (*step)(ModelLayer&, ModelLayer::StepKind, const Nested& data, Nested& out);
  bool (*loss)(ModelLayer&, const Nested& x, const Nested& y, const Nested& y_pred,
               const Nested& sample_weight, Tensor& out);
  bool (*metrics)(ModelLayer&, const Nested& x, const Nested& y, const Nested& y_pred,
                  const Nested& sample_weight, Nested& out);
  Ref<StepFunction> (*make_step)(ModelLayer&, ModelLayer::StepKind);
  bool (*compile_config)(const ModelLayer&, Config& out);
  bool (*tracked)(const ModelLayer&, std::vector<Ref<Metric>>& out);
  bool (*metrics_result)(ModelLayer&, Nested& out);
  bool (*reset_metrics)(ModelLayer&);
};
HOLDFAST_API ModelHooks& model_hooks();

/// C++'s own steps for a model whose class may have others.
class HOLDFAST_API ForeignModelBorn {
 public:
  virtual ~ForeignModelBorn() = default;
  virtual Nested own_step(ModelLayer::StepKind, const Nested& data) = 0;
  virtual Tensor own_loss(const Nested& x, const Nested& y, const Nested& y_pred,
                          const Nested& sample_weight) = 0;
  virtual Nested own_metrics(const Nested& x, const Nested& y, const Nested& y_pred,
                             const Nested& sample_weight) = 0;
  virtual Config own_compile_config() const = 0;
  virtual std::vector<Ref<Metric>> own_tracked() const = 0;
  virtual Nested own_metrics_result() = 0;
  virtual void own_reset_metrics() = 0;
};

template <class L>
class ForeignModel final : public ForeignLayer<L>, public ForeignModelBorn {
 public:
  using Kind = ModelLayer::StepKind;
  Nested train_step(const Nested& data) override { return step(Kind::kTrain, data); }
  Nested test_step(const Nested& data) override { return step(Kind::kTest, data); }
  Nested predict_step(const Nested& data) override { return step(Kind::kPredict, data); }
  Tensor compute_loss(const Nested& x, const Nested& y, const Nested& y_pred,
                      const Nested& sample_weight) override {
    Tensor out;
    return model_hooks().loss(*this, x, y, y_pred, sample_weight, out)
               ? out
               : own_loss(x, y, y_pred, sample_weight);
  }
  Nested compute_metrics(const Nested& x, const Nested& y, const Nested& y_pred,
                         const Nested& sample_weight) override {
    Nested out;
    return model_hooks().metrics(*this, x, y, y_pred, sample_weight, out)
               ? out
               : own_metrics(x, y, y_pred, sample_weight);
  }
  Ref<StepFunction> make_step(Kind kind) override { return model_hooks().make_step(*this, kind); }
  Config get_compile_config() const override {
    Config out;
    return model_hooks().compile_config(*this, out) ? out : own_compile_config();
  }
  std::vector<Ref<Metric>> metrics() const override {
    std::vector<Ref<Metric>> out;
    return model_hooks().tracked(*this, out) ? out : own_tracked();
  }
  Nested get_metrics_result() override {
    Nested out;
    return model_hooks().metrics_result(*this, out) ? out : own_metrics_result();
  }
  void reset_metrics() override {
    if (!model_hooks().reset_metrics(*this)) own_reset_metrics();
  }

  Nested own_step(Kind kind, const Nested& data) override {
    return kind == Kind::kTrain  ? L::train_step(data)
           : kind == Kind::kTest ? L::test_step(data)
                                 : L::predict_step(data);
  }
  Tensor own_loss(const Nested& x, const Nested& y, const Nested& y_pred,
                  const Nested& sample_weight) override {
    return L::compute_loss(x, y, y_pred, sample_weight);
  }
  Nested own_metrics(const Nested& x, const Nested& y, const Nested& y_pred,
                     const Nested& sample_weight) override {
    return L::compute_metrics(x, y, y_pred, sample_weight);
  }
  Config own_compile_config() const override { return L::get_compile_config(); }
  std::vector<Ref<Metric>> own_tracked() const override { return L::metrics(); }
  Nested own_metrics_result() override { return L::get_metrics_result(); }
  void own_reset_metrics() override { L::reset_metrics(); }

 private:
  Nested step(Kind kind, const Nested& data) {
    Nested out;
    return model_hooks().step(*this, kind, data, out) ? out : own_step(kind, data);
  }
};

namespace detail {
template <class L>
  requires DerivesFrom<L, Layer> && DerivesFrom<L, ModelLayer>
struct ForeignOf<L> {
  using type = ForeignModel<L>;
};
}  // namespace detail

/// A config of a layer: its class and what it is made with; and back.
HOLDFAST_API ConfigObject serialize(const Layer& layer);
HOLDFAST_API Ref<Layer> deserialize(const Config& described);

/// An option that is a layer: a handle of one, or the layer itself; in a config what it is made
/// from.
struct LayerOption {
  LayerOption() = default;
  LayerOption(std::nullptr_t) {}
  template <class L>
  LayerOption(const Handle<L>& handle) : layer(handle.ref()) {}
  template <DerivesFrom<Layer> L>
  LayerOption(Ref<L> one) : layer(std::move(one)) {}
  explicit operator bool() const { return static_cast<bool>(layer); }
  Layer* operator->() const { return layer.get(); }
  Layer& operator*() const { return *layer; }
  Ref<Layer> layer;
};
template <>
struct HOLDFAST_API OptionType<LayerOption> {
  static Config get(const LayerOption& v) {
    return v.layer ? Config(Ref<Object>(v.layer)) : Config();
  }
  static void set(LayerOption& v, const Config& c, const std::string& what);
};

}  // namespace holdfast::keras
