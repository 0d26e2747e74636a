// Moving pixels between space, depth and batch.
#include "holdfast/base/checked.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/spatial.h"

namespace holdfast {
namespace {

struct BlockAttrs {
  Attr<int64_t> block_size;
  Attr<std::string> data_format;
};

struct Format {
  int channel, height, width;
};

Format format_of(const Infer& s) {
  const std::string& f = s.attrs<BlockAttrs>().data_format();
  if (f == "NHWC") return {3, 1, 2};
  if (f == "NCHW") return {1, 2, 3};
  s.unsupported(cat("data_format '", f, "'"), "'NHWC' and 'NCHW'");
}

int64_t block_of(const Infer& s) {
  int64_t b = s.attrs<BlockAttrs>().block_size();
  if (b < 2 || b > (int64_t{1} << 30)) s.bad_value("block_size", cat(b), "2 or more");
  return b;
}

void infer_to_depth(Infer& s) {
  s.need_rank(0, 4, 4);
  int64_t b = block_of(s);
  Format f = format_of(s);
  if (!s.shape().has_rank()) return s.output(s.dtype(), Shape::of_rank(4));
  Shape out = s.shape();
  for (int axis : {f.height, f.width}) {
    int64_t& d = out.dims()[static_cast<size_t>(axis)];
    if (d < 0) continue;
    if (d % b) s.bad_shape(0, cat("a height and width that block_size ", b, " divides"));
    d /= b;
  }
  int64_t& depth = out.dims()[static_cast<size_t>(f.channel)];
  auto more = checked_mul(b, b);
  more = more && depth >= 0 ? checked_mul(*more, depth) : more;
  if (!more) s.bad_value("block_size", cat(b), "a depth that can be counted");
  if (depth >= 0) depth = *more;
  s.output(s.dtype(), out);
}

void infer_to_space(Infer& s) {
  s.need_rank(0, 4, 4);
  int64_t b = block_of(s);
  Format f = format_of(s);
  if (!s.shape().has_rank()) return s.output(s.dtype(), Shape::of_rank(4));
  Shape out = s.shape();
  for (int axis : {f.height, f.width}) {
    int64_t& d = out.dims()[static_cast<size_t>(axis)];
    auto more = d < 0 ? std::optional<int64_t>(kUnknown) : checked_mul(d, b);
    if (!more) s.bad_value("block_size", cat(b), "sizes that can be counted");
    d = *more;
  }
  int64_t& depth = out.dims()[static_cast<size_t>(f.channel)];
  if (depth >= 0 && depth % (b * b))
    s.bad_shape(0, cat("a depth that is a multiple of ", b * b, ", block_size squared"));
  if (depth >= 0) depth /= b * b;
  s.output(s.dtype(), out);
}

// Both directions copy the same box: `wide` has the pixels in space, `deep` in channels.
void copy_blocks(const Shape& wide, const Shape& deep, int64_t b, bool nhwc, DType dtype,
                 const void* from, void* to, bool deepen) {
  if (wide.elements().value_or(0) == 0) return;
  Dims ws = strides_of(wide), ds = strides_of(deep);
  size_t c = nhwc ? 3 : 1, h = nhwc ? 1 : 2, w = nhwc ? 2 : 3;
  int64_t channels = wide[static_cast<int>(c)];
  struct Pair {
    int64_t size, wide, deep;
  };
  Pair pairs[] = {{wide[0], ws[0], ds[0]},
                  {deep[static_cast<int>(h)], ws[h] * b, ds[h]},
                  {deep[static_cast<int>(w)], ws[w] * b, ds[w]},
                  {b, ws[h], ds[c] * b * channels},
                  {b, ws[w], ds[c] * channels},
                  {channels, ws[c], ds[c]}};
  CopyAxes axes;
  for (const Pair& p : pairs)
    axes.push_back({p.size, deepen ? p.wide : p.deep, deepen ? p.deep : p.wide});
  copy_strided(dtype, axes, from, to);
}

Status run_to_depth(Call& c) {
  auto a = c.attrs<BlockAttrs>();
  Tensor& y = c.out();
  copy_blocks(c.in().shape(), y.shape(), a.block_size(), a.data_format() == "NHWC", y.dtype(),
              c.in().raw(), y.mutable_raw(), true);
  return {};
}
Status run_to_space(Call& c) {
  auto a = c.attrs<BlockAttrs>();
  Tensor& y = c.out();
  copy_blocks(y.shape(), c.in().shape(), a.block_size(), a.data_format() == "NHWC", y.dtype(),
              c.in().raw(), y.mutable_raw(), false);
  return {};
}

}  // namespace

static const Op to_depth_op =
    OP(SpaceToDepth, &nn::space_to_depth)
        .args("input, block_size")
        .options<&nn::DepthOptions::data_format>("data_format")
        .python("nn.space_to_depth")
        .doc("Blocks of pixels become channels.")
        .inputs("input")
        .attr("block_size")
        .attr("data_format", "NHWC")
        .attrs<&BlockAttrs::block_size, &BlockAttrs::data_format>()
        .infer(infer_to_depth)
        .kernel("strided", run_to_depth)
        .gradient(+[](Grad& g) -> Tensors {
          auto a = g.attrs<BlockAttrs>();
          return {nn::depth_to_space(g.dy(), a.block_size(), {a.data_format()})};
        })
        .keeps("")
        .samples("uniform(2, 4, 6, 3), 2", "uniform(2, 3, 4, 2), 2, data_format='NCHW'")
        .reference(
            "np.transpose(input.reshape(input.shape[0], input.shape[1] // block_size, block_size, "
            "input.shape[2] // block_size, block_size, -1), "
            "(0, 1, 3, 2, 4, 5)).reshape(input.shape[0], input.shape[1] // block_size, "
            "input.shape[2] // block_size, -1) if data_format == 'NHWC' else "
            "np.transpose(input.reshape(input.shape[0], input.shape[1], input.shape[2] // "
            "block_size, block_size, input.shape[3] // block_size, block_size), "
            "(0, 3, 5, 1, 2, 4)).reshape(input.shape[0], -1, input.shape[2] // block_size, "
            "input.shape[3] // block_size)");
Tensor nn::space_to_depth(const In& x, int64_t b, const DepthOptions& o) {
  return to_depth_op({x}, {b, o.data_format});
}

static const Op to_space_op =
    OP(DepthToSpace, &nn::depth_to_space)
        .args("input, block_size")
        .options<&nn::DepthOptions::data_format>("data_format")
        .python("nn.depth_to_space")
        .doc("Channels become blocks of pixels.")
        .inputs("input")
        .attr("block_size")
        .attr("data_format", "NHWC")
        .attrs<&BlockAttrs::block_size, &BlockAttrs::data_format>()
        .infer(infer_to_space)
        .kernel("strided", run_to_space)
        .gradient(+[](Grad& g) -> Tensors {
          auto a = g.attrs<BlockAttrs>();
          return {nn::space_to_depth(g.dy(), a.block_size(), {a.data_format()})};
        })
        .keeps("")
        .samples("uniform(2, 2, 3, 12), 2")
        .reference(
            "np.transpose(input.reshape(*input.shape[:3], block_size, "
            "block_size, -1), (0, 1, 3, 2, 4, 5))"
            ".reshape(input.shape[0], input.shape[1] * block_size, "
            "input.shape[2] * block_size, -1)");
Tensor nn::depth_to_space(const In& x, int64_t b, const DepthOptions& o) {
  return to_space_op({x}, {b, o.data_format});
}

}  // namespace holdfast
