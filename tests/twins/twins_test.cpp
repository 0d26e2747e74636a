// What exists in C++ and in Python does the same: the cases stand in tables that
// tests/python/test_twin_cases.py runs too.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "holdfast/autodiff/tape.h"
#include "holdfast/base/config.h"
#include "holdfast/exec/function.h"
#include "holdfast/exec/functional.h"
#include "holdfast/exec/vectorized_map.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/debugging.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

Config::List table(const char* name) {
  std::ostringstream text;
  text << std::ifstream(std::string(HOLDFAST_TEST_DIR "/twins/") + name).rdbuf();
  return Config::from_json(text.str()).as_list();
}

double number(const Config& c) {
  return c.kind() == Config::Kind::kBool ? c.as_bool() : c.as_number();
}

// A tensor of what stands in the table; all dtypes by way of a double.
Tensor tensor(const Config& c, DType dtype = float32) {
  std::vector<double> flat;
  Dims dims;
  std::function<void(const Config&, size_t)> walk = [&](const Config& part, size_t depth) {
    if (part.kind() != Config::Kind::kList) return flat.push_back(number(part));
    if (depth == dims.size()) dims.push_back(static_cast<int64_t>(part.as_list().size()));
    for (const Config& each : part.as_list()) walk(each, depth + 1);
  };
  walk(c, 0);
  Tensor t = Tensor::of<double>(std::span<const double>(flat), Shape(dims));
  return dtype == float64 ? t : cast(t, dtype);
}

struct Case {
  const ConfigDict& d;
  const Config* find(const char* key) const { return d.find(key); }
  bool yes(const char* key, bool otherwise) const {
    return find(key) ? find(key)->as_bool() : otherwise;
  }
  std::string text(const char* key) const { return find(key) ? find(key)->as_text() : ""; }
};

// Runs a case; "" or the code of what it was refused with.
std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& e) {
    return info(e.code()).name;
  }
  return "";
}

RowFn row_fn(const std::string& name) {
  if (name == "double") return [](const Tensor& row) { return row * 2; };
  if (name == "total") return [](const Tensor& row) { return reduce_sum(row); };
  return [](const Tensor& row) { return concat({row, row}, 0); };
}
FoldFn fold_fn(const std::string& name) {
  if (name == "add") return [](const Tensor& a, const Tensor& row) { return a + row; };
  return [](const Tensor& a, const Tensor& row) { return a - row; };
}

BranchFn giving(const Config& value) {
  return [t = tensor(value)] { return Tensors{identity(t)}; };
}
std::vector<BranchFn> branches_of(const Case& c) {
  std::vector<BranchFn> out;
  for (const Config& value : c.find("branches")->as_list()) out.push_back(giving(value));
  return out;
}

// The function of a case, on the tensor that it is given when it is traced.
Tensor functional(const Case& c, const Tensor& x) {
  std::string function = c.text("function");
  bool back_prop = c.yes("back_prop", true), infer_shape = c.yes("infer_shape", true);
  MaybeIn initializer = std::nullopt;
  Tensor first;
  if (c.find("initializer")) initializer = first = tensor(*c.find("initializer"));
  if (function == "map_fn")
    return map_fn(row_fn(c.text("fn")), x, {.back_prop = back_prop, .infer_shape = infer_shape});
  if (function == "vectorized_map") return vectorized_map(row_fn(c.text("fn")), x);
  if (function == "foldl")
    return foldl(fold_fn(c.text("fn")), x, initializer, {.back_prop = back_prop});
  if (function == "foldr")
    return foldr(fold_fn(c.text("fn")), x, initializer, {.back_prop = back_prop});
  if (function == "scan")
    return scan(
        fold_fn(c.text("fn")), x, initializer,
        {.back_prop = back_prop, .infer_shape = infer_shape, .reverse = c.yes("reverse", false)});
  BranchFn otherwise = c.find("default") ? giving(*c.find("default")) : nullptr;
  if (function == "switch_case") return switch_case(cast(x, int32), branches_of(c), otherwise)[0];
  if (function == "case") {
    std::vector<std::pair<Tensor, BranchFn>> pairs;
    auto branches = branches_of(c);
    for (size_t i = 0; i < branches.size(); ++i)
      pairs.emplace_back(not_equal(gather(x, static_cast<int>(i)), 0), branches[i]);
    return case_of(pairs, otherwise, {.exclusive = c.yes("exclusive", false)})[0];
  }
  LoopOptions o{.back_prop = back_prop};
  if (c.find("maximum_iterations"))
    o.maximum_iterations = c.find("maximum_iterations")->as_integer();
  auto below = static_cast<float>(c.find("below")->as_number());
  Tensor start[] = {x};
  return while_loop([&](std::span<const Tensor> v) -> Tensors { return {less(v[0], below)}; },
                    [](std::span<const Tensor> v) -> Tensors { return {v[0] * 2}; }, start, o)[0];
}

