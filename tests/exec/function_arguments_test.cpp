// What traced code may take and give.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

float number(const Tensor& t) { return t.item<float>(); }
Tensor one(float v) { return Tensor::scalar(v); }

Tensor doubled(const Tensor& x) { return x * 2; }
Tensor tripled(Tensor x) noexcept { return x * 3; }

struct Scaled {
  float by;
  Tensor operator()(const Tensor& x) const { return x * by; }
};

struct Layer {
  Tensor w, b;
};
struct Net {
  Layer first;
  std::vector<Tensor> rest;
  std::string activation = "relu";
};
class Pair {
 public:
  Pair() = default;
  Pair(Tensor a, Tensor b) : a_(std::move(a)), b_(std::move(b)) {}
  auto fields() { return std::tie(a_, b_); }
  Tensor sum() const { return a_ + b_; }

 private:
  Tensor a_, b_;
};

TEST(FunctionArguments, CodeOfAnyKind) {
  auto generic = function([](auto x, auto y) { return x * y; });
  EXPECT_EQ(number(generic(one(2), one(3))), 6);
  EXPECT_EQ(number(generic(one(4), one(3))), 12);
  EXPECT_EQ(generic.traces(), 1u);
  auto quiet = function([](const Tensor& x) noexcept { return x + 1; });
  EXPECT_EQ(number(quiet(one(1))), 2);
  auto changing = function([n = 0](Tensor x) mutable { return x + static_cast<float>(++n); });
  EXPECT_EQ(number(changing(one(1))), 2);
  EXPECT_EQ(number(function(doubled)(one(4))), 8);
  EXPECT_EQ(number(function(&tripled)(one(4))), 12);
  EXPECT_EQ(number(function(Scaled{5})(one(4))), 20);
  EXPECT_EQ(number(function(std::function<Tensor(Tensor)>(doubled))(one(1))), 2);
  auto any = function([](const auto&... all) { return (all + ...); });
  EXPECT_EQ(number(any(one(1), one(2), one(3))), 6);
  EXPECT_EQ(number(any(one(1), one(2), one(3), one(4), one(5), one(6))), 21);
}

TEST(FunctionArguments, PlainValuesArePartOfWhatIsTracedFor) {
  int traced = 0;
  auto f = function([&](Tensor x, int times, bool negate, double plus) {
    ++traced;
    Tensor y = x;
    for (int i = 1; i < times; ++i) y = y + x;
    y = y + plus;
    return negate ? -y : y;
  });
  EXPECT_EQ(number(f(one(2), 3, false, 0.5)), 6.5f);
  EXPECT_EQ(number(f(one(2), 4, false, 0.5)), 8.5f);
  EXPECT_EQ(number(f(one(2), 4, true, 0.5)), -8.5f);
  EXPECT_EQ(number(f(one(2), 4, true, 0.25)), -8.25f);
  EXPECT_EQ(traced, 4);
  EXPECT_EQ(number(f(one(3), 3, false, 0.5)), 9.5f);
  EXPECT_EQ(traced, 4);
  EXPECT_NE(f.trace_report().find("2. argument 2: was 3, now 4"), std::string::npos)
      << f.trace_report();
}

TEST(FunctionArguments, PlainValuesOfGenericCodeToo) {
  int traced = 0;
  auto f = function([&](auto x, auto n, auto activation) {
    ++traced;
    Tensor y = x * n;
    return std::string_view(activation) == "relu" ? nn::relu(y) : y;
  });
  EXPECT_EQ(number(f(one(-1), 2, "relu")), 0);
  EXPECT_EQ(number(f(one(-1), 2, "none")), -2);
  EXPECT_EQ(number(f(one(-1), 2.5, "none")), -2.5f);
  EXPECT_EQ(number(f(one(-1), 3.5f, std::string("none"))), -3.5f);
  EXPECT_EQ(number(f(one(-2), 2, "none")), -4);
  EXPECT_EQ(traced, 4);
}

TEST(FunctionArguments, ANumberForATensorIsOne) {
  auto f = function([](Tensor x, Tensor rate) { return x * rate; });
  EXPECT_EQ(number(f(one(2), 0.5)), 1);
  EXPECT_EQ(number(f(one(2), 0.25)), 0.5f);
  EXPECT_EQ(f.traces(), 1u);
}

TEST(FunctionArguments, VariablesAreReadOrHandedOver) {
  Variable a(one(1)), b(one(10));
  auto read = function([](Tensor x) { return x + 1; });
  EXPECT_EQ(number(read(a)), 2);
  EXPECT_EQ(number(read(b)), 11);
  EXPECT_EQ(read.traces(), 1u);
  auto write = function([](const Variable& v, Tensor by) {
    v.assign_add(by);
    return v.read();
  });
  EXPECT_EQ(number(write(a, 2.f)), 3);
  EXPECT_EQ(number(write(b, 2.f)), 12);
  EXPECT_EQ(number(write(a, 2.f)), 5);
  EXPECT_EQ(number(a.read()), 5);
  EXPECT_EQ(number(b.read()), 12);
  EXPECT_EQ(write.traces(), 2u);
}

