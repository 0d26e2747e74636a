// Checks of elements: against each other, against zero, and for being numbers at all.
#include "holdfast/ops/debugging/elements.h"

#include <algorithm>
#include <cmath>

#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/debugging.h"
#include "holdfast/ops/debugging/check.h"
#include "holdfast/ops/debugging/tensor_text.h"
#include "holdfast/ops/math.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct CheckAttrs {
  Attr<std::string> check;
  Attr<std::vector<std::string>> words;
  Attr<std::string> message;
  Attr<int64_t> summarize;
};

using Comparison = Tensor (*)(const In&, const In&);

struct PairRule {
  const char* check;
  const char* must;  // every element of x must ... that of y; null: says it in its own way
  Comparison holds;  // null: near each other
};
constexpr PairRule kPairs[] = {{"assert_equal", "equal", equal},
                               {"assert_none_equal", "differ from", not_equal},
                               {"assert_less", "be less than", less},
                               {"assert_less_equal", "be at most", less_equal},
                               {"assert_greater", "be greater than", greater},
                               {"assert_greater_equal", "be at least", greater_equal},
                               {"assert_near", nullptr, nullptr}};
constexpr int64_t kShownPairs = 3, kShownNear = 1;

struct SingleRule {
  const char* check;
  const char* must;  // every element of x must be ...
  Comparison holds;  // with 0; null: is finite
};
constexpr const char* kFinite = "finite";
constexpr SingleRule kSingles[] = {{"assert_positive", "greater than 0", greater},
                                   {"assert_negative", "less than 0", less},
                                   {"assert_non_negative", "at least 0", greater_equal},
                                   {"assert_non_positive", "at most 0", less_equal},
                                   {"check_numerics", kFinite, nullptr},
                                   {"assert_all_finite", kFinite, nullptr}};
constexpr int64_t kShownSingles = 1;

template <class Rules>
const auto* find_rule(const Rules& rules, const std::string& check) {
  auto found = std::find_if(std::begin(rules), std::end(rules),
                            [&](const auto& r) { return r.check == check; });
  return found == std::end(rules) ? nullptr : found;
}
template <class Rules>
const auto& rule_of(const Rules& rules, const std::string& check) {
  return *find_rule(rules, check);
}

template <const auto& Rules>
void infer_check(Infer& s) {
  auto attrs = s.attrs<CheckAttrs>();
  if (!find_rule(Rules, attrs.check()))
    s.bad_value("check", cat("\"", attrs.check(), "\""), "the name of a check");
  check_of(attrs.check.arg(), attrs.words.arg(), attrs.message.arg(), {});
  attrs.summarize();
  need_same_shapes(s);
}

Status run_pairs(Call& c) {
  auto a = c.attrs<CheckAttrs>();
  Failures f = failures_in(c.in(0), a.summarize());
  if (!f.count) return {};
  Check check = check_of(a.check.arg(), a.words.arg(), a.message.arg(), Tensors{c.in(1), c.in(2)});
  constexpr const char* kArguments[] = {"x", "y"};
  auto names = names_of(check, kArguments);
  const Shape& whole = c.in(0).shape();
  std::vector<std::string> found;
  for (int64_t place : f.first) {
    std::string both[2];
    for (int i : {0, 1}) {
      const Tensor& t = c.in(i + 1);
      both[i] = cat("`", element_name(names[static_cast<size_t>(i)], whole, place), "` is ",
                    element_text(t, place_in(t.shape(), whole, place)));
    }
    found.push_back(cat(both[0], " and ", both[1]));
  }
  const char* must = rule_of(kPairs, check.name).must;
  std::string why =
      must ? cat("every element of `", names[0], "` must ", must, " that of `", names[1], "`")
           : cat("`", names[0], "` and `", names[1], "` must be near each other everywhere");
  why += cat(", and ", count_text(f.count, f.total));
  for (size_t i = 0; found.size() > 1 && i < found.size(); ++i)
    why += cat(i ? "; " : ": ", found[i]);
  check_failed(check, names, found[0], why + ".", names[0]);
}

// "Inf and NaN", whichever there are.
std::string kinds_in(const Tensor& t) {
  bool inf = false, nan = false;
  visit_floats(t.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < t.size(); ++i) {
      auto v = static_cast<double>(t.raw<T>()[i]);
      inf = inf || std::isinf(v);
      nan = nan || std::isnan(v);
    }
  });
  return inf && nan ? "Inf and NaN" : inf ? "Inf" : "NaN";
}

