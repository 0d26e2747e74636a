// Parts of an image, of a random shape, that show enough of one of its boxes.
#include <cmath>
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/image/suppression.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random/fill.h"
#include "holdfast/ops/random/stateless.h"
#include "holdfast/ops/random/streams.h"

namespace holdfast::image {
namespace {

using Range = std::vector<double>;

struct StatelessBoxAttrs {
  Attr<Range> aspect_ratio_range;
  Attr<Range> area_range;
  Attr<int64_t> max_attempts;
  Attr<bool> use_image_if_no_bounding_boxes;
};
struct BoxAttrs {
  Attr<int64_t> seed;
  Attr<int64_t> seed2;
  Attr<Range> aspect_ratio_range;
  Attr<Range> area_range;
  Attr<int64_t> max_attempts;
  Attr<bool> use_image_if_no_bounding_boxes;
};

void need_range(const Infer& s, const Attr<Range>& range, const char* name, double most) {
  const Range& r = range();
  if (r.size() != 2 || !(r[0] > 0 && r[1] > 0 && r[0] <= most && r[1] <= most))
    s.bad_value(name, range.arg().text(),
                std::isinf(most) ? "two numbers above 0" : "two numbers above 0, 1 at most");
}

template <class A>
void infer_box(Infer& s) {
  if (!s.shape(0).compatible(Shape{3})) s.bad_shape(0, "the sizes [height, width, channels]");
  if (!s.shape(1).compatible(Shape{kUnknown, kUnknown, 4}))
    s.bad_shape(1, "boxes as [batch, boxes, 4]");
  if (s.shape(2).has_rank() && s.shape(2).rank() != 0) s.bad_shape(2, "a scalar");
  if (s.inputs() > 3 && !s.shape(3).compatible(Shape{2})) s.bad_shape(3, "two integers");
  auto a = s.attrs<A>();
  need_range(s, a.aspect_ratio_range, "aspect_ratio_range",
             std::numeric_limits<double>::infinity());
  need_range(s, a.area_range, "area_range", 1);
  if (a.max_attempts() < 1) s.bad_value("max_attempts", cat(a.max_attempts()), "1 or more");
  s.output(s.dtype(0), Shape{3});
  s.output(s.dtype(0), Shape{3});
  s.output(float32, Shape{1, 1, 4});
}

// Words of the generator one by one, and numbers made of them as TensorFlow's ops make them.
class Words {
 public:
  explicit Words(const random::Philox& gen) : gen_(gen) {}
  uint32_t next() {
    if (at_ == block_.size()) block_ = gen_(), at_ = 0;
    return block_[at_++];
  }
  float share() { return random::uniform_float(next()); }
  /// One of the numbers below n, each equally likely: words that would favour some are left out.
  int64_t below(int64_t n) {
    auto count = static_cast<uint32_t>(n);
    if ((count & (count - 1)) == 0) return next() & (count - 1);
    uint32_t left_out = (~count + 1) % count, word = next();
    while (word < left_out) word = next();
    return word % count;
  }