TEST(Twins, FunctionsOverRowsAndChoices) {
  for (const Config& each : table("functional.json")) {
    Case c{each.as_dict()};
    const char* given[] = {"elems", "index", "predicates", "start"};
    Tensor x;
    for (const char* key : given)
      if (c.find(key)) x = tensor(*c.find(key));
    for (bool traced : {false, true}) {
      Tensor y;
      bool cut = false;
      std::string code = refusal([&] {
        GradientTape tape;
        tape.watch(x);
        y = traced ? function([&](Tensor t) { return functional(c, t); })(x) : functional(c, x);
        if (c.yes("back_prop", true)) return;
        Tensor slope = tape.gradient(y, x);
        cut = !slope.defined() || reduce_sum(abs(slope)).item<float>() == 0;
      });
      std::string what = c.text("it") + (traced ? ", traced" : "");
      EXPECT_EQ(code, c.text("refused")) << what;
      if (code.empty() && c.find("gives")) {
        Tensor want = tensor(*c.find("gives"));
        EXPECT_EQ(y.shape(), want.shape()) << what;
        EXPECT_EQ(y.to_vector<float>(), want.to_vector<float>()) << what;
        EXPECT_EQ(cut, !c.yes("back_prop", true)) << what;
      }
    }
  }
}

void run_check(const Case& c, const Tensor& x, const Tensor& y) {
  using namespace debugging;
  std::string check = c.text("check");
  using Pair = void (*)(const In&, const In&, const CheckOptions&);
  using Each = void (*)(const In&, const CheckOptions&);
  static const std::map<std::string, Pair> pairs{
      {"assert_equal", assert_equal},     {"assert_none_equal", assert_none_equal},
      {"assert_less", assert_less},       {"assert_less_equal", assert_less_equal},
      {"assert_greater", assert_greater}, {"assert_greater_equal", assert_greater_equal}};
  static const std::map<std::string, Each> singles{{"assert_positive", assert_positive},
                                                   {"assert_negative", assert_negative},
                                                   {"assert_non_negative", assert_non_negative},
                                                   {"assert_non_positive", assert_non_positive}};
  std::vector<int64_t> ranks;
  if (c.find("ranks"))
    for (const Config& r : c.find("ranks")->as_list()) ranks.push_back(r.as_integer());
  if (auto found = pairs.find(check); found != pairs.end()) return found->second(x, y, {});
  if (auto found = singles.find(check); found != singles.end()) return found->second(x, {});
  if (check == "assert_near") {
    NearOptions o;
    if (c.find("rtol")) o.rtol = c.find("rtol")->as_number();
    if (c.find("atol")) o.atol = c.find("atol")->as_number();
    return assert_near(x, y, o);
  }
  if (check == "check_numerics") return (void)check_numerics(x, "here");
  if (check == "assert_all_finite") return (void)assert_all_finite(x, "here");
  if (check == "assert_integer") return assert_integer(x);
  if (check == "assert_rank") return assert_rank(x, ranks[0]);
  if (check == "assert_rank_at_least") return assert_rank_at_least(x, ranks[0]);
  if (check == "assert_rank_in") return assert_rank_in(x, ranks);
  if (check == "assert_scalar") return (void)assert_scalar(x);
  if (check == "Assert") return Assert(x, {});
  std::vector<ShapeRule> rules;
  for (const Config& rule : c.find("shapes")->as_list()) {
    std::vector<Size> sizes;
    for (const Config& size : rule.as_list())
      sizes.push_back(size.kind() == Config::Kind::kText ? Size(size.as_text())
                                                         : Size(size.as_integer()));
    rules.emplace_back(rules.empty() ? x : y, sizes);
  }
  assert_shapes(rules);
}

