#include "holdfast/ops/image/need.h"

#include <limits>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/math.h"

namespace holdfast::image {
namespace {

// Whether a shape may be what is wanted.
bool fits(const Shape& s, int64_t least, int64_t most, int64_t channels) {
  if (!s.has_rank()) return true;
  if (s.rank() < least || s.rank() > most) return false;
  return channels < 0 || s[s.rank() - 1] < 0 || s[s.rank() - 1] == channels;
}

std::string wanted_text(const Wanted& w) {
  if (w.channels >= 0)
    return cat(w.channels, w.channels == 1 ? " channel" : " channels", " on the last axis");
  if (w.most == 4) return "[height, width, channels], or a batch of such";
  return cat(w.least, " axes or more: height, width, channels");
}

[[noreturn]] void refuse(const Tensor& images, const Wanted& w) {
  Diagnostic d;
  d.code = Code::E1102;
  d.op = w.function;
  d.headline =
      cat(w.function, ": `", w.argument, "` is ", type_text(images), ", expected ", wanted_text(w));
  d.subject = describe(images, w.argument);
  Label used = used_here();
  const Loc& born = d.subject.born;
  if (born.line > 0 && (born.file != used.loc.file || born.line != used.loc.line))
    d.labels.push_back(
        {Role::kBorn, born, cat("`", w.argument, "` born here: ", type_text(images)), false});
  d.labels.push_back(std::move(used));
  raise(std::move(d));
}

struct NeedImagesAttrs {
  Attr<std::string> call;
  Attr<std::string> argument;
  Attr<int64_t> least;
  Attr<int64_t> most;
  Attr<int64_t> channels;
};

void infer_need_images(Infer& s) {
  auto a = s.attrs<NeedImagesAttrs>();
  std::string call = a.call(), argument = a.argument();
  Wanted w{call.c_str(), argument.c_str(), a.least(), a.most(), a.channels()};
  if (w.least < (w.channels < 0 ? 0 : 1) || w.most > kMaxRank)
    s.bad_value("least", cat(w.least, " to ", w.most), cat("numbers of axes up to ", kMaxRank));
  const Shape& in = s.shape();
  if (!fits(in, w.least, w.most, w.channels)) refuse(s.input(0), w);
  if (!in.has_rank() || w.channels < 0) return s.output(s.dtype(), in);
  Dims known = in.dims();
  known.back() = w.channels;
  s.output(s.dtype(), Shape(known));
}

const Op need_images_op =
    RAW_OP(NeedImages)
        .doc("The input, which has from `least` to `most` axes, and `channels` on the last one.")
        .inputs("images")
        .attr("call")
        .attr("argument")
        .attr("least")
        .attr("most")
        .attr("channels")
        .attrs<&NeedImagesAttrs::call, &NeedImagesAttrs::argument, &NeedImagesAttrs::least,
               &NeedImagesAttrs::most, &NeedImagesAttrs::channels>()
        .view()
        .infer(infer_need_images)
        .kernel("view", run_view)
        .kernel_for(DeviceKind::kCuda, "view", run_view)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy()}; })
        .keeps("");

}  // namespace

int need_images(const char* function, const Tensor& images, const char* argument) {
  const Shape& s = images.shape();
  if (!s.has_rank())
    fail(Code::E1102,
         cat(function, ": the number of axes of `", argument, "` is not known, expected 3 or 4"),
         {}, {manual_fix("say its shape first, with `ensure_shape` or `set_shape`")});
  if (s.rank() != 3 && s.rank() != 4)
    fail(Code::E1102, cat(function, ": `", argument, "` is ", type_text(images),
                          ", expected [height, width, channels], or a batch of such"));
  return s.rank();
}

Tensor one_if_unknown(const Tensor& images) {
  if (images.shape().has_rank()) return images;
  return ensure_shape(images, Shape{kUnknown, kUnknown, kUnknown});
}

Tensor need_int32(const char* function, const char* argument, const Sizes& sizes) {
  Tensor t = sizes.tensor();
  if (t.dtype() == int32) return t;
  if (!kIndices.has(t.dtype()))
    fail(Code::E1101, cat(function, ": `", argument, "` is ", type_text(t), ", expected integers"));
  if (!t.is_symbolic())
    for (int64_t n : sizes.ints())
      if (n > std::numeric_limits<int32_t>::max() || n < std::numeric_limits<int32_t>::min())
        fail(Code::E1103,
             cat(function, ": `", argument, "` has ", n, ", expected numbers that int32 holds"));
  return cast(t, int32);
}

void need_reals(const char* function, const Tensor& images) {
  if (!kReals.has(images.dtype()))
    fail(Code::E1101,
         cat(function, ": pixels of ", name(images.dtype()), ", expected integers or floats"));
}

Tensor need(const Tensor& images, const Wanted& w) {
  const Shape& s = images.shape();
  bool ranked = s.has_rank() || (w.least == 0 && w.most == kMaxRank);
  bool sized = w.channels < 0 || (s.has_rank() && s.rank() > 0 && s[s.rank() - 1] >= 0);
  if (ranked && sized) {
    if (!fits(s, w.least, w.most, w.channels)) refuse(images, w);
    return images;
  }
  return need_images_op({images}, {w.function, w.argument, w.least, w.most, w.channels});
}

}  // namespace holdfast::image
