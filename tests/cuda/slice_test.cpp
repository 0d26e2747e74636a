// The slice of ops on GPU:0 against the CPU: values, gradients of both orders, variables,
// placement, memory, failures, threads. Arguments: the plugin's path, and "time" to see how fast it
// is, or "fake" to test the frame where no GPU is. Returns non-zero on failure, 77 where there was
// nothing to test.
#include "slice.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>

#include "fake_device.h"
#include "holdfast/autodiff/tape.h"
#include "holdfast/exec/fast_plan.h"
#include "holdfast/exec/flow.h"
#include "holdfast/exec/function.h"
#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/op/variable.h"
#include "holdfast/ops/activations.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/conv.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/losses.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"
#include "holdfast/ops/reduce.h"

using namespace slice;

namespace {

constexpr DType kFloatTypes[] = {float32, float64, float16, bfloat16};

template <class F>
std::string code_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return info(e.code()).name;
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no error";
}

bool fake = false;  // no GPU, only the frame is tested
std::vector<std::string> warned;
void keep_warning(const Diagnostic& d, const std::string&) {
  warned.push_back(cat(info(d.code).name, ": ", d.headline));
}

Tensor run(const OpDef& op, const Tensors& in) {
  Tensors out;
  Attrs attrs;
  for (const AttrDef& a : op.attrs) attrs.push_back(a.default_value);
  apply(op, in, attrs, out);
  return out[0];
}

void elementwise() {
  int ops = 0, pairs = 0;
  double worst = 0;
  std::string where;
  for (const OpDef* op : all_ops()) {
    if (!op->elementwise || !op->attrs.empty()) continue;
    ++ops;
    for (DType d : {float32, float64, float16, bfloat16, int32, int64, boolean}) {
      if (!op->inputs[0].dtypes.has(d) || !loop_for(op->scalar, d)) continue;
      ++pairs;
      auto arity = op->inputs.size();
      Tensors host, device;
      // Positive and away from 0 and 1: where all functions are defined and smooth.
      for (size_t i = 0; i < arity; ++i) {
        bool whole = is_integer(d);
        host.push_back(numbers({1003}, d, whole ? 1 : 0.1, whole ? 9 : 0.9, i + 1));
        device.push_back(there(host.back()));
      }
      // Unlike libraries differ in the last digits of steep functions.
      double e = same(op->name, run(*op, device), run(*op, host), 20);
      if (is_floating(d) && e / tolerance(d) > worst)
        worst = e / tolerance(d), where = cat(op->name, " ", name(d));
      if (d != float32 || arity != 2) continue;
      Tensor a = numbers({7, 1, 5}, d, 0.1, 0.9), b = numbers({11, 1}, d, 0.1, 0.9, 2),
             one = numbers({}, d, 0.1, 0.9, 3);
      Tensor wide = numbers({3, 2048}, d, 0.1, 0.9, 4), row = numbers({2048}, d, 0.1, 0.9, 5);
      for (auto [x, y] :
           {std::pair(a, b), {b, a}, {wide, row}, {row, wide}, {wide, one}, {one, wide}}) {
        same(cat(op->name, " broadcast"), run(*op, {there(x), there(y)}), run(*op, {x, y}), 20);
        if (y.size() == 1)
          same(cat(op->name, " by value"), run(*op, {there(x), y}), run(*op, {x, y}), 20);
        if (x.size() == 1)
          same(cat(op->name, " by value"), run(*op, {x, there(y)}), run(*op, {x, y}), 20);
      }
    }
  }
  std::printf("elementwise: %d ops, %d op x dtype; worst error %.2g of the tolerance (%s)\n", ops,
              pairs, worst, where.c_str());

  Tensor special = Tensor::of<float>({0.f, -0.f, INFINITY, -INFINITY, NAN, 1e-45f, 3e38f, -1e-45f});
  for (auto* f : {&erf, &exp, &square, &negative})
    same("special values", (*f)(there(special)), (*f)(special));
  Tensor base = numbers({4099});
  for (int64_t skip : {1, 2, 3, 4}) {  // views start at any element
    Tensor view = view_of(base, {4000}, skip * 4), twin = view_of(there(base), {4000}, skip * 4);
    same("a view", twin + twin, view + view);
  }
  Tensor none = numbers({0, 3});
  same("no elements", there(none) + there(none), none + none);
  Tensor deep = numbers({2, 1, 3, 1, 2, 1, 3, 1}),
         deeper = numbers({1, 2, 1, 3, 1, 2, 1, 3}, float32, -1, 1, 2);
  same("eight axes", there(deep) * there(deeper), deep * deeper);
}

