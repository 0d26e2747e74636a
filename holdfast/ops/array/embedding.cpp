#include "holdfast/ops/embedding.h"

#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

// Which shard each id is in, and which row of it.
struct Place {
  Tensor shard, row;
};

Place place_by_remainder(const Tensor& ids, int64_t shards) {
  return {floormod(ids, shards), floordiv(ids, shards)};
}

// The first `more` shards hold one row more than the others.
Place place_by_run(const Tensor& ids, const Tensors& shards) {
  auto count = static_cast<int64_t>(shards.size());
  Tensor rows = Tensor::scalar(0, ids.dtype());
  for (const Tensor& s : shards) rows = rows + cast(gather(shape(s), 0), ids.dtype());
  Tensor each = floordiv(rows, count), more = floormod(rows, count);
  Tensor longer = each + 1;
  // Where no shard has a row of its own, all ids are in the longer ones.
  Tensor safe = maximum(each, 1);
  Tensor in_longer = less(ids, more * longer);
  Tensor rest = ids - more * longer;
  return {select(in_longer, floordiv(ids, longer), more + floordiv(rest, safe)),
          select(in_longer, floormod(ids, longer), floormod(rest, safe))};
}

Tensor rows_of_shards(const Tensors& shards, const Tensor& ids, const std::string& strategy) {
  Tensor flat = reshape(ids, {-1});
  auto n = static_cast<int64_t>(shards.size());
  Place at = strategy == "mod" ? place_by_remainder(flat, n) : place_by_run(flat, shards);
  Tensor shard = cast(at.shard, int32);
  Tensors wanted = dynamic_partition(at.row, shard, n);
  Tensors numbers = dynamic_partition(range(size(flat)), shard, n);
  Tensors found;
  for (size_t i = 0; i < shards.size(); ++i) found.push_back(gather(shards[i], wanted[i]));
  Tensor rows = dynamic_stitch(numbers, found);
  Tensor inner = index(shape(rows), {{.kind = IndexItem::kSlice, .start = 1}});
  return reshape(rows, Sizes(concat({shape(ids), inner}, 0)));
}

Tensor clipped(const Tensor& rows, const Tensor& ids, double max_norm);
const Composition clipped_later(
    "embedding_lookup", 2,
    +[](std::span<const Tensor> in, double max_norm) { return clipped(in[0], in[1], max_norm); });

Tensor clipped(const Tensor& rows, const Tensor& ids, double max_norm) {
  Ints axes;
  for (int i = ids.rank(); i < rows.rank(); ++i) axes.push_back(i);
  Tensor most = Tensor::scalar(max_norm, rows.dtype());
  Tensor squares = reduce_sum(square(rows), {.axis = Sizes(axes), .keepdims = true});
  // Rows of zeros: their length has no derivative, so the root is taken of one instead.
  Tensor none = equal(squares, zeros_like(squares));
  Tensor length =
      select(none, zeros_like(squares), sqrt(select(none, ones_like(squares), squares)));
  return rows * divide(most, maximum(length, most));
}

}  // namespace

REGISTER(
    FUNCTION(&nn::embedding_lookup)
        .args("params, ids: I")
        .options<&nn::EmbeddingLookupOptions::partition_strategy,
                 &nn::EmbeddingLookupOptions::max_norm>("partition_strategy, max_norm")
        .python("nn.embedding_lookup")
        .doc("Rows of a table by id; longer ones are scaled down to `max_norm`. The table may come "
             "in several shards.")
        .samples("[uniform(5, 3)], [0, 4, 0]", "[uniform(5, 3)], [1, 2], max_norm=0.5",
                 "[uniform(3, 2), uniform(2, 2)], [[4, 0], [3, 2]]",
                 "[uniform(3, 2), uniform(3, 2)], [5, 0, 3, 3], partition_strategy='mod'",
                 "[uniform(2, 2, 2), uniform(1, 2, 2)], [2, 1], max_norm=0.5")
        .reference(
            "(lambda r: r if max_norm is None else r * max_norm / np.maximum(max_norm, "
            "np.sqrt(np.sum(r * r, axis=tuple(range(np.ndim(ids), np.ndim(r))), keepdims=True))))"
            "(np.take(np.concatenate(params) if partition_strategy == 'div' else "
            "np.stack(params, 1).reshape((-1,) + np.shape(params[0])[1:]), np.asarray(ids), 0))"));
Tensor nn::embedding_lookup(const Ins& params, const In& ids, const EmbeddingLookupOptions& o) {
  if (!params.size())
    fail(Code::E1103, "embedding_lookup: `params` is empty, expected one table or more");
  if (o.partition_strategy != "mod" && o.partition_strategy != "div")
    fail(Code::E1103, cat("embedding_lookup: `partition_strategy` is '", o.partition_strategy,
                          "', expected 'mod' or 'div'"));
  Tensors shards = params.tensors();
  Tensor id = ids;
  Tensor rows =
      shards.size() == 1 ? gather(shards[0], id) : rows_of_shards(shards, id, o.partition_strategy);
  if (!o.max_norm) return rows;
  if (ranks_known({rows, id})) return clipped(rows, id, *o.max_norm);
  return clipped_later({rows, id}, rows.dtype(), Shape::unknown(), *o.max_norm);
}

}  // namespace holdfast
