// Examples as tensors: one op, whose attribute says how each feature is read.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <variant>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/io/feature_lists.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/io.h"

namespace holdfast {
namespace {

using Kind = io::FeatureRule::Kind;

struct Wanted {
  std::string key;
  Kind kind;
  DType dtype, splits;
  Shape shape;
  int64_t count;  // values of one example, or of one step
  int otherwise;  // the input that is taken where there is none; -1: none
  bool may_miss;
  bool in_list;

  /// What a list of features gives has one axis more.
  int outputs() const {
    if (kind == Kind::kFixed) return 1;
    if (kind == Kind::kSequence) return in_list ? 2 : 1;
    return kind == Kind::kSparse || in_list ? 3 : 2;
  }
  std::string text() const {
    return cat(in_list ? "list " : "", key, ": ", static_cast<int>(kind), " ", name(dtype),
               shape.text(), " ", name(splits), " ", otherwise, may_miss ? " may miss" : "");
  }
};

/// All features, and who wants which.
struct Plan final : RefCounted {
  std::vector<Wanted> wanted;
  bool sequence = false;
  /// Positions in `wanted` by key: of the context, and of the lists.
  std::unordered_map<std::string_view, std::vector<size_t>> context, lists;
  std::string text() const override {
    std::string out = sequence ? "sequence" : "example";
    for (const Wanted& w : wanted) out += cat("; ", w.text());
    return out;
  }
};

struct PlanAttrs {
  Attr<RefCounted> features;
};
const Plan& plan_in(const PlanAttrs& a) {
  auto* plan = dynamic_cast<const Plan*>(a.features());
  if (!plan) fail(Code::E1104, "`features` does not say how examples are read");
  return *plan;
}

Shape with_axes(const Dims& front, const Shape& shape) {
  Dims all = front;
  for (int64_t d : shape.dims()) all.push_back(d);
  return Shape(all);
}

void infer_parse(Infer& s) {
  const Plan& plan = plan_in(s.attrs<PlanAttrs>());
  s.need_rank(0, 0, 1);
  const Shape& in = s.shape();
  bool known = in.has_rank();
  Dims batch;
  if (known && in.rank() == 1) batch.push_back(in[0]);
  int extra = static_cast<int>(batch.size());
  auto output = [&](DType dtype, const Shape& shape) {
    s.output(dtype, known ? shape : Shape::unknown());
  };
  for (const Wanted& w : plan.wanted) {
    Dims steps = batch;
    steps.push_back(kUnknown);
    int64_t axes = 1 + extra + w.in_list;
    switch (w.kind) {
      case Kind::kFixed: output(w.dtype, with_axes(batch, w.shape)); break;
      case Kind::kSequence:
        output(w.dtype, with_axes(steps, w.shape));
        if (w.in_list) output(int64, Shape(batch));
        break;
      case Kind::kSparse:
        output(int64, Shape{kUnknown, axes});
        s.output(w.dtype, Shape{kUnknown});
        output(int64, Shape{axes});
        break;
      case Kind::kRagged:
        s.output(w.dtype, Shape{kUnknown});
        s.output(w.splits, Shape{kUnknown});
        if (w.in_list) s.output(w.splits, Shape{kUnknown});
    }
  }
}

// -- what was read

template <class T>
constexpr int kKindOf = std::is_same_v<T, std::string> ? 1
                        : std::is_same_v<T, float>     ? 2
                                                       : 3;
const char* name_of_kind(int kind) {
  return kind == 1 ? "string" : kind == 2 ? "float32" : "int64";
}

/// Values of one feature over all examples.
template <class T>
struct Column {
  std::vector<T> values;
  std::vector<int64_t> rows;   // of each example: values, or steps of a list
  std::vector<int64_t> inner;  // of each step of a list: values
};

struct Reading {
  const Wanted& w;
  int64_t example;
  bool single;
  /// "feature `x` of example 3"
  std::string what() const {
    return cat(w.in_list ? "feature list `" : "feature `", w.key, "`",
               single ? std::string() : cat(" of example ", example));
  }
};

// Adds the values of a feature's message. Whether it held any list.
template <class T>
Status add_values(const Reading& r, std::string_view feature, std::vector<T>& to, bool& there) {
  std::string_view list;
  int kind = io::kind_of_feature(feature, list);
  there = kind != 0;
  if (kind == 0) return {};
  if (kind > 0 && kind != kKindOf<T>)
    return {Code::E1101, cat(r.what(), " holds values of ", name_of_kind(kind), ", expected ",
                             name_of_kind(kKindOf<T>))};
  if (kind < 0 || !io::read_list(list, to))
    return {Code::E1103, cat(r.what(), " is damaged: its bytes are no list of values")};
  return {};
}

Status missing(const Reading& r) {
  return {Code::E1103, cat(r.what(), " is missing, and has no default")};
}
Status wrong_count(const Reading& r, int64_t found) {
  return {Code::E1102, cat(r.what(), " has ", found, " values, expected ", r.w.count,
                           " for the shape ", r.w.shape.text())};
}

template <class T>
Status add_feature(const Reading& r, const std::string_view* feature, const Tensor& otherwise,
                   Column<T>& to) {
  const Wanted& w = r.w;
  size_t before = to.values.size();
  bool there = false;
  if (feature)
    if (Status bad = add_values(r, *feature, to.values, there); !bad.ok()) return bad;
  auto found = static_cast<int64_t>(to.values.size() - before);
  if (w.kind == Kind::kFixed) {
    if (!there) {
      if (!otherwise.defined()) return missing(r);
      const T* from = otherwise.raw<T>();
      to.values.insert(to.values.end(), from, from + w.count);
    } else if (found != w.count) {
      return wrong_count(r, found);
    }
  } else if (w.kind == Kind::kSequence) {
    if (!there && !w.may_miss) return missing(r);
    if (found % w.count != 0) return wrong_count(r, found);
    found /= w.count;
  }
  to.rows.push_back(found);
  return {};
}

template <class T>
Status add_list(const Reading& r, const std::string_view* list, Column<T>& to) {
  const Wanted& w = r.w;
  if (!list && w.kind == Kind::kSequence && !w.may_miss) return missing(r);
  int64_t steps = 0;
  WireReader fields(list ? *list : std::string_view());
  for (WireField f; fields.next(f);) {
    if (f.number != 1) continue;
    if (f.kind != 2) return {Code::E1103, cat(r.what(), " is damaged: it is no list of features")};
    size_t before = to.values.size();
    bool there;
    if (Status bad = add_values(r, f.bytes, to.values, there); !bad.ok()) return bad;
    auto found = static_cast<int64_t>(to.values.size() - before);
    if (w.kind == Kind::kSequence && found != w.count) return wrong_count(r, found);
    to.inner.push_back(found);
    ++steps;
  }
  if (!fields.good()) return {Code::E1103, cat(r.what(), " is damaged: it ends too early")};
  to.rows.push_back(steps);
  return {};
}

// -- outputs

template <class T>
void move_values(std::vector<T>& from, T* to) {
  std::move(from.begin(), from.end(), to);
}

int64_t largest(const std::vector<int64_t>& all) {
  return all.empty() ? 0 : *std::max_element(all.begin(), all.end());
}

// The starts of rows: 0, and the sums of their lengths.
Status write_splits(Call& c, int out, const std::vector<int64_t>& lengths) {
  Tensor& t = c.out(out, Shape{static_cast<int64_t>(lengths.size()) + 1});
  int64_t sum = 0;
  auto write = [&](auto* to) {
    using I = std::remove_pointer_t<decltype(to)>;
    *to++ = 0;
    for (int64_t n : lengths) *to++ = static_cast<I>(sum += n);
  };
  if (t.dtype() == int64) {
    write(t.mutable_raw<int64_t>());
    return {};
  }
  write(t.mutable_raw<int32_t>());
  if (sum > std::numeric_limits<int32_t>::max())
    return {Code::E1103, cat("a ragged feature has ", sum, " values, more than int32 can count")};
  return {};
}

template <class T>
Status write_column(Call& c, const Wanted& w, int out, bool single, Column<T>& from) {
  auto examples = static_cast<int64_t>(from.rows.size());
  Dims batch;
  if (!single) batch.push_back(examples);
  auto values_out = [&](int i) {
    Tensor& t = c.out(i, Shape{static_cast<int64_t>(from.values.size())});
    move_values(from.values, t.mutable_raw<T>());
  };
  switch (w.kind) {
    case Kind::kFixed:
      move_values(from.values, c.out(out, with_axes(batch, w.shape)).mutable_raw<T>());
      return {};
    case Kind::kSequence: {
      int64_t longest = largest(from.rows);
      Dims steps = batch;
      steps.push_back(longest);
      Tensor& t = c.out(out, with_axes(steps, w.shape));
      T* to = t.mutable_raw<T>();
      T padding{};
      if (w.otherwise >= 0) padding = *c.in(w.otherwise).raw<T>();
      auto next = from.values.begin();
      for (int64_t n : from.rows) {
        to = std::move(next, next + n * w.count, to);
        next += n * w.count;
        to = std::fill_n(to, (longest - n) * w.count, padding);
      }
      if (w.in_list)
        std::copy(from.rows.begin(), from.rows.end(),
                  c.out(out + 1, Shape(batch)).mutable_raw<int64_t>());
      return {};
    }
    case Kind::kSparse: {
      int axes = 1 + !single + w.in_list;
      auto count = static_cast<int64_t>(from.values.size());
      int64_t* at = c.out(out, Shape{count, axes}).mutable_raw<int64_t>();
      size_t step = 0;
      for (int64_t e = 0; e < examples; ++e) {
        int64_t steps = w.in_list ? from.rows[static_cast<size_t>(e)] : 1;
        for (int64_t r = 0; r < steps; ++r) {
          int64_t n = w.in_list ? from.inner[step++] : from.rows[static_cast<size_t>(e)];
          for (int64_t i = 0; i < n; ++i) {
            if (!single) *at++ = e;
            if (w.in_list) *at++ = r;
            *at++ = i;
          }
        }
      }
      values_out(out + 1);
      int64_t* shape = c.out(out + 2, Shape{axes}).mutable_raw<int64_t>();
      if (!single) *shape++ = examples;
      *shape++ = largest(from.rows);
      if (w.in_list) *shape = largest(from.inner);
      return {};
    }
    case Kind::kRagged:
      values_out(out);
      if (!w.in_list) return write_splits(c, out + 1, from.rows);
      if (Status bad = write_splits(c, out + 1, from.inner); !bad.ok()) return bad;
      return write_splits(c, out + 2, from.rows);
  }
  return {};
}

// -- the kernel

/// Where the features of one example lie, by their places in the plan.
struct Found {
  explicit Found(const Plan& p) : plan(p), at(p.wanted.size()), there(p.wanted.size()) {}
  bool find(std::string_view example) {
    std::fill(there.begin(), there.end(), false);
    WireReader fields(example);
    for (WireField f; fields.next(f);) {
      if (f.number != 1 && !(f.number == 2 && plan.sequence)) continue;
      if (f.kind != 2) return false;
      const auto& known = f.number == 1 ? plan.context : plan.lists;
      // A key that comes again counts, not the one before it: so it is in all messages.
      bool good = io::each_entry(f.bytes, [&](std::string_view key, std::string_view value) {
        if (auto places = known.find(key); places != known.end())
          for (size_t i : places->second) {
            at[i] = value;
            there[i] = true;
          }
        return true;
      });
      if (!good) return false;
    }
    return fields.good();
  }
  const Plan& plan;
  std::vector<std::string_view> at;
  std::vector<bool> there;
};

using AnyColumn = std::variant<Column<float>, Column<int64_t>, Column<std::string>>;

AnyColumn column_for(DType dtype) {
  if (dtype == int64) return Column<int64_t>{};
  if (dtype == string) return Column<std::string>{};
  return Column<float>{};
}

Status run_parse(Call& c) {
  const Plan& plan = plan_in(c.attrs<PlanAttrs>());
  const Tensor& serialized = c.in();
  const auto* texts = serialized.raw<std::string>();
  bool single = serialized.rank() == 0;
  int64_t examples = serialized.size();
  std::vector<AnyColumn> columns;
  for (const Wanted& w : plan.wanted) {
    std::visit([&](auto& column) { column.rows.reserve(static_cast<size_t>(examples)); },
               columns.emplace_back(column_for(w.dtype)));
  }
  Found found(plan);
  for (int64_t e = 0; e < examples; ++e) {
    if (!found.find(texts[e]))
      return {Code::E1103, cat("`serialized`", single ? std::string() : cat(", example ", e, ","),
                               " is no ", plan.sequence ? "SequenceExample" : "Example",
                               ": its bytes end too early, or are something else")};
    for (size_t i = 0; i < plan.wanted.size(); ++i) {
      const Wanted& w = plan.wanted[i];
      Reading reading{w, e, single};
      const std::string_view* bytes = found.there[i] ? &found.at[i] : nullptr;
      Status bad = std::visit(
          [&](auto& column) {
            if (w.in_list) return add_list(reading, bytes, column);
            return add_feature(reading, bytes, w.otherwise < 0 ? Tensor() : c.in(w.otherwise),
                               column);
          },
          columns[i]);
      if (!bad.ok()) return bad;
    }
  }
  int out = 0;
  for (size_t i = 0; i < plan.wanted.size(); ++i) {
    const Wanted& w = plan.wanted[i];
    Status bad = std::visit([&](auto& column) { return write_column(c, w, out, single, column); },
                            columns[i]);
    if (!bad.ok()) return bad;
    out += w.outputs();
  }
  return {};
}

const Op op = RAW_OP(ParseExampleV2)
                  .doc("The features of examples as tensors.")
                  .inputs("serialized: S, dense_defaults*: any")
                  .dtypes(kStrings, "S")
                  .attr("features")
                  .attrs<&PlanAttrs::features>()
                  .infer(infer_parse)
                  .kernel("reference", run_parse)
                  .on_host()
                  .no_gradient();

// -- from rules to a plan

void add_rules(const io::FeatureRules& rules, bool in_list, Plan& plan, Tensors& inputs) {
  for (const auto& [key, rule] : rules) {
    auto refuse = [&, &key = key](Code code, const std::string& what, const char* why = "") {
      fail(code, cat("the feature `", key, "` ", what), why);
    };
    if (rule.dtype != float32 && rule.dtype != int64 && rule.dtype != string)
      refuse(Code::E1101,
             cat("is wanted as ", name(rule.dtype), ", expected float32, int64 or string"),
             "examples hold no others");
    if (rule.splits != int32 && rule.splits != int64)
      refuse(Code::E1101,
             cat("has row splits of ", name(rule.splits), ", expected int32 or int64"));
    if (!rule.shape.is_full())
      refuse(Code::E1102,
             cat("is wanted in the shape ", rule.shape.text(), ", expected known sizes"),
             "a FixedLenSequenceFeature takes any length");
    if (in_list && rule.kind == Kind::kFixed)
      refuse(Code::E1104, "of a list is a FixedLenFeature, expected a FixedLenSequenceFeature");
    Wanted w{.key = key,
             .kind = rule.kind,
             .dtype = rule.dtype,
             .splits = rule.splits,
             .shape = rule.shape,
             .count = rule.shape.size(),
             .otherwise = -1,
             .may_miss = rule.allow_missing,
             .in_list = in_list};
    if (w.count == 0 && w.kind == Kind::kSequence)
      refuse(Code::E1102, cat("has steps of the shape ", w.shape.text(), ", which hold no values"));
    if (rule.default_value.defined()) {
      const Tensor& value = rule.default_value;
      int64_t expected = w.kind == Kind::kFixed ? w.count : 1;
      if (value.dtype() != w.dtype || value.size() != expected)
        refuse(Code::E1102, cat("has the default ", type_text(value), ", expected ", expected,
                                expected == 1 ? " value" : " values", " of ", name(w.dtype)));
      w.otherwise = static_cast<int>(inputs.size());
      inputs.push_back(value);
    }
    plan.wanted.push_back(std::move(w));
  }
}

io::ParsedFeatures by_name(const io::FeatureRules& rules, std::vector<Tensors>& found,
                           size_t from) {
  io::ParsedFeatures out;
  for (size_t i = 0; i < rules.size(); ++i) out[rules[i].first] = std::move(found[from + i]);
  return out;
}

}  // namespace

std::vector<Tensors> io::detail::parse_features(const In& serialized, bool sequence,
                                                const FeatureRules& context,
                                                const FeatureRules& lists) {
  Tensors inputs;
  inputs.push_back(serialized);
  auto plan = make_ref<Plan>();
  plan->sequence = sequence;
  add_rules(context, false, *plan, inputs);
  add_rules(lists, true, *plan, inputs);
  for (size_t i = 0; i < plan->wanted.size(); ++i) {
    const Wanted& w = plan->wanted[i];
    (w.in_list ? plan->lists : plan->context)[w.key].push_back(i);
  }
  Tensors flat = op.list(inputs, {Arg(Ref<RefCounted>(plan))});
  std::vector<Tensors> out;
  size_t at = 0;
  for (const Wanted& w : plan->wanted) {
    Tensors& own = out.emplace_back();
    for (int i = 0; i < w.outputs(); ++i) own.push_back(flat[at++]);
  }
  return out;
}

io::ParsedFeatures io::parse_example(const In& serialized, const FeatureRules& features) {
  std::vector<Tensors> found = detail::parse_features(serialized, false, features, {});
  return by_name(features, found, 0);
}

std::pair<io::ParsedFeatures, io::ParsedFeatures> io::parse_sequence_example(
    const In& serialized, const FeatureRules& context, const FeatureRules& lists) {
  std::vector<Tensors> found = detail::parse_features(serialized, true, context, lists);
  return {by_name(context, found, 0), by_name(lists, found, context.size())};
}

}  // namespace holdfast