void products() {
  double worst = 0;
  for (DType d : kFloatTypes)
    for (bool ta : {false, true})
      for (bool tb : {false, true})
        for (auto [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{64, 96, 128},
                               {33, 17, 65},
                               {1, 5, 7},
                               {5, 1, 300},
                               {3, 4, 0}}) {
          Tensor a = numbers(ta ? Shape{k, m} : Shape{m, k}, d),
                 b = numbers(tb ? Shape{n, k} : Shape{k, n}, d, -1, 1, 2);
          double e = same(cat("MatMul ", ta, tb), matmul(there(a), there(b), {ta, tb}),
                          matmul(a, b, {ta, tb}));
          if (d == float32) worst = std::max(worst, e);
        }
  for (DType d : kFloatTypes)
    for (auto [left, right] : {std::pair(Shape{3, 2, 5, 7}, Shape{3, 2, 7, 4}),
                               {Shape{6, 5, 7}, Shape{7, 4}},
                               {Shape{1, 5, 7}, Shape{4, 7, 3}},
                               {Shape{2, 1, 5, 7}, Shape{1, 3, 7, 4}},
                               {Shape{0, 5, 7}, Shape{0, 7, 4}}}) {
      Tensor a = numbers(left, d), b = numbers(right, d, -1, 1, 2);
      same("batched product", matmul(there(a), there(b)), matmul(a, b));
    }
  Tensor base = numbers({101}), twin = there(base);
  Tensor a = view_of(base, {5, 10}, 4), b = view_of(base, {10, 5}, 8);
  same("MatMul of views", matmul(view_of(twin, {5, 10}, 4), view_of(twin, {10, 5}, 8)),
       matmul(a, b));
  std::printf("products: worst float32 error %.2g\n", worst);
}

// Forward on the GPU, and the gradients, which the CPU computes for it.
void convolutions() {
  struct Case {
    Shape image, filter;
    Sizes strides;
    nn::Padding padding;
    int64_t dilation;
  };
  double worst = 0;
  for (DType d : {float32, float16, bfloat16, float64})
    for (const Case& k : {Case{{2, 8, 9, 3}, {3, 3, 3, 5}, 1, "SAME", 1},
                          Case{{2, 8, 9, 3}, {3, 3, 3, 5}, 1, "VALID", 1},
                          Case{{3, 8, 8, 16}, {3, 3, 16, 8}, 2, "SAME", 1},  // padded on one side
                          Case{{1, 7, 10, 8}, {2, 4, 8, 8}, {1, 2}, "SAME", 1},
                          Case{{2, 12, 12, 4}, {3, 3, 4, 6}, 1, "VALID", 2},
                          Case{{2, 9, 9, 4}, {3, 3, 4, 2}, 1, {{0, 0}, {1, 2}, {0, 3}, {0, 0}}, 1},
                          Case{{2, 6, 6, 8}, {3, 3, 2, 12}, 1, "SAME", 1},  // four groups
                          Case{{4, 5, 5, 7}, {1, 1, 7, 3}, 1, "SAME", 1},
                          Case{{0, 5, 5, 2}, {3, 3, 2, 3}, 1, "SAME", 1}}) {
      Tensor x = numbers(k.image, d), w = numbers(k.filter, d, -1, 1, 2);
      nn::Conv2DOptions how{.dilations = Sizes(k.dilation)};
      auto on = [&](const Tensor& a, const Tensor& b) {
        return nn::conv2d(a, b, k.strides, k.padding, how);
      };
      double e = same("Conv2D", on(there(x), there(w)), on(x, w), 10);
      if (d == float32) worst = std::max(worst, e);
    }
  if (!fake) {
    warned.clear();
    Tensor x = there(numbers({2, 8, 8, 4})), w = there(numbers({3, 3, 4, 4}));
    nn::conv2d(x, w, 1, "SAME");
    check(warned.empty(), cat("Conv2D has a kernel: ", warned.empty() ? "" : warned[0]));
  }
  std::printf("convolutions: worst float32 error %.2g\n", worst);
}

