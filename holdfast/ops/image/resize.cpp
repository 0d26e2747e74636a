// Images of another size: each pixel is a weighted sum of pixels along both axes, or the nearest
// one.
#include <cmath>

#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/image/need.h"
#include "holdfast/ops/image/taps.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::image {
namespace {

constexpr DTypes kPixels = kReals.without(DTypes{uint32, uint64});

struct GridAttrs {
  Attr<bool> align_corners;
  Attr<bool> half_pixel_centers;
};
struct AlignAttrs {
  Attr<bool> align_corners;
};
struct FilterAttrs {
  Attr<std::string> kernel_type;
  Attr<bool> antialias;
};

struct Images {
  int64_t batch, height, width, channels;
  explicit Images(const Shape& s) : batch(s[0]), height(s[1]), width(s[2]), channels(s[3]) {}
  int64_t row() const { return width * channels; }
};

template <class F>
void visit_pixels(DType d, F&& f) {
  visit_plain(d, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!is_complex_v<T> && !std::is_same_v<T, bool>) f(zero);
  });
}

Tensor spatial_shape(const Tensor& images) { return slice(shape(images), {1}, {2}); }

// -- weighted sums

// `images` with both axes resized, as floats.
void apply(const Taps& rows, const Taps& columns, const Tensor& images, Tensor& out) {
  Images from(images.shape()), to(out.shape());
  visit_pixels(images.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* x = images.raw<T>();
    auto* y = out.mutable_raw<float>();
    int64_t work = rows.most * from.row() + to.row() * columns.most;
    parallel_for(to.batch * to.height, grain_for(work), [&](int64_t begin, int64_t end) {
      std::vector<float> sums(static_cast<size_t>(from.row()));
      for (int64_t i = begin; i < end; ++i) {
        int64_t b = i / to.height, oy = i % to.height;
        std::fill(sums.begin(), sums.end(), 0.f);
        for (int k = 0; k < rows.count[static_cast<size_t>(oy)]; ++k) {
          const T* row =
              x + (b * from.height + rows.first[static_cast<size_t>(oy)] + k) * from.row();
          float w = rows.weight(oy)[k];
          for (int64_t j = 0; j < from.row(); ++j)
            sums[static_cast<size_t>(j)] += w * static_cast<float>(row[j]);
        }
        float* line = y + i * to.row();
        std::fill_n(line, to.row(), 0.f);
        for (int64_t ox = 0; ox < to.width; ++ox) {
          const float* pixel = sums.data() + columns.first[static_cast<size_t>(ox)] * from.channels;
          for (int k = 0; k < columns.count[static_cast<size_t>(ox)]; ++k, pixel += from.channels)
            for (int64_t c = 0; c < to.channels; ++c)
              line[ox * to.channels + c] += columns.weight(ox)[k] * pixel[c];
        }
      }
    });
  });
}

// What arrives at the pixels of a result, given to those that they were made of.
template <class G, class T>
void apply_back(const Taps& rows, const Taps& columns, const Tensor& upstream, Tensor& out) {
  Images from(upstream.shape()), to(out.shape());
  const G* dy = upstream.raw<G>();
  T* dx = out.mutable_raw<T>();
  using W = float_of<T>;
  parallel_for(
      to.batch, grain_for(from.height * (from.row() * columns.most + to.row())),
      [&](int64_t begin, int64_t end) {
        std::vector<W> sums(static_cast<size_t>(to.height * to.row()));
        std::vector<W> line(static_cast<size_t>(to.row()));
        for (int64_t b = begin; b < end; ++b) {
          std::fill(sums.begin(), sums.end(), W(0));
          for (int64_t oy = 0; oy < from.height; ++oy) {
            std::fill(line.begin(), line.end(), W(0));
            const G* row = dy + (b * from.height + oy) * from.row();
            for (int64_t ox = 0; ox < from.width; ++ox)
              for (int k = 0; k < columns.count[static_cast<size_t>(ox)]; ++k)
                for (int64_t c = 0; c < to.channels; ++c)
                  line[static_cast<size_t>(
                      (columns.first[static_cast<size_t>(ox)] + k) * to.channels + c)] +=
                      W(columns.weight(ox)[k]) * static_cast<W>(row[ox * to.channels + c]);
            for (int k = 0; k < rows.count[static_cast<size_t>(oy)]; ++k) {
              W w = W(rows.weight(oy)[k]);
              auto at = static_cast<size_t>((rows.first[static_cast<size_t>(oy)] + k) * to.row());
              for (size_t j = 0; j < line.size(); ++j) sums[at + j] += w * line[j];
            }
          }
          for (size_t j = 0; j < sums.size(); ++j)
            dx[b * to.height * to.row() + static_cast<int64_t>(j)] = static_cast<T>(sums[j]);
        }
      });
}

