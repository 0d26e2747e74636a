#include "holdfast/ops/embedding.h"

#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {

REGISTER(
    FUNCTION(&nn::embedding_lookup)
        .args("params, ids: I")
        .options<&nn::EmbeddingLookupOptions::max_norm>("max_norm")
        .python("nn.embedding_lookup")
        .doc("Rows of a table by id; longer ones are scaled down to `max_norm`.")
        .samples("uniform(5, 3), [0, 4, 0]", "uniform(5, 3), [1, 2], max_norm=0.5")
        .reference(
            "(lambda r: r if max_norm is None else r * max_norm / np.maximum(max_norm, "
            "np.linalg.norm(r, axis=-1, keepdims=True)))(np.take(params, np.asarray(ids), 0))"));
Tensor nn::embedding_lookup(const In& params, const In& ids, const EmbeddingLookupOptions& o) {
  Tensor rows = gather(params, ids);
  if (!o.max_norm) return rows;
  Tensor id = ids;
  if (!ranks_known({rows, id}))
    return deferred("embedding_lookup", {Tensor(params), id}, rows.dtype(), Shape::unknown(),
                    [o](std::span<const Tensor> in) { return embedding_lookup(in[0], in[1], o); });
  Ints axes;
  for (int i = id.rank(); i < rows.rank(); ++i) axes.push_back(i);
  Tensor most = Tensor::scalar(*o.max_norm, rows.dtype());
  Tensor squares = reduce_sum(square(rows), {.axis = Sizes(axes), .keepdims = true});
  // Rows of zeros: their length has no derivative, so the root is taken of one instead.
  Tensor none = equal(squares, zeros_like(squares));
  Tensor length =
      select(none, zeros_like(squares), sqrt(select(none, ones_like(squares), squares)));
  return rows * divide(most, maximum(length, most));
}

}  // namespace holdfast
