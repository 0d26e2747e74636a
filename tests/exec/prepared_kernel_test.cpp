// A kernel is prepared once for calls of the same types: by threads that call it, and by plans.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "holdfast/base/parallel.h"
#include "holdfast/base/variants.h"
#include "holdfast/exec/known_calls.h"
#include "holdfast/holdfast.h"
#include "holdfast/op/op.h"

namespace holdfast {
namespace {

std::atomic<int> g_prepared{0}, g_alive{0}, g_plain{0};

struct ScaleAttrs {
  Attr<double> by;
  Attr<bool> refused;
};

struct Scale final : Prepared {
  Scale(double factor, int64_t size) : by(factor), n(size) {
    ++g_prepared;
    ++g_alive;
  }
  ~Scale() override { --g_alive; }
  double by;
  int64_t n;
};

Preparation prepare_scale(const Types& t) {
  auto a = t.attrs<ScaleAttrs>();
  if (a.refused()) return "asked to";
  return make_ref<Scale>(a.by(), t.shape().size());
}
Status run_scale(Call& c, const Prepared& prepared) {
  const auto& s = static_cast<const Scale&>(prepared);
  if (s.n != c.in().size()) return Status(Code::E1599, "prepared for another size");
  Tensor y = c.out();
  for (int64_t i = 0; i < s.n; ++i)
    y.mutable_raw<float>()[i] = static_cast<float>(s.by) * c.in().raw<float>()[i];
  return {};
}
Status run_plain_scale(Call& c) {
  ++g_plain;
  Tensor y = c.out();
  for (int64_t i = 0; i < y.size(); ++i)
    y.mutable_raw<float>()[i] =
        static_cast<float>(c.attrs<ScaleAttrs>().by()) * c.in().raw<float>()[i];
  return {};
}

// Not registered: the tests that walk all ops need not know it.
OpDef made_op() {
  OpDef op;
  op.name = "TestScale";
  op.inputs.push_back({.name = "x", .dtypes = {float32}});
  op.attrs = {{"by", 2.0, false}, {"refused", false, false}};
  op.attr_structs.push_back(&detail::kAttrsOf<ScaleAttrs>);
  op.infer = [](Infer& s) { s.output(s.dtype(), s.shape()); };
  op.kernels.push_back({.name = "scale", .prepare = prepare_scale, .run_prepared = run_scale});
  op.kernels.push_back({.name = "plain", .run = run_plain_scale});
  op.prepares = true;
  return op;
}
const OpDef& scale_op() {
  static const OpDef op = made_op();
  return op;
}

Tensor scaled(const Tensor& x, double by = 2, bool refused = false) {
  Tensors out;
  apply(scale_op(), {&x, 1}, Attrs{by, refused}, out);
  return out[0];
}

Tensor ramp(int64_t n) { return cast(range(0, n), float32); }

class PreparedKernel : public ::testing::Test {
 protected:
  void SetUp() override { g_prepared = g_plain = 0; }
};

TEST_F(PreparedKernel, CallsOfTheSameTypesPrepareOnce) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(scaled(ramp(7)).data<float>()[3], 6.f);
  EXPECT_EQ(g_prepared, 1);
  EXPECT_EQ(scaled(ramp(8)).data<float>()[7], 14.f);
  EXPECT_EQ(g_prepared, 2);
  EXPECT_EQ(scaled(ramp(7), 3).data<float>()[6], 18.f);
  EXPECT_EQ(g_prepared, 3);
  EXPECT_EQ(scaled(reshape(ramp(8), {2, 4})).data<float>()[7], 14.f);
  EXPECT_EQ(g_prepared, 4);
  EXPECT_EQ(scaled(ramp(7)).data<float>()[3], 6.f);
  EXPECT_EQ(g_prepared, 4);
}

TEST_F(PreparedKernel, WhatRefusesToPrepareLeavesTheCallToTheNext) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(scaled(ramp(9), 2, true).data<float>()[8], 16.f);
  EXPECT_EQ(g_prepared, 0);
  EXPECT_EQ(g_plain, 3);
}

TEST_F(PreparedKernel, RefusalsAreToldWithTheirReasons) {
  static const OpDef only = [] {
    OpDef op = made_op();
    op.name = "TestOnly";
    op.kernels.pop_back();
    return op;
  }();
  Tensor x = ramp(3);
  Tensors out;
  try {
    apply(only, {&x, 1}, Attrs{2.0, true}, out);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::E1105);
    EXPECT_NE(e.diagnostic().why.find("scale: asked to"), std::string::npos) << e.diagnostic().why;
  }
}

TEST_F(PreparedKernel, AThreadKeepsSomeHundredAndDropsThemAtItsEnd) {
  int before = g_alive;
  std::thread([&] {
    for (int64_t n = 1; n <= 3000; ++n) scaled(ramp(n));
    EXPECT_GT(g_alive - before, 100);
    EXPECT_LE(g_alive - before, static_cast<int>(KnownCalls::kSets * KnownCalls::kWays));
  }).join();
  EXPECT_EQ(g_prepared, 3000);
  EXPECT_EQ(g_alive, before);
}

TEST_F(PreparedKernel, NoTensorIsKept) {
  Tensor x = ramp(100);
  Tensor y = scaled(x);
  EXPECT_EQ(x.rep()->buffer->use_count(), 1);
  EXPECT_EQ(y.rep()->buffer->use_count(), 1);
  EXPECT_EQ(x.rep()->use_count(), 1);
  EXPECT_EQ(y.rep()->use_count(), 1);
}

