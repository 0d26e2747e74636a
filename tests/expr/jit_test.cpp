// Machine code against the loops, bit for bit: every instruction in every dtype, casts, choices,
// lists made at random, and what happens around it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "holdfast/base/text.h"
#include "holdfast/expr/cpu_program.h"
#include "holdfast/expr/jit/code.h"
#include "tests/expr/awkward_numbers.h"
#include "tests/expr/random_list.h"

namespace holdfast {
namespace {

constexpr DType kTypes[] = {float32, float64, float16, bfloat16, int32, int64, boolean};

// Runs both ways over vectors of every length up to 70 and a longer one. False: there is no code.
bool compare(const Expr& e, std::span<const DType> from, const std::string& what) {
  auto loops = make_ref<CpuProgram>(e), code = make_ref<CpuProgram>(e, CpuProgram::By::kCode);
  if (!code->has_code()) return false;
  std::mt19937_64 random(7);
  for (int64_t n = 0; n <= 71; ++n) {
    Shape shape{n == 71 ? 5000 : n};
    Tensors in;
    for (DType d : from) in.push_back(awkward_numbers(d, shape[0], random));
    std::span<const Tensor> operands(in.data(), in.size());
    Tensor want = results(*loops, e, operands, shape, {&shape, 1})[0];
    Tensor got = results(*code, e, operands, shape, {&shape, 1})[0];
    int64_t at = first_difference(want, got);
    if (at < 0) continue;
    std::string arguments;
    for (const Tensor& t : in) arguments += cat(" ", number_at(t, at));
    ADD_FAILURE() << what << ", element " << at << " of " << shape[0] << ":" << arguments
                  << " gives " << number_at(got, at) << " by code, " << number_at(want, at)
                  << " by loops";
    return true;
  }
  return true;
}

Ref<Expr> list_of(const FusedForm& form, std::span<const DType> from, DType to) {
  auto e = make_ref<Expr>();
  std::vector<int> operands;
  for (DType d : from) operands.push_back(e->input(d));
  e->store(e->add(*find_op("Neg"), {}, {}, form, operands, to));
  return e;
}

class Jit : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* why = jit::unavailable()) GTEST_SKIP() << why;
  }
  void TearDown() override { jit::set_worth_emitting(-1); }
};

TEST_F(Jit, EveryInstructionGivesTheBitsOfTheLoops) {
  int emitted = 0;
  for (int s = 0; s < kNumScalars; ++s)
    for (DType d : kTypes) {
      auto scalar = static_cast<Scalar>(s);
      if (!loop_for(scalar, d)) continue;
      std::vector<DType> from(static_cast<size_t>(info(scalar).arity), d);
      Ref<Expr> e = list_of({.does = Does::kScalar, .scalar = scalar, .numbers = {}}, from,
                            info(scalar).boolean ? DType::kBool : d);
      emitted += compare(*e, from, cat(info(scalar).name, " of ", name(d)));
    }
  EXPECT_GE(emitted, 300);
}

TEST_F(Jit, EveryCastGivesTheBitsOfTheLoops) {
  int emitted = 0;
  for (DType from :
       {float32, float64, float16, bfloat16, int32, int64, boolean, int8, uint8, int16, uint16})
    for (DType to : kTypes) {
      if (from == to) continue;
      Ref<Expr> e = list_of({.does = Does::kCast, .scalar = {}, .numbers = {}}, {&from, 1}, to);
      emitted += compare(*e, {&from, 1}, cat(name(from), " to ", name(to)));
    }
  EXPECT_GE(emitted, 50);
}

TEST_F(Jit, ChoicesGiveTheBitsOfTheLoops) {
  for (DType d : kTypes) {
    DType from[] = {boolean, d, d};
    Ref<Expr> e = list_of({.does = Does::kSelect, .scalar = {}, .numbers = {}}, from, d);
    EXPECT_TRUE(compare(*e, from, cat("a choice of ", name(d))));
  }
}

