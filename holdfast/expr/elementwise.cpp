// The CPU kernel of elementwise ops: blocks of operands, broadcast where needed, through one loop.
#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/expr/blocks.h"
#include "holdfast/expr/cpu/loop_table.h"
#include "holdfast/expr/expr.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

constexpr ScalarInfo kScalars[] = {
#define HOLDFAST_SCALAR(id, arity, types, result, ...) \
  {#id, arity, std::string_view(#result) == "boolean", #__VA_ARGS__},
#include "holdfast/expr/scalar_ops.def"
#undef HOLDFAST_SCALAR
};

struct Chosen {
  LoopTable table;
  Chosen() {
    HOLDFAST_BEST_ISA(add_float_loops(table));
    HOLDFAST_BEST_ISA(add_complex_loops(table));
    HOLDFAST_BEST_ISA(add_integer_loops(table));
    HOLDFAST_BEST_ISA(add_wide_loops(table));
    HOLDFAST_BEST_ISA(add_cast_loops(table));
  }
};

const Chosen& chosen() {
  static const Chosen c;
  return c;
}

}  // namespace

const ScalarInfo& info(Scalar s) { return kScalars[static_cast<int>(s)]; }
Loop loop_for(Scalar s, DType d) {
  return chosen().table.loops[static_cast<int>(s)][static_cast<int>(d)];
}
Loop cast_loop(DType from, DType to) {
  return chosen().table.casts[static_cast<int>(from)][static_cast<int>(to)];
}

void run_broadcast(Loop loop, std::span<const Tensor> in, const Tensor& out) {
  int64_t n = out.size();
  if (n == 0) return;
  const void* direct[kMostOperands];
  bool dense = true;
  for (size_t k = 0; k < in.size(); ++k) {
    dense = dense && in[k].shape() == out.shape();
    direct[k] = in[k].raw();
  }
  if (dense && n <= kGrain) return loop(direct, out.mutable_raw(), n);

  InlineVector<Reader, kMostOperands> readers;
  for (const Tensor& t : in) readers.push_back(Reader(t, out.shape()));
  auto* to = static_cast<char*>(out.mutable_raw());
  int64_t cell = size_of(out.dtype());
  bool past_caches = n * cell >= stream_from() && reinterpret_cast<uintptr_t>(to) % 16 == 0;
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
    alignas(64) char scratch[kMostOperands][kBlock * 16];
    int64_t most = std::min(kBlock, end - begin);
    for (size_t k = 0; k < readers.size(); ++k)
      if (readers[k].constant && !readers[k].dense)
        readers[k].repeat(scratch[k], readers[k].data, most);
    int64_t step = dense && !past_caches ? end - begin : kBlock;
    alignas(64) char result[kBlock * 16];
    for (int64_t b = begin; b < end; b += step) {
      int64_t count = std::min(step, end - b);
      const void* operands[kMostOperands];
      for (size_t k = 0; k < readers.size(); ++k)
        operands[k] = readers[k].constant && !readers[k].dense
                          ? scratch[k]
                          : readers[k].block(b, count, scratch[k]);
      if (!past_caches || count % 64 != 0) {
        loop(operands, to + b * cell, count);
        continue;
      }
      loop(operands, result, count);
      stream(to + b * cell, result, count * cell);
    }
    if (past_caches) end_stream();
  });
}

// A last axis where one operand has all axes of the other but that; else what to look at.
std::vector<Fix> to_broadcast(const std::string& a, const Shape& of_a, const std::string& b,
                              const Shape& of_b) {
  for (bool second : {true, false}) {
    const Shape &wide = second ? of_a : of_b, &narrow = second ? of_b : of_a;
    const std::string& name = second ? b : a;
    if (narrow.rank() < 1 || narrow.rank() + 1 != wide.rank()) continue;
    Dims dims = narrow.dims();
    dims.push_back(1);
    if (broadcast(wide, Shape(dims)) && name.find(' ') == name.npos)
      return {manual_fix(cat("`", written(Advice::kLastAxis, {name}),
                             "`: a last axis of size 1 for ", wide.text()))};
  }
  TensorInfo both[2];
  both[0].name = a, both[0].shape = of_a.text();
  both[1].name = b, both[1].shape = of_b.text();
  return sizes_to_check(both);
}

void infer_elementwise(Infer& s) {
  DType out = info(s.op().scalar).boolean ? DType::kBool : s.dtype(0);
  bool same = true;
  for (int i = 1; i < s.inputs(); ++i) same = same && s.shape(i) == s.shape(0);
  if (same) return s.output(out, s.shape(0));
  Shape shape = s.shape(0);
  for (int i = 1; i < s.inputs(); ++i) {
    auto both = broadcast(shape, s.shape(i));
    if (!both) {
      auto name = [&](int k) {
        return operand_source(s.op(), {&s.input(0), static_cast<size_t>(s.inputs())}, k).text;
      };
      auto d = about_call(Code::E1102, s.op(), {&s.input(0), static_cast<size_t>(s.inputs())},
                          cat(s.op().name, ": `", name(i - 1), "` ", shape.text(), " and `",
                              name(i), "` ", s.shape(i).text(), " do not broadcast"));
      d.why = cat(
          "aligned from the right, each pair of dimensions must be equal or hold a 1: argument `",
          s.op().inputs[static_cast<size_t>(i)].name, "` got shape ", s.shape(i).text(),
          ", expected one that broadcasts with ", shape.text());
      d.fixes = to_broadcast(name(i - 1), shape, name(i), s.shape(i));
      raise(std::move(d));
    }
    shape = *std::move(both);
  }
  s.output(out, std::move(shape));
}

Status run_elementwise(Call& c) {
  DType d = c.in().dtype();
  Loop loop = loop_for(c.op.scalar, d);
  if (!loop) return {Code::E1105, cat(c.op.name, " is not computed for ", name(d))};
  int arity = info(c.op.scalar).arity;
  if (arity == c.inputs()) {
    run_broadcast(loop, {&c.in(0), static_cast<size_t>(arity)}, c.out());
    return {};
  }
  InlineVector<Tensor, kMostOperands> operands;
  for (int i = 0; i < c.inputs(); ++i) operands.push_back(c.in(i));
  for (int i = c.inputs(); i < arity; ++i)
    operands.push_back(
        Tensor::scalar(number_in(c.attrs(), static_cast<size_t>(i - c.inputs())), d));
  run_broadcast(loop, operands, c.out());
  return {};
}

Builder& Builder::elementwise(Scalar scalar) {
  op_->scalar = scalar;
  op_->elementwise = true;
  op_->infer = infer_elementwise;
  op_->kernels.push_back({"expr", DeviceKind::kCpu, run_elementwise, kPlain, nullptr});
  op_->plain_gives_bool = info(scalar).boolean;
  loops_ = chosen().table.loops[static_cast<int>(scalar)];
  loops_infer_ = infer_elementwise;
  loops_run_ = run_elementwise;
  loops_arity_ = static_cast<size_t>(info(scalar).arity);
  return *this;
}

}  // namespace holdfast
