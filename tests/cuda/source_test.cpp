// Every scalar instruction prints as a kernel that NVRTC compiles, for every dtype the CPU
// computes. Needs NVRTC, no GPU: exits with 77 (skipped) where it is absent. Arguments: "all" for
// every access pattern too.
#include "holdfast/cuda/source.h"

#include <chrono>
#include <cstdio>
#include <cstring>

#include "holdfast/base/text.h"
#include "holdfast/cuda/compile.h"
#include "holdfast/cuda/libraries.h"
#include "holdfast/expr/expr.h"

using namespace holdfast;
using namespace holdfast::cuda;

namespace {

int failures = 0, compiled_count = 0;

void compile_one(const ExprSpec& spec, const char* what) {
  std::string code;
  Status s = compile(print_source(spec), 90, code);
  ++compiled_count;
  if (s.ok() && !code.empty()) return;
  ++failures;
  std::printf("FAILED %s %s: %s\n%s\n", what, name(spec.dtypes[0]), s.headline().c_str(),
              s.why().c_str());
  if (failures == 1) std::printf("%s\n", print_source(spec).c_str());
}

ExprSpec dense(const char* expression, int operands, DType d, DType out) {
  ExprSpec s;
  s.expression = expression;
  s.operands = operands;
  for (int i = 0; i < operands; ++i) s.dtypes[i] = d;
  s.out = out;
  s.vector = static_cast<int>(16 / size_of(d));
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  if (!nvrtc().missing.empty()) {
    std::printf("skipped: %s\n", nvrtc().missing.c_str());
    return 77;
  }
  auto begin = std::chrono::steady_clock::now();
  constexpr DType kEach[] = {float32, float64, float16, bfloat16, int8,   int16,  int32,
                             int64,   uint8,   uint16,  uint32,   uint64, boolean};
  bool all = argc > 1 && !std::strcmp(argv[1], "all");
  for (int i = 0; i < kNumScalars; ++i) {
    auto scalar = static_cast<Scalar>(i);
    const ScalarInfo& s = info(scalar);
    for (DType d : kEach) {
      if (!loop_for(scalar, d)) continue;
      bool common = d == float32 || d == int64 || d == boolean;
      if (!all && !common) continue;
      compile_one(dense(s.expression, s.arity, d, s.boolean ? boolean : d), s.name);
    }
  }
  // Each way to read an operand, once.
  for (bool wide : {false, true})
    for (Access first : {Access::kStrided, Access::kDense, Access::kUniform, Access::kValue}) {
      ExprSpec s = dense("wrap_add(x, y)", 2, float16, float16);
      s.access[0] = first;
      s.access[1] = Access::kStrided;
      s.axes = 3;
      s.vector = 1;
      s.wide = wide;
      compile_one(s, "strided");
      ExprSpec v = dense("wrap_add(x, y)", 2, bfloat16, bfloat16);
      v.access[1] = first == Access::kStrided ? Access::kValue : first;
      v.unroll = 4;
      v.wide = wide;
      compile_one(v, "dense");
    }
  CompileStats stats = compile_stats();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf(
      "%d kernels: %lld compiled at %.0f ms each, %lld from disk, %.1f s in all; %d failures %s\n",
      compiled_count, static_cast<long long>(stats.compiled),
      stats.compiled ? 1e3 * stats.seconds / static_cast<double>(stats.compiled) : 0.0,
      static_cast<long long>(stats.from_disk), seconds, failures, stats.not_written.c_str());
  return failures != 0;
}