// Loss and gradient of the logits, for labels that are distributions or classes.
void losses(const char* what, const Tensor& x, const Tensor& labels) {
  auto both = [&](const Tensor& logits, const Tensor& with) {
    GradientTape tape;
    tape.watch(logits);
    Tensor loss = is_floating(with.dtype())
                      ? nn::softmax_cross_entropy_with_logits(with, logits)
                      : nn::sparse_softmax_cross_entropy_with_logits(with, logits);
    return std::pair(loss, tape.gradient(loss, logits));
  };
  auto [loss, slope] = both(x, labels);
  auto [loss_there, slope_there] = both(there(x), there(labels));
  same(what, loss_there, loss, 4);
  same(what, slope_there, slope, 4);
}

void refused_labels() {
  Tensor x = there(numbers({5, 3})), labels = there(constant({0, 2, 3, 1, -1}));
  try {
    nn::sparse_softmax_cross_entropy_with_logits(labels, x);
    check(false, "a label of no class is refused");
  } catch (const Error& e) {
    std::string said = e.what();
    check(said.find("holds 3 at position 2") != std::string::npos, said.c_str());
  }
}

void rows() {
  double worst = 0;
  for (DType d : kFloatTypes) {
    for (const Shape& s : {Shape{3, 4}, Shape{5, 700}, Shape{2, 20000}, Shape{2, 3, 33},
                           Shape{0, 4}, Shape{1000, 1}}) {
      Tensor x = numbers(s, d, -5, 5);
      double e = same("Softmax", nn::softmax(there(x)), nn::softmax(x));
      same("LogSoftmax", nn::log_softmax(there(x)), nn::log_softmax(x));
      if (d == float32) worst = std::max(worst, e);
    }
    for (const Shape& s : {Shape{3, 4}, Shape{9, 513}, Shape{0, 4}, Shape{70, 1}}) {
      Tensor x = numbers(s, d, -5, 5), parts = nn::softmax(numbers(s, d, -1, 1));
      losses("a distribution", x, parts);
      losses("one distribution for all rows", x, nn::softmax(numbers({1, s[1]}, d, -1, 1)));
      for (DType i : {int32, int64}) losses("classes", x, cast(argmax(parts, 1), i));
    }
    Tensor x = numbers({6, 5, 40, 7}, d, 0, 1);
    for (const Axes& axes :
         {Axes(), Axes(Sizes(-1)), Axes(Sizes(0)), Axes(Sizes(2)), Axes(Sizes({1, 2})),
          Axes(Sizes({0, 2})), Axes(Sizes({1, 3})), Axes(Sizes(Dims()))})
      for (bool keep : {false, true})
        same("Sum", reduce_sum(there(x), {axes, keep}), reduce_sum(x, {axes, keep}), 2);
    Tensor y = numbers({4, 30, 5}, d, 0.9, 1.1), with_nan = y * 1;
    visit_floats(
        d, [&]<class T>(T) { with_nan.mutable_raw<T>()[33] = T(static_cast<float_of<T>>(NAN)); });
    using Fold = Tensor (*)(const In&, const ReduceOptions&);
    for (Fold f : {Fold{&reduce_mean}, Fold{&reduce_max}, Fold{&reduce_min}, Fold{&reduce_prod}})
      for (const Axes& axes : {Axes(), Axes(Sizes(1)), Axes(Sizes({0, 2}))}) {
        same("a reduction", (*f)(there(y), {axes}), (*f)(y, {axes}), 20);
        same("with a NaN", (*f)(there(with_nan), {axes}), (*f)(with_nan, {axes}), 20);
      }
    Tensor wide = numbers({3, 70001}, d, 0, 0.01), tall = numbers({9001, 40}, d, 0, 0.01);
    same("Sum of long rows", reduce_sum(there(wide), {.axis = Sizes(1)}),
         reduce_sum(wide, {.axis = Sizes(1)}), 4);
    same("Sum of long columns", reduce_sum(there(tall), {.axis = Sizes(0)}),
         reduce_sum(tall, {.axis = Sizes(0)}), 4);
    Tensor none = numbers({0, 3, 0}, d);
    same("Sum of nothing", reduce_sum(there(none), {.axis = Sizes({0, 2})}),
         reduce_sum(none, {.axis = Sizes({0, 2})}));
  }
  for (DType d : {int32, int64}) {
    Tensor x = numbers({50, 70}, d, -100, 100);
    same("Sum", reduce_sum(there(x)), reduce_sum(x));
    same("Sum", reduce_sum(there(x), {.axis = Sizes(0)}), reduce_sum(x, {.axis = Sizes(0)}));
  }
  refused_labels();
  std::printf("rows: worst float32 softmax error %.2g\n", worst);
}

