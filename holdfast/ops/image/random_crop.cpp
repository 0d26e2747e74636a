// A part of a tensor at a random place.
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/tensor/scope.h"

namespace holdfast::image {
namespace {

struct CropRoomAttrs {
  Attr<std::string> call;
};

[[noreturn]] void refuse_size(const std::string& call, Code code, const std::string& got,
                              const std::string& expected) {
  Diagnostic d;
  d.code = code;
  d.op = call;
  d.headline = cat(call, ": `size` is ", got, ", expected ", expected);
  d.labels.push_back(used_here());
  raise(std::move(d));
}

void need_room(const std::string& call, const Dims& whole, const Dims& size) {
  for (size_t i = 0; i < size.size(); ++i)
    if (size[i] < 0 || size[i] > whole[i])
      refuse_size(call, Code::E1103, sizes_text(size),
                  cat("sizes of 0 to those of ", sizes_text(whole)));
}

void infer_crop_room(Infer& s) {
  std::string call = s.attrs<CropRoomAttrs>().call();
  const Shape &whole = s.shape(0), &size = s.shape(1);
  bool vectors = (!whole.has_rank() || whole.rank() == 1) && (!size.has_rank() || size.rank() == 1);
  if (!vectors || !whole.compatible(size)) {
    bool known = whole.has_rank() && whole.rank() == 1 && whole[0] >= 0;
    refuse_size(call, Code::E1102, type_text(s.input(1)),
                cat(known ? cat(whole[0], " sizes, ") : "", "one for each axis of `value`"));
  }
  auto a = s.ints(0), b = s.ints(1);
  if (a && b) need_room(call, *a, *b);
  s.output(s.dtype(), whole.has_rank() ? whole : size);
}

Status run_crop_room(Call& c) {
  Dims whole = c.ints(0), size = c.ints(1), room;
  need_room(c.attrs<CropRoomAttrs>().call(), whole, size);
  for (size_t i = 0; i < whole.size(); ++i) room.push_back(whole[i] - size[i] + 1);
  c.set_out(0, host_ints(c.out_dtype(), room, Shape{static_cast<int64_t>(room.size())}));
  return {};
}

const Op crop_room_op = RAW_OP(CropRoom)
                            .doc(
                                "In how many places a part of `size` fits along each axis of "
                                "what has the sizes `whole`; refuses one that does not fit.")
                            .inputs("whole: T!, size: T!")
                            .attr("call")
                            .attrs<&CropRoomAttrs::call>()
                            .no_gradient()
                            .on_host()
                            .infer(infer_crop_room)
                            .kernel("reference", run_crop_room);

// `draw(shape, largest)` gives integers in [0, largest) of the dtype of `size`. As in TensorFlow
// they are brought into range by a remainder, so that the same seed gives the same part.
template <class F>
Tensor crop(const char* function, const Tensor& value, const Tensor& size, F&& draw) {
  if (!kIndices.has(size.dtype()))
    fail(Code::E1101, cat(function, ": `size` is ", type_text(size), ", expected int32 or int64"));
  Tensor room = crop_room_op({cast(shape(value), size.dtype()), size}, {function});
  int64_t largest = size.dtype() == int32 ? std::numeric_limits<int32_t>::max()
                                          : std::numeric_limits<int64_t>::max();
  Tensor at = draw(Sizes(shape(size)), Tensor::scalar(largest, size.dtype()));
  return slice(value, Sizes(floormod(at, room)), Sizes(size));
}

}  // namespace

REGISTER(FUNCTION(&random_crop)
             .args("value, size: S")
             .options<&RandomCropOptions::seed>("seed")
             .python("image.random_crop, compat.v1.random_crop")
             .doc("A part of `value` of the given size, at a random place.")
             .samples("uniform(3, 4), [3, 4]")
             .reference("value"));
Tensor random_crop(const In& value, const In& size, const RandomCropOptions& o) {
  return crop("random_crop", value, size, [&](const Sizes& shape, const Tensor& most) {
    return random::uniform(shape, {.maxval = most, .dtype = most.dtype(), .seed = o.seed});
  });
}

REGISTER(FUNCTION(&stateless_random_crop)
             .args("value, size: S, seed: Seed")
             .python("image.stateless_random_crop")
             .doc("A part of `value` of the given size, at a place that `seed` decides.")
             .samples("uniform(3, 4), [3, 4], [1, 2]")
             .reference("value"));
Tensor stateless_random_crop(const In& value, const In& size, const In& seed) {
  return crop("stateless_random_crop", value, size, [&](const Sizes& shape, const Tensor& most) {
    return random::stateless_uniform(shape, seed,
                                     {.minval = 0, .maxval = most, .dtype = most.dtype()});
  });
}

}  // namespace holdfast::image