// -- between two pixels, which is what pictures are fed with

template <class T>
void lerp_row(const T* row, const std::vector<Between>& columns, int64_t channels, float* to) {
  for (const Between& p : columns) {
    const T *left = row + p.lower * channels, *right = row + p.upper * channels;
    for (int64_t c = 0; c < channels; ++c) {
      auto a = static_cast<float>(left[c]);
      *to++ = a + (static_cast<float>(right[c]) - a) * p.share;
    }
  }
}

Status run_bilinear(Call& c) {
  auto a = c.attrs<GridAttrs>();
  Tensor& out = c.out();
  Images from(c.in().shape()), to(out.shape());
  if (out.size() == 0) return {};
  Grid grid{a.align_corners(), a.half_pixel_centers()};
  std::vector<Between> rows = linear_places(grid, from.height, to.height),
                       columns = linear_places(grid, from.width, to.width);
  visit_pixels(c.in().dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* x = c.in().raw<T>();
    auto* y = out.mutable_raw<float>();
    parallel_for(to.batch * to.height, grain_for(to.row() * 4), [&](int64_t begin, int64_t end) {
      // Rows that are drawn out already: the next row of the result often needs one of them again.
      std::vector<float> line[2];
      const T* holds[2] = {nullptr, nullptr};
      for (auto& each : line) each.resize(static_cast<size_t>(to.row()));
      auto drawn = [&](const T* row, const T* keep) {
        for (int k = 0; k < 2; ++k)
          if (holds[k] == row) return line[k].data();
        int k = holds[0] == keep ? 1 : 0;
        lerp_row(row, columns, to.channels, line[k].data());
        holds[k] = row;
        return line[k].data();
      };
      for (int64_t i = begin; i < end; ++i) {
        const Between& p = rows[static_cast<size_t>(i % to.height)];
        const T* image = x + i / to.height * from.height * from.row();
        const T *upper = image + p.lower * from.row(), *lower = image + p.upper * from.row();
        const float* top = drawn(upper, lower);
        const float* bottom = drawn(lower, upper);
        float* pixel = y + i * to.row();
        for (int64_t j = 0; j < to.row(); ++j) pixel[j] = top[j] + (bottom[j] - top[j]) * p.share;
      }
    });
  });
  return {};
}

// -- the others

Status run_nearest(Call& c) {
  auto a = c.attrs<GridAttrs>();
  Tensor& out = c.out();
  Images from(c.in().shape()), to(out.shape());
  if (out.size() == 0) return {};
  Grid grid{a.align_corners(), a.half_pixel_centers()};
  float high = grid.scale(from.height, to.height), wide = grid.scale(from.width, to.width);
  std::vector<int64_t> columns(static_cast<size_t>(to.width));
  for (int64_t i = 0; i < to.width; ++i)
    columns[static_cast<size_t>(i)] = grid.nearest(i, wide, from.width) * from.channels;
  visit_cells(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* x = c.in().raw<T>();
    T* y = out.mutable_raw<T>();
    parallel_for(to.batch * to.height, grain_for(to.row()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* row =
            x + (i / to.height * from.height + grid.nearest(i % to.height, high, from.height)) *
                    from.row();
        T* pixel = y + i * to.row();
        for (int64_t at : columns) pixel = std::copy_n(row + at, to.channels, pixel);
      }
    });
  });
  return {};
}

using MakeTaps = Taps (*)(const Grid&, int64_t, int64_t);

template <class A>
Grid grid_of(const Call& c) {
  auto a = c.attrs<A>();
  if constexpr (std::is_same_v<A, GridAttrs>)
    return {a.align_corners(), a.half_pixel_centers()};
  else
    return {a.align_corners(), false};
}