TEST(FunctionArguments, ListsPairsAndStructs) {
  auto total = function([](const std::vector<Tensor>& list) {
    Tensor sum = list[0];
    for (size_t i = 1; i < list.size(); ++i) sum = sum + list[i];
    return sum;
  });
  EXPECT_EQ(number(total({one(1), one(2)})), 3);
  EXPECT_EQ(number(total({one(1), one(2), one(3)})), 6);
  EXPECT_EQ(total.traces(), 2u);
  auto array = function([](std::array<Tensor, 2> a) { return a[0] - a[1]; });
  EXPECT_EQ(number(array({one(5), one(3)})), 2);
  auto pair = function([](std::pair<Tensor, Tensor> p, std::tuple<Tensor, int> t) {
    return p.first * p.second + std::get<0>(t) * std::get<1>(t);
  });
  EXPECT_EQ(number(pair({one(2), one(3)}, {one(4), 5})), 26);
  auto run = function([](const Net& net, Tensor x) {
    Tensor h = x * net.first.w + net.first.b;
    for (const Tensor& t : net.rest) h = h * t;
    return net.activation == "relu" ? nn::relu(h) : h;
  });
  EXPECT_EQ(number(run({{one(2), one(1)}, {one(-3)}, "relu"}, one(4))), 0);
  EXPECT_EQ(number(run({{one(2), one(1)}, {one(-3)}, "none"}, one(4))), -27);
  EXPECT_EQ(number(run(Net{.first = {one(1), one(1)}, .rest = {}}, one(4))), 5);
  EXPECT_EQ(number(run({{one(2), one(2)}, {one(-3)}, "none"}, one(4))), -30);
  EXPECT_EQ(run.traces(), 3u);
  EXPECT_EQ(number(function([](Pair p) { return p.sum(); })(Pair(one(1), one(2)))), 3);
  auto maybe = function([](Tensor x, std::optional<Tensor> b) { return b ? x + *b : x; });
  EXPECT_EQ(number(maybe(one(1), one(2))), 3);
  EXPECT_EQ(number(maybe(one(1), std::nullopt)), 1);
  auto named = function([](std::map<std::string, Tensor> m) { return m["a"] + m["b"]; });
  EXPECT_EQ(number(named({{"a", one(1)}, {"b", one(2)}})), 3);
}

TEST(FunctionArguments, ResultsOfAnyForm) {
  auto both = function([](Tensor x) { return std::pair(x + 1, x + 2); });
  for (float v : {1.f, 5.f}) {
    auto [a, b] = both(one(v));
    EXPECT_EQ(number(a), v + 1);
    EXPECT_EQ(number(b), v + 2);
  }
  auto three = function([](Tensor x) { return std::array{x, x * 2, x * 3}; });
  EXPECT_EQ(number(three(one(2))[2]), 6);
  EXPECT_EQ(number(three(one(3))[1]), 6);
  auto some = function([](Tensor x, int n) {
    std::vector<Tensor> out;
    for (int i = 0; i < n; ++i) out.push_back(x + i);
    return out;
  });
  EXPECT_EQ(some(one(1), 3).size(), 3u);
  EXPECT_EQ(some(one(1), 5).size(), 5u);
  EXPECT_EQ(number(some(one(7), 3)[2]), 9);
  auto layer = function([](Layer l) { return Layer{l.w * 2, l.b * 3}; });
  Layer out = layer({one(1), one(2)});
  EXPECT_EQ(number(out.w), 2);
  EXPECT_EQ(number(out.b), 6);
  out = layer(out);
  EXPECT_EQ(number(out.w), 4);
  EXPECT_EQ(number(out.b), 18);
  auto nested = function([](Tensor x) {
    return std::tuple(x, std::vector{x + 1, x + 2}, std::map<std::string, Tensor>{{"y", x * 2}});
  });
  nested(one(1));
  auto [x, list, map] = nested(one(4));
  EXPECT_EQ(number(x) + number(list[1]) + number(map["y"]), 18);
  Variable v(one(1));
  auto nothing = function([&](Tensor t) { v.assign(t); });
  nothing(one(3));
  nothing(one(4));
  EXPECT_EQ(number(v.read()), 4);
}

TEST(FunctionArguments, FormsPassThroughOtherFunctions) {
  auto inner = function([](Layer l, int n) { return Layer{l.w * n, l.b}; });
  auto outer = function([&](Layer l) {
    Layer m = inner(l, 3);
    return m.w + m.b;
  });
  EXPECT_EQ(number(outer({one(2), one(1)})), 7);
  EXPECT_EQ(number(outer({one(3), one(1)})), 10);
  EXPECT_EQ(inner.traces(), 0u);
}

TEST(FunctionArguments, GradientsGoThroughForms) {
  auto f = function([](const Layer& l, Tensor x) { return Layer{l.w * x, l.b * l.b}; });
  Variable w(one(3)), b(one(4));
  GradientTape tape({.persistent = true});
  Layer y = f({w.read(), b.read()}, one(5));
  EXPECT_EQ(number(tape.gradient(y.w, w)), 5);
  EXPECT_EQ(number(tape.gradient(y.b, b)), 8);
}

TEST(FunctionArguments, AnEmptyTensorIsNamed) {
  auto f = function([](Tensor x, Layer l) { return x + l.w; }, {.name = "f"});
  try {
    f(one(1), {one(1), Tensor()});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.diagnostic().code, Code::E1104);
    EXPECT_EQ(e.diagnostic().headline, "argument 2 member 2 of `f` is an empty Tensor");
  }
  EXPECT_EQ(f.traces(), 0u);
  EXPECT_THROW(function([](auto x) { return x + 1; })(Tensor()), Error);
}

}  // namespace
}  // namespace holdfast
