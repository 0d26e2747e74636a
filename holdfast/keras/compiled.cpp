// What a model was compiled with: losses and metrics of its outputs.
#include <algorithm>
#include <map>

#include "holdfast/base/name_list.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/loss_watch.h"
#include "holdfast/keras/losses/by_shapes.h"
#include "holdfast/keras/outputs.h"
#include "holdfast/keras/training.h"
#include "holdfast/keras/watching.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras {
namespace {

[[noreturn]] void refuse_no_targets(const Loss& loss, const std::string& output, const Nested& y,
                                    const std::vector<std::string>& outputs) {
  bool several = outputs.size() > 1;
  std::string headline =
      cat("`y` has nothing for ", several ? cat("the output `", output, "`, and ") : "the ",
          cat("loss `", loss.name(), "`"), several ? " needs it" : "");
  if (y.is_none())
    headline = cat("no `y` was given, and ", cat("loss `", loss.name(), "`"), " needs one");
  std::string why = "a loss compares what the model gives with targets";
  std::string fix = "give `y`, or compile the model without a loss for that output";
  if (y.is_dict()) {
    std::vector<std::string> keys;
    for (const Nested::Entry& e : y.entries()) keys.push_back(e.first);
    why = cat("`y` has the keys ", name_list(keys), ", the outputs are ", name_list(outputs));
    fix = cat("give `y` the key `", output, "`");
  } else if (several && !y.is_none()) {
    why = cat("`y` is ", y.is_tensor() ? "one tensor" : cat(y.size(), " tensors"),
              ", the model has ", outputs.size(), " outputs: ", name_list(outputs));
    fix = "give a list of targets in that order, or a dict by the outputs' names";
  }
  fail(Code::E1104, std::move(headline), std::move(why), {manual_fix(std::move(fix))});
}

// Which accuracy "accuracy" means follows from the shapes.
std::string meant_by(const std::string& name, const Shape& y, const Shape& y_pred) {
  bool accuracy = name == "accuracy" || name == "acc";
  if (!accuracy && !is_crossentropy_by_shapes(name)) return name;
  return labels_by_shapes(y, y_pred) + (accuracy ? "_accuracy" : "_crossentropy");
}

Ref<Metric> metric_from(const Config& given, const Shape& y, const Shape& y_pred,
                        const std::string& output) {
  Config wanted = given;
  std::string shown;
  if (given.kind() == Config::Kind::kText) {
    shown = given.as_text();
    wanted = Config(meant_by(shown, y, y_pred));
  }
  Ref<Metric> made = Metric::from(object_from(wanted, Metric::kFolder, "a metric"), "a metric");
  made->name_it();
  if (!shown.empty()) made->rename(shown);
  if (!output.empty() && !given.live()) made->rename(cat(output, "_", made->name()));
  return made;
}

// The metrics of output `i`.
Metrics metrics_for(size_t i, const ModelOutputs& outputs, const Metrics& listed,
                    const std::vector<std::pair<std::string, Metrics>>& by_output) {
  Metrics out;
  if (outputs.size() == 1)
    out = listed;
  else if (!listed.empty() && listed.size() != outputs.size())
    fail(Code::E1104,
         cat("`metrics` is a list of ", listed.size(), ", and the model has ", outputs.size(),
             " outputs"),
         "a list has one entry for each output, and an entry may be a list itself",
         {manual_fix("give lists of metrics by the outputs' names")});
  else if (!listed.empty())
    out = {listed[i]};
  for (size_t k = 0; k < by_output.size(); ++k) {
    const auto& [name, list] = by_output[k];
    const bool only = outputs.size() == 1;  // whatever it is called
    if (name.empty() ? k != i : !only && !outputs.meant(i, name)) continue;
    // A list for what holds several outputs has one for each.
    size_t inside = name.empty() ? 0 : outputs.count_in(name);
    if (inside > 1 && list.size() == inside) {
      size_t before = 0;
      for (size_t o = 0; o < i; ++o) before += outputs.meant(o, name) ? 1 : 0;
      out.push_back(list[before]);
    } else {
      out.insert(out.end(), list.begin(), list.end());
    }
  }
  std::erase_if(out, [](const Config& c) { return c.is_null(); });
  return out;
}

// Refuses names that are none of the outputs', and lists that are not one for each output.
template <class T>
void need_outputs(const char* argument, const std::vector<std::pair<std::string, T>>& given,
                  const ModelOutputs& outputs) {
  const std::vector<std::string>& names = outputs.paths;
  size_t by_place = 0;
  for (const auto& [name, one] : given) {
    by_place += name.empty() ? 1 : 0;
    bool known = false;
    for (size_t i = 0; i < outputs.size(); ++i) known = known || outputs.meant(i, name);
    // One output may be called anything in a dict of metrics.
    bool matters = names.size() > 1 || std::string_view(argument) == "loss";
    if (!name.empty() && !known && matters)
      unknown_identifier(cat("an output that `", argument, "` names"), name, names);
  }
  bool for_all = by_place == 1 && std::string_view(argument) == "loss";
  if (by_place != 0 && by_place != names.size() && !for_all)
    fail(Code::E1104,
         cat("`", argument, "` has ", by_place, by_place == 1 ? " entry" : " entries",
             ", and the model ", names.size(), names.size() == 1 ? " output" : " outputs"),
         cat("the outputs are ", name_list(names), ", in this order"),
         {manual_fix("give `compile` one entry for each output, or a dict by their names")});
}

// Whether the loss at place `k` is one of output `i`.
bool is_loss_of(const PerOutput<LossItem>& losses, size_t k, size_t i,
                const ModelOutputs& outputs) {
  const auto& [name, loss] = losses.all[k];
  bool mine = name.empty() ? losses.all.size() == 1 || k == i : outputs.meant(i, name);
  return mine && loss.function;
}

// The labels of each output. One tensor is for the only output that has a loss; fewer than there
// are outputs are for those that have one.
std::vector<Nested> labels_of(const Nested& y, const PerOutput<LossItem>& losses,
                              const ModelOutputs& outputs) {
  std::vector<Nested> out = outputs.each(y);
  std::vector<Tensor> labels = y.is_dict() ? std::vector<Tensor>() : y.leaves();
  if (labels.empty() || labels.size() >= outputs.size()) return out;
  std::vector<size_t> compared;
  for (size_t i = 0; i < outputs.size(); ++i)
    for (size_t k = 0; k < losses.all.size(); ++k)
      if (is_loss_of(losses, k, i, outputs) && (compared.empty() || compared.back() != i))
        compared.push_back(i);
  if (compared.size() != labels.size()) return out;
  out.assign(outputs.size(), Nested());
  for (size_t i = 0; i < compared.size(); ++i) out[compared[i]] = labels[i];
  return out;
}

}  // namespace

