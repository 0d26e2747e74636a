// Lists print as kernels that NVRTC compiles: every scalar instruction for every dtype the CPU
// computes, every cast, fold and way to read an operand, and lists made at random. Needs NVRTC, no
// GPU: exits with 77 (skipped) where it is absent. Arguments: "all" for every dtype too.
#include "holdfast/cuda/source.h"

#include <chrono>
#include <cstdio>
#include <cstring>

#include "holdfast/base/text.h"
#include "holdfast/cuda/compile.h"
#include "holdfast/cuda/libraries.h"
#include "holdfast/cuda/statements.h"
#include "tests/expr/random_list.h"

using namespace holdfast;
using namespace holdfast::cuda;

namespace {

int failures = 0, compiled_count = 0;

void fail_with(const std::string& what, const std::string& why) {
  if (++failures > 5) return;
  std::printf("FAILED %s: %s\n", what.c_str(), why.c_str());
}

void compile_text(const std::string& source, const std::string& what) {
  std::string code;
  Status s = compile(source, 90, code);
  ++compiled_count;
  if (!s.ok() || code.empty()) fail_with(what, cat(s.headline(), "\n", s.why(), "\n", source));
}

void compile_list(const Expr& e, const std::string& what, int vector = 4, int unroll = 1) {
  Spec s;
  std::vector<int> loads = loads_of(e);
  for (int v : loads)
    s.access.push_back(e.values()[static_cast<size_t>(v)].input < 0 ? Access::kValue
                                                                    : Access::kDense);
  s.vector = vector;
  s.unroll = unroll;
  compile_text(print_source(e, loads, s), what);
}

FusedForm form_of(Does does, Scalar scalar = {}) { return {does, scalar, {}}; }

// The op that instructions name where a test has none.
const OpDef& any_op() { return *find_op("Neg"); }

void scalars(bool all) {
  constexpr DType kEach[] = {float32, float64, float16, bfloat16, int8,   int16,  int32,
                             int64,   uint8,   uint16,  uint32,   uint64, boolean};
  for (DType d : kEach) {
    if (!all && d != float32 && d != int64 && d != boolean && d != bfloat16) continue;
    // Several to a kernel: most of what one takes is its headers.
    Ref<Expr> e;
    int in_list = 0;
    auto flush = [&] {
      if (e) compile_list(*e, cat("instructions of ", name(d)), 1);
      e = nullptr;
      in_list = 0;
    };
    for (int i = 0; i < kNumScalars; ++i) {
      auto scalar = static_cast<Scalar>(i);
      if (!loop_for(scalar, d)) continue;
      if (!e) e = make_ref<Expr>();
      InlineVector<int, 3> operands;
      for (int k = 0; k < info(scalar).arity; ++k) operands.push_back(e->input(d));
      e->store(e->add(any_op(), {}, {}, form_of(Does::kScalar, scalar), operands,
                      info(scalar).boolean ? boolean : d));
      if (++in_list == 24) flush();
    }
    flush();
    e = make_ref<Expr>();
    int x[] = {e->input(d)};
    for (DType to : kEach) e->store(e->add(any_op(), {}, {}, form_of(Does::kCast), x, to));
    compile_list(*e, cat("casts of ", name(d)));
  }
}

void folds(bool all) {
  for (DType d : {float32, bfloat16, int8, uint64, float64, float16, int32, uint16}) {
    if (!all && d != float32 && d != bfloat16 && d != int8 && d != uint64) continue;
    auto e = make_ref<Expr>();
    e->set_rows(Shape{5, 640}, 640);
    int x = e->input(d);
    for (int f = 0; f < kNumFolds; ++f) {
      OpDef op(*find_op("Sum"));
      op.fold = static_cast<Fold>(f);
      if (is_floating(d) || *op.fold != Fold::kHalfSquares)
        e->store(e->fold(x, op, {}, {}, Tensor::scalar(1, int32)));
    }
    compile_list(*e, cat("folds of ", name(d)));
  }
}

// Each way to read an operand, narrow and wide.
void reads() {
  for (bool wide : {false, true})
    for (Access first : {Access::kStrided, Access::kDense, Access::kOne, Access::kValue})
      for (int64_t row : {0, 100}) {
        auto e = make_ref<Expr>();
        if (row) e->set_rows(Shape{6, row}, row);
        int operands[] = {e->input(float16), e->input(float16)};
        e->store(e->add(any_op(), {}, {}, form_of(Does::kScalar, Scalar::kAdd), operands, float16));
        Spec s;
        s.access = {first, Access::kStrided};
        s.axes = 3;
        s.wide = wide;
        s.unroll = row ? 1 : 4;
        std::vector<int> loads = loads_of(*e);
        compile_text(print_source(*e, loads, s), "strided");
        s.access[1] = row ? Access::kColumn : Access::kDense;
        s.axes = first == Access::kStrided ? 2 : 0;
        s.vector = s.axes && !row ? 1 : 2;
        compile_text(print_source(*e, loads, s), "dense");
      }
}

void random_lists(uint64_t count) {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : all_ops())
    if (op->elementwise && op->attrs.empty() &&
        op->inputs.size() == static_cast<size_t>(info(op->scalar).arity))
      ops.push_back(op);
  for (uint64_t seed = 0; seed < count; ++seed) {
    RandomList list = ListMaker(seed, seed % 2, false, ops).make();
    if (refuse_list(*list.expr)) continue;
    std::vector<int> loads = loads_of(*list.expr);
    std::vector<const Shape*> shapes;
    for (const Tensor& t : list.in) shapes.push_back(&t.shape());
    Layout l = layout_of(*list.expr, loads, shapes, list.domain);
    Spec s;
    s.access = l.access;
    s.axes = static_cast<int>(l.sizes.size());
    compile_text(print_source(*list.expr, loads, s), cat("list ", seed, ": ", list.expr->text()));
  }
}