 private:
  random::Philox gen_;
  random::Block block_{};
  size_t at_ = block_.size();
};

struct Part {
  int64_t y = 0, x = 0, height = 0, width = 0;
  int64_t area() const { return height * width; }
};

int64_t area_in_common(const Part& a, const Part& b) {
  int64_t high = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y),
          wide = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  return high > 0 && wide > 0 ? high * wide : 0;
}

// A number of pixels; none is larger than this, so that sums and products of two stay numbers.
constexpr int64_t kMostPixels = std::numeric_limits<int32_t>::max();
int64_t pixels(float n) { return std::lrint(std::min(n, static_cast<float>(kMostPixels))); }

// A part of that proportion whose area is within the limits, as high as the generator says, at a
// place that it says; false where rounding leaves none.
bool draw_part(const Part& image, float least, float most, float aspect_ratio, Words& words,
               Part& part) {
  auto width_of = [&](int64_t height) { return pixels(static_cast<float>(height) * aspect_ratio); };
  int64_t height = pixels(std::sqrt(least / aspect_ratio)),
          highest = pixels(std::sqrt(most / aspect_ratio));
  if (width_of(highest) > image.width) {
    highest = static_cast<int64_t>(std::min((static_cast<float>(image.width) + 0.5f) / aspect_ratio,
                                            static_cast<float>(kMostPixels)));
    if (width_of(highest) > image.width) --highest;
  }
  highest = std::min(highest, image.height);
  height = std::min(height, highest);
  if (height < highest) height += words.below(highest - height + 1);
  auto area = [&] { return static_cast<float>(height * width_of(height)); };
  if (area() < least) ++height;  // it is rounding that may have left it too small or too large
  if (area() > most) --height;
  part = {0, 0, height, width_of(height)};
  if (area() < least || area() > most || part.width > image.width || part.height > image.height ||
      part.width <= 0 || part.height <= 0)
    return false;
  if (part.height < image.height) part.y = words.below(image.height - part.height);
  if (part.width < image.width) part.x = words.below(image.width - part.width);
  return true;
}

// Whether it shows that share of one of the boxes that have a pixel.
bool shows_enough(const Part& part, float share, const std::vector<Part>& boxes) {
  for (const Part& box : boxes)
    if (box.height > 0 && box.width > 0 &&
        static_cast<float>(area_in_common(part, box)) / static_cast<float>(box.area()) >= share)
      return true;
  return false;
}

Status boxes_in(const Tensor& given, const Part& image, std::vector<Part>& boxes) {
  const float* at = given.raw<float>();
  for (int64_t i = 0; i < given.size(); ++i)
    if (!(at[i] >= 0 && at[i] <= 1))
      return {Code::E1103, cat("SampleDistortedBoundingBox: `bounding_boxes` has ", at[i],
                               ", expected shares of the image's sides, 0 to 1")};
  auto place = [](float share, int64_t side) {
    return static_cast<int64_t>(share * static_cast<float>(side));
  };
  for (int64_t i = 0; i < given.size(); i += 4) {
    int64_t y = place(at[i], image.height), x = place(at[i + 1], image.width);
    boxes.push_back({y, x, place(at[i + 2], image.height) - y, place(at[i + 3], image.width) - x});
  }
  return {};
}

template <class A>
Status draw_box(Call& c, const random::Philox& gen) {
  auto a = c.attrs<A>();
  Dims sizes = c.ints(0);
  Part image{0, 0, sizes[0], sizes[1]};
  if (image.height < 1 || image.width < 1 || image.height > kMostPixels ||
      image.width > kMostPixels)
    return {Code::E1103, cat("SampleDistortedBoundingBox: `image_size` is ", Shape(sizes).text(),
                             ", expected sides of 1 to ", kMostPixels, " pixels")};
  std::vector<Part> boxes;
  if (Status bad = boxes_in(c.in(1), image, boxes); !bad.ok()) return bad;
  if (boxes.empty()) {
    if (!a.use_image_if_no_bounding_boxes())
      return {Code::E1103,
              "SampleDistortedBoundingBox: `bounding_boxes` has none, expected one or more"};
    boxes.push_back(image);
  }
  auto number = [](double v) { return static_cast<float>(v); };
  const Range &ratios = a.aspect_ratio_range(), &areas = a.area_range();
  float share = *c.in(2).raw<float>(), ratio = number(ratios[0]),
        span = number(ratios[1]) - number(ratios[0]);
  float high = static_cast<float>(image.height), wide = static_cast<float>(image.width);
  Words words(gen);
  Part part, tried;
  bool found = false;
  for (int64_t i = 0; i < a.max_attempts() && !found; ++i) {
    float aspect_ratio = words.share() * span + ratio;
    found = draw_part(image, number(areas[0]) * wide * high, number(areas[1]) * wide * high,
                      aspect_ratio, words, tried) &&
            shows_enough(tried, share, boxes);
  }
  part = found ? tried : image;
  auto put = [&](int output, const Dims& three) {
    c.set_out(output, host_ints(c.out_dtype(output), three, Shape{3}));
  };
  put(0, {part.y, part.x, 0});
  put(1, {part.height, part.width, -1});
  auto* box = c.out(2).mutable_raw<float>();
  box[0] = static_cast<float>(part.y) / high, box[1] = static_cast<float>(part.x) / wide;
  box[2] = static_cast<float>(part.y + part.height) / high;
  box[3] = static_cast<float>(part.x + part.width) / wide;
  return {};
}

// TensorFlow's op moves its generator on by four words for an attempt, however many it takes.
Status run_box(Call& c) {
  auto attempts = static_cast<uint64_t>(c.attrs<BoxAttrs>().max_attempts());
  return draw_box<BoxAttrs>(c, random::stream(c, attempts));
}
Status run_stateless_box(Call& c) {
  return draw_box<StatelessBoxAttrs>(c, random::philox_of_seed(c.in(3)));
}

}  // namespace

