// Tensors of one value.
#include <algorithm>

#include "holdfast/device/device.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

void infer_fill(Infer& s) {
  s.need_rank(0, 0, 1);  // a bare number stands for one size
  s.need_rank(1, 0, 0);
  s.output(s.dtype(1), shape_held(s, 0, "dims"));
}

Status run_fill(Call& c) {
  Tensor& y = c.out();
  fill_run(y.dtype(), y.size(), c.in(1).raw(), y.mutable_raw());
  return {};
}

Tensor scalar_of(const char* who, int value, DType d) {
  if (d == DType::kString && value == 0) return empty(d, Shape{}, cpu());
  if (!kPlain.has(d))
    fail(Code::E1101, cat(who, ": dtype is ", name(d), ", expected ", to_text(kPlain)));
  return Tensor::scalar(value, d);
}

}  // namespace

static const Op fill_op =
    OP(Fill, &fill)
        .args("dims, value")
        .doc("A tensor of shape `dims` that holds `value` everywhere.")
        .inputs("dims: index_type!, value~")
        .infer(infer_fill)
        .kernel("runs", run_fill)
        .gradient(+[](Grad& g) -> Tensors { return {Tensor(), reduce_sum(g.dy())}; })
        .keeps("")
        .samples("[2, 3], 7.5", "[], 2.5", "[2, 0], 1.5")
        .reference("np.full(dims, value, np.float32)");
Tensor fill(const Sizes& dims, const In& value) { return fill_op({dims.tensor(), value}); }

static const Op zeros_like_op =
    OP(ZerosLike, &zeros_like)
        .outputs("y")
        .args("input, dtype")
        .doc("Zeros (or empty strings) of the same shape, and dtype where no other is given.")
        .inputs("x")
        .of_shape(OfShape::kFilled)
        .same_as_input()
        .no_gradient()
        .kernel(
            "memset",
            +[](Call& c) -> Status {
              fill_zeros(c.out());
              return {};
            })
        .samples("uniform(3, 4)", "ints(3)", "uniform(3, 4), tf.int32")
        .reference("np.zeros_like(input)");
Tensor zeros_like(const In& x, std::optional<DType> dtype) {
  Tensor t = x;
  if (!dtype || *dtype == t.dtype()) return zeros_like_op(t);
  return fill(shape_of(t), scalar_of("zeros_like", 0, *dtype));
}

REGISTER(FUNCTION(&ones_like)
             .args("input, dtype")
             .doc("Ones of the same shape, and dtype where no other is given.")
             .samples("uniform(3, 4)", "ints(3)", "uniform(3, 4), tf.int32")
             .reference("np.ones_like(input)"));
Tensor ones_like(const In& x, std::optional<DType> dtype) {
  Tensor t = x;
  return fill(shape_of(t), scalar_of("ones_like", 1, dtype.value_or(t.dtype())));
}

REGISTER(FUNCTION(&zeros)
             .args("shape, dtype")
             .doc("Zeros (false, empty strings) of a shape; float32 where no dtype is given.")
             .samples("[2, 3]", "[], tf.int32")
             .reference("np.zeros(shape)"));
Tensor zeros(const Sizes& shape, std::optional<DType> dtype) {
  return fill(shape, scalar_of("zeros", 0, dtype.value_or(float32)));
}

REGISTER(FUNCTION(&ones)
             .args("shape, dtype")
             .doc("Ones of a shape; float32 where no dtype is given.")
             .samples("[2, 3]", "[0], tf.int32")
             .reference("np.ones(shape)"));
Tensor ones(const Sizes& shape, std::optional<DType> dtype) {
  return fill(shape, scalar_of("ones", 1, dtype.value_or(float32)));
}

REGISTER(FUNCTION(&eye)
             .args("num_rows")
             .options<&EyeOptions::num_columns, &EyeOptions::batch_shape, &EyeOptions::dtype>(
                 "num_columns, batch_shape, dtype")
             .python("eye, linalg.eye")
             .doc("Identity matrices, one for each entry of a batch.")
             .samples("3", "2, 4", "2, batch_shape=[3]")
             .reference("np.broadcast_to(np.eye(num_rows, num_columns), tuple(batch_shape or ()) + "
                        "(num_rows, num_columns or num_rows))"));
Tensor eye(const Sizes& num_rows, const EyeOptions& o) {
  const Sizes
      none;  // not a temporary: the compiler takes its unused room for an uninitialised read
  Sizes num_columns = o.num_columns ? *o.num_columns : num_rows,
        batch = o.batch_shape ? *o.batch_shape : none;
  auto known = [](const Sizes& s) { return !s.is_tensor() || is_known(s.tensor()); };
  if (!known(num_rows) || !known(num_columns) || !known(batch)) {
    auto number = [](const Sizes& s) { return reshape(cast(s.tensor(), int32), Shape{}); };
    Tensor rows = number(num_rows), columns = number(num_columns);
    Tensor shape = concat(
        {reshape(cast(batch.tensor(), int32), {-1}), reshape(minimum(rows, columns), {1})}, 0);
    return linalg::diag(ones(Sizes(shape), o.dtype),
                        {.num_rows = Sizes(rows), .num_cols = Sizes(columns)});
  }
  Dims rows = num_rows.ints(), columns = num_columns.ints(), shape = batch.ints();
  if (rows.size() != 1 || columns.size() != 1)
    fail(Code::E1102, "eye: the sizes are lists, expected a number each");
  if (rows[0] < 0 || columns[0] < 0)
    fail(Code::E1103,
         cat("eye: the sizes are ", rows[0], " and ", columns[0], ", expected 0 or more"));
  shape.push_back(std::min(rows[0], columns[0]));
  return linalg::diag(ones(shape, o.dtype), {.num_rows = rows[0], .num_cols = columns[0]});
}

}  // namespace holdfast
