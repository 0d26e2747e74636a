// Windows of images.
#include "holdfast/base/checked.h"
#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/scatter_loops.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/spatial.h"

namespace holdfast {
namespace {

struct PatchAttrs {
  Attr<Ints> ksizes;
  Attr<Ints> strides;
  Attr<Ints> rates;
  Attr<std::string> padding;
};

// Along one axis: windows of `size` elements `rate` apart, one every `stride`, the first at
// -before.
struct Window {
  int64_t size, stride, rate, in, out, before;
};

int64_t entry(const Infer& s, const Attr<Ints>& attr, const char* name, size_t i) {
  const Ints& v = attr();
  if (v.size() != 4 || v[0] != 1 || v[3] != 1 || v[1] < 1 || v[2] < 1)
    s.bad_value(name, attr.arg().text(),
                "[1, rows, columns, 1] with rows and columns of 1 or more");
  return v[i];
}

Window window_of(const Infer& s, const Shape& images, int axis) {
  auto at = static_cast<size_t>(axis);
  auto a = s.attrs<PatchAttrs>();
  const std::string& padding = a.padding();
  if (padding != "SAME" && padding != "VALID")
    s.bad_value("padding", cat("'", padding, "'"), "'SAME' or 'VALID'");
  Window w{entry(s, a.ksizes, "sizes", at),
           entry(s, a.strides, "strides", at),
           entry(s, a.rates, "rates", at),
           images[axis],
           kUnknown,
           0};
  auto reach = checked_mul(w.size - 1, w.rate);
  if (!reach || *reach > (int64_t{1} << 60))
    s.bad_value("sizes", a.ksizes.arg().text(), "windows that can be counted");
  if (w.in < 0) return w;
  if (padding == "VALID") {
    w.out = w.in > *reach ? (w.in - *reach - 1) / w.stride + 1 : 0;
  } else {
    w.out = w.in ? (w.in - 1) / w.stride + 1 : 0;
    w.before = std::max<int64_t>(0, (w.out - 1) * w.stride + *reach + 1 - w.in) / 2;
  }
  return w;
}

Shape patches_shape(const Infer& s, const Shape& images) {
  Window h = window_of(s, images, 1), w = window_of(s, images, 2);
  auto depth = checked_mul(h.size, w.size);
  depth = depth && images[3] >= 0 ? checked_mul(*depth, images[3]) : depth;
  if (!depth)
    s.bad_value("sizes", s.attrs<PatchAttrs>().ksizes.arg().text(), "windows that can be counted");
  return Shape{images[0], h.out, w.out, images[3] < 0 ? kUnknown : *depth};
}

void infer_patches(Infer& s) {
  s.need_rank(0, 4, 4);
  s.output(s.dtype(), s.shape().has_rank() ? patches_shape(s, s.shape()) : Shape::of_rank(4));
}

void infer_patches_grad(Infer& s) {
  Shape images = shape_held(s, 0, "shape");
  if (!images.has_rank()) return s.output(s.dtype(1), Shape::of_rank(4));
  if (images.rank() != 4) s.bad_value("shape", images.text(), "four sizes");
  Shape want = patches_shape(s, images);
  if (!want.compatible(s.shape(1))) s.bad_shape(1, cat("shape ", want.text()));
  s.output(s.dtype(1), images);
}

// Calls f(first element of a run of channels in the images or -1, its place in the patches) for
// image `b`.
template <class F>
void each_run(const Window& h, const Window& w, int64_t b, int64_t channels, F&& f) {
  int64_t to = b * h.out * w.out * h.size * w.size * channels;
  for (int64_t i = 0; i < h.out; ++i)
    for (int64_t j = 0; j < w.out; ++j)
      for (int64_t r = 0; r < h.size; ++r)
        for (int64_t q = 0; q < w.size; ++q, to += channels) {
          int64_t y = i * h.stride - h.before + r * h.rate,
                  x = j * w.stride - w.before + q * w.rate;
          bool inside = y >= 0 && y < h.in && x >= 0 && x < w.in;
          f(inside ? ((b * h.in + y) * w.in + x) * channels : -1, to);
        }
}

std::pair<Window, Window> windows_again(const Call& c, const Shape& images) {
  Tensors none;
  Infer s(c.op, none, c.attrs());
  return {window_of(s, images, 1), window_of(s, images, 2)};
}

Status run_patches(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  if (!y.size()) return {};
  auto [h, w] = windows_again(c, x.shape());
  int64_t channels = x.dim(3);
  visit_cells(x.dtype(), [&]<class T>(T) {
    parallel_for(x.dim(0), grain_for(y.size() / x.dim(0)),
                 [&, h = h, w = w](int64_t begin, int64_t end) {
                   for (int64_t b = begin; b < end; ++b)
                     each_run(h, w, b, channels, [&](int64_t from, int64_t to) {
                       if (from >= 0)
                         std::copy_n(x.raw<T>() + from, channels, y.mutable_raw<T>() + to);
                       else
                         std::fill_n(y.mutable_raw<T>() + to, channels, T{});
                     });
                 });
  });
  return {};
}

Status run_patches_grad(Call& c) {
  const Tensor& dy = c.in(1);
  Tensor& y = c.out();
  fill_zeros(y);
  if (!y.size() || !dy.size()) return {};
  auto [h, w] = windows_again(c, y.shape());
  int64_t channels = y.dim(3);
  visit_plain(y.dtype(), [&]<class T>(T) {
    parallel_for(y.dim(0), grain_for(dy.size() / y.dim(0)),
                 [&, h = h, w = w](int64_t begin, int64_t end) {
                   for (int64_t b = begin; b < end; ++b)
                     each_run(h, w, b, channels, [&](int64_t to, int64_t from) {
                       if (to >= 0)
                         combine_run<T>(Combine::kAdd, y.mutable_raw<T>() + to, dy.raw<T>() + from,
                                        channels);
                     });
                 });
  });
  return {};
}

Attrs same(Grad& g) { return Attrs(g.attrs().begin(), g.attrs().end()); }
Tensors patches_back(Grad& g);

}  // namespace

static const Op patches_op =
    OP(ExtractImagePatches, &image::extract_patches)
        .args("images, sizes, strides, rates, padding")
        .python("image.extract_patches")
        .doc("Windows of images, one in the depth of each result pixel.")
        .inputs("images")
        .attr("ksizes")
        .attr("strides")
        .attr("rates")
        .attr("padding")
        .attrs<&PatchAttrs::ksizes, &PatchAttrs::strides, &PatchAttrs::rates,
               &PatchAttrs::padding>()
        .dtypes(kPlain)
        .infer(infer_patches)
        .kernel("reference", run_patches)
        .gradient(patches_back)
        .keeps("")
        .samples("uniform(2, 4, 5, 2), [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'VALID'")
        .reference(
            "np.concatenate([images[:, i:images.shape[1] - 1 + i, j:images.shape[2] - 1 + j] for i "
            "in range(2) for j in range(2)], -1)");

static const Op patches_grad_op =
    RAW_OP(ExtractImagePatchesGrad)
        .doc("Windows added back where they were taken from.")
        .inputs("shape: Index!, dy")
        .attr("ksizes")
        .attr("strides")
        .attr("rates")
        .attr("padding")
        .attrs<&PatchAttrs::ksizes, &PatchAttrs::strides, &PatchAttrs::rates,
               &PatchAttrs::padding>()
        .dtypes(kNumbers)
        .infer(infer_patches_grad)
        .kernel("reference", run_patches_grad)
        .gradient(+[](Grad& g) -> Tensors { return {Tensor(), patches_op({g.dy()}, same(g))}; })
        .keeps("");

namespace {
Tensors patches_back(Grad& g) {
  return {patches_grad_op({shape_of(g.x()).tensor(), g.dy()}, same(g))};
}
}  // namespace

Tensor image::extract_patches(const In& x, const Ints& sizes, const Ints& strides,
                              const Ints& rates, const std::string& padding) {
  return patches_op({x}, {sizes, strides, rates, padding});
}

}  // namespace holdfast