const ObjectClass Compiled::kClass{"Compiled"};

Compiled::Compiled(const CompileOptions& options)
    : options_(options), watch_(make_ref<LossWatch>()) {}
Compiled::~Compiled() = default;

void Compiled::prepare(const Nested& y, const Nested& y_pred, const ModelOutputs& outputs) {
  if (prepared_) return;
  std::vector<Nested> truths = labels_of(y, options_.loss, outputs),
                      predictions = outputs.each(y_pred);
  bool several = outputs.size() > 1;
  need_outputs("loss", options_.loss.all, outputs);
  need_outputs("loss_weights", options_.loss_weights, outputs);
  need_outputs("metrics", options_.output_metrics, outputs);
  need_outputs("weighted_metrics", options_.output_weighted_metrics, outputs);
  outputs_.clear();
  for (size_t i = 0; i < outputs.size(); ++i) {
    Output out{outputs.names[i], {}, {}, {}};
    auto shape_in = [](const Nested& n) {
      std::vector<Tensor> leaves = n.leaves();
      return leaves.empty() ? Shape::unknown() : leaves[0].shape();
    };
    Shape t = i < truths.size() ? shape_in(truths[i]) : Shape::unknown();
    Shape p = i < predictions.size() ? shape_in(predictions[i]) : Shape::unknown();
    auto add = [&](std::vector<Ref<Metric>>& to, const Metrics& wanted) {
      for (const Config& m : wanted) {
        to.push_back(metric_from(m, t, p, several ? out.name : ""));
        if (m.live()) out.own.push_back(to.back().get());
      }
    };
    add(out.metrics, metrics_for(i, outputs, options_.metrics, options_.output_metrics));
    add(out.weighted,
        metrics_for(i, outputs, options_.weighted_metrics, options_.output_weighted_metrics));
    outputs_.push_back(std::move(out));
  }
  add_terms(outputs);
  if (!tracker_) tracker_ = make_mean("loss");
  prepared_ = true;
}

namespace {

bool among(const std::string& name, const std::vector<std::pair<std::string, LossItem>>& all) {
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
}

}  // namespace

