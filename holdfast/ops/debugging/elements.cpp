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

using Comparison = Tensor (*)(const In&, const In&);

struct PairRule {
  const char* check;
  const char* must;  // every element of x must ... that of y; null: says it in its own way
};
constexpr PairRule kPairs[] = {{"assert_equal", "equal"},
                               {"assert_none_equal", "differ from"},
                               {"assert_less", "be less than"},
                               {"assert_less_equal", "be at most"},
                               {"assert_greater", "be greater than"},
                               {"assert_greater_equal", "be at least"},
                               {"assert_near", nullptr}};

struct SingleRule {
  const char* check;
  const char* must;  // every element of x must be ...
};
constexpr const char* kFinite = "finite";
constexpr SingleRule kSingles[] = {
    {"assert_positive", "greater than 0"}, {"assert_negative", "less than 0"},
    {"assert_non_negative", "at least 0"}, {"assert_non_positive", "at most 0"},
    {"check_numerics", kFinite},           {"assert_all_finite", kFinite}};

template <class Rules>
const auto& rule_of(const Rules& rules, const std::string& check) {
  return *std::find_if(std::begin(rules), std::end(rules),
                       [&](const auto& r) { return r.check == check; });
}

template <const auto& Rules>
void infer_check(Infer& s) {
  auto known = [&](const auto& r) { return s.attr(0).s() == r.check; };
  if (std::none_of(std::begin(Rules), std::end(Rules), known))
    s.bad_value("check", cat("\"", s.attr(0).s(), "\""), "the name of a check");
  check_of(s.attr(0), s.attr(1), s.attr(2), {});
  s.attr(3).i();
  need_same_shapes(s);
}

Status run_pairs(Call& c) {
  Failures f = failures_in(c.in(0), c.attr(3).i());
  if (!f.count) return {};
  Check check = check_of(c.attr(0), c.attr(1), c.attr(2), Tensors{c.in(1), c.in(2)});
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
      auto v = static_cast<double>(t.data<T>()[i]);
      inf = inf || std::isinf(v);
      nan = nan || std::isnan(v);
    }
  });
  return inf && nan ? "Inf and NaN" : inf ? "Inf" : "NaN";
}

Status run_singles(Call& c) {
  Failures f = failures_in(c.in(0), c.attr(3).i());
  if (!f.count) return {};
  Check check = check_of(c.attr(0), c.attr(1), c.attr(2), Tensors{c.in(1)});
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

#define HOLDFAST_CHECK_ATTRS \
  attr("check").attr("words", std::vector<std::string>{}).attr("message", "").attr("summarize", 3)

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
  Tensor b = y.tensor(a ? a.dtype() : DType::kInvalid);
  return {a ? a : x.tensor(b.dtype()), b};
}

void check_pairs(const char* check, Comparison holds, const In& x, const In& y,
                 const debugging::CheckOptions& o) {
  auto [a, b] = both(x, y);
  pairs_op.many({holds(a, b), a, b},
                {check, std::vector<std::string>{}, o.message, o.summarize.value_or(3)});
}

void check_sign(const char* check, Comparison holds, const In& x,
                const debugging::CheckOptions& o) {
  Tensor a = x.tensor();
  singles_op.many({holds(a, 0), a},
                  {check, std::vector<std::string>{}, o.message, o.summarize.value_or(1)});
}

Tensor check_finite(const char* check, const In& x, const std::string& message) {
  Tensor a = x.tensor();
  if (!is_floating(a.dtype()))
    fail(Code::E1101, cat("`", check, "` got ", name(a.dtype()), ", expected a floating dtype"));
  singles_op.many({is_finite(a), a}, {check, std::vector<std::string>{}, message, 1});
  return a;
}

}  // namespace

Failures failures_in(const Tensor& condition, int64_t most) {
  Failures f{0, condition.size(), {}};
  const bool* holds = condition.data<bool>();
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
  check_pairs("assert_equal", equal, x, y, o);
}
void assert_none_equal(const In& x, const In& y, const CheckOptions& o) {
  check_pairs("assert_none_equal", not_equal, x, y, o);
}
void assert_less(const In& x, const In& y, const CheckOptions& o) {
  check_pairs("assert_less", less, x, y, o);
}
void assert_less_equal(const In& x, const In& y, const CheckOptions& o) {
  check_pairs("assert_less_equal", less_equal, x, y, o);
}
void assert_greater(const In& x, const In& y, const CheckOptions& o) {
  check_pairs("assert_greater", greater, x, y, o);
}
void assert_greater_equal(const In& x, const In& y, const CheckOptions& o) {
  check_pairs("assert_greater_equal", greater_equal, x, y, o);
}

void assert_near(const In& x, const In& y, const NearOptions& o) {
  auto [a, b] = both(x, y);
  DType real = real_of(a.dtype());
  double eps = real == float64    ? 0x1p-52
               : real == float16  ? 0x1p-10
               : real == bfloat16 ? 0x1p-7
                                  : 0x1p-23;
  if (!is_floating(real))
    fail(Code::E1101,
         cat("`assert_near` got ", name(a.dtype()), ", expected a floating or complex dtype"));
  Tensor rtol = Tensor::scalar(o.rtol.value_or(10 * eps), real),
         atol = Tensor::scalar(o.atol.value_or(10 * eps), real);
  Tensor holds = less_equal(abs(a - b), rtol * abs(b) + atol);
  pairs_op.many({holds, a, b},
                {"assert_near", std::vector<std::string>{}, o.message, o.summarize.value_or(1)});
}

void assert_positive(const In& x, const CheckOptions& o) {
  check_sign("assert_positive", greater, x, o);
}
void assert_negative(const In& x, const CheckOptions& o) {
  check_sign("assert_negative", less, x, o);
}
void assert_non_negative(const In& x, const CheckOptions& o) {
  check_sign("assert_non_negative", greater_equal, x, o);
}
void assert_non_positive(const In& x, const CheckOptions& o) {
  check_sign("assert_non_positive", less_equal, x, o);
}

Tensor check_numerics(const In& tensor, const std::string& message) {
  return check_finite("check_numerics", tensor, message);
}
Tensor assert_all_finite(const In& x, const std::string& message) {
  return check_finite("assert_all_finite", x, message);
}

}  // namespace debugging
}  // namespace holdfast