std::vector<const OpDef*> scalar_ops() {
  std::vector<const OpDef*> out;
  for (const char* n :
       {"AddV2", "Sub", "Mul", "Maximum", "Tanh", "Exp", "Sigmoid", "Less", "Sqrt", "Neg",
        "RealDiv", "Sin", "Relu", "SquaredDifference", "LogicalAnd", "Square"})
    if (const OpDef* op = find_op(n)) out.push_back(op);
  return out;
}

TEST_F(Jit, RandomListsGiveTheBitsOfTheLoops) {
  int emitted = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomList list = ListMaker(seed, seed % 2, false, scalar_ops()).make();
    auto loops = make_ref<CpuProgram>(*list.expr);
    auto code = make_ref<CpuProgram>(*list.expr, CpuProgram::By::kCode);
    if (!code->has_code()) continue;
    ++emitted;
    std::span<const Tensor> in(list.in.data(), list.in.size());
    Tensors want = results(*loops, *list.expr, in, list.domain, list.shapes);
    Tensors got = results(*code, *list.expr, in, list.domain, list.shapes);
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(first_difference(want[i], got[i]), -1)
          << "seed " << seed << ", output " << i << " of " << list.expr->text() << " over "
          << list.domain.text();
  }
  EXPECT_GT(emitted, 300);
}

// Numbers that an op has as attributes, and operands of one element.
TEST_F(Jit, NumbersGiveTheBitsOfTheLoops) {
  for (DType d : {float32, float64, float16, bfloat16, int32, int64})
    for (int64_t n : {1, 7, 64, 1000, 5000}) {
      auto e = make_ref<Expr>();
      int x = e->input(d), one = e->input(d);
      FusedForm clip{Does::kScalar, Scalar::kClip, {}}, scale{Does::kScalar, Scalar::kMul, {}};
      clip.numbers.push_back(Tensor::scalar(int64_t{-2}, d));
      clip.numbers.push_back(Tensor::scalar(int64_t{3}, d));
      scale.numbers.push_back(Tensor::scalar(int64_t{7}, d));
      const OpDef& neg = *find_op("Neg");
      auto add = [&](const FusedForm& form, std::vector<int> in) {
        return e->add(neg, {}, {}, form, in, d);
      };
      int v = add(scale, {add(clip, {x})});
      v = add({Does::kScalar, Scalar::kSub, {}}, {v, one});
      e->store(add(scale, {v}));
      auto loops = make_ref<CpuProgram>(*e), code = make_ref<CpuProgram>(*e, CpuProgram::By::kCode);
      if (!code->has_code()) continue;  // AVX2 multiplies no 64-bit integers
      std::mt19937_64 random(3);
      Shape shape{n};
      Tensor in[] = {awkward_numbers(d, n, random), Tensor::scalar(int64_t{5}, d)};
      EXPECT_EQ(first_difference(results(*loops, *e, in, shape, {&shape, 1})[0],
                                 results(*code, *e, in, shape, {&shape, 1})[0]),
                -1)
          << n << " of " << name(d);
    }
}

Ref<Expr> long_list(int length) {
  auto e = make_ref<Expr>();
  int x = e->input(float32), v = x;
  auto step = [&](const char* op, std::initializer_list<int> operands) {
    const OpDef& def = *find_op(op);
    v = e->add(def, {}, {}, {.does = Does::kScalar, .scalar = def.scalar, .numbers = {}},
               std::vector<int>(operands), float32);
  };
  for (int i = 0; i < length; ++i) i % 2 ? step("Mul", {v, x}) : step("AddV2", {v, x});
  e->store(v);
  return e;
}

