// Datasets that take their elements from several others, by numbers; and where such numbers come
// from.
#include <algorithm>
#include <cmath>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/dataset.h"
#include "holdfast/data/draws.h"
#include "holdfast/io/matching.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/random.h"

namespace holdfast::data {
namespace {

class Random final : public DatasetObject, public MayBeOpen {
 public:
  explicit Random(const RandomOptions& o)
      : DatasetObject(ElementSpec(int64), {}), seeds_(o.seed, o.rerandomize_each_iteration) {}
  const char* name() const override { return "random"; }
  int64_t cardinality() const override { return kInfinite; }
  void add_open(std::vector<Tensor>& to) const override { seeds_.add_open(to); }
  void save_kept(Saving& to) const override { to.number(seeds_.drawn()); }
  void restore_kept(Restoring& from) const override {
    from.later(
        [of = Ref<const Random>(this), drawn = from.number()] { of->seeds_.set_drawn(drawn); });
  }
  Owned<Cursor> start() const override { return started<Random, Numbers>(*this); }
  void draw_as_begun() const override { seeds_.next(); }

 private:
  struct Numbers final : Cursor {
    explicit Numbers(const Random& s) : stage(&s), seeds(s.seeds_.next()), draw(seeds) {}
    bool next(Nested& out) override {
      out = Tensor::scalar(static_cast<int64_t>(draw()));
      return true;
    }
    void save(Saving& to) const override {
      stage->save_kept(to);
      to.number(seeds.first);
      to.number(seeds.second);
      to.number(draw.count);
    }
    void restore(Restoring& from) override {
      stage->restore_kept(from);
      seeds.first = from.number();
      seeds.second = from.number();
      int64_t so_far = from.number();
      if (so_far < 0) Restoring::refuse("it has drawn a negative number of times");
      draw = Draws(seeds);
      draw.skip(so_far);
    }
    const StageRef<Random> stage;
    SeedPair seeds;
    Draws draw;
  };
  const SeedsOfStage seeds_;
};

/// The first of the inputs gives the numbers of the others.
class Chosen final : public DatasetObject {
 public:
  Chosen(const ElementSpec& spec, std::vector<Ref<DatasetObject>> inputs, bool stop_on_empty)
      : DatasetObject(spec, std::move(inputs)), stop_(stop_on_empty) {}
  const char* name() const override { return "choose_from_datasets"; }
  void add_facts(Saving& to) const override { to.number(stop_); }
  int64_t cardinality() const override {
    // As TensorFlow has it: one that has no end is enough, though the choices may have one.
    bool endless = false, any = inputs_[0]->cardinality() != 0;
    for (size_t i = 1; i < inputs_.size(); ++i) {
      endless |= inputs_[i]->cardinality() == kInfinite;
      any |= inputs_[i]->cardinality() != 0;
    }
    return endless ? kInfinite : any ? kUnknownCardinality : 0;
  }
  Owned<Cursor> start() const override { return started<Chosen, Directed>(*this); }

