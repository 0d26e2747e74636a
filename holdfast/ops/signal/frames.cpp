// Signals cut into frames and put together again, and spectra turned so that frequency 0 is in the
// middle: functions over other ops.
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/signal.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

// A length or a step: int32, as TensorFlow's are, so that sums and products of some stay numbers.
int64_t int32_from_one(const char* function, const char* argument, int64_t n) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (n < 1 || n > kMost)
    fail(Code::E1103,
         cat(function, ": `", argument, "` is ", n, ", expected a number from 1 to ", kMost));
  return n;
}

// The axis of a tensor of known rank, counted from the front.
int axis_in(const char* function, const Tensor& t, int64_t axis) {
  if (axis < -t.rank() || axis >= t.rank())
    fail(Code::E1103,
         cat(function, ": `axis` is ", axis, ", out of range for the shape ", t.shape().text()));
  return static_cast<int>(axis < 0 ? axis + t.rank() : axis);
}

Tensor shifted(const char* function, const Tensor& t, const Axes& axes, bool back);
const Composition shifted_later(
    "fftshift", 1,
    +[](std::span<const Tensor> in, const std::string& function, const Axes& axes, bool back) {
      return shifted(function.c_str(), in[0], axes, back);
    });

// By how much each axis moves: half its size, rounded one way or the other.
Tensor shifted(const char* function, const Tensor& t, const Axes& axes, bool back) {
  if (!sizes_known({t})) return shifted_later({t}, t.dtype(), t.shape(), function, axes, back);
  Dims which, by;
  if (axes)
    for (int64_t a : known_numbers(*axes, function, "axes"))
      which.push_back(axis_in(function, t, a));
  else
    for (int i = 0; i < t.rank(); ++i) which.push_back(i);
  for (int64_t a : which) {
    int64_t half = t.dim(static_cast<int>(a)) / 2;
    by.push_back(back ? -half : half);
  }
  return which.empty() ? t : roll(t, Sizes(by), Sizes(which));
}

// Where the numbers of each frame stand in the signal.
Tensor places_in(int64_t frames, int64_t length, int64_t step, const Shape& shape) {
  Dims places;
  for (int64_t i = 0; i < frames; ++i)
    for (int64_t j = 0; j < length; ++j) places.push_back(i * step + j);
  return host_ints(int64, places, shape);
}

Tensor framed(const Tensor& t, int64_t length, int64_t step, const signal::FrameOptions& o);
// The second input is the number that fills frames up.
const Composition framed_later(
    "frame", 2,
    +[](std::span<const Tensor> in, int64_t length, int64_t step, bool pad_end, int64_t axis) {
      return framed(in[0], length, step,
                    {.pad_end = pad_end, .pad_value = KeptIn(in[1]), .axis = axis});
    });

Tensor framed(const Tensor& t, int64_t length, int64_t step, const signal::FrameOptions& o) {
  auto later = [&](const Shape& shape) {
    return framed_later({t, o.pad_value.tensor(t.dtype())}, t.dtype(), shape, length, step,
                        o.pad_end, o.axis);
  };
  if (!t.shape().has_rank()) return later(Shape::unknown());
  int axis = axis_in("frame", t, o.axis);
  int64_t n = t.shape()[axis];
  if (n < 0) {
    Dims d;
    for (int i = 0; i < t.rank(); ++i) {
      d.push_back(t.shape()[i]);
      if (i == axis) d.push_back(length);
    }
    return later(Shape(d));
  }
  int64_t frames = o.pad_end ? (n + step - 1) / step : n < length ? 0 : 1 + (n - length) / step;
  Tensor whole = t;
  if (int64_t end = (frames - 1) * step + length; o.pad_end && end > n) {
    Dims borders(static_cast<size_t>(2 * t.rank()), 0);
    borders[static_cast<size_t>(2 * axis + 1)] = end - n;
    whole = pad(t, host_ints(int64, borders, {t.rank(), 2}),
                {.constant_values = o.pad_value.tensor(t.dtype())});
  }
  return gather(whole, places_in(frames, length, step, {frames, length}), {.axis = Sizes(axis)});
}

Tensor added_up(const Tensor& t, int64_t step);
const Composition added_up_later(
    "overlap_and_add", 1,
    +[](std::span<const Tensor> in, int64_t step) { return added_up(in[0], step); });