void Compiled::add_terms(const ModelOutputs& outputs) {
  terms_.clear();
  const auto& losses = options_.loss.all;
  const auto& weights = options_.loss_weights;
  for (size_t i = 0; i < outputs.size(); ++i)
    for (size_t k = 0; k < losses.size(); ++k) {
      const auto& [name, loss] = losses[k];
      if (!is_loss_of(options_.loss, k, i, outputs)) continue;
      Term term{i, outputs.names[i], loss.function};
      const bool whole = outputs.deep && !name.empty() && outputs.count_in(name) > 1;
      if (whole) {
        const auto known = [&](const Term& t) { return t.whole == name; };
        if (std::any_of(terms_.begin(), terms_.end(), known)) continue;
        term.name = term.whole = name;
      } else if (outputs.deep || term.name.empty()) {
        // A place in a list says little: there stands the output's name, or else the loss's.
        std::string path = outputs.paths[i];
        size_t last = path.rfind('/') + 1;  // 0 where there is no slash
        if (path.find_first_not_of("0123456789", last) == std::string::npos)
          path.replace(last, std::string::npos, term.name.empty() ? term.loss->name() : term.name);
        term.name = path;
      }
      for (size_t w = 0; w < weights.size(); ++w) {
        const auto& [of, weight] = weights[w];
        // Of several losses of one output each may have its own.
        bool fits =
            of.empty() ? w == i : of == name || (outputs.meant(i, of) && !among(of, losses));
        if (fits) term.weight = weight;
      }
      terms_.push_back(std::move(term));
    }
  if (terms_.size() > 1)
    for (Term& t : terms_) t.tracker = make_mean(cat(t.name, "_loss"));
}

Tensor Compiled::loss(const Nested& y, const Nested& y_pred, const Nested& sample_weight,
                      const ModelOutputs& outputs) {
  prepare(y, y_pred, outputs);
  std::vector<Nested> truths = labels_of(y, options_.loss, outputs),
                      predictions = outputs.each(y_pred);
  std::vector<Nested> weights = outputs.weights(sample_weight);
  Tensor total;
  for (const Term& term : terms_) {
    size_t i = term.output;
    if (i >= truths.size() || truths[i].leaves().empty())
      refuse_no_targets(*term.loss, outputs.paths[i], y, outputs.paths);
    Tensor weight = i < weights.size() && weights[i].is_tensor() ? weights[i].tensor() : Tensor();
    Tensor one = !term.whole.empty()
                     ? of_whole(term, truths, y_pred, sample_weight)
                     : (*term.loss)(truths[i].first("`y`"), predictions[i].first("`y_pred`"),
                                    weight.defined() ? MaybeIn(weight) : MaybeIn());
    if (term.tracker) term.tracker->update_state(one, {}, examples_in(predictions[i]));
    if (term.weight != 1) one = one * term.weight;
    total = total.defined() ? total + one : one;
  }
  return total;
}

Tensor Compiled::of_whole(const Term& term, const std::vector<Nested>& truths, const Nested& y_pred,
                          const Nested& sample_weight) const {
  const Nested& given = *ModelOutputs::part_at(y_pred, term.whole);
  std::vector<Tensor> labels;
  for (size_t i = term.output; labels.size() < given.leaves().size(); ++i) {
    if (i >= truths.size() || truths[i].leaves().empty())
      fail(Code::E1104, cat("`y` has nothing for some outputs in `", term.whole, "`, and loss `",
                            term.loss->name(), "` needs all of them"));
    labels.push_back(truths[i].first("`y`"));
  }
  const Nested* weight =
      sample_weight.is_tensor() ? &sample_weight : ModelOutputs::part_at(sample_weight, term.whole);
  if (weight && !weight->is_none() && !weight->is_tensor())
    fail(Code::E1104,
         cat("`sample_weight` has ", weight->leaves().size(), " tensors for `", term.whole,
             "`, expected one: `compile` was given one loss for all of it"));
  return term.loss->of_parts(given.with_leaves(labels), given,
                             weight && weight->is_tensor() ? weight->tensor() : Tensor());
}

void Compiled::update_metrics(const Nested& y, const Nested& y_pred, const Nested& sample_weight,
                              const ModelOutputs& outputs) {
  if (y.is_none()) return;
  prepare(y, y_pred, outputs);
  std::vector<Nested> truths = labels_of(y, options_.loss, outputs),
                      predictions = outputs.each(y_pred);
  std::vector<Nested> weights = outputs.weights(sample_weight);
  for (size_t i = 0; i < outputs_.size() && i < truths.size(); ++i) {
    if (truths[i].leaves().empty()) continue;
    const Tensor t = truths[i].first("`y`"), p = predictions[i].first("`y_pred`");
    for (const auto* list : {&outputs_[i].metrics, &outputs_[i].weighted})
      for (const Ref<Metric>& m : *list) goes_by(*m);
    for (const Ref<Metric>& m : outputs_[i].metrics) m->update_state(t, p, {});
    Tensor weight = i < weights.size() && weights[i].is_tensor() ? weights[i].tensor() : Tensor();
    for (const Ref<Metric>& m : outputs_[i].weighted) m->update_state(t, p, weight);
  }
}