 private:
  struct Directed final : Cursor {
    explicit Directed(const Chosen& s) : stage(&s), choices(s.begin_input(0)) {
      for (size_t i = 1; i < s.inputs().size(); ++i) parts.push_back(s.begin_input(i));
    }
    bool next(Nested& out) override {
      while (!ended && std::any_of(parts.begin(), parts.end(), [](auto& p) { return !!p; })) {
        check_stop();
        Nested choice;
        if (!choices->next(choice)) break;
        int64_t number = at++;
        Owned<Cursor>& part = at_stage(*stage, number, [&]() -> Owned<Cursor>& {
          int64_t which = choice.tensor().item<int64_t>();
          if (which < 0 || which >= static_cast<int64_t>(parts.size()))
            fail(Code::E1103, cat("`choose_from_datasets` is to take from dataset ", which,
                                  ", and there are ", parts.size()));
          return parts[static_cast<size_t>(which)];
        });
        if (!part) continue;
        if (part->next(out)) return true;
        part = {};
        if (stage->stop_) break;
      }
      ended = true;
      return false;
    }
    void save(Saving& to) const override {
      to.number(at);
      to.number(ended);
      choices->save(to);
      for (const auto& part : parts) {
        to.number(static_cast<bool>(part));
        if (part) part->save(to);
      }
    }
    void restore(Restoring& from) override {
      at = from.number();
      ended = from.number() != 0;
      choices->restore(from);
      for (auto& part : parts) {
        if (from.number())
          part->restore(from);
        else
          part = {};
      }
    }
    const StageRef<Chosen> stage;
    Owned<Cursor> choices;
    std::vector<Owned<Cursor>> parts;  // null: it has ended
    int64_t at = 0;
    bool ended = false;
  };
  const bool stop_;
};

}  // namespace

Dataset Dataset::of_random(const RandomOptions& o) { return Dataset(make_ref<Random>(o)); }

Dataset Dataset::chosen(const std::vector<Dataset>& datasets, const Dataset& choices,
                        const ChooseOptions& o) {
  if (datasets.empty())
    fail(Code::E1103, "`choose_from_datasets` needs a dataset, and was given none");
  if (!(choices.element_spec() == ElementSpec(int64)))
    fail(Code::E1101, cat("the choices of `choose_from_datasets` are ",
                          choices.element_spec().text(), ", expected int64[]"));
  std::vector<Ref<DatasetObject>> inputs{choices.object()};
  ElementSpec spec = datasets[0].element_spec();
  for (const Dataset& d : datasets) {
    std::optional<ElementSpec> both = spec.joined(d.element_spec());
    if (!both)
      fail(Code::E1101, cat("`choose_from_datasets` got elements ", spec.text(), " and ",
                            d.element_spec().text(), ", expected the same form and dtypes"));
    spec = std::move(*both);
    inputs.push_back(d.object());
  }
  return Dataset(make_ref<Chosen>(spec, std::move(inputs), o.stop_on_empty_dataset));
}

Dataset Dataset::sampled(const std::vector<Dataset>& datasets, const SampleOptions& o) {
  if (datasets.empty())
    fail(Code::E1103, "`sample_from_datasets` needs a dataset, and was given none");
  if (!o.weights.empty() && o.weights.size() != datasets.size())
    fail(Code::E1103, cat("`sample_from_datasets` got ", o.weights.size(), " weights for ",
                          datasets.size(), " datasets"));
  std::vector<Dataset> those;  // what is never chosen is left out
  std::vector<float> logits;
  for (size_t i = 0; i < datasets.size(); ++i) {
    double weight = o.weights.empty() ? 1 : o.weights[i];
    if (weight <= 0) continue;
    those.push_back(datasets[i]);
    logits.push_back(o.weights.empty() ? 1.0F : std::log(static_cast<float>(weight)));
  }
  if (those.empty()) return datasets[0].take(0);
  if (those.size() == 1) return those[0];
  Tensor all = reshape(Tensor::of(logits), {1, static_cast<int64_t>(logits.size())});
  Dataset seeds =
      of_random({.seed = o.seed, .rerandomize_each_iteration = o.rerandomize_each_iteration})
          .batch(2);
  Dataset numbers = seeds.map([all](const Tensor& seed) {
    return reshape(random::stateless_categorical(all, 1, seed), Shape{});
  });
  return chosen(those, numbers, {.stop_on_empty_dataset = o.stop_on_empty_dataset});
}

Dataset Dataset::listed(const std::vector<std::string>& patterns, const ListFilesOptions& o) {
  std::vector<std::string> files = io::matching(patterns);
  if (files.empty()) {
    std::string all;
    for (const std::string& p : patterns) all += cat(all.empty() ? "'" : ", '", p, "'");
    fail(Code::E1103, "no file matches what `list_files` was given", cat("the patterns are ", all));
  }
  auto n = static_cast<int64_t>(files.size());
  Dataset out = of_slices(Tensor::of(files));
  return o.shuffle ? out.shuffled(n, {.seed = o.seed}) : out;
}

}  // namespace holdfast::data
