// Expressions as one launch on GPU:0: values of many lists against the CPU, and how many launches
// they take. Arguments: the plugin's path, and "time" to see how fast a chain of ten ops, a softmax
// and a layer norm are beside a copy. Returns non-zero on failure, 77 where there was nothing to
// test.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "holdfast/exec/function.h"
#include "holdfast/expr/cpu_program.h"
#include "holdfast/graph/text.h"
#include "holdfast/op/context.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/passes/passes.h"
#include "slice.h"
#include "tests/expr/random_list.h"

using namespace slice;

namespace {

long long (*launches)() = nullptr;

// What an expression gives on the GPU, in `count` launches.
Tensors on_gpu(const Ref<Expr>& e, const Tensors& in, long long* count = nullptr) {
  Tensors out;
  long long before = launches();
  eager()->run(fused_op(), in, Attrs{Arg(Ref<RefCounted>(e))}, out);
  if (count) *count = launches() - before;
  return out;
}

Tensors on_cpu(const RandomList& list) {
  Tensors out;
  for (size_t i = 0; i < list.shapes.size(); ++i)
    out.push_back(empty(list.expr->dtype(list.expr->stores()[i]), list.shapes[i], cpu()));
  cpu_program(*list.expr)
      .run({list.in.data(), list.in.size()}, {out.data(), out.size()}, list.domain);
  return out;
}

// Ops whose results stay small and do not magnify the errors of their operands much.
std::vector<const OpDef*> tame_ops() {
  std::vector<const OpDef*> out;
  for (const char* name :
       {"Tanh",      "Sigmoid",    "Sin",          "Cos",   "Abs",      "Neg",        "Erf",
        "Softsign",  "Maximum",    "Minimum",      "Sub",   "AddV2",    "Mul",        "Relu",
        "Atan",      "Less",       "GreaterEqual", "Equal", "NotEqual", "LogicalNot", "LogicalAnd",
        "LogicalOr", "BitwiseAnd", "BitwiseXor",   "Square"})
    if (const OpDef* op = find_op(name); op && op->elementwise) out.push_back(op);
  return out;
}

// Lists made at random: broadcasts, casts, bools, several outputs, and rows that are folded.
void random_lists() {
  auto ops = tame_ops();
  int lists = 0, one = 0;
  size_t outputs = 0;
  double worst = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomList list = ListMaker(seed, seed % 2, true, ops).make();
    Tensors want = on_cpu(list), in;
    for (const Tensor& t : list.in) in.push_back(there(t));
    long long count = 0;
    Tensors got = on_gpu(list.expr, in, &count);
    ++lists;
    one += count == 1;
    check(count == 1, cat("list ", seed, " took ", count, " launches: ", list.expr->text()));
    double coarsest = 0;  // of what is computed on the way
    for (size_t v = 0; v < list.expr->values().size(); ++v)
      coarsest = std::max(coarsest, tolerance(list.expr->dtype(static_cast<int>(v))));
    for (size_t i = 0; i < got.size(); ++i, ++outputs) {
      double own = tolerance(got[i].dtype());
      worst = std::max(worst, same(cat("list ", seed, ".", i, ": ", list.expr->text()), got[i],
                                   want[i], own > 0 ? 30 * coarsest / own : 1));
    }
  }
  std::printf("lists: %d, %d of them in one launch, %zu outputs, worst error %.2g\n", lists, one,
              outputs, worst);
}

// The expression that the passes make of a graph with one output.
Ref<Node> fused_node(const std::string& text) {
  Ref<Graph> g = optimised(*parse_graph(text));
  Ref<Node> found;
  int others = 0;
  for (const Ref<Node>& n : g->nodes) {
    if (n->op == &fused_op())
      found = n;
    else if (!n->inputs.empty())
      ++others;
  }
  check(found && !others, "the passes make one node of it");
  return found;
}

std::string softmax_text(int64_t rows, int64_t row) {
  std::string all = cat("float32[", rows, ",", row, "]"), each = cat("float32[", rows, ",1]");
  return cat("holdfast graph 1\nfunction f(x) {\n  x = Placeholder() : ", all,
             "\n  last = Const() {value=int32[1](1)}\n  m = Max(x, last) {keep_dims=True} : ", each,
             "\n  d = Sub(x, m) : ", all, "\n  e = Exp(d) : ", all,
             "\n  s = Sum(e, last) {keep_dims=True} : ", each, "\n  y = RealDiv(e, s) : ", all,
             "\n  return y\n}\n");
}

std::string layer_norm_text(int64_t rows, int64_t row) {
  std::string all = cat("float32[", rows, ",", row, "]"), each = cat("float32[", rows, ",1]"),
              one = cat("float32[", row, "]");
  return cat("holdfast graph 1\nfunction f(x, g, b) {\n  x = Placeholder() : ", all,
             "\n  g = Placeholder() : ", one, "\n  b = Placeholder() : ", one,
             "\n  last = Const() {value=int32[1](1)}\n  tiny = Const() {value=float32[](0.001)}",
             "\n  m = Mean(x, last) {keep_dims=True} : ", each, "\n  d = Sub(x, m) : ", all,
             "\n  q = Square(d) : ", all, "\n  v = Mean(q, last) {keep_dims=True} : ", each,
             "\n  w = AddV2(v, tiny) : ", each, "\n  r = Rsqrt(w) : ", each,
             "\n  n = Mul(d, r) : ", all, "\n  a = Mul(n, g) : ", all,
             "\n  y = AddV2(a, b) : ", all, "\n  return y\n}\n");
}

