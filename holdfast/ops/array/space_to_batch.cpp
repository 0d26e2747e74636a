// Moving pixels between space and batch.
#include "holdfast/base/checked.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/ops/spatial.h"

namespace holdfast {
namespace {

// One number stands for a square block.
Tensor block_of(const In& block) {
  Tensor b = block;
  if (!b.shape().has_rank() || b.rank() != 0) return b;
  return stack({b, b});
}

// Checks block_shape (input 1) and the table of paddings or crops (input 2); the number of blocked
// axes, or -1.
int blocked_axes(const Infer& s, const char* table) {
  s.need_rank(1, 1, 1);
  s.need_rank(2, 2, 2);
  int64_t m = s.shape(1).has_rank() ? s.shape(1)[0] : kUnknown;
  if (m < 0) return -1;
  if (s.shape().has_rank() && s.shape().rank() < 1 + m)
    s.bad_shape(0, cat("rank ", 1 + m, " or more: a batch and ", m, " blocked axes"));
  if (s.shape(2).has_rank() && s.shape(2).is_full() && !(s.shape(2) == Shape{m, 2}))
    s.bad_shape(2, cat("[", m, ",2]"));
  if (auto block = s.ints(1))
    for (int64_t b : *block)
      if (b < 1) s.bad_value("block_shape", sizes_text(*block), "sizes of 1 or more");
  if (auto pads = s.ints(2))
    for (int64_t p : *pads)
      if (p < 0) s.bad_value(table, sizes_text(*pads), "sizes of 0 or more");
  return static_cast<int>(m);
}

std::optional<int64_t> product(const Dims& d) {
  std::optional<int64_t> n = 1;
  for (int64_t v : d) n = n ? checked_mul(*n, v) : n;
  return n;
}

// What is known of the result as long as the blocks are not: the axes behind the `m` blocked ones.
Shape behind_blocks(const Shape& in, int m) {
  Shape out = Shape::of_rank(in.rank());
  for (int i = m + 1; m >= 0 && i < in.rank(); ++i) out.dims()[static_cast<size_t>(i)] = in[i];
  return out;
}

void infer_to_batch(Infer& s) {
  int m = blocked_axes(s, "paddings");
  auto block = s.ints(1), pads = s.ints(2);
  if (!s.shape().has_rank()) return s.output(s.dtype(), Shape::unknown());
  if (m < 0 || !block) return s.output(s.dtype(), behind_blocks(s.shape(), m));
  Shape out = pads ? s.shape() : behind_blocks(s.shape(), m);
  int64_t images = s.shape()[0];
  auto blocks = product(*block);
  auto batch = blocks && images >= 0 ? checked_mul(images, *blocks) : blocks;
  if (!batch) s.bad_value("block_shape", sizes_text(*block), "a batch that can be counted");
  if (images >= 0) out.dims()[0] = *batch;
  if (!pads) return s.output(s.dtype(), out);
  for (int i = 0; i < m; ++i) {
    auto at = static_cast<size_t>(i);
    int64_t& d = out.dims()[at + 1];
    if (d < 0) continue;
    auto wide = checked_add(d, (*pads)[2 * at]);
    wide = wide ? checked_add(*wide, (*pads)[2 * at + 1]) : wide;
    if (!wide) s.bad_value("paddings", sizes_text(*pads), "sizes that can be counted");
    if (*wide % (*block)[at])
      s.bad_value(cat("paddings[", i, "]"),
                  cat("[", (*pads)[2 * at], ",", (*pads)[2 * at + 1], "]"),
                  cat("a padded size that block_shape[", i, "] = ", (*block)[at],
                      " divides: it is ", *wide));
    d = *wide / (*block)[at];
  }
  s.output(s.dtype(), out);
}

void infer_to_space(Infer& s) {
  int m = blocked_axes(s, "crops");
  auto block = s.ints(1), crops = s.ints(2);
  if (!s.shape().has_rank()) return s.output(s.dtype(), Shape::unknown());
  if (m < 0 || !block) return s.output(s.dtype(), behind_blocks(s.shape(), m));
  Shape out = crops ? s.shape() : behind_blocks(s.shape(), m);
  int64_t images = s.shape()[0];
  auto blocks = product(*block);
  if (!blocks || (images >= 0 && images % *blocks))
    s.bad_shape(
        0, cat("a batch that is a multiple of the product of block_shape ", sizes_text(*block)));
  if (images >= 0) out.dims()[0] = images / *blocks;
  if (!crops) return s.output(s.dtype(), out);
  for (int i = 0; i < m; ++i) {
    auto at = static_cast<size_t>(i);
    int64_t& d = out.dims()[at + 1];
    if (d < 0) continue;
    auto wide = checked_mul(d, (*block)[at]);
    if (!wide) s.bad_value("block_shape", sizes_text(*block), "sizes that can be counted");
    int64_t before = (*crops)[2 * at], after = (*crops)[2 * at + 1];
    if (before > *wide || after > *wide - before)
      s.bad_value(cat("crops[", i, "]"), cat("[", before, ",", after, "]"),
                  cat("at most ", *wide, " in all"));
    d = *wide - before - after;
  }
  s.output(s.dtype(), out);
}

// Both directions: pixel i of `space` is pixel (i + pad) / block of batch (i + pad) % block.
void copy_pixels(const Tensor& space, const Tensor& batch, const Dims& block, const Dims& pads,
                 bool to_batch) {
  if (!space.size() || !batch.size()) return;
  Dims ss = strides_of(space.shape()), bs = strides_of(batch.shape());
  size_t m = block.size();
  int64_t blocks = product(block).value_or(0);
  for (int64_t number = 0; number < blocks; ++number) {
    CopyAxes axes{{space.dim(0), to_batch ? ss[0] : bs[0], to_batch ? bs[0] : ss[0]}};
    int64_t space_at = 0, batch_at = number * space.dim(0) * bs[0], left = number;
    Dims offset(m, 0);
    for (size_t i = m; i-- > 0;) {
      offset[i] = left % block[i];
      left /= block[i];
    }
    bool any = true;
    for (size_t i = 0; i < m; ++i) {
      int64_t d = space.dim(static_cast<int>(i) + 1), b = block[i];
      // The first pixel with (pixel + pad) % block == offset, and how many follow it.
      int64_t first = ((offset[i] - pads[2 * i]) % b + b) % b;
      int64_t count = first < d ? (d - first + b - 1) / b : 0;
      any = any && count > 0;
      if (!any) break;
      space_at += first * ss[i + 1];
      batch_at += (first + pads[2 * i]) / b * bs[i + 1];
      axes.push_back(
          {count, to_batch ? ss[i + 1] * b : bs[i + 1], to_batch ? bs[i + 1] : ss[i + 1] * b});
    }
    if (!any) continue;
    for (int i = static_cast<int>(m) + 1; i < space.rank(); ++i) {
      int64_t a = ss[static_cast<size_t>(i)], b = bs[static_cast<size_t>(i)];
      axes.push_back({space.dim(i), to_batch ? a : b, to_batch ? b : a});
    }
    const void* from = to_batch ? element(space.raw(), space.dtype(), space_at)
                                : element(batch.raw(), batch.dtype(), batch_at);
    void* to = to_batch ? element(batch.mutable_raw(), batch.dtype(), batch_at)
                        : element(space.mutable_raw(), space.dtype(), space_at);
    copy_strided(space.dtype(), axes, from, to);
  }
}

Status run_to_batch(Call& c) {
  fill_zeros(c.out());
  copy_pixels(c.in(), c.out(), c.ints(1), c.ints(2), true);
  return {};
}
Status run_to_space(Call& c) {
  copy_pixels(c.out(), c.in(), c.ints(1), c.ints(2), false);
  return {};
}

}  // namespace

static const Op to_batch_op =
    OP(SpaceToBatchND, &space_to_batch)
        .args("input, block_shape: B, paddings: P")
        .python("space_to_batch, nn.space_to_batch, space_to_batch_nd")
        .doc("Blocks along the axes behind the first become batches, after padding with zeros.")
        .inputs("input, block_shape: Tblock_shape!, paddings: Tpaddings!")
        .infer(infer_to_batch)
        .kernel("strided", run_to_batch)
        .gradient(+[](Grad& g) -> Tensors {
          return {batch_to_space(g.dy(), g.x(1), g.x(2)), Tensor(), Tensor()};
        })
        .keeps("block_shape, paddings")
        .samples("uniform(1, 4, 4, 2), [2, 2], [[0, 0], [0, 0]]", "uniform(2, 3, 4), [2], [[1, 0]]")
        .reference(
            "(lambda p: (lambda q: np.transpose(q, list(range(2, 2 * len(block_shape) + 1, 2)) + "
            "[0] + list(range(1, 2 * len(block_shape), 2)) + "
            "list(range(2 * len(block_shape) + 1, q.ndim))).reshape((-1,) + tuple(n // b for n, b "
            "in zip(p.shape[1:], block_shape)) + "
            "p.shape[1 + len(block_shape):]))(p.reshape(p.shape[:1] + tuple(x for n, b in "
            "zip(p.shape[1:], block_shape) for x in (n // b, b)) + "
            "p.shape[1 + len(block_shape):])))(np.pad(input, [(0, 0)] + [tuple(x) for x in "
            "np.asarray(paddings)] + "
            "[(0, 0)] * (input.ndim - 1 - len(block_shape))))");
Tensor space_to_batch(const In& x, const In& block, const In& paddings) {
  return to_batch_op({x, block_of(block), paddings});
}

static const Op to_space_op =
    OP(BatchToSpaceND, &batch_to_space)
        .args("input, block_shape: B, crops: C")
        .python("batch_to_space, compat.v1.batch_to_space_nd")
        .doc("Batches become blocks along the axes behind the first, which are then cropped.")
        .inputs("input, block_shape: Tblock_shape!, crops: Tcrops!")
        .infer(infer_to_space)
        .kernel("strided", run_to_space)
        .gradient(+[](Grad& g) -> Tensors {
          return {space_to_batch(g.dy(), g.x(1), g.x(2)), Tensor(), Tensor()};
        })
        .keeps("block_shape, crops")
        .samples("uniform(4, 2, 3), [2], [[1, 0]]")
        .reference(
            "np.transpose(input.reshape(block_shape[0], -1, *input.shape[1:]), (1, 2, 0, "
            "3)).reshape(input.shape[0] // block_shape[0], "
            "-1, input.shape[2])[:, crops[0][0]:(-crops[0][1] or None)]");
Tensor batch_to_space(const In& x, const In& block, const In& crops) {
  return to_space_op({x, block_of(block), crops});
}

REGISTER(FUNCTION(&required_space_to_batch_paddings)
             .args("input_shape: I, block_shape: I, base_paddings: I")
             .python("required_space_to_batch_paddings")
             .returns("paddings, crops")
             .doc("What space_to_batch needs as paddings so that blocks fit, and batch_to_space as "
                  "crops to take them away again.")
             .samples("[5, 7], [2, 3]", "[5, 7], [2, 3], [[1, 0], [2, 1]]")
             .reference("(lambda s, b, p: (lambda e: (np.stack([p[:, 0], p[:, 1] + e], 1), "
                        "np.stack([0 * e, e], 1)))(-(s + p.sum(1)) % b))(np.asarray(input_shape), "
                        "np.asarray(block_shape), np.zeros([len(block_shape), 2], np.int32) if "
                        "base_paddings is None else np.asarray(base_paddings))"));
std::tuple<Tensor, Tensor> required_space_to_batch_paddings(const In& input_shape,
                                                            const In& block_shape,
                                                            const MaybeIn& base_paddings) {
  Tensor have = input_shape, block = block_shape.tensor(have.dtype());
  if (have.rank() > 1 || block.rank() > 1)
    fail(Code::E1102,
         "required_space_to_batch_paddings: `input_shape` and `block_shape` are "
         "vectors of one length");
  Tensor none = zeros_like(block), before = none, after = none;
  if (base_paddings) {
    Tensor base = base_paddings->tensor(have.dtype());
    before = gather(base, 0, {.axis = Sizes(1)});
    after = gather(base, 1, {.axis = Sizes(1)});
  }
  Tensor extra = floormod(-(have + before + after), block);
  return {stack({before, after + extra}, {.axis = 1}), stack({none, extra}, {.axis = 1})};
}

// Images, whose blocks are squares of one size.
static Tensor square_block(const char* op, const In& x, int64_t size) {
  if (size < 2) fail(Code::E1103, cat(op, ": `block_size` is ", size, ", expected 2 or more"));
  Tensor t = x;
  if (t.shape().has_rank() && t.rank() != 4)
    fail(Code::E1102, cat(op, ": `input` is ", t.shape().text(), ", expected rank 4"));
  return Sizes({size, size}).tensor();
}
static Tensor image_of(const In& x) {
  Tensor t = x;
  return t.shape().has_rank() ? t : ensure_shape(t, Shape::of_rank(4));
}
REGISTER(FUNCTION(&image_to_batch)
             .args("input, paddings: P, block_size")
             .python("raw_ops.SpaceToBatch")
             .doc("Square blocks of images become batches, after padding with zeros.")
             .samples("uniform(1, 4, 4, 2), [[0, 0], [0, 0]], 2"));
Tensor image_to_batch(const In& x, const In& paddings, int64_t block_size) {
  Tensor block = square_block("SpaceToBatch", x, block_size);
  return space_to_batch(image_of(x), block, paddings);
}
REGISTER(FUNCTION(&batch_to_image)
             .args("input, crops: C, block_size")
             .python("raw_ops.BatchToSpace")
             .doc("Batches become square blocks of images, which are then cropped.")
             .samples("uniform(4, 2, 2, 2), [[0, 1], [0, 0]], 2"));
Tensor batch_to_image(const In& x, const In& crops, int64_t block_size) {
  Tensor block = square_block("BatchToSpace", x, block_size);
  return batch_to_space(image_of(x), block, crops);
}

}  // namespace holdfast
