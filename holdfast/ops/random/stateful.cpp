// Uniform and normal numbers from the streams that the global seed and op seeds choose.
#include "holdfast/base/text.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/random/fill.h"
#include "holdfast/ops/random/fused_draw.h"
#include "holdfast/ops/random/streams.h"

namespace holdfast::random {
namespace {

void infer_fill(Infer& s) {
  Shape shape = named_shape(s, 0);
  s.output(dtype_attr<SeedsDtypeAttrs>(s, kFloats), shape);
}

template <Into into>
Status run_fill(Call& c) {
  Tensor& y = c.out();
  into(stream(c, blocks_reserved(y.size())), y);
  return {};
}

Status run_uniform_int(Call& c) {
  Tensor& y = c.out();
  if (y.size() == 0) return {};
  return uniform_int_into(stream(c, blocks_reserved(y.size())), c.in(1), c.in(2), y);
}

}  // namespace

static const Op uniform_op =
    RAW_OP(RandomUniform)
        .doc("Uniform in [0, 1), from the stream that the seeds choose.")
        .inputs("shape: T!")
        .attr("seed", 0)
        .attr("seed2", 0)
        .attrs<&SeedAttrs::seed, &SeedAttrs::seed2>()
        .draws()
        .attr("dtype")
        .attrs<&SeedsDtypeAttrs::seed, &SeedsDtypeAttrs::seed2, &SeedsDtypeAttrs::dtype>()
        .stateful()
        .no_gradient()
        .infer(infer_fill)
        .kernel("philox", run_fill<uniform_into>);

static const Op uniform_int_op =
    RAW_OP(RandomUniformInt)
        .doc("Integers in [minval, maxval), from the stream that the seeds choose.")
        .inputs("shape: T!, minval: Tout, maxval: Tout")
        .dtypes(kIndices, "Tout")
        .attr("seed", 0)
        .attr("seed2", 0)
        .attrs<&SeedAttrs::seed, &SeedAttrs::seed2>()
        .draws()
        .stateful()
        .no_gradient()
        .infer(+[](Infer& s) {
          Shape shape = named_shape(s, 0);
          need_scalar(s, 1);
          need_scalar(s, 2);
          s.output(s.dtype(1), shape);
        })
        .kernel("philox", run_uniform_int);

static const Op normal_op =
    RAW_OP(RandomStandardNormal)
        .doc("Standard normal, from the stream that the seeds choose.")
        .inputs("shape: T!")
        .attr("seed", 0)
        .attr("seed2", 0)
        .attrs<&SeedAttrs::seed, &SeedAttrs::seed2>()
        .draws()
        .attr("dtype")
        .attrs<&SeedsDtypeAttrs::seed, &SeedsDtypeAttrs::seed2, &SeedsDtypeAttrs::dtype>()
        .stateful()
        .no_gradient()
        .infer(infer_fill)
        .kernel("philox", run_fill<normal_into>);

static const Op truncated_op =
    RAW_OP(TruncatedNormal)
        .doc("Standard normal cut at -2 and 2, from the stream that the seeds choose.")
        .inputs("shape: T!")
        .attr("seed", 0)
        .attr("seed2", 0)
        .attrs<&SeedAttrs::seed, &SeedAttrs::seed2>()
        .draws()
        .attr("dtype")
        .attrs<&SeedsDtypeAttrs::seed, &SeedsDtypeAttrs::seed2, &SeedsDtypeAttrs::dtype>()
        .stateful()
        .no_gradient()
        .infer(infer_fill)
        .kernel("philox", run_fill<truncated_normal_into>);

static const Op stream_op =
    RAW_OP(RandomStream)
        .doc(
            "Where as many numbers as `shape` has begin in the stream that the seeds choose. "
            "Graphs "
            "hold it after they were optimised.")
        .inputs("shape: T!")
        .attr("seed", 0)
        .attr("seed2", 0)
        .attrs<&SeedAttrs::seed, &SeedAttrs::seed2>()
        .draws()
        .stateful()
        .no_gradient()
        .infer(+[](Infer& s) {
          named_shape(s, 0);
          s.output(uint64, Shape{3});
        })
        .kernel(
            "philox", +[](Call& c) -> Status {
              store_stream(stream(c, blocks_reserved(Shape(c.ints(0)).size())), c.out());
              return {};
            });
static const DrawnInsideLoops uniform_inside(uniform_op.def(),
                                             {&stream_op.def(), {0}, 2, Numbers::kUniform}),
    normal_inside(normal_op.def(), {&stream_op.def(), {0}, 2, Numbers::kNormal});

REGISTER(FUNCTION(&uniform)
             .args("shape")
             .options<&UniformOptions::minval, &UniformOptions::maxval, &UniformOptions::dtype,
                      &UniformOptions::seed>("minval: dtype, maxval: dtype, dtype, seed")
             .python("random.uniform")
             .doc("Uniform in [minval, maxval). Floats in [0, 1) by default; integer dtypes need "
                  "`maxval`.")
             .samples("[3, 2]", "[3, 2], uniform(2), uniform(3, 1, low=2, high=4)",
                      "[4], maxval=5, dtype='int32'"));
Tensor uniform(const Sizes& shape, const UniformOptions& o) {
  check_dtype("random.uniform", o.dtype, kFloats | kIndices);
  if (is_integer(o.dtype)) {
    if (!o.maxval.given())
      fail(Code::E1103,
           cat("random.uniform: `maxval` is missing, expected one for dtype ", name(o.dtype)));
    Tensor low = as_dtype(o.minval, o.dtype, "minval"),
           high = as_dtype(o.maxval, o.dtype, "maxval");
    return uniform_int_op({shape.tensor(), low, high}, CallSeeds(o.seed).attrs());
  }
  CallSeeds seeds(o.seed);
  return scaled_uniform(uniform_op({shape.tensor()}, seeds.attrs(o.dtype)), o.minval, o.maxval);
}

REGISTER(FUNCTION(&normal)
             .args("shape")
             .options<&NormalOptions::mean, &NormalOptions::stddev, &NormalOptions::dtype,
                      &NormalOptions::seed>("mean: dtype, stddev: dtype, dtype, seed")
             .python("random.normal")
             .doc("Normal with the given mean and standard deviation.")
             .samples("[3, 2]", "[3, 2], uniform(2), positive(3, 1)"));
Tensor normal(const Sizes& shape, const NormalOptions& o) {
  check_dtype("random.normal", o.dtype, kFloats);
  CallSeeds seeds(o.seed);
  return scaled_normal(normal_op({shape.tensor()}, seeds.attrs(o.dtype)), o.mean, o.stddev);
}

REGISTER(
    FUNCTION(&truncated_normal)
        .args("shape")
        .options<&NormalOptions::mean, &NormalOptions::stddev, &NormalOptions::dtype,
                 &NormalOptions::seed>("mean: dtype, stddev: dtype, dtype, seed")
        .python("random.truncated_normal")
        .doc("Normal; values further than two standard deviations from the mean are drawn again.")
        .samples("[3, 2]", "[3, 2], uniform(2), positive(3, 1)"));
Tensor truncated_normal(const Sizes& shape, const NormalOptions& o) {
  check_dtype("random.truncated_normal", o.dtype, kFloats);
  CallSeeds seeds(o.seed);
  return scaled_normal(truncated_op({shape.tensor()}, seeds.attrs(o.dtype)), o.mean, o.stddev);
}

}  // namespace holdfast::random