static const Op box_op =
    RAW_OP(SampleDistortedBoundingBoxV2)
        .doc("A part of an image, of a random shape, that shows enough of one of its boxes.")
        .inputs("image_size: T!, bounding_boxes: B, min_object_covered: B")
        .outputs("begin, size, bboxes")
        .dtypes(kIndices, "T")
        .dtypes(DTypes{float32}, "B")
        .attr("seed", 0)
        .attr("seed2", 0)
        .attrs<&random::SeedAttrs::seed, &random::SeedAttrs::seed2>()
        .draws()
        .attr("aspect_ratio_range", Range{0.75, 1.33})
        .attr("area_range", Range{0.05, 1})
        .attr("max_attempts", 100)
        .attr("use_image_if_no_bounding_boxes", false)
        .attrs<&BoxAttrs::seed, &BoxAttrs::seed2, &BoxAttrs::aspect_ratio_range,
               &BoxAttrs::area_range, &BoxAttrs::max_attempts,
               &BoxAttrs::use_image_if_no_bounding_boxes>()
        .stateful()
        .no_gradient()
        .infer(infer_box<BoxAttrs>)
        .kernel("reference", run_box)
        .on_host();
static const Op stateless_box_op =
    RAW_OP(StatelessSampleDistortedBoundingBox)
        .doc("A part of an image, of a shape that `seed` decides, that shows enough of a box.")
        .inputs("image_size: T!, bounding_boxes: B, min_object_covered: B, seed: Tseed!")
        .outputs("begin, size, bboxes")
        .dtypes(kIndices, "T")
        .dtypes(DTypes{float32}, "B")
        .dtypes(kIndices, "Tseed")
        .attr("aspect_ratio_range", Range{0.75, 1.33})
        .attr("area_range", Range{0.05, 1})
        .attr("max_attempts", 100)
        .attr("use_image_if_no_bounding_boxes", false)
        .attrs<&StatelessBoxAttrs::aspect_ratio_range, &StatelessBoxAttrs::area_range,
               &StatelessBoxAttrs::max_attempts,
               &StatelessBoxAttrs::use_image_if_no_bounding_boxes>()
        .no_gradient()
        .infer(infer_box<StatelessBoxAttrs>)
        .kernel("reference", run_stateless_box)
        .on_host();

// `image_size` may have any integers.
static Tensor sizes_of(const Sizes& image_size) {
  Tensor t = image_size.tensor();
  return kIndices.has(t.dtype()) || !is_integer(t.dtype()) ? t : cast(t, int32);
}

using B = SampleBoxOptions;
REGISTER(FUNCTION(&sample_distorted_bounding_box)
             .args("image_size, bounding_boxes: B")
             .options<&B::seed, &B::min_object_covered, &B::aspect_ratio_range, &B::area_range,
                      &B::max_attempts, &B::use_image_if_no_bounding_boxes>(
                 "seed, min_object_covered, aspect_ratio_range, area_range, max_attempts, "
                 "use_image_if_no_bounding_boxes")
             .python("image.sample_distorted_bounding_box")
             .returns("begin, size, bboxes")
             .doc("A part of an image, of a random shape, that shows enough of one of its boxes."));
std::tuple<Tensor, Tensor, Tensor> sample_distorted_bounding_box(const Sizes& image_size,
                                                                 const In& bounding_boxes,
                                                                 const B& o) {
  random::CallSeeds seeds(o.seed == 0 ? std::nullopt : std::optional(o.seed));
  Attrs attrs = seeds.attrs();
  for (const Arg& a : {Arg(o.aspect_ratio_range), Arg(o.area_range), Arg(o.max_attempts),
                       Arg(o.use_image_if_no_bounding_boxes)})
    attrs.push_back(a);
  Tensors out = box_op.many(
      {sizes_of(image_size), float_of_in(bounding_boxes), float_of_in(o.min_object_covered)},
      attrs);
  return {out[0], out[1], out[2]};
}

using L = StatelessSampleBoxOptions;
REGISTER(FUNCTION(&stateless_sample_distorted_bounding_box)
             .args("image_size, bounding_boxes: B, seed: Seed")
             .options<&L::min_object_covered, &L::aspect_ratio_range, &L::area_range,
                      &L::max_attempts, &L::use_image_if_no_bounding_boxes>(
                 "min_object_covered, aspect_ratio_range, area_range, max_attempts, "
                 "use_image_if_no_bounding_boxes")
             .python("image.stateless_sample_distorted_bounding_box")
             .returns("begin, size, bboxes")
             .doc("A part of an image, of a shape that `seed` decides, that shows enough of one of "
                  "its boxes."));
std::tuple<Tensor, Tensor, Tensor> stateless_sample_distorted_bounding_box(const Sizes& image_size,
                                                                           const In& bounding_boxes,
                                                                           const In& seed,
                                                                           const L& o) {
  Tensors out = stateless_box_op.many(
      {sizes_of(image_size), float_of_in(bounding_boxes), float_of_in(o.min_object_covered),
       random::checked_seed(seed)},
      {o.aspect_ratio_range, o.area_range, o.max_attempts, o.use_image_if_no_bounding_boxes});
  return {out[0], out[1], out[2]};
}

}  // namespace holdfast::image
