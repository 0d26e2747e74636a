// Observers are told when ops begin and when they end: calls and steps of plans, whatever happens.
#include "holdfast/op/observer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "holdfast/exec/plan.h"
#include "holdfast/holdfast.h"
#include "holdfast/op/op.h"

namespace holdfast {
namespace {

struct Seen {
  std::string op;
  bool begins, failed, is_step;
  std::string kernel;
  Device* device;
  size_t outputs;
};

// Writes down what this thread runs; others are only counted.
class Notes final : public Observer {
 public:
  void begin(const OpRun& r) override {
    if (std::this_thread::get_id() != mine_) return void(++others_);
    seen.push_back({r.op.name, true, false, r.step != nullptr, r.kernel, r.device, 0});
  }
  void end(const OpRun& r, std::span<const Tensor> out, const std::exception_ptr& e) override {
    if (std::this_thread::get_id() != mine_) return void(--others_);
    seen.push_back(
        {r.op.name, false, e != nullptr, r.step != nullptr, r.kernel, r.device, out.size()});
  }
  // "If( Sin( ) ) "
  std::string text() const {
    std::string out;
    for (const Seen& s : seen) out += s.begins ? s.op + "( " : s.failed ? ")! " : ") ";
    return out;
  }
  int others() const { return others_; }
  std::vector<Seen> seen;