TEST_F(PreparedKernel, APlanPreparesOnceForAllItsRuns) {
  auto f = function([](Tensor x) { return scaled(x, 5) + 1; });
  for (int i = 0; i < 4; ++i) EXPECT_EQ(f(ramp(11)).data<float>()[10], 51.f);
  EXPECT_EQ(g_prepared, 1);
  std::thread([&] { EXPECT_EQ(f(ramp(11)).data<float>()[10], 51.f); }).join();
  EXPECT_EQ(g_prepared, 1);
}

TEST_F(PreparedKernel, APlanDropsWhatItsKernelsPrepared) {
  int before = g_alive;
  {
    auto f = function([](Tensor x) { return scaled(x, 7) + 1; });
    f(ramp(12));
    f(ramp(12));
    EXPECT_EQ(g_alive, before + 1);
  }
  EXPECT_EQ(g_alive, before);
}

TEST_F(PreparedKernel, ThreadsShareWhatAPlanPrepared) {
  auto f = function([](Tensor x) { return scaled(x, 4) - 1; });
  std::vector<std::thread> team;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 4; ++k)
    team.emplace_back([&] {
      for (int i = 0; i < 50; ++i) wrong += f(ramp(33)).data<float>()[32] != 127.f;
    });
  for (auto& t : team) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(PreparedKernel, VariantsAreMadeOnceForAKey) {
  Variants<int, std::string> v;
  std::atomic<int> made{0};
  std::vector<std::thread> team;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 4; ++k)
    team.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        int key = i % 5;
        wrong += v.get(key, [&] {
          ++made;
          return std::to_string(key);
        }) != std::to_string(key);
      }
    });
  for (auto& t : team) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(made, 20);
  const std::string* first = &v.get(3, [] { return std::string("another"); });
  EXPECT_EQ(*first, "3");
  EXPECT_EQ(first, &v.get(3, [] { return std::string("another"); }));
}

// Convolutions and products, whose kernels prepare.

Tensor filled(std::initializer_list<Dim> shape) {
  int64_t n = Shape(shape).size();
  return reshape(sin(cast(range(0, n), float32)), Shape(shape).dims());
}

bool near(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape())) return false;
  const std::vector<float> x = a.to_vector<float>(), y = b.to_vector<float>();
  for (size_t i = 0; i < x.size(); ++i)
    if (!(std::abs(x[i] - y[i]) < 1e-4f)) return false;
  return true;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && !std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes()));
}

TEST_F(PreparedKernel, ANumberThatDecidesTheShapeIsLookedAtAgain) {
  Tensor w = filled({3, 3, 2, 4});
  for (int round = 0; round < 2; ++round)
    for (int64_t size : {9, 10}) {
      Tensor y = nn::conv2d_transpose(filled({1, 5, 5, 4}), w, {1, size, size, 2}, 2);
      EXPECT_EQ(y.shape(), (Shape{1, size, size, 2}));
    }
}

TEST_F(PreparedKernel, AConvolutionIsRightForAnyNumberOfThreads) {
  Tensor x = filled({6, 9, 7, 5}), w = filled({3, 2, 5, 8});
  auto f = function([&](Tensor t) { return nn::relu(nn::conv2d(t, w, 1, "SAME") + 1.f); });
  int were = num_threads();
  set_num_threads(1);
  Tensor want = nn::conv2d(x, w, 1, "SAME"), traced = f(x);
  for (int n : {2, 3, 1, 2}) {
    set_num_threads(n);
    EXPECT_TRUE(near(nn::conv2d(x, w, 1, "SAME"), want));
    EXPECT_TRUE(near(f(x), traced));
  }
  set_deterministic(true);
  set_num_threads(1);
  Tensor first = nn::conv2d(x, w, 1, "SAME");
  set_num_threads(2);
  EXPECT_TRUE(same_bits(nn::conv2d(x, w, 1, "SAME"), first));
  set_deterministic(false);
  set_num_threads(were);
  EXPECT_TRUE(near(first, want));
}

TEST_F(PreparedKernel, EagerAndTracedGiveTheSameBits) {
  Tensor a = filled({33, 17}), b = filled({17, 29}), many = filled({12, 8, 5}),
         more = filled({12, 5, 9});
  auto f = function([](Tensor x, Tensor y) { return matmul(x, y); });
  EXPECT_TRUE(same_bits(matmul(a, b), f(a, b)));
  EXPECT_TRUE(same_bits(matmul(a, b), f(a, b)));
  EXPECT_TRUE(same_bits(matmul(many, more), f(many, more)));
  EXPECT_TRUE(same_bits(matmul(many, more), f(many, more)));
}

TEST_F(PreparedKernel, AForkedChildGoesOn) {
  Tensor x = filled({2, 8, 8, 3}), w = filled({3, 3, 3, 4}), a = filled({20, 20});
  Tensor y = nn::conv2d(x, w, 1, "SAME"), p = matmul(a, a);
  pid_t child = fork();
  if (!child) {
    alarm(60);
    bool right = near(nn::conv2d(x, w, 1, "SAME"), y) && same_bits(matmul(a, a), p);
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(PreparedKernel, CallsWhileAThreadEndsAreNotKept) {
  static bool right = false;
  struct AtEnd {
    ~AtEnd() { right = scaled(ramp(5)).data<float>()[4] == 8.f; }
  };
  std::thread([] {
    thread_local AtEnd at_end;  // made before the table of calls, so it ends after it
    (void)at_end;
    scaled(ramp(5));
  }).join();
  EXPECT_TRUE(right);
}

}  // namespace
}  // namespace holdfast
