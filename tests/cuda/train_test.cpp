// Steps of training that were traced, on GPU:0 against the CPU: plans with devices, with their
// memory, their bound kernels and their copies. `explain` prints what the plan says, `time` how
// long a step takes.
#include <cstring>

#include "fake_device.h"
#include "holdfast/autodiff/tape.h"
#include "holdfast/exec/fast_plan.h"
#include "holdfast/exec/flow.h"
#include "holdfast/exec/function.h"
#include "holdfast/exec/plan.h"
#include "holdfast/op/context.h"
#include "holdfast/op/variable.h"
#include "holdfast/ops/activations.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/losses.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "slice.h"

using namespace slice;

namespace {

/// Dense layers with relu between them, a softmax at the end, plain gradient descent.
struct Network {
  Network(Device* device, const std::vector<int64_t>& sizes) {
    DeviceScope there(device);
    for (size_t i = 0; i + 1 < sizes.size(); ++i) {
      double range = 1.0 / std::sqrt(static_cast<double>(sizes[i]));
      variables.push_back(Variable(
          copy_to(numbers({sizes[i], sizes[i + 1]}, float32, -range, range, i + 1), device)));
      variables.push_back(
          Variable(copy_to(numbers({sizes[i + 1]}, float32, 0, 0.1, i + 9), device)));
    }
  }
  Tensor step(const Tensor& x, const Tensor& labels) {
    GradientTape tape;
    tape.start();
    Tensor h = x;
    for (size_t i = 0; i < variables.size(); i += 2) {
      h = matmul(h, variables[i].read()) + variables[i + 1].read();
      if (i + 2 < variables.size()) h = nn::relu(h);
    }
    Tensor loss = reduce_mean(nn::softmax_cross_entropy_with_logits(labels, h));
    tape.stop();
    std::vector<Source> sources(variables.begin(), variables.end());
    std::vector<Gradient> g = tape.gradients({loss}, sources);
    for (size_t i = 0; i < variables.size(); ++i) variables[i].assign_sub(0.05f * g[i].tensor());
    return loss;
  }
  std::vector<Variable> variables;
};

std::string explained(const ConcreteFunction& c) {
  std::string all;
  const_cast<ConcreteFunction&>(c).plan().for_each([&](const FastPlan& p) { all += p.explain(); });
  return all;
}

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

Tensor labels(int64_t rows, int64_t classes) {
  return one_hot(cast(range(0, rows), int32) % static_cast<int32_t>(classes),
                 static_cast<int32_t>(classes));
}

void trains(bool real, bool explain) {
  std::vector<int64_t> sizes{64, 128, 128, 10};
  Network here(cpu(), sizes), away(gpu, sizes);
  auto on_cpu = function([&](const Tensor& x, const Tensor& y) { return here.step(x, y); });
  auto on_gpu = function([&](const Tensor& x, const Tensor& y) { return away.step(x, y); });
  Tensor x = numbers({32, 64}), y = labels(32, 10), gx = there(x), gy = there(y);
  for (int i = 0; i < 5; ++i) {
    Tensor want = on_cpu(x, y), got = on_gpu(gx, gy);
    same(cat("loss of step ", i), got, want, 10);
  }
  for (size_t i = 0; i < here.variables.size(); ++i)
    same(cat("variable ", i), away.variables[i].read(), here.variables[i].read(), 10);
  check(static_cast<double>(on_cpu(x, y).item<float>()) < 2.4, "it learns");
  auto plan = on_gpu.concrete({{float32, x.shape()}, {float32, y.shape()}});
  std::string text = explained(*plan);
  if (explain) std::printf("%s", text.c_str());
  std::printf("plan: %d steps on GPU:0, %d on CPU:0, %d copies, %d without a bound kernel\n",
              count(text, "  on GPU:0: "), count(text, "  on CPU:0: "),
              count(text, "CopyToDevice ->"), count(text, "chosen at each run"));
  check(count(text, "chosen at each run") == 0, "every kernel is bound");
  if (real) check(count(text, "CopyToDevice ->") == 0, "nothing leaves the GPU");
  Tensor from_host = on_gpu(x, y);
  check(from_host.device() == gpu, "the loss is where the variables are");
}

void time_steps() {
  struct Case {
    const char* what;
    std::vector<int64_t> sizes;
    int64_t rows;
  };
  for (const Case& c :
       {Case{"64-128-128-10, batch 32", {64, 128, 128, 10}, 32},
        Case{"784-512-512-10, batch 128", {784, 512, 512, 10}, 128},
        Case{"4096 x 4 layers, batch 1024", {4096, 4096, 4096, 4096, 1024}, 1024}}) {
    Network net(gpu, c.sizes);
    auto step = function([&](const Tensor& x, const Tensor& y) { return net.step(x, y); });
    Tensor x = there(numbers({c.rows, c.sizes[0]})), y = there(labels(c.rows, c.sizes.back()));
    double flop = 0;
    for (size_t i = 0; i + 1 < c.sizes.size(); ++i)
      flop += (i ? 6.0 : 4.0) * static_cast<double>(c.rows * c.sizes[i] * c.sizes[i + 1]);
    double eager = seconds(20, [&] { net.step(x, y); });
    double traced = seconds(20, [&] { step(x, y); });
    std::printf("time: %-30s eager %9.1f us, traced %9.1f us, %6.2f TFLOP/s\n", c.what, eager * 1e6,
                traced * 1e6, flop / traced * 1e-12);
  }
  Tensor x = there(numbers({1 << 10}));
  auto chain = function([](const Tensor& a) { return tanh(a * 2.f + 1.f) * a - 0.5f; });
  std::printf("time: tiny traced chain of five ops     %9.2f us\n",
              seconds(1000, [&] { chain(x); }) * 1e6);
}

void loops() {
  auto body = [](const Tensor& x) {
    auto [n, y] = while_loop([](Tensor i, Tensor) { return i < 10; },
                             [](Tensor i, Tensor v) { return std::tuple(i + 1, tanh(v) * 1.5f); },
                             {Tensor::scalar(0), x});
    return cond(reduce_sum(y) > 0.f, [&] { return y + 1.f; }, [&] { return y - 1.f; });
  };
  auto f = function(body);
  Tensor x = numbers({50, 20});
  same("a loop and a branch", f(there(x)), f(x));
}

}  // namespace

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  auto asked = [&](const char* what) {
    for (int i = 1; i < argc; ++i)
      if (!std::strcmp(argv[i], what)) return true;
    return false;
  };
  gpu = find_device(DeviceKind::kCuda, 0);
  bool fake = asked("fake") && !gpu;
  if (fake) {
    add_device(gpu = new FakeDevice);
    lend_cpu_kernels();
  }
  if (!gpu) {
    std::printf("skipped: no GPU (%zu devices)\n", devices().size());
    return 77;
  }
  set_device_policy(DevicePolicy::kSilent);
  try {
    trains(!fake, asked("explain"));
    loops();
    check(gpu->synchronize().ok(), "nothing failed behind our back");
    if (asked("time")) time_steps();
  } catch (const std::exception& e) {
    check(false, cat("an exception: ", e.what()));
  }
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures != 0;
}