TEST_F(Jit, LargeResultsAreWrittenPastTheCaches) {
  Ref<Expr> e = long_list(3);
  std::mt19937_64 random(1);
  Shape shape{(int64_t{9} << 20) + 5};
  Tensor in = random_numbers(float32, shape, random);
  auto loops = make_ref<CpuProgram>(*e), code = make_ref<CpuProgram>(*e, CpuProgram::By::kCode);
  ASSERT_TRUE(code->has_code());
  Tensor want = results(*loops, *e, {&in, 1}, shape, {&shape, 1})[0];
  EXPECT_EQ(first_difference(want, results(*code, *e, {&in, 1}, shape, {&shape, 1})[0]), -1);
  code->run({&in, 1}, {&in, 1}, shape);  // over its own input
  EXPECT_EQ(first_difference(want, in), -1);
}

TEST_F(Jit, IsEmittedOnceWorthIt) {
  Ref<Expr> e = long_list(4);
  std::mt19937_64 random(1);
  Shape shape{100};
  Tensor in = random_numbers(float32, shape, random);
  const CpuProgram& p = cpu_program(*e);
  jit::set_worth_emitting(1000);
  results(p, *e, {&in, 1}, shape, {&shape, 1});
  EXPECT_EQ(p.explained(), "loops: not run often enough for machine code");
  for (int i = 0; i < 2; ++i) results(p, *e, {&in, 1}, shape, {&shape, 1});
  EXPECT_EQ(p.explained().substr(0, 12), "machine code");
}

TEST_F(Jit, SaysWhatItRefuses) {
  jit::set_worth_emitting(0);
  DType from[] = {float32};
  Ref<Expr> e =
      list_of({.does = Does::kScalar, .scalar = Scalar::kLgamma, .numbers = {}}, from, float32);
  std::mt19937_64 random(1);
  Shape shape{10};
  Tensor in = random_numbers(float32, shape, random);
  results(cpu_program(*e), *e, {&in, 1}, shape, {&shape, 1});
  EXPECT_EQ(cpu_program(*e).explained(), "loops: no machine code for Neg of float32");
}

TEST_F(Jit, AListOfAnyLengthRuns) {
  for (int length : {100, 1000, 3000}) {
    Ref<Expr> e = long_list(length);
    std::mt19937_64 random(1);
    Shape shape{777};
    Tensor in = random_numbers(float32, shape, random);
    auto loops = make_ref<CpuProgram>(*e), code = make_ref<CpuProgram>(*e, CpuProgram::By::kCode);
    if (!code->has_code()) continue;
    Tensor want = results(*loops, *e, {&in, 1}, shape, {&shape, 1})[0];
    EXPECT_EQ(first_difference(want, results(*code, *e, {&in, 1}, shape, {&shape, 1})[0]), -1);
  }
}

TEST_F(Jit, ThreadsMakeAndRunTheSameList) {
  jit::set_worth_emitting(0);
  for (int round = 0; round < 20; ++round) {
    Ref<Expr> e = long_list(5 + round);
    std::mt19937_64 random(1);
    Shape shape{1000};
    Tensor in = random_numbers(float32, shape, random);
    auto loops = make_ref<CpuProgram>(*e);
    jit::set_worth_emitting(INT64_MAX);
    Tensor want = results(*loops, *e, {&in, 1}, shape, {&shape, 1})[0];
    jit::set_worth_emitting(0);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        Tensor got = results(cpu_program(*e), *e, {&in, 1}, shape, {&shape, 1})[0];
        wrong += first_difference(want, got) >= 0;
      });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST_F(Jit, AForkedProcessRunsAndEmits) {
  Ref<Expr> known = long_list(6), fresh = long_list(7);
  std::mt19937_64 random(1);
  Shape shape{100};
  Tensor in = random_numbers(float32, shape, random);
  auto run = [&](const Expr& e) {
    auto loops = make_ref<CpuProgram>(e), code = make_ref<CpuProgram>(e, CpuProgram::By::kCode);
    Tensor want = results(*loops, e, {&in, 1}, shape, {&shape, 1})[0];
    return code->has_code() &&
           first_difference(want, results(*code, e, {&in, 1}, shape, {&shape, 1})[0]) < 0;
  };
  ASSERT_TRUE(run(*known));
  pid_t child = fork();
  if (child == 0) _exit(run(*known) && run(*fresh) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace holdfast