TEST(Twins, Checks) {
  for (const Config& each : table("checks.json")) {
    Case c{each.as_dict()};
    DType dtype = c.find("dtype") ? *dtype_named(c.text("dtype")) : float32;
    Tensor x = tensor(*c.find("x"), dtype),
           y = c.find("y") ? tensor(*c.find("y"), dtype) : Tensor();
    if (c.find("over")) x = x / tensor(*c.find("over"), dtype);
    for (bool traced : {false, true}) {
      std::string code = refusal([&] {
        if (!traced) return run_check(c, x, y);
        function([&](Tensor a) {
          run_check(c, a, y);
          return a;
        })(x);
      });
      EXPECT_EQ(code, c.text("refused")) << Config(c.d).to_json() << (traced ? ", traced" : "");
    }
  }
}

TEST(Twins, Lists) {
  for (const Config& each : table("lists.json")) {
    Case c{each.as_dict()};
    ElementType element{float32, c.find("shape") ? Shape{2} : Shape{}};
    bool grows = c.yes("grows", false);
    Tensor given;
    std::string code = refusal([&] {
      Tensor list = list_reserve(element, static_cast<int>(c.find("size")->as_integer()));
      for (const Config& step : c.find("steps")->as_list()) {
        const Config::List& s = step.as_list();
        const std::string& what = s[0].as_text();
        if (what == "write")
          list = list_set(list, static_cast<int>(s[1].as_integer()), tensor(s[2]), grows);
        else if (what == "unstack")
          list = list_unstack(tensor(s[1]));
        else if (what == "read")
          given = list_get(list, static_cast<int>(s[1].as_integer()), element);
        else if (what == "size")
          given = cast(list_length(list), float32);
        else
          given = what == "stack" ? list_stack(list, element) : list_concat(list, element);
      }
    });
    EXPECT_EQ(code, c.text("refused")) << c.text("it");
    if (c.find("gives") && given.defined()) {
      Tensor want = tensor(*c.find("gives"));
      EXPECT_EQ(given.shape(), want.shape()) << c.text("it");
      EXPECT_EQ(given.to_vector<float>(), want.to_vector<float>()) << c.text("it");
    }
  }
}

std::string meaning(NoGradient kind) {
  constexpr const char* kMeanings[] = {"integer", "unwatched", "cut", "taken", "off", "no path"};
  return kMeanings[static_cast<size_t>(kind)];
}

TEST(Twins, RulesOfTheTape) {
  for (const Config& each : table("tape.json")) {
    Case c{each.as_dict()};
    Tensor x = Tensor::scalar(3.f), count = Tensor::scalar(3);
    Variable v(Tensor::scalar(2.f)), other(Tensor::scalar(5.f)),
        frozen(Tensor::scalar(4.f), {.trainable = false});
    std::map<std::string, Source> sources{
        {"x", x}, {"v", v}, {"frozen", frozen}, {"count", count}, {"other", other}};
    GradientTape tape({.persistent = c.yes("persistent", false),
                       .watch_accessed_variables = c.yes("watch_accessed_variables", true)});
    if (c.find("watch"))
      for (const Config& name : c.find("watch")->as_list()) {
        if (name.as_text() == "x") tape.watch(x);
        if (name.as_text() == "count") tape.watch(count);
        if (name.as_text() == "frozen") tape.watch(frozen);
      }
    Tensor y = x * v.read() + frozen.read() + cast(count, float32);
    if (c.text("through") == "cast") y = cast(cast(y, int32), float32);
    (void)other.read();
    tape.stop();
    const auto &asks = c.find("asks")->as_list(), &gives = c.find("gives")->as_list();
    for (size_t i = 0; i < asks.size(); ++i) {
      const Source& source = sources.at(asks[i].as_text());
      Tensor found;
      std::string code = refusal([&] {
        Unconnected none = c.yes("zero", false) ? Unconnected::kZero : Unconnected::kNone;
        found = tape.gradients({y}, {source}, {}, none)[0].tensor();
      });
      if (gives[i].kind() == Config::Kind::kText) {
        EXPECT_EQ(code, gives[i].as_text()) << c.text("it");
        continue;
      }
      EXPECT_EQ(code, "") << c.text("it");
      EXPECT_EQ(!found.defined(), gives[i].is_null()) << c.text("it");
      if (found.defined()) {
        EXPECT_EQ(found.item<float>(), number(gives[i])) << c.text("it");
      }
      if (c.find("why")) {
        EXPECT_EQ(meaning(tape.why_none(y, source).kind), c.text("why")) << c.text("it");
      }
    }
  }
}

}  // namespace
}  // namespace holdfast
