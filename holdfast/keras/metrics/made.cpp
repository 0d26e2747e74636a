// Metrics from the options that C++ programs give.
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/metrics.h"

namespace holdfast::keras::metrics {
namespace {

void put(ConfigDict&) {}
template <class T, class... Rest>
void put(ConfigDict& out, const char* key, const T& value, const Rest&... rest) {
  out.set(key, OptionType<T>::get(value));
  put(out, rest...);
}

// Options by their names, after those that all metrics have. What is not said of these is left to
// the class.
template <class O, class... Rest>
ConfigDict said(const O& o, const Rest&... names_and_values) {
  ConfigDict out;
  if (!o.name.empty()) out.set("name", o.name);
  if (o.dtype != DType::kInvalid) out.set("dtype", OptionType<DType>::get(o.dtype));
  put(out, names_and_values...);
  return out;
}

// None is left to the class too.
template <class O>
ConfigDict with_thresholds(ConfigDict out, const O& o) {
  if (!o.thresholds.empty()) put(out, "thresholds", o.thresholds);
  return out;
}

}  // namespace

ConfigDict config_of(const MetricOptions& o) { return said(o); }
ConfigDict config_of(const BinaryAccuracyOptions& o) { return said(o, "threshold", o.threshold); }
ConfigDict config_of(const CountOptions& o) { return with_thresholds(said(o), o); }
ConfigDict config_of(const ShareOptions& o) {
  return with_thresholds(said(o, "top_k", o.top_k, "class_id", o.class_id), o);
}
ConfigDict config_of(const AtOptions& o) {
  return said(o, "", o.at_least, "num_thresholds", o.num_thresholds, "class_id", o.class_id);
}
ConfigDict config_of(const AUCOptions& o) {
  return said(o, "num_thresholds", o.num_thresholds, "curve", o.curve, "summation_method",
              o.summation_method, "thresholds", o.thresholds, "multi_label", o.multi_label,
              "num_labels", o.num_labels, "label_weights", o.label_weights, "from_logits",
              o.from_logits);
}
ConfigDict config_of(const IoUOptions& o) {
  return said(o, "num_classes", o.num_classes, "target_class_ids", o.target_class_ids,
              "ignore_class", o.ignore_class);
}
ConfigDict config_of(const MeanIoUOptions& o) {
  return said(o, "num_classes", o.num_classes, "ignore_class", o.ignore_class);
}
ConfigDict config_of(const BinaryIoUOptions& o) {
  return said(o, "target_class_ids", o.target_class_ids, "threshold", o.threshold);
}
ConfigDict config_of(const BinaryCrossentropyOptions& o) {
  return said(o, "from_logits", o.from_logits, "label_smoothing", o.label_smoothing);
}
ConfigDict config_of(const CategoricalCrossentropyOptions& o) {
  return said(o, "from_logits", o.from_logits, "label_smoothing", o.label_smoothing, "axis",
              o.axis);
}
ConfigDict config_of(const SparseCategoricalCrossentropyOptions& o) {
  return said(o, "from_logits", o.from_logits, "ignore_class", o.ignore_class, "axis", o.axis);
}
ConfigDict config_of(const TopKOptions& o) { return said(o, "k", o.k); }
ConfigDict config_of(const SparseTopKOptions& o) {
  return said(o, "k", o.k, "from_sorted_ids", o.from_sorted_ids);
}
ConfigDict config_of(const AxisOptions& o) { return said(o, "axis", o.axis); }
ConfigDict config_of(const F1Options& o) {
  return said(o, "average", o.average, "threshold", o.threshold);
}
ConfigDict config_of(const FBetaOptions& o) {
  return said(o, "average", o.average, "beta", o.beta, "threshold", o.threshold);
}
ConfigDict config_of(const R2Options& o) {
  return said(o, "class_aggregation", o.class_aggregation, "num_regressors", o.num_regressors);
}

Ref<Metric> made(const char* class_name, const ConfigDict& config) {
  const ClassDef* def = find_class(cat("metrics.", class_name));
  if (!def) fail(Code::E1203, cat("there is no metric ", class_name));
  ConfigDict named;
  for (const auto& [key, value] : config)
    named.set(key.empty() ? def->options.front().name : key, value);
  return Metric::from(make_declared(*def, named), class_name);
}

}  // namespace holdfast::keras::metrics