Tensor added_up(const Tensor& t, int64_t step) {
  auto later = [&](const Shape& shape) { return added_up_later({t}, t.dtype(), shape, step); };
  if (!t.shape().has_rank()) return later(Shape::unknown());
  if (t.rank() < 2)
    fail(Code::E1102, cat("overlap_and_add: `signal` has the shape ", t.shape().text(),
                          ", expected [..., frames, frame_length]"));
  if (!sizes_known({t})) {
    Dims d = t.shape().dims();
    int64_t frames = d[d.size() - 2], length = d.back();
    d.pop_back();
    d.back() = frames < 0 || length < 0 ? int64_t{kUnknown}
               : frames == 0            ? 0
                                        : (frames - 1) * step + length;
    return later(Shape(d));
  }
  int64_t frames = t.dim(-2), length = t.dim(-1);
  int64_t whole = frames == 0 ? 0 : (frames - 1) * step + length;
  Dims batch = t.shape().dims();
  batch.pop_back();
  batch.pop_back();
  int64_t rows = 1;
  for (int64_t n : batch) rows *= n;
  Tensor flat = transpose(reshape(t, Sizes(Dims{rows, frames * length})));
  Tensor sums =
      unsorted_segment_sum(flat, places_in(frames, length, step, {frames * length}), whole);
  batch.push_back(whole);
  return reshape(transpose(sums), Sizes(batch));
}

}  // namespace

REGISTER(FUNCTION(&signal::fftshift)
             .args("x")
             .options<&signal::ShiftOptions::axes>("axes")
             .python("signal.fftshift")
             .doc("What stands for frequency 0 moved into the middle.")
             .samples("uniform(5)", "uniform(3, 4)", "uniform(3, 4), axes=1",
                      "complexes(2, 3, 4), axes=[0, 2]")
             .reference("np.fft.fftshift(x, axes)"));
Tensor signal::fftshift(const In& x, const ShiftOptions& o) {
  return shifted("fftshift", x, o.axes, false);
}

REGISTER(FUNCTION(&signal::ifftshift)
             .args("x")
             .options<&signal::ShiftOptions::axes>("axes")
             .python("signal.ifftshift")
             .doc("Inverse of `fftshift`.")
             .samples("uniform(5)", "uniform(3, 4)", "uniform(3, 4), axes=-2")
             .reference("np.fft.ifftshift(x, axes)"));
Tensor signal::ifftshift(const In& x, const ShiftOptions& o) {
  return shifted("ifftshift", x, o.axes, true);
}

REGISTER(
    FUNCTION(&signal::frame)
        .args("signal, frame_length, frame_step")
        .options<&signal::FrameOptions::pad_end, &signal::FrameOptions::pad_value,
                 &signal::FrameOptions::axis>("pad_end, pad_value, axis")
        .python("signal.frame")
        .doc("Pieces of `frame_length` numbers along an axis, which begin `frame_step` apart.")
        .samples("uniform(9), 4, 2", "uniform(2, 3), 4, 1", "uniform(3, 2), 2, 1, axis=0",
                 "uniform(2, 7), 3, 2")
        .reference("(lambda a, n: np.moveaxis(np.stack([np.take(signal, range(i * frame_step, i * "
                   "frame_step + frame_length), a) for i in range(n)], a) if n else "
                   "np.zeros(signal.shape[:a] + (0, frame_length) + signal.shape[a + 1:]), a, a))"
                   "(axis % signal.ndim, max(0, 1 + (signal.shape[axis] - frame_length) // "
                   "frame_step))"));
Tensor signal::frame(const In& signal, int64_t frame_length, int64_t frame_step,
                     const FrameOptions& o) {
  return framed(signal, int32_from_one("frame", "frame_length", frame_length),
                int32_from_one("frame", "frame_step", frame_step), o);
}

REGISTER(
    FUNCTION(&signal::overlap_and_add)
        .args("signal, frame_step")
        .python("signal.overlap_and_add")
        .doc("Frames [..., frames, frame_length] put together again, those that overlap added "
             "up.")
        .samples("uniform(3, 4), 2", "uniform(2, 3, 4), 1", "uniform(2, 2), 3")
        .reference("(lambda f, n: sum((np.pad(signal[..., i, :], [(0, 0)] * (signal.ndim - 2) + "
                   "[(i * frame_step, (f - 1 - i) * frame_step)]) for i in range(f)), "
                   "np.zeros(signal.shape[:-2] + ((f - 1) * frame_step + n if f else 0,), "
                   "signal.dtype)))(*signal.shape[-2:])"));
Tensor signal::overlap_and_add(const In& signal, int64_t frame_step) {
  return added_up(signal, int32_from_one("overlap_and_add", "frame_step", frame_step));
}

}  // namespace holdfast