Status run_singles(Call& c) {
  auto a = c.attrs<CheckAttrs>();
  Failures f = failures_in(c.in(0), a.summarize());
  if (!f.count) return {};
  Check check = check_of(a.check.arg(), a.words.arg(), a.message.arg(), Tensors{c.in(1)});
  const char* must = rule_of(kSingles, check.name).must;
  const char* argument[] = {check.name == "check_numerics" ? "tensor" : "x"};
  auto names = names_of(check, argument);
  std::vector<std::string> found;
  const Tensor& t = c.in(1);
  for (int64_t place : f.first)
    found.push_back(cat("`", element_name(names[0], c.in(0).shape(), place), "` is ",
                        element_text(t, place_in(t.shape(), c.in(0).shape(), place))));
  std::string why = cat("every element of `", names[0], "` must be ", must, ", and ",
                        count_text(f.count, f.total));
  for (size_t i = 0; found.size() > 1 && i < found.size(); ++i)
    why += cat(i ? "; " : ": ", found[i]);
  check_failed(check, names,
               must == kFinite ? cat("Tensor had ", kinds_in(t), " values: ", found[0]) : found[0],
               why + ".", names[0]);
}

#define HOLDFAST_CHECK_ATTRS                                               \
  attr("check")                                                            \
      .attr("words", std::vector<std::string>{})                           \
      .attr("message", "")                                                 \
      .attr("summarize", 3)                                                \
      .attrs<&CheckAttrs::check, &CheckAttrs::words, &CheckAttrs::message, \
             &CheckAttrs::summarize>()

const Op pairs_op =
    RAW_OP(AssertPairs)
        .doc("Stops the program unless a condition on pairs of elements holds everywhere.")
        .inputs("condition: B, x, y")
        .dtypes(kBools, "B")
        .outputs("")
        .HOLDFAST_CHECK_ATTRS.infer(infer_check<kPairs>)
        .kernel("check", run_pairs)
        .on_host()
        .stateful()
        .no_gradient();
const Op singles_op = RAW_OP(AssertElements)
                          .doc("Stops the program unless a condition on elements holds everywhere.")
                          .inputs("condition: B, x")
                          .dtypes(kBools, "B")
                          .outputs("")
                          .HOLDFAST_CHECK_ATTRS.infer(infer_check<kSingles>)
                          .kernel("check", run_singles)
                          .on_host()
                          .stateful()
                          .no_gradient();

// Both as tensors; a number takes the dtype of the other.
std::pair<Tensor, Tensor> both(const In& x, const In& y) {
  Tensor a = x.weak() ? Tensor() : x.tensor();
  Tensor b = y.tensor(a.defined() ? a.dtype() : DType::kInvalid);
  return {a.defined() ? a : x.tensor(b.dtype()), b};
}

void check_pairs(const char* check, const In& x, const In& y, const debugging::CheckOptions& o) {
  auto [a, b] = both(x, y);
  ElementCheck e = element_check(check, Tensors{a, b});
  pairs_op.many({e.condition, a, b},
                {check, std::vector<std::string>{}, o.message, o.summarize.value_or(e.summarize)});
}

Tensor check_each(const char* check, const In& x, const debugging::CheckOptions& o) {
  Tensor a = x.tensor();
  ElementCheck e = element_check(check, {&a, 1});
  singles_op.many({e.condition, a}, {check, std::vector<std::string>{}, o.message,
                                     o.summarize.value_or(e.summarize)});
  return a;
}

Tensor near(const Tensor& a, const Tensor& b, const Tensor& rtol, const Tensor& atol) {
  DType real = real_of(a.dtype());
  if (!is_floating(real))
    fail(Code::E1101,
         cat("`assert_near` got ", name(a.dtype()), ", expected a floating or complex dtype"));
  double eps = real == float64    ? 0x1p-52
               : real == float16  ? 0x1p-10
               : real == bfloat16 ? 0x1p-7
                                  : 0x1p-23;
  Tensor usual = Tensor::scalar(10 * eps, real);
  return less_equal(abs(a - b),
                    (rtol.defined() ? rtol : usual) * abs(b) + (atol.defined() ? atol : usual));
}

}  // namespace