Metric& Compiled::loss_tracker() {
  if (!tracker_) tracker_ = make_mean("loss");
  return *tracker_;
}

void Compiled::track(const Tensor& loss, const Tensor& examples) {
  loss_tracker().update_state(loss, {}, examples);
}

bool Compiled::tracked() const {
  if (!tracker_) return false;
  return tracker_->variables().back().read().to_double() > 0;  // how many values it is the mean of
}

std::vector<Ref<Metric>> Compiled::metrics() const {
  std::vector<Ref<Metric>> out;
  if (tracker_) out.push_back(tracker_);
  for (const Term& t : terms_)
    if (t.tracker) out.push_back(t.tracker);
  for (const Output& o : outputs_) out.insert(out.end(), o.metrics.begin(), o.metrics.end());
  for (const Output& o : outputs_) out.insert(out.end(), o.weighted.begin(), o.weighted.end());
  return out;
}

std::vector<Compiled::Told> Compiled::told() {
  std::vector<Told> out;
  std::map<std::string, int> known;
  auto tell = [&](Told one, const std::string& if_taken = {}) {
    if (!if_taken.empty() && known.contains(one.name)) one.name = if_taken;
    // Two of the same name are told apart by numbers, as Keras does.
    if (int before = known[one.name]++) one.name = cat(one.name, "_", before);
    out.push_back(std::move(one));
  };
  auto tell_loss = [&](const Ref<Metric>& mean) {
    tell({mean->name(), mean->name(), mean, mean->result(), true});
  };
  auto tell_metric = [&](const Output& o, const Ref<Metric>& m, bool weighted) {
    // An object of the program keeps its name, under which it is saved: what it says is told with
    // the output's. Others bear that name already.
    std::string prefix = outputs_.size() > 1 && !o.name.empty() ? o.name + "_" : "";
    std::string name = m->name();
    bool own = std::find(o.own.begin(), o.own.end(), m.get()) != o.own.end();
    if (!own && name.starts_with(prefix)) name = name.substr(prefix.size());
    Nested value = m->result();
    if (!value.is_dict())
      return tell({prefix + name, name, m, value},
                  weighted ? cat(prefix, "weighted_", name) : std::string());
    // Numbers with names of their own bear no output's.
    for (const Nested::Entry& e : value.entries())
      tell({e.first, e.first, m, e.second, false, true});
  };
  if (tracker_) tell_loss(tracker_);
  for (size_t i = 0; i < terms_.size(); ++i) {
    const Term& t = terms_[i];
    // Of terms of one name the last is told, as Keras does.
    bool again = std::any_of(terms_.begin() + static_cast<std::ptrdiff_t>(i) + 1, terms_.end(),
                             [&](const Term& later) { return later.name == t.name; });
    if (t.tracker && !again) tell_loss(t.tracker);
  }
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (const Output& o : outputs_)
    for (const Ref<Metric>& m : o.metrics) tell_metric(o, m, false);
  for (const Output& o : outputs_)
    for (const Ref<Metric>& m : o.weighted) tell_metric(o, m, true);
  // Programs count on places in what `evaluate` gives: Keras sorts the metrics of several outputs.
  if (outputs_.size() > 1)
    std::sort(out.begin() + first, out.end(),
              [](const Told& a, const Told& b) { return a.name < b.name; });
  return out;
}

void Compiled::visit(Visitor& see) const {
  see.child(options_.optimizer.function);
  for (const auto& [name, loss] : options_.loss.all) see.child(loss.function);
  auto objects = [&](const Metrics& list) {
    for (const Config& c : list)
      if (c.live()) see.object(*c.live());
  };
  objects(options_.metrics);
  objects(options_.weighted_metrics);
  for (const auto& [name, list] : options_.output_metrics) objects(list);
  for (const auto& [name, list] : options_.output_weighted_metrics) objects(list);
  for (const Output& o : outputs_) {
    see.children(o.metrics);
    see.children(o.weighted);
  }
  for (const Term& t : terms_) {
    see.child(t.loss);
    see.child(t.tracker);
  }
  see.child(tracker_);
}

}  // namespace holdfast::keras