template <MakeTaps make, class A>
Status run_taps(Call& c) {
  Tensor& out = c.out();
  if (out.size() == 0) return {};
  Grid grid = grid_of<A>(c);
  const Shape &from = c.in().shape(), &to = out.shape();
  apply(make(grid, from[1], to[1]), make(grid, from[2], to[2]), c.in(), out);
  return {};
}

Status check_sizes(Call& c) {
  for (int i = 0; i < 2; ++i)
    if (c.in(i).dim(1) == 0 || c.in(i).dim(2) == 0)
      return {Code::E1102, cat(c.op.name, ": images of ", c.in(i).shape().text(),
                               ", expected 1 pixel or more along both axes")};
  return {};
}

template <MakeTaps make>
Status run_taps_back(Call& c) {
  if (Status s = check_sizes(c); !s.ok()) return s;
  Tensor& out = c.out();
  if (out.size() == 0) return {};
  Grid grid = grid_of<GridAttrs>(c);
  const Shape &small = out.shape(), &large = c.in().shape();
  Taps rows = make(grid, small[1], large[1]), columns = make(grid, small[2], large[2]);
  visit_floats(out.dtype(),
               [&](auto zero) { apply_back<float, decltype(zero)>(rows, columns, c.in(), out); });
  return {};
}

Taps nearest_taps(const Grid& grid, int64_t in, int64_t out) {
  Taps taps{in, 1, {}, {}, {}};
  float scale = grid.scale(in, out);
  for (int64_t i = 0; i < out; ++i) {
    taps.first.push_back(grid.nearest(i, scale, in));
    taps.count.push_back(1);
    taps.weights.push_back(1);
  }
  return taps;
}

// Height and width that a result is to have, as far as they are known.
Shape resized(const Infer& s) {
  s.need_rank(0, 4, 4);
  s.need_rank(1, 1, 1);
  if (s.shape(1).has_rank() && s.shape(1)[0] >= 0 && s.shape(1)[0] != 2)
    s.bad_shape(1, "2 numbers: height and width");
  Dims size = s.sizes(1).value_or(Dims{kUnknown, kUnknown});
  const Shape& from = s.shape(0);
  for (int axis = 0; axis < 2; ++axis) {
    int64_t n = size[static_cast<size_t>(axis)];
    if (n != kUnknown && n <= 0)
      s.bad_value("size", Shape(size).text(), "a height and a width of 1 or more");
    if (from.has_rank() && from[axis + 1] == 0)
      s.bad_shape(0, "images of 1 pixel or more along both axes");
  }
  if (!from.has_rank()) return Shape{kUnknown, size[0], size[1], kUnknown};
  return Shape{from[0], size[0], size[1], from[3]};
}

void check_grid(const Infer& s) {
  auto a = s.attrs<GridAttrs>();
  if (a.align_corners() && a.half_pixel_centers())
    s.bad_value("half_pixel_centers", "True", "False where `align_corners` is True");
}
template <bool keeps_dtype>
void infer_resize(Infer& s) {
  check_grid(s);
  s.output(keeps_dtype ? s.dtype() : float32, resized(s));
}
void infer_area(Infer& s) { s.output(float32, resized(s)); }

// The gradient: what arrives, and the image that was resized.
void infer_back(Infer& s) {
  check_grid(s);
  s.need_rank(0, 4, 4);
  s.need_rank(1, 4, 4);
  const Shape &dy = s.shape(0), &image = s.shape(1);
  if (dy.has_rank() && image.has_rank())
    for (int axis : {0, 3})
      if (dy[axis] >= 0 && image[axis] >= 0 && dy[axis] != image[axis])
        s.bad_shape(0, cat("as many images and channels as ", image.text()));
  for (const Shape* x : {&dy, &image})
    if (x->has_rank() && (x->dims()[1] == 0 || x->dims()[2] == 0))
      s.bad_shape(x == &dy ? 0 : 1, "images of 1 pixel or more along both axes");
  s.output(s.dtype(1), image);
}

// What arrives, and the height and width of the image that was resized.
void infer_nearest_back(Infer& s) {
  check_grid(s);
  s.output(s.dtype(), resized(s));
}
Status run_nearest_back(Call& c) {
  auto a = c.attrs<GridAttrs>();
  Tensor& out = c.out();
  if (out.size() == 0) return {};
  Grid grid{a.align_corners(), a.half_pixel_centers()};
  const Shape &small = out.shape(), &large = c.in().shape();
  Taps rows = nearest_taps(grid, small[1], large[1]),
       columns = nearest_taps(grid, small[2], large[2]);
  visit_floats(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    apply_back<T, T>(rows, columns, c.in(), out);
  });
  return {};
}

