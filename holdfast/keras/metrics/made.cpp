// Metrics from the options that C++ programs give.
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/metrics.h"

namespace holdfast::keras::metrics {
namespace {

template <class T>
void put(ConfigDict& out, const char* key, const T& value) {
  out.set(key, OptionType<T>::get(value));
}

// The options that all metrics have. What is not said is left to the class.
template <class O>
ConfigDict common(const O& o) {
  ConfigDict out;
  if (!o.name.empty()) put(out, "name", o.name);
  if (o.dtype != DType::kInvalid) put(out, "dtype", o.dtype);
  return out;
}

template <class O>
ConfigDict with_thresholds(const O& o) {
  ConfigDict out = common(o);
  if (!o.thresholds.empty()) put(out, "thresholds", o.thresholds);
  return out;
}

}  // namespace

ConfigDict config_of(const MetricOptions& o) { return common(o); }
ConfigDict config_of(const BinaryAccuracyOptions& o) {
  ConfigDict out = common(o);
  put(out, "threshold", o.threshold);
  return out;
}
ConfigDict config_of(const CountOptions& o) { return with_thresholds(o); }
ConfigDict config_of(const ShareOptions& o) {
  ConfigDict out = with_thresholds(o);
  put(out, "top_k", o.top_k);
  put(out, "class_id", o.class_id);
  return out;
}
ConfigDict config_of(const AtOptions& o) {
  ConfigDict out = common(o);
  put(out, "", o.at_least);
  put(out, "num_thresholds", o.num_thresholds);
  put(out, "class_id", o.class_id);
  return out;
}
ConfigDict config_of(const AUCOptions& o) {
  ConfigDict out = common(o);
  put(out, "num_thresholds", o.num_thresholds);
  put(out, "curve", o.curve);
  put(out, "summation_method", o.summation_method);
  put(out, "thresholds", o.thresholds);
  put(out, "multi_label", o.multi_label);
  put(out, "num_labels", o.num_labels);
  put(out, "label_weights", o.label_weights);
  put(out, "from_logits", o.from_logits);
  return out;
}
ConfigDict config_of(const IoUOptions& o) {
  ConfigDict out = common(o);
  put(out, "num_classes", o.num_classes);
  put(out, "target_class_ids", o.target_class_ids);
  put(out, "ignore_class", o.ignore_class);
  return out;
}
ConfigDict config_of(const MeanIoUOptions& o) {
  ConfigDict out = common(o);
  put(out, "num_classes", o.num_classes);
  put(out, "ignore_class", o.ignore_class);
  return out;
}
ConfigDict config_of(const BinaryIoUOptions& o) {
  ConfigDict out = common(o);
  put(out, "target_class_ids", o.target_class_ids);
  put(out, "threshold", o.threshold);
  return out;
}
ConfigDict config_of(const BinaryCrossentropyOptions& o) {
  ConfigDict out = common(o);
  put(out, "from_logits", o.from_logits);
  put(out, "label_smoothing", o.label_smoothing);
  return out;
}
ConfigDict config_of(const CategoricalCrossentropyOptions& o) {
  ConfigDict out = common(o);
  put(out, "from_logits", o.from_logits);
  put(out, "label_smoothing", o.label_smoothing);
  put(out, "axis", o.axis);
  return out;
}
ConfigDict config_of(const SparseCategoricalCrossentropyOptions& o) {
  ConfigDict out = common(o);
  put(out, "from_logits", o.from_logits);
  put(out, "ignore_class", o.ignore_class);
  put(out, "axis", o.axis);
  return out;
}
ConfigDict config_of(const TopKOptions& o) {
  ConfigDict out = common(o);
  put(out, "k", o.k);
  return out;
}
ConfigDict config_of(const SparseTopKOptions& o) {
  ConfigDict out = common(o);
  put(out, "k", o.k);
  put(out, "from_sorted_ids", o.from_sorted_ids);
  return out;
}
ConfigDict config_of(const AxisOptions& o) {
  ConfigDict out = common(o);
  put(out, "axis", o.axis);
  return out;
}
ConfigDict config_of(const F1Options& o) {
  ConfigDict out = common(o);
  put(out, "average", o.average);
  put(out, "threshold", o.threshold);
  return out;
}
ConfigDict config_of(const FBetaOptions& o) {
  ConfigDict out = common(o);
  put(out, "average", o.average);
  put(out, "beta", o.beta);
  put(out, "threshold", o.threshold);
  return out;
}
ConfigDict config_of(const R2Options& o) {
  ConfigDict out = common(o);
  put(out, "class_aggregation", o.class_aggregation);
  put(out, "num_regressors", o.num_regressors);
  return out;
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