void shapes() {
  for (DType d :
       {float32, float64, float16, int8, int64, boolean, DType::kComplex64, DType::kComplex128}) {
    Tensor x = numbers({3, 1, 5}, d, 0, 9);
    same("BroadcastTo", broadcast_to(there(x), {2, 3, 4, 5}), broadcast_to(x, {2, 3, 4, 5}));
    same("ZerosLike", zeros_like(there(x)), zeros_like(x));
  }
  for (DType from : {float32, float16, int64, boolean, uint8})
    for (DType to : {float64, bfloat16, int32, boolean, int8}) {
      Tensor x = numbers({1001}, from, 0, 9);
      same(cat("Cast ", name(from)), cast(there(x), to), cast(x, to));
    }
  for (DType d : {float32, bfloat16, int64}) {
    Tensor pick = numbers({3, 1, 5}, boolean), a = numbers({3, 4, 5}, d, -9, 9),
           b = numbers({5}, d, -9, 9, 2);
    same("SelectV2", run(*find_op("SelectV2"), {there(pick), there(a), there(b)}),
         run(*find_op("SelectV2"), {pick, a, b}));
  }
  Tensor x = numbers({3, 4});
  same("Reshape", reshape(there(x), {2, 6}), reshape(x, {2, 6}));
  same("Identity", identity(there(x)), x);
  DeviceScope scope(gpu);
  same("Fill", fill({1000, 3}, 2.5f), numbers({1000, 3}, float32, 2.5, 2.5));
  same("OnesLike", ones_like(there(x)), numbers({3, 4}, float32, 1, 1));
}

Tensor model(const Tensor& x, const Tensor& w, const Tensor& b) {
  Tensor h = erf(matmul(x, w) + b);
  return reduce_sum(nn::softmax(h) * square(h) + exp(-square(h)) * 0.5f);
}

void gradients() {
  auto both = [](const Tensor& x, const Tensor& w, const Tensor& b) {
    GradientTape outer({.persistent = true});
    outer.start();
    outer.watch(w);
    outer.watch(b);
    Tensor dw, db;
    {
      GradientTape inner({.persistent = true});
      inner.start();
      inner.watch(w);
      inner.watch(b);
      Tensor y = model(x, w, b);
      dw = inner.gradient(y, w);
      db = inner.gradient(y, b);
    }
    Tensor length = reduce_sum(square(dw)) + reduce_sum(db * 2);
    return std::vector<Tensor>{dw, db, outer.gradient(length, w), outer.gradient(length, b)};
  };
  Tensor x = numbers({5, 4}), w = numbers({4, 3}, float32, -1, 1, 2),
         b = numbers({3}, float32, -1, 1, 3);
  auto want = both(x, w, b), got = both(there(x), there(w), there(b));
  const char* names[] = {"dy/dw", "dy/db", "second order in w", "second order in b"};
  for (size_t i = 0; i < want.size(); ++i)
    std::printf("gradients: %s error %.2g\n", names[i], same(names[i], got[i], want[i], 2));
}

void variables() {
  DeviceScope scope(gpu);
  Tensor x = numbers({3, 4});
  Variable v(x, {.name = "v"});
  check(v.read().device() == gpu, "a variable lives on the device it was made on");
  v.assign(numbers({3, 4}, float32, -1, 1, 2));
  check(v.read().device() == gpu, "and stays there when a host tensor is assigned");
  v.assign_add(x);
  same("assign_add", v.read(), numbers({3, 4}, float32, -1, 1, 2) + x);
  v.assign_sub(0.5f);
  GradientTape tape;
  tape.start();
  Tensor y = reduce_sum(square(v));
  same("gradient of a variable", tape.gradient(y, v), copy_to(v.read(), cpu()) * 2);
  {
    DeviceScope host(cpu());
    check(v.read().device() == gpu, "a scope for the CPU does not move it");
  }
}