// -- filters, at any scale

void infer_filter(Infer& s, const Shape& out, DType dtype, int scale) {
  if (!filter_named(s.attrs<FilterAttrs>().kernel_type()))
    s.bad_value("kernel_type", cat("\"", s.attrs<FilterAttrs>().kernel_type(), "\""),
                "\"lanczos3\", \"lanczos5\", \"gaussian\", \"box\", \"triangle\", \"keyscubic\" or "
                "\"mitchellcubic\"");
  for (int i = scale; i < scale + 2; ++i) {
    s.need_rank(i, 1, 1);
    if (s.shape(i).has_rank() && s.shape(i)[0] >= 0 && s.shape(i)[0] != 2)
      s.bad_shape(i, "2 numbers: along height and width");
  }
  s.output(dtype, out);
}

// The taps of both axes; input `at` holds the scales, the next one how far the image is moved.
Status filter_of(const Call& c, int at, const Shape& from, const Shape& to, Taps (&taps)[2]) {
  auto a = c.attrs<FilterAttrs>();
  const auto *scale = c.in(at).raw<float>(), *shift = c.in(at + 1).raw<float>();
  for (int axis = 0; axis < 2; ++axis) {
    if (!(scale[axis] > 0) || !std::isfinite(scale[axis]) || !std::isfinite(shift[axis]))
      return {Code::E1103, cat(c.op.name, ": `scale` is ", scale[axis], " and `translation` ",
                               shift[axis], ", expected finite numbers, and a scale above 0")};
    taps[axis] = filter_taps(*filter_named(a.kernel_type()), a.antialias(), scale[axis],
                             shift[axis], from[axis + 1], to[axis + 1]);
  }
  return {};
}
Status run_filter(Call& c) {
  Tensor& out = c.out();
  if (out.size() == 0) return {};
  Taps taps[2];
  if (Status s = filter_of(c, 2, c.in().shape(), out.shape(), taps); !s.ok()) return s;
  apply(taps[0], taps[1], c.in(), out);
  return {};
}
Status run_filter_back(Call& c) {
  if (Status s = check_sizes(c); !s.ok()) return s;
  Tensor& out = c.out();
  if (out.size() == 0) return {};
  Taps taps[2];
  if (Status s = filter_of(c, 2, out.shape(), c.in().shape(), taps); !s.ok()) return s;
  apply_back<float, float>(taps[0], taps[1], c.in(), out);
  return {};
}

// -- the ops

Builder& on_grid(Builder& b) {
  return b.attr("align_corners", false)
      .attr("half_pixel_centers", false)
      .attrs<&GridAttrs::align_corners, &GridAttrs::half_pixel_centers>();
}
Builder& filtered(Builder& b) {
  return b.attr("kernel_type", "lanczos3")
      .attr("antialias", true)
      .attrs<&FilterAttrs::kernel_type, &FilterAttrs::antialias>();
}

Tensor bilinear(const Tensor& images, const Tensor& size, const Attrs& attrs);
Tensor nearest(const Tensor& images, const Tensor& size, const Attrs& attrs);
Tensor bicubic(const Tensor& images, const Tensor& size, const Attrs& attrs);
Tensor by_filter(const Tensor& images, const Tensor& size, const Tensor& scale,
                 const Tensor& translation, const Attrs& attrs);

// Gradients of float images alone: what has steps has none.
template <class F>
Tensors to_image(Grad& g, size_t inputs, F&& back) {
  Tensors out(inputs);
  if (is_floating(g.x(0).dtype())) out[0] = back();
  return out;
}

const Op bilinear_back_op =
    on_grid(RAW_OP(ResizeBilinearGrad)
                .doc("Gradient of ResizeBilinear with respect to its images.")
                .inputs("grads: G, original_image: T")
                .dtypes(DTypes{float32}, "G")
                .dtypes(kFloats, "T"))
        .infer(infer_back)
        .kernel("reference", run_taps_back<linear_taps>)
        .gradient(+[](Grad& g) -> Tensors {
          return {bilinear(g.dy(), spatial_shape(g.x(0)), g.attrs()), Tensor()};
        })
        .keeps("");
