// The larger, the smaller, the nearest in a range; choosing between two.
#include "holdfast/base/text.h"
#include "holdfast/expr/fused.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/rows.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

// Of two equal operands the first gets the gradient.
Tensors split_by(Grad& g, const Tensor& first) {
  return {g.wants(0) ? select(first, g.dy(), 0) : Tensor(),
          g.wants(1) ? select(first, 0, g.dy()) : Tensor()};
}

void infer_clip(Infer& s) {
  infer_elementwise(s);
  if (!s.shapes[0].compatible(s.shape(0))) {
    int i = s.shape(1).rank() > s.shape(0).rank() ||
                    !broadcast(s.shape(0), s.shape(1))->compatible(s.shape(0))
                ? 1
                : 2;
    s.bad_shape(i, cat("a shape that broadcasts to `t`'s ", s.shape(0).text()));
  }
  s.shapes[0] = s.shape(0);
}

void infer_select(Infer& s) {
  Shape out = s.shape(0);
  for (int i = 1; i < 3; ++i) {
    auto both = broadcast(out, s.shape(i));
    if (!both) s.bad_shape(i, cat("a shape that broadcasts with ", out.text()));
    out = *std::move(both);
  }
  s.output(s.dtype(1), std::move(out));
}

Status run_select(Call& c) {
  const Tensor &which = c.in(0), &t = c.in(1), &e = c.in(2);
  Tensor& out = c.out();
  visit_cells(out.dtype(), [&]<class T>(T) {
    for_rows<3>({&which, &t, &e}, out.shape(), [&](const Row<3>& r) {
      const auto* w = which.raw<uint8_t>() + r.at[0];
      const T *a = t.raw<T>() + r.at[1], *b = e.raw<T>() + r.at[2];
      T* to = out.mutable_raw<T>() + r.out;
      auto run = [&](int64_t sw, int64_t sa, int64_t sb) {
        if constexpr (std::is_same_v<T, std::string>) {
          for (int64_t i = 0; i < r.count; ++i) to[i] = w[i * sw] ? a[i * sa] : b[i * sb];
        } else {
          // Both are loaded, so that the choice is a blend and not a branch.
          for (int64_t i = 0; i < r.count; ++i) {
            T x = a[i * sa], y = b[i * sb];
            to[i] = w[i * sw] ? x : y;
          }
        }
      };
      // The usual cases with constant steps, which the compiler turns into vectors.
      if (r.step[0] && r.step[1] && r.step[2])
        run(1, 1, 1);
      else if (r.step[0] && r.step[1])
        run(1, 1, 0);
      else if (r.step[0] && r.step[2])
        run(1, 0, 1);
      else
        run(r.step[0], r.step[1], r.step[2]);
    });
  });
  return {};
}

bool fuse_select(const OpDef&, const Attrs&, std::span<const DType>, DType, FusedForm& form,
                 const char*&) {
  form.does = Does::kSelect;
  return true;
}

}  // namespace

static const Op maximum_op =
    OP(Maximum, &maximum)
        .args("x, y")
        .python("maximum, math.maximum")
        .dtypes(kReals)
        .commutative()
        .doc("The larger of x and y, element by element; NaN where either is.")
        .order_shows()
        .elementwise(Scalar::kMaximum)
        .gradient(+[](Grad& g) -> Tensors { return split_by(g, greater_equal(g.x(0), g.x(1))); })
        .keeps("x, y")
        .samples("uniform(3, 4), uniform(4)", "ints(5), ints(5)")
        .reference("np.maximum(x, y)");
Tensor maximum(const In& x, const In& y) { return maximum_op(x, y); }

static const Op minimum_op =
    OP(Minimum, &minimum)
        .args("x, y")
        .python("minimum, math.minimum")
        .dtypes(kReals)
        .commutative()
        .doc("The smaller of x and y, element by element; NaN where either is.")
        .order_shows()
        .elementwise(Scalar::kMinimum)
        .gradient(+[](Grad& g) -> Tensors { return split_by(g, less_equal(g.x(0), g.x(1))); })
        .keeps("x, y")
        .samples("uniform(3, 4), uniform(4)", "ints(5), ints(5)")
        .reference("np.minimum(x, y)");
Tensor minimum(const In& x, const In& y) { return minimum_op(x, y); }

static const Op clip_op =
    OP(ClipByValue, &clip_by_value)
        .args("t, clip_value_min, clip_value_max")
        .python("clip_by_value")
        .dtypes(kReals)
        .doc(
            "t moved into [clip_value_min, clip_value_max], element by "
            "element; the bounds broadcast to t's shape.")
        .elementwise(Scalar::kClip)
        .infer(infer_clip)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor low = less(g.x(0), g.x(1)), high = greater(g.x(0), g.x(2));
          return {g.wants(0) ? select(logical_or(low, high), 0, g.dy()) : Tensor(),
                  g.wants(1) ? select(low, g.dy(), 0) : Tensor(),
                  g.wants(2) ? select(high, g.dy(), 0) : Tensor()};
        })
        .keeps("t, clip_value_min, clip_value_max")
        .samples("uniform(3, 4), -0.4, 0.5", "ints(5), 1, 3")
        .reference("np.clip(t, clip_value_min, clip_value_max)");
Tensor clip_by_value(const In& t, const In& low, const In& high) { return clip_op({t, low, high}); }

static const Op select_op =
    RAW_OP(SelectV2)
        .inputs("condition: C, t, e")
        .dtypes(kBools, "C")
        .doc("t where the condition holds, e elsewhere, element by element; all three broadcast.")
        .fuses(fuse_select)
        .infer(infer_select)
        .kernel("rows", run_select)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), g.wants(1) ? sum_to(select(g.x(0), g.dy(), 0), g.x(1)) : Tensor(),
                  g.wants(2) ? sum_to(select(g.x(0), 0, g.dy()), g.x(2)) : Tensor()};
        })
        .keeps("condition");
Tensor select(const In& condition, const In& t, const In& e) {
  return select_op({condition, t, e});
}

static const Op next_after_op = OP(NextAfter, &nextafter)
                                    .args("x1, x2")
                                    .python("math.nextafter")
                                    .dtypes({float32, float64})
                                    .doc("The next number after x1 towards x2, element by element.")
                                    .elementwise(Scalar::kNextAfter)
                                    .gradient(+[](Grad& g) -> Tensors {
                                      return {g.dy(), g.wants(1) ? zeros_like(g.dy()) : Tensor()};
                                    })
                                    .keeps("")
                                    .samples("uniform(3, 4), uniform(4)")
                                    .reference("np.nextafter(x1, x2)")
                                    .checks({.rtol = 0, .atol = 0});
Tensor nextafter(const In& x1, const In& x2) { return next_after_op(x1, x2); }

}  // namespace holdfast
