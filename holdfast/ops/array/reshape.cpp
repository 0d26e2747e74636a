#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"

namespace holdfast {
namespace {

void infer_reshape(Infer& s) {
  auto want = s.ints(1);
  if (!want) return s.output(s.dtype(), Shape::unknown());
  int64_t known = 1, open = -1;
  for (size_t i = 0; i < want->size(); ++i) {
    int64_t d = (*want)[i];
    if (d < -1) s.bad_value("shape", Shape(*want).text(), "sizes of 0 or more, and at most one -1");
    if (d == -1 && open >= 0) s.bad_value("shape", Shape(*want).text(), "at most one -1");
    if (d == -1) open = static_cast<int64_t>(i);
    else if (__builtin_mul_overflow(known, d, &known)) s.bad_value("shape", Shape(*want).text(), "a product that can be counted");
  }
  int64_t have = s.shape().elements().value_or(-1);
  bool fits = open < 0 ? known == have : known > 0 && have % known == 0;
  if (open >= 0 && known == 0) fits = have == 0;
  if (!fits) {
    std::vector<Fix> fixes;
    s.bad_shape(0, cat("as many elements as shape ", Shape(*want).text(), " holds: it has ", have, open < 0 ? cat(", not ", known) : cat(", no multiple of ", known)), std::move(fixes));
  }
  if (open >= 0) (*want)[static_cast<size_t>(open)] = known ? have / known : 0;
  s.output(s.dtype(), Shape(*want));
}

}  // namespace

static const Op op =
    OP(Reshape, &reshape).args("tensor, shape").doc("The same elements in another shape; one dimension may be -1.")
        .inputs("tensor, shape: Tshape!").view().infer(infer_reshape)
        .kernel("view", +[](Call& c) -> Status { c.set_out(0, view_of(c.in(), c.out_shape())); return {}; })
        .kernel_for(DeviceKind::kCuda, "view", +[](Call& c) -> Status { c.set_out(0, view_of(c.in(), c.out_shape())); return {}; })
        .gradient(+[](Grad& g) -> Tensors { return {reshape(g.dy(), g.x().shape()), Tensor()}; }).keeps("")
        .samples("uniform(3, 4), [4, 3]", "uniform(2, 6), [-1, 3]").reference("np.reshape(tensor, shape)");
Tensor reshape(const In& t, const Sizes& shape) { return op({t, shape.tensor()}); }

}  // namespace holdfast