const Op bilinear_op =
    on_grid(RAW_OP(ResizeBilinear)
                .doc("Images of another size: each pixel lies between four.")
                .inputs("images: T, size: I!")
                .dtypes(kPixels, "T")
                .dtypes(DTypes{int32}, "I"))
        .infer(infer_resize<false>)
        .kernel("rows", run_bilinear)
        .gradient(+[](Grad& g) -> Tensors {
          return to_image(g, 2, [&] { return bilinear_back_op({g.dy(), g.x(0)}, g.attrs()); });
        })
        .keeps("images");
const Op bicubic_back_op =
    on_grid(RAW_OP(ResizeBicubicGrad)
                .doc("Gradient of ResizeBicubic with respect to its images.")
                .inputs("grads: G, original_image: T")
                .dtypes(DTypes{float32}, "G")
                .dtypes(kFloats, "T"))
        .infer(infer_back)
        .kernel("reference", run_taps_back<cubic_taps>)
        .gradient(+[](Grad& g) -> Tensors {
          return {bicubic(g.dy(), spatial_shape(g.x(0)), g.attrs()), Tensor()};
        })
        .keeps("");
const Op bicubic_op =
    on_grid(RAW_OP(ResizeBicubic)
                .doc("Images of another size, by cubic convolution.")
                .inputs("images: T, size: I!")
                .dtypes(kPixels, "T")
                .dtypes(DTypes{int32}, "I"))
        .infer(infer_resize<false>)
        .kernel("reference", run_taps<cubic_taps, GridAttrs>)
        .gradient(+[](Grad& g) -> Tensors {
          return to_image(g, 2, [&] { return bicubic_back_op({g.dy(), g.x(0)}, g.attrs()); });
        })
        .keeps("images");
const Op nearest_back_op =
    on_grid(RAW_OP(ResizeNearestNeighborGrad)
                .doc("Gradient of ResizeNearestNeighbor with respect to its images.")
                .inputs("grads: T, size: I!")
                .dtypes(kFloats, "T")
                .dtypes(DTypes{int32}, "I"))
        .infer(infer_nearest_back)
        .kernel("reference", run_nearest_back)
        .gradient(+[](Grad& g) -> Tensors {
          return {nearest(g.dy(), spatial_shape(g.x(0)), g.attrs()), Tensor()};
        })
        .keeps("");
const Op nearest_op = on_grid(RAW_OP(ResizeNearestNeighbor)
                                  .doc("Images of another size: each pixel is the nearest one.")
                                  .inputs("images: T, size: I!")
                                  .dtypes(kPixels, "T")
                                  .dtypes(DTypes{int32}, "I"))
                          .infer(infer_resize<true>)
                          .kernel("reference", run_nearest)
                          .gradient(+[](Grad& g) -> Tensors {
                            return to_image(g, 2, [&] {
                              return nearest_back_op({g.dy(), spatial_shape(g.x(0))}, g.attrs());
                            });
                          })
                          .keeps("");
const Op area_op = RAW_OP(ResizeArea)
                       .doc("Images of another size: each pixel is the mean of what it covers.")
                       .inputs("images: T, size: I!")
                       .dtypes(kPixels, "T")
                       .dtypes(DTypes{int32}, "I")
                       .attr("align_corners", false)
                       .attrs<&AlignAttrs::align_corners>()
                       .infer(infer_area)
                       .kernel("reference", run_taps<area_taps, AlignAttrs>)
                       .no_gradient();
const Op filter_back_op =
    filtered(RAW_OP(ScaleAndTranslateGrad)
                 .doc("Gradient of ScaleAndTranslate with respect to its images.")
                 .inputs("grads: T, original_image: T, scale: F, translation: F")
                 .dtypes(DTypes{float32}, "T")
                 .dtypes(DTypes{float32}, "F"))
        .infer(+[](Infer& s) { infer_filter(s, s.shape(1), float32, 2); })
        .kernel("reference", run_filter_back)
        .gradient(+[](Grad& g) -> Tensors {
          return {by_filter(g.dy(), spatial_shape(g.x(0)), g.x(2), g.x(3), g.attrs()), Tensor(),
                  Tensor(), Tensor()};
        })
        .keeps("scale, translation");