ElementCheck element_check(const std::string& check, std::span<const Tensor> in, const Tensor& rtol,
                           const Tensor& atol) {
  if (const auto* pair = find_rule(kPairs, check); pair && in.size() == 2)
    return pair->holds ? ElementCheck{"AssertPairs", pair->holds(in[0], in[1]), kShownPairs}
                       : ElementCheck{"AssertPairs", near(in[0], in[1], rtol, atol), kShownNear};
  const auto* single = find_rule(kSingles, check);
  if (!single || in.size() != 1) bug(cat("no check `", check, "` of ", in.size(), " tensors"));
  if (single->holds) return {"AssertElements", single->holds(in[0], 0), kShownSingles};
  if (!is_floating(in[0].dtype()))
    fail(Code::E1101,
         cat("`", check, "` got ", name(in[0].dtype()), ", expected a floating dtype"));
  return {"AssertElements", is_finite(in[0]), kShownSingles};
}

Failures failures_in(const Tensor& condition, int64_t most) {
  Failures f{0, condition.size(), {}};
  const bool* holds = condition.raw<bool>();
  for (int64_t i = 0; i < f.total; ++i) {
    if (holds[i]) continue;
    if (f.count == 0 || f.count < most) f.first.push_back(i);
    ++f.count;
  }
  return f;
}

int64_t place_in(const Shape& part, const Shape& whole, int64_t place) {
  int64_t out = 0, step = 1;
  for (int back = 1; back <= part.rank(); ++back) {
    int64_t at = place % whole[whole.rank() - back], size = part[part.rank() - back];
    place /= whole[whole.rank() - back];
    if (size != 1) out += at * step;
    step *= size;
  }
  return out;
}

void need_same_shapes(const Infer& s) {
  const Shape& whole = s.shape(0);
  for (int i = 1; i < s.inputs(); ++i) {
    auto together = broadcast(whole, s.shape(i));
    if (!together || !together->compatible(whole))
      s.bad_shape(i, cat("a shape that broadcasts to that of `condition`, ", whole.text()));
  }
}

namespace debugging {

void assert_equal(const In& x, const In& y, const CheckOptions& o) {
  check_pairs("assert_equal", x, y, o);
}
void assert_none_equal(const In& x, const In& y, const CheckOptions& o) {
  check_pairs("assert_none_equal", x, y, o);
}
void assert_less(const In& x, const In& y, const CheckOptions& o) {
  check_pairs("assert_less", x, y, o);
}
void assert_less_equal(const In& x, const In& y, const CheckOptions& o) {
  check_pairs("assert_less_equal", x, y, o);
}
void assert_greater(const In& x, const In& y, const CheckOptions& o) {
  check_pairs("assert_greater", x, y, o);
}
void assert_greater_equal(const In& x, const In& y, const CheckOptions& o) {
  check_pairs("assert_greater_equal", x, y, o);
}

void assert_near(const In& x, const In& y, const NearOptions& o) {
  auto [a, b] = both(x, y);
  DType real = real_of(a.dtype());
  auto tolerance = [&](const std::optional<double>& t) {
    return t && is_floating(real) ? Tensor::scalar(*t, real) : Tensor();
  };
  ElementCheck e =
      element_check("assert_near", Tensors{a, b}, tolerance(o.rtol), tolerance(o.atol));
  pairs_op.many({e.condition, a, b}, {"assert_near", std::vector<std::string>{}, o.message,
                                      o.summarize.value_or(e.summarize)});
}

void assert_positive(const In& x, const CheckOptions& o) { check_each("assert_positive", x, o); }
void assert_negative(const In& x, const CheckOptions& o) { check_each("assert_negative", x, o); }
void assert_non_negative(const In& x, const CheckOptions& o) {
  check_each("assert_non_negative", x, o);
}
void assert_non_positive(const In& x, const CheckOptions& o) {
  check_each("assert_non_positive", x, o);
}

Tensor check_numerics(const In& tensor, const std::string& message) {
  return check_each("check_numerics", tensor, {.message = message});
}
Tensor assert_all_finite(const In& x, const std::string& message) {
  return check_each("assert_all_finite", x, {.message = message});
}

}  // namespace debugging
}  // namespace holdfast
