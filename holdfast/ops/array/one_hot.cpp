#include <algorithm>

// Numbers as positions of a one, lengths as runs of true.
#include <algorithm>

#include "holdfast/base/parallel.h"
#include "holdfast/expr/expr.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct OneHotAttrs {
  Attr<int64_t> axis;
};
struct SequenceMaskAttrs {
  Attr<DType> dtype;
};

constexpr DTypes kOneHotIndices{uint8, int8, int32, int64};

// The integers of `t` in 64 bits, so that loops exist once and not for each of their dtypes.
std::vector<int64_t> numbers_in(const Tensor& t) {
  std::vector<int64_t> out(static_cast<size_t>(t.size()));
  const void* from[] = {t.raw()};
  cast_loop(t.dtype(), int64)(from, out.data(), t.size());
  return out;
}

void infer_one_hot(Infer& s) {
  if (s.shape(1).elements().value_or(1) != 1) s.bad_shape(1, "one number");
  s.need_rank(2, 0, 0);
  s.need_rank(3, 0, 0);
  auto depth = s.ints(1);
  if (depth && (*depth)[0] < 0) s.bad_value("depth", cat((*depth)[0]), "0 or more");
  if (!s.shape().has_rank()) return s.output(s.dtype(2), Shape::unknown());
  Shape out = s.shape();
  out.dims().insert(static_cast<size_t>(s.axis(s.attrs<OneHotAttrs>().axis(), 0, "axis", 1)),
                    depth ? (*depth)[0] : kUnknown);
  s.output(s.dtype(2), out);
}

Status run_one_hot(Call& c) {
  const Tensor& ids = c.in();
  Tensor& y = c.out();
  int64_t axis = c.attrs<OneHotAttrs>().axis();
  Around a = around(y.shape(), static_cast<int>(axis < 0 ? axis + y.rank() : axis));
  fill_run(y.dtype(), y.size(), c.in(3).raw(), y.mutable_raw());
  if (!y.size()) return {};
  std::vector<int64_t> positions = numbers_in(ids);
  visit_cells(y.dtype(), [&]<class T>(T) {
    const T on = *c.in(2).raw<T>();
    T* to = y.mutable_raw<T>();
    parallel_for(ids.size(), 8192, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t at = positions[static_cast<size_t>(i)];
        // As in TensorFlow: an index outside [0, depth) gives a row without a one.
        if (at >= 0 && at < a.size) to[(i / a.inner * a.size + at) * a.inner + i % a.inner] = on;
      }
    });
  });
  return {};
}

void infer_mask(Infer& s) {
  auto most = s.has(1) ? s.ints(1) : std::nullopt;
  if (s.has(1) && s.shape(1).elements().value_or(1) != 1) s.bad_shape(1, "one number");
  if (most && (*most)[0] < 0) s.bad_value("maxlen", cat((*most)[0]), "0 or more");
  DType d = s.attrs<SequenceMaskAttrs>().dtype();
  if (!kPlain.has(d)) s.bad_value("dtype", name(d), to_text(kPlain));
  if (!s.shape().has_rank()) return s.output(d, Shape::unknown());
  Shape out = s.shape();
  out.dims().push_back(most ? (*most)[0] : kUnknown);
  s.output(d, out);
}

Status run_mask(Call& c) {
  std::vector<int64_t> lengths = numbers_in(c.in());
  int64_t most = 0;
  if (c.has(1))
    most = only(c.ints(1));
  else
    for (int64_t n : lengths) most = std::max(most, n);
  Shape shape = c.in().shape();
  shape.dims().push_back(most);
  Tensor& y = c.out(0, shape);
  Tensor one = Tensor::scalar(1, y.dtype()), zero = Tensor::scalar(0, y.dtype());
  visit_cells(y.dtype(), [&]<class T>(T) {
    const T yes = *one.raw<T>(), no = *zero.raw<T>();
    T* to = y.mutable_raw<T>();
    for (int64_t n : lengths) {
      int64_t length = std::clamp<int64_t>(n, 0, most);
      to = std::fill_n(to, length, yes);
      to = std::fill_n(to, most - length, no);
    }
  });
  return {};
}

}  // namespace

static const Op one_hot_op =
    OP(OneHot, &one_hot)
        .args("indices: I, depth")
        .options<&OneHotOptions::on_value, &OneHotOptions::off_value, &OneHotOptions::axis,
                 &OneHotOptions::dtype>("on_value, off_value, axis, dtype")
        .doc(
            "`on_value` where the position along the new axis is the index, `off_value` elsewhere.")
        .inputs("indices: TI, depth: D!, on_value, off_value")
        .attr("axis", -1)
        .attrs<&OneHotAttrs::axis>()
        .dtypes(kOneHotIndices, "TI")
        .no_gradient()
        .infer(infer_one_hot)
        .kernel("reference", run_one_hot)
        .samples("[0, 2, -1, 1], 3", "[[0, 2], [1, 0]], 3",
                 "[0, 1], 3, on_value=5.0, off_value=-1.0")
        .reference(
            "np.where(np.expand_dims(np.asarray(indices), -1) == np.arange(depth), 1.0 if on_value "
            "is None else on_value, "
            "0.0 if off_value is None else off_value)")
        .checks({.gradient = false, .second_gradient = false});
Tensor one_hot(const In& indices, const Sizes& depth, const OneHotOptions& o) {
  DType d = o.dtype.value_or(o.on_value && !o.on_value->weak()     ? o.on_value->dtype()
                             : o.off_value && !o.off_value->weak() ? o.off_value->dtype()
                             : o.on_value                          ? o.on_value->tensor().dtype()
                             : o.off_value                         ? o.off_value->tensor().dtype()
                                                                   : float32);
  if (!o.on_value && !kPlain.has(d))
    fail(Code::E1101, cat("one_hot: dtype ", name(d), " needs on_value and off_value"));
  Tensor on = o.on_value ? o.on_value->tensor(d) : Tensor::scalar(1, d);
  Tensor off = o.off_value           ? o.off_value->tensor(d)
               : d == DType::kString ? constant("")
                                     : Tensor::scalar(0, d);
  for (const Tensor* t : {&on, &off})
    if (t->dtype() != d)
      fail(Code::E1101, cat("one_hot: a value is ", name(t->dtype()), ", expected ", name(d)));
  return one_hot_op({indices, depth.tensor(), on, off}, {o.axis.value_or(-1)});
}

static const Op mask_op =
    OP(SequenceMask, &sequence_mask)
        .args("lengths")
        .options<&SequenceMaskOptions::maxlen, &SequenceMaskOptions::dtype>("maxlen, dtype")
        .doc("True at the first `lengths[i]` positions of row i.")
        .inputs("lengths, maxlen: M!?")
        .attr("dtype", boolean)
        .attrs<&SequenceMaskAttrs::dtype>()
        .dtypes(kInts)
        .no_gradient()
        .infer(infer_mask)
        .kernel("reference", run_mask)
        .samples("[1, 3, 2], maxlen=5", "[1, 3, 2]", "[[1, 0], [2, 4]], maxlen=3")
        .reference(
            "np.arange(np.max(lengths) if maxlen is None else maxlen) < "
            "np.expand_dims(np.asarray(lengths), -1)");
Tensor sequence_mask(const In& lengths, const SequenceMaskOptions& o) {
  return mask_op({lengths, o.maxlen ? o.maxlen->tensor() : Tensor()}, {o.dtype});
}

}  // namespace holdfast