const Op filter_op =
    filtered(RAW_OP(ScaleAndTranslate)
                 .doc("Images scaled and moved, by a filter.")
                 .inputs("images: T, size: I!, scale: F, translation: F")
                 .dtypes(kPixels, "T")
                 .dtypes(DTypes{int32}, "I")
                 .dtypes(DTypes{float32}, "F"))
        .infer(+[](Infer& s) { infer_filter(s, resized(s), float32, 2); })
        .kernel("reference", run_filter)
        .gradient(+[](Grad& g) -> Tensors {
          return to_image(g, 4, [&] {
            Tensor like = cast(g.x(0), float32);
            return cast(filter_back_op({g.dy(), like, g.x(2), g.x(3)}, g.attrs()), g.x(0).dtype());
          });
        })
        .keeps("images, scale, translation");

Tensor bilinear(const Tensor& images, const Tensor& size, const Attrs& attrs) {
  return bilinear_op({images, size}, attrs);
}
Tensor nearest(const Tensor& images, const Tensor& size, const Attrs& attrs) {
  return nearest_op({images, size}, attrs);
}
Tensor bicubic(const Tensor& images, const Tensor& size, const Attrs& attrs) {
  return bicubic_op({images, size}, attrs);
}
Tensor by_filter(const Tensor& images, const Tensor& size, const Tensor& scale,
                 const Tensor& translation, const Attrs& attrs) {
  return filter_op({images, size, scale, translation}, attrs);
}

Tensor filtered_to(const char* kernel, bool antialias, const Tensor& images, const Tensor& size) {
  Tensor scale = cast(size, float32) / cast(spatial_shape(images), float32);
  return by_filter(images, size, scale, zeros_like(scale), {kernel, antialias});
}

// The largest size of the images' own proportions that `size` has room for.
Tensor in_proportion(const Tensor& images, const Tensor& size) {
  Tensor own = cast(spatial_shape(images), float32);
  return cast(round(reduce_min(cast(size, float32) / own) * own), int32);
}

Tensor resized_to(const std::string& method, bool antialias, const Tensor& x, const Tensor& size) {
  if (method == "bilinear")
    return antialias ? filtered_to("triangle", true, x, size) : bilinear(x, size, {false, true});
  if (method == "nearest") return nearest(x, size, {false, true});
  if (method == "bicubic")
    return antialias ? filtered_to("keyscubic", true, x, size) : bicubic(x, size, {false, true});
  if (method == "area") return area_op({x, size});
  for (const char* each : {"lanczos3", "lanczos5", "gaussian", "mitchellcubic"})
    if (method == each) return filtered_to(each, antialias, x, size);
  fail(Code::E1103,
       cat("resize: `method` is \"", method,
           "\", expected \"bilinear\", \"nearest\", \"bicubic\", \"area\", \"lanczos3\", "
           "\"lanczos5\", \"gaussian\" or \"mitchellcubic\""));
}

}  // namespace

REGISTER(FUNCTION(&resize)
             .args("images, size")
             .options<&ResizeOptions::method, &ResizeOptions::preserve_aspect_ratio,
                      &ResizeOptions::antialias>("method, preserve_aspect_ratio, antialias")
             .python("image.resize")
             .doc("Images of another height and width: one image, or a batch of them. `method` is "
                  "one of tf.image.ResizeMethod.")
             .samples("uniform(1, 3, 4, 2), [5, 3]", "uniform(4, 3, 1), [2, 5], method='bicubic'",
                      "uniform(1, 4, 4, 1), [3, 3], method='lanczos3', antialias=True",
                      "uniform(1, 3, 4, 2), [6, 8], method='nearest'")
             .checks({.rtol = 1e-3, .atol = 1e-3}));
Tensor resize(const In& images, const Sizes& size, const ResizeOptions& o) {
  Tensor x = images.tensor(float32);
  bool one = need_images("resize", x) == 3;
  if (one) x = expand_dims(x, 0);
  Tensor to = need_int32("resize", "size", size);
  if (to.shape().has_rank() && (to.rank() != 1 || (to.dim(0) >= 0 && to.dim(0) != 2)))
    fail(Code::E1102, cat("resize: `size` is ", type_text(to), ", expected a height and a width"));
  if (o.preserve_aspect_ratio) to = in_proportion(x, to);
  Tensor out = resized_to(o.method, o.antialias, x, to);
  return one ? squeeze(out, {.axis = 0}) : out;
}

}  // namespace holdfast::image