void placement() {
  warned.clear();
  Tensor x = numbers({4}), g = there(x);
  same("x * 2", g * 2, x * 2);
  same("2 * x", 2 * g, 2 * x);
  same("number first", Tensor::scalar(3.f) - g, Tensor::scalar(3.f) - x);
  check(fake || warned.empty(),
        cat("numbers beside a GPU tensor are silent: ", warned.empty() ? "" : warned[0]));
  check(g.to_vector<float>() == x.to_vector<float>(), "to_vector reads from the GPU");
  check(reduce_sum(g).item<float>() == reduce_sum(g).to_double(),
        "item and to_double read from the GPU");
  warned.clear();
  same("two devices", g + x, x + x);
  check((fake || warned.size() == 1) && warned[0].starts_with("W0701"), "a copied operand is told");
  warned.clear();
  same("fallback", concat({g, g}, 0), concat({x, x}, 0));
  check(warned.size() == 1 && warned[0].starts_with("W0704"),
        cat("a fallback is told: ", warned.empty() ? "nothing" : warned[0]));
  set_device_policy(DevicePolicy::kExplicit);
  check(code_of([&] { g + x; }) == "E0701", "the explicit policy refuses");
  {
    DeviceScope scope(gpu);
    same("Identity copies", identity(x), x);
    check(constant({0.5, 1.5}).device() == gpu, "a constant is made where the scope says");
    check(constant({0, 1}).device() == cpu(), "a few integers stay on the host");
  }
  set_device_policy(DevicePolicy::kWarn);
  {
    DeviceScope scope(cpu());
    check((g + g).device() == cpu(), "a scope for the CPU is obeyed");
  }
  Tensor text = Tensor::of<std::string>({"a", "b"});
  check(copy_to(text, gpu).device()->kind() == DeviceKind::kCpu, "strings stay on the host");
  Tensor axis = there(Tensor::of<int32_t>({0}));
  GradientTape tape;
  tape.start();
  tape.watch(g);
  same("gradient of Sum with its axis on the GPU",
       tape.gradient(reduce_sum(g, {.axis = Sizes(axis)}), g), x * 0 + 1);
}

// What was traced has a plan for each set of places that its values lie in.
void traced() {
  Tensor x = numbers({8, 8}), g = there(x);
  auto variable_on = [](Device* device) {
    DeviceScope scope(device);
    return Variable(numbers({8, 8}));
  };
  Variable here = variable_on(cpu()), away = variable_on(gpu);
  auto f = function([&](const Tensor& a) { return nn::relu(matmul(a, here.read()) + 1.f) * a; });
  Tensor want = nn::relu(matmul(x, here.read()) + 1.f) * x;
  auto plan = [](auto& of) -> const Plan& { return of.concrete({{float32, Shape{8, 8}}})->plan(); };
  check(plan(f).fast(), "a device that nobody uses does not slow a function down");
  for (int i = 0; i < 2; ++i) {
    Tensor on_cpu = f(x), on_gpu = f(g);
    check(error_of(on_cpu, want) < 1e-5, "traced, from the CPU");
    same("traced, from the GPU", on_gpu, want);
    check(on_cpu.device() == cpu() && on_gpu.device() == gpu, "results stay with their operands");
  }
  auto reads = function([&](const Tensor& a) { return a + away.read(); });
  check(reads(x).device() == gpu, "a variable that lives elsewhere is read there");
  same("traced, with a variable on the GPU", reads(x), x + copy_to(away.read(), cpu()));
  auto branches = function([&](const Tensor& a) {
    return cond(
        reduce_sum(a) > 0.f, [&] { return a + away.read(); }, [&] { return a - away.read(); });
  });
  same("a branch that reads it", branches(x),
       reduce_sum(x).item<float>() > 0 ? x + copy_to(away.read(), cpu())
                                       : x - copy_to(away.read(), cpu()));
  auto asks = function([&](const Tensor& a) {
    DeviceScope scope(gpu);
    return a * 2.f;
  });
  same("traced, asking for the GPU", asks(x), x * 2.f);
  check(asks(x).device() == gpu,
        "a function that asks for another device leaves its results there");
  auto explained = [&](auto& of) {
    std::string all;
    plan(of).for_each([&](const FastPlan& p) { all += p.explain(); });
    return all;
  };
  auto says = [&](auto& of, const char* what) {
    check(explained(of).find(what) != std::string::npos, cat("a plan says `", what, "`"));
  };
  says(f, fake ? "no kernel on GPU:0" : "on GPU:0: its operands lie there");
  says(reads, "on GPU:0: its variable lives there");
  says(reads, "copied from CPU:0");
  says(asks, fake ? "no kernel on GPU:0" : "on GPU:0: asked for");
  here.assign(x);
  check(error_of(f(x), nn::relu(matmul(x, x) + 1.f) * x) < 1e-5, "after an assignment");
}