 private:
  const std::thread::id mine_ = std::this_thread::get_id();
  std::atomic<int> others_{0};
};

const Tensor kX = Tensor::of<float>({1, -2, 3});

TEST(Observer, SeesACallBeginAndEnd) {
  auto notes = make_ref<Notes>();
  Tensor before = kX * kX;
  {
    Observing now(notes);
    EXPECT_EQ((kX + kX).data<float>()[2], 6.f);
  }
  Tensor after = kX * kX;
  ASSERT_EQ(notes->seen.size(), 2u);
  EXPECT_EQ(notes->text(), "AddV2( ) ");
  EXPECT_FALSE(notes->seen[0].is_step);
  EXPECT_EQ(notes->seen[0].device, cpu());
  EXPECT_EQ(notes->seen[0].kernel, "");
  EXPECT_NE(notes->seen[1].kernel, "");
  EXPECT_EQ(notes->seen[1].outputs, 1u);
}

TEST(Observer, SeesOpsOfEveryWayThatCallsGo) {
  auto notes = make_ref<Notes>();
  Tensor a = zeros({3, 4}), b = zeros({4, 2}), row = zeros({4});
  Variable v(a);
  matmul(a, b);  // of types that came before, the second time
  Observing now(notes);
  matmul(a, b);
  a + row;
  v.read();
  v.assign_add(a);
  EXPECT_EQ(notes->text(), "MatMul( ) AddV2( ) ReadVariableOp( ) AssignAddVariableOp( ) ");
  for (const Seen& s : notes->seen) EXPECT_TRUE(s.begins || !s.kernel.empty()) << s.op;
}

TEST(Observer, AFailureEndsWhatBegan) {
  auto notes = make_ref<Notes>();
  Tensor a = zeros({2, 3});
  Observing now(notes);
  EXPECT_THROW(matmul(a, a), Error);
  EXPECT_EQ(notes->text(), "MatMul( )! ");
  EXPECT_EQ(notes->seen[1].outputs, 0u);
}

TEST(Observer, SeesStepsOfPlansAndFusedNodesAsOne) {
  auto f = function([](const Tensor& x) { return reduce_sum(exp(x * 2.f) + 1.f); });
  f(kX);
  auto notes = make_ref<Notes>();
  Observing now(notes);
  for (int i = 0; i < 2; ++i) {
    notes->seen.clear();
    f(kX);
    ASSERT_FALSE(notes->seen.empty());
    int open = 0;
    for (const Seen& s : notes->seen) {
      EXPECT_TRUE(s.is_step) << s.op;
      EXPECT_NE(s.op, "Exp");  // part of a fused node
      open += s.begins ? 1 : -1;
      EXPECT_GE(open, 0);
    }
    EXPECT_EQ(open, 0);
  }
}

TEST(Observer, SeesWhatAFunctionReadsOfVariables) {
  Variable v(kX);
  auto f = function([&](const Tensor& x) { return x * v.read(); });
  f(kX);
  f(kX);
  auto notes = make_ref<Notes>();
  Observing now(notes);
  EXPECT_EQ(f(kX).data<float>()[2], 9.f);
  EXPECT_NE(notes->text().find("ReadVariableOp( ) "), std::string::npos) << notes->text();
}

TEST(Observer, BranchesAndLoopsNest) {
  auto branch = function([](const Tensor& x) {
    return cond(reduce_sum(x) > 0.f, [&] { return sin(x); }, [&] { return cos(x); });
  });
  auto loop = function([](const Tensor& x) {
    return while_loop([](Tensor v) { return reduce_sum(v) < 100.f; },
                      [](Tensor v) { return sin(v) + 40.f; }, {x});
  });
  branch(kX);
  loop(kX);
  auto notes = make_ref<Notes>();
  Observing now(notes);
  branch(kX);
  std::string text = notes->text();
  EXPECT_NE(text.find("If( "), std::string::npos) << text;
  EXPECT_GT(text.find("Sin( "), text.find("If( ")) << text;
  notes->seen.clear();
  loop(kX);
  EXPECT_NE(notes->text().find("While( "), std::string::npos) << notes->text();
  std::vector<std::string> open;  // of one thread whatever began last ends first
  for (const Seen& s : notes->seen) {
    if (s.begins) {
      open.push_back(s.op);
      continue;
    }
    ASSERT_FALSE(open.empty());
    EXPECT_EQ(open.back(), s.op);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

TEST(Observer, AFailureInsideOfABranchEndsAllOfThem) {
  auto f = function([](const Tensor& x, const Tensor& i) {
    return cond(
        reduce_sum(x) > 0.f, [&] { return gather(x, i); }, [&] { return gather(x, i * 2); });
  });
  f(kX, Tensor::of<int32_t>({0}));
  auto notes = make_ref<Notes>();
  Observing now(notes);
  EXPECT_THROW(f(kX, Tensor::of<int32_t>({7})), Error);
  int open = 0, failed = 0;
  for (const Seen& s : notes->seen) {
    open += s.begins ? 1 : -1;
    failed += s.failed;
  }
  EXPECT_EQ(open, 0) << notes->text();
  EXPECT_EQ(failed, 2) << notes->text();  // what gathers, and the branch around it
}

// Says no: before an op, or to what it gave.
class Refusing final : public Observer {
 public:
  Refusing(bool begins, bool ends) : begins_(begins), ends_(ends) {}
  void begin(const OpRun&) override {
    ++began;
    if (begins_) throw std::domain_error("not now");
  }
  void end(const OpRun&, std::span<const Tensor>, const std::exception_ptr& e) override {
    ++ended;
    failed += e != nullptr;
    if (ends_) throw std::domain_error("not so");
  }
  int began = 0, ended = 0, failed = 0;

 private:
  bool begins_, ends_;
};

TEST(Observer, MayStopAnOp) {
  auto first = make_ref<Refusing>(false, false), second = make_ref<Refusing>(true, false),
       third = make_ref<Refusing>(false, false);
  Variable v(kX);
  {
    Observing a(first), b(second), c(third);
    EXPECT_THROW(v.assign_add(kX), std::domain_error);
  }
  EXPECT_EQ(v.read().data<float>()[2], 3.f);  // it did not run
  EXPECT_EQ(first->began, 1);
  EXPECT_EQ(first->ended, 1);
  EXPECT_EQ(first->failed, 1);
  EXPECT_EQ(second->ended, 0);  // its own begin did not return
  EXPECT_EQ(third->began, 0);
}

TEST(Observer, MayRefuseAResultButNotReplaceAFailure) {
  auto first = make_ref<Refusing>(false, true), second = make_ref<Refusing>(false, true);
  Tensor x = zeros({2, 3});
  Observing a(first), b(second);
  EXPECT_THROW(kX + kX, std::domain_error);
  EXPECT_EQ(first->ended, 1);
  EXPECT_EQ(second->ended, 1);
  EXPECT_THROW(matmul(x, x), Error);
  EXPECT_EQ(first->ended, first->began);
  EXPECT_EQ(second->ended, second->began);
}

// A debugger that looks at numbers with ops of its own.
class Checking final : public Observer {
 public:
  void begin(const OpRun&) override {}
  void end(const OpRun& r, std::span<const Tensor> out, const std::exception_ptr&) override {
    for (const Tensor& t : out)
      if (t.dtype() == float32 && !reduce_all(is_finite(t)).item<bool>())
        found.push_back(r.op.name);
  }
  std::vector<std::string> found;
};

TEST(Observer, ItsOwnOpsAreToldToNobody) {
  auto checking = make_ref<Checking>();
  auto notes = make_ref<Notes>();
  GradientTape tape({.persistent = true});
  tape.start();
  tape.watch(kX);
  Observing a(checking), b(notes);
  Tensor y = log(kX);
  EXPECT_EQ(checking->found, std::vector<std::string>{"Log"});
  EXPECT_EQ(notes->text(), "Log( ) ");
  auto traced = function([](const Tensor& x) { return log(x) * 2.f; });
  traced(kX);  // tracing runs nothing of it, and nothing of an observer is written into it
  EXPECT_GE(checking->found.size(), 2u);
}

TEST(Observer, IsGoneAtOnceAndMayBeThereTwice) {
  auto notes = make_ref<Notes>();
  {
    Observing once(notes);
    {
      Observing twice(notes);
      kX + kX;
      EXPECT_EQ(notes->seen.size(), 4u);
    }
    kX + kX;
    EXPECT_EQ(notes->seen.size(), 6u);
  }
  kX + kX;
  EXPECT_EQ(notes->seen.size(), 6u);
  EXPECT_FALSE(detail::observed());
  EXPECT_THROW(Observing none(nullptr), Error);
}

TEST(Observer, ComesAndGoesWhileOthersRun) {
  auto f = function([](const Tensor& x) { return exp(x) + x; });
  f(kX);
  std::atomic<bool> stop{false};
  std::vector<std::thread> team;
  for (int t = 0; t < 3; ++t)
    team.emplace_back([&] {
      while (!stop) {
        f(kX);
        kX + kX;
      }
    });
  for (int i = 0; i < 300; ++i) {
    auto notes = make_ref<Notes>();
    Observing now(notes);
    kX* kX;
    EXPECT_EQ(notes->text(), "Mul( ) ");
  }
  auto last = make_ref<Notes>();
  {
    Observing now(last);
    for (int i = 0; i < 1000; ++i) kX + kX;
  }
  stop = true;
  for (auto& t : team) t.join();
  EXPECT_EQ(last->others(), 0);  // what others began has ended
}

}  // namespace
}  // namespace holdfast