// A node of the passes on both devices.
void node(const std::string& what, const Ref<Node>& n) {
  if (!n) return;
  Ref<Expr> e(const_cast<Expr*>(&expr_of(n->attrs)));
  RandomList list{e, {}, type_of(Edge{n, 0}).shape, {}};
  Tensors in;
  uint64_t seed = 1;
  for (const Edge& i : n->inputs) {
    bool constant = i.node->op == &const_op();
    list.in.push_back(constant ? constant_of(*i.node)
                               : numbers(type_of(i).shape, type_of(i).dtype, -2, 2, seed++));
    in.push_back(constant ? list.in.back() : there(list.in.back()));
  }
  for (size_t i = 0; i < n->outputs.size(); ++i) list.shapes.push_back(n->outputs[i].shape);
  Tensors want = on_cpu(list);
  long long count = 0;
  Tensors got = on_gpu(e, in, &count);
  check(count == 1, cat(what, " took ", count, " launches"));
  for (size_t i = 0; i < got.size(); ++i) {
    double error = same(what, got[i], want[i]);
    std::printf("%s: error %.2g, %lld launch\n", what.c_str(), error, count);
  }
}

void written_out() {
  for (int64_t row : {8, 63, 257, 768, 1024, 4095, 4096, 8192, 16384}) {
    node(cat("softmax of rows of ", row), fused_node(softmax_text(37, row)));
    node(cat("layer norm of rows of ", row), fused_node(layer_norm_text(37, row)));
  }
}

Tensor chain(const Tensor& x, const Tensor& y) {
  Tensor a = tanh(x * 0.5f + y), b = maximum(a - x, y * a);
  return sigmoid(b * 2.0f) + abs(a);
}

// Traced by a program, as users write it.
void traced() {
  auto f = function(chain);
  for (const Shape& s : {Shape{7}, Shape{33, 129}, Shape{1 << 20}}) {
    Tensor x = numbers(s, float32, -2, 2, 3), y = numbers(Shape{s[-1]}, float32, -1, 1, 4);
    Tensor a = there(x), b = there(y);
    f(a, b);
    long long before = launches();
    Tensor got = f(a, b);
    check(launches() - before == 1,
          cat("a traced chain takes one launch, not ", launches() - before));
    same("a traced chain", got, chain(x, y));
  }
}

Tensor large(const Shape& s) {
  Tensor block = there(numbers({1, 1 << 16}));
  return reshape(broadcast_to(block, {s.size() >> 16, 1 << 16}), s);
}

void times() {
  constexpr int64_t n = int64_t{256} << 20;
  double bytes = 8.0 * n;  // read and written
  Tensor x = large({n}), to = empty(float32, {n}, gpu);
  double copy =
      bytes / seconds(10, [&] {
        gpu->copy_within(*to.rep()->buffer, 0, *x.rep()->buffer, 0, static_cast<size_t>(x.bytes()))
            .check();
      });
  std::printf("time: copy of 256M floats       %8.0f GB/s\n", copy * 1e-9);
  to = Tensor();
  auto tell = [&](const char* what, double s) {
    std::printf("time: %-24s %8.0f us %8.0f GB/s, %.1f %% of the copy\n", what, s * 1e6,
                bytes / s * 1e-9, 100 * bytes / s / copy);
  };
  auto ten = function([](const Tensor& v) {
    Tensor a = v * 1.01f + 0.5f, b = tanh(a) - v, c = maximum(b, a) * b;
    return sqrt(abs(c) + 1.0f);
  });
  tell("chain of ten ops", seconds(10, [&] { ten(x); }));
  for (int64_t row : {256, 1024, 4096, 16384}) {
    Ref<Node> softmax = fused_node(softmax_text(n / row, row)),
              norm = fused_node(layer_norm_text(n / row, row));
    if (!softmax || !norm) return;
    Tensor m = view_of(x, {n / row, row}), gain = large({1 << 16});
    gain = view_of(gain, {row});
    Ref<Expr> s(const_cast<Expr*>(&expr_of(softmax->attrs))),
        l(const_cast<Expr*>(&expr_of(norm->attrs)));
    tell(cat("softmax, rows of ", row).c_str(), seconds(10, [&] { on_gpu(s, {m}); }));
    Tensors in;
    for (const Edge& i : norm->inputs)
      in.push_back(i.node->op == &const_op()      ? constant_of(*i.node)
                   : type_of(i).shape.rank() == 2 ? m
                                                  : gain);
    tell(cat("layer norm, rows of ", row).c_str(), seconds(10, [&] { on_gpu(l, in); }));
  }
  Tensor tiny = there(numbers({16}));
  std::printf("time: tiny Add, queued %.2f us; traced tiny chain %.2f us\n",
              1e6 * seconds(2000, [&] { tiny + tiny; }), 1e6 * seconds(2000, [&] { ten(tiny); }));
}

}  // namespace

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  gpu = find_device(DeviceKind::kCuda, 0);
  if (!gpu) {
    std::printf("skipped: no GPU\n");
    return 77;
  }
  std::printf("%s: %s\n", gpu->name().c_str(), gpu->description().c_str());
  void* plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) : nullptr;
  launches =
      plugin ? reinterpret_cast<long long (*)()>(dlsym(plugin, "holdfast_cuda_launches")) : nullptr;
  if (!launches) {
    std::printf("FAILED: %s is not the plugin that was loaded\n", argc > 1 ? argv[1] : "(no path)");
    return 1;
  }
  try {
    for (auto* part : {random_lists, written_out, traced}) part();
    check(gpu->synchronize().ok(), "nothing failed behind our back");
    if (argc > 2 && !std::strcmp(argv[2], "time")) times();
  } catch (const std::exception& e) {
    check(false, cat("an exception: ", e.what()));
  }
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures != 0;
}