void memory() {
  if (fake) return;
  MemoryStats before = gpu->memory();
  {
    Tensor a = empty(float32, {1 << 20}, gpu);
    check(gpu->memory().live >= before.live + (4 << 20), "live bytes count");
  }
  check(gpu->memory().live == before.live, "and go back");
  check(gpu->memory().cached > 0, "freed blocks are kept");
  check(code_of([] { empty(float32, {int64_t{1} << 42}, gpu); }) == "E0702", "too much is E0702");
  check(code_of([] { empty(float32, {int64_t{1} << 62}, gpu); }) == "E1102",
        "uncountable is E1102");
  gpu->set_memory_limit(gpu->memory().live + 1000);
  check(code_of([] { empty(float32, {1000}, gpu); }) == "E0702", "the limit holds");
  Tensor x = numbers({1000}), kept = numbers({200});
  check(code_of([&] { there(x); }) == "E0702", "in a copy");
  Tensor small = there(kept);
  check(code_of([&] { small + small; }) == "E0702", "and in an op");
  gpu->set_memory_limit(0);
  same("after that all is well", small + small, kept + kept);
  // Buffers die while the stream still works on them.
  Tensor chain = numbers({1 << 16}), twin = there(chain);
  for (int i = 0; i < 200; ++i) {
    chain = erf(chain * 1.5f) + 0.01f;
    twin = erf(twin * 1.5f) + 0.01f;
  }
  same("a long chain of temporaries", twin, chain, 10);
}

void threads() {
  std::vector<std::thread> team;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    team.emplace_back([t, &wrong] {
      Tensor x = numbers({3000 + t, 7}, float32, -1, 1, static_cast<uint64_t>(t + 1)), g = there(x);
      Tensor want = reduce_sum(nn::softmax(x * 2) * x, {.axis = Sizes(0)});
      for (int i = 0; i < 50; ++i)
        if (error_of(reduce_sum(nn::softmax(g * 2) * g, {.axis = Sizes(0)}), want) > 1e-4) ++wrong;
    });
  for (auto& t : team) t.join();
  check(wrong == 0, cat("four threads: ", wrong.load(), " wrong results"));
}

void forks() {
  if (fake) return;
  Tensor g = there(numbers({4}));
  std::fflush(stdout);
  pid_t child = fork();
  if (child == 0)
    _exit(code_of([&] { g + g; }) == "E0705" && code_of([&] { copy_to(g, cpu()); }) == "E0705" ? 0
                                                                                               : 1);
  int status = 0;
  waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a forked child gets E0705");
}

}  // namespace

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  gpu = find_device(DeviceKind::kCuda, 0);
  fake = argc > 2 && !std::strcmp(argv[2], "fake") && !gpu;
  if (fake) add_device(gpu = new FakeDevice);
  if (!gpu) {
    std::printf("skipped: no GPU (%zu devices)\n", devices().size());
    return 77;
  }
  std::printf("%s: %s\n", gpu->name().c_str(), gpu->description().c_str());
  set_warning_sink(keep_warning);
  try {
    for (auto* part : {elementwise, products, convolutions, rows, shapes, gradients, variables,
                       placement, traced, memory, threads, forks})
      part();
    check(gpu->synchronize().ok(), "nothing failed behind our back");
    if (argc > 2 && !std::strcmp(argv[2], "time")) time_everything(argv[1]);
  } catch (const std::exception& e) {
    check(false, cat("an exception: ", e.what()));
  }
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures != 0;
}