void contains(const std::string& text, const char* part) {
  if (text.find(part) == text.npos)
    fail_with("the text of a kernel", cat("no `", part, "` in\n", text));
}

// What a kernel says: one function an instruction, numbers as parameters, a walk for each fold that
// waits for another.
void texts() {
  auto e = make_ref<Expr>();
  e->set_rows(Shape{12, 4096}, 4096);
  const OpDef &sum = *find_op("Sum"), &most = *find_op("Max");
  int x = e->input(float32), m = e->fold(x, most, {}, {}, Tensor::scalar(1, int32));
  int both[] = {x, m};
  int d = e->add(any_op(), {}, {}, form_of(Does::kScalar, Scalar::kSub), both, float32);
  int one[] = {d};
  int p = e->add(any_op(), {}, {}, form_of(Does::kScalar, Scalar::kExp), one, float32);
  int s = e->fold(p, sum, {}, {}, Tensor::scalar(1, int32));
  int two[] = {p, s};
  e->store(e->add(any_op(), {}, {}, form_of(Does::kScalar, Scalar::kDiv), two, float32));
  std::vector<int> loads = loads_of(*e);
  Spec spec;
  spec.access = {Access::kDense};
  spec.vector = 4;
  std::string t = print_source(*e, loads, spec);
  contains(t, "float Sub_float32(const float x, const float y)");
  contains(t, "constexpr int R = 4096, V = 4, K = 2, TEAM = 512, BLOCK = 512;");
  contains(t, "FoldMax<float>");
  contains(t, "FoldSum<float>");
  contains(t,
           cat("v", p, "[k * V + j] = Exp_float32(v", d, ");").c_str());  // held for the last walk
  contains(t, cat("const float v", d, " = Sub_float32(x", x, "[k * V + j], v", m, ");").c_str());
  compile_text(t, "softmax");

  e = make_ref<Expr>();
  int a[] = {e->input(float16)};
  FusedForm scaled{Does::kScalar, Scalar::kMul, {Tensor::scalar(3, float16)}};
  e->store(e->add(any_op(), {}, {}, scaled, a, float16));
  loads = loads_of(*e);
  spec.access = {Access::kDense, Access::kValue};
  t = print_source(*e, loads, spec);
  contains(
      t,
      "expr(const half* __restrict__ a0, const float a1, half* __restrict__ out0, const Index n)");
  contains(t, "const half x1 = static_cast<half>(a1);");
}

}  // namespace

int main(int argc, char** argv) {
  if (!nvrtc().missing.empty()) {
    std::printf("skipped: %s\n", nvrtc().missing.c_str());
    return 77;
  }
  auto begin = std::chrono::steady_clock::now();
  bool all = argc > 1 && !std::strcmp(argv[1], "all");
  texts();
  scalars(all);
  folds(all);
  reads();
  random_lists(all ? 200 : 20);
  CompileStats stats = compile_stats();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf(
      "%d kernels: %lld compiled at %.0f ms each, %lld from disk, %.1f s in all; %d failures %s\n",
      compiled_count, static_cast<long long>(stats.compiled),
      stats.compiled ? 1e3 * stats.seconds / static_cast<double>(stats.compiled) : 0.0,
      static_cast<long long>(stats.from_disk), seconds, failures, stats.not_written.c_str());
  return failures != 0;
}
