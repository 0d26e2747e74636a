// Small ops from C++: what a call costs when the arithmetic costs nothing.
#include <benchmark/benchmark.h>

#include "holdfast/holdfast.h"

namespace hf = holdfast;

static void add_four(benchmark::State& state) {
  hf::Tensor a = hf::Tensor::of({1.f, 2.f, 3.f, 4.f}), b = a;
  for (auto _ : state) benchmark::DoNotOptimize(hf::add(a, b));
}
BENCHMARK(add_four);

static void forward_and_gradient(benchmark::State& state) {
  hf::Tensor x = hf::Tensor::of({1.f, 2.f, 3.f, 4.f}), y = hf::Tensor::of({.5f, .25f, .125f, 1.f});
  for (auto _ : state) {
    hf::GradientTape tape;
    tape.watch(x);
    hf::Tensor z = x;
    for (int i = 0; i < 50; ++i) z = z * y + x;
    benchmark::DoNotOptimize(tape.gradient(z, x));
  }
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(forward_and_gradient);
