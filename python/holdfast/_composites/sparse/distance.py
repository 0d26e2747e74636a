"""How far sequences in sparse tensors are from each other: `tf.edit_distance`."""

from __future__ import annotations

from typing import Any

from ..._tensors import registry
from ...errors import fail
from .tensor import need_sparse

__all__ = ["edit_distance"]


def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance"
) -> Any:
    """How many insertions, deletions and replacements make each hypothesis its truth.

    Sequences run along the last axis of two sparse tensors. With `normalize` the number is divided
    by the length of the truth; of an empty truth it is infinite, or 0 if both are empty.
    """
    for value, argument in ((hypothesis, "hypothesis"), (truth, "truth")):
        if not hasattr(value, "indices"):
            raise TypeError(
                f"`tf.edit_distance`: `{argument}` is a {type(value).__name__}, expected a "
                "SparseTensor"
            )
    guess = need_sparse(hypothesis, "tf.edit_distance")
    right = need_sparse(truth, "tf.edit_distance")
    if guess.dtype != right.dtype:
        fail(
            "E1101",
            f"`tf.edit_distance`: `hypothesis` is {guess.dtype.name} and `truth` is "
            f"{right.dtype.name}, expected one dtype",
        )
    return registry.raw_op(
        "EditDistance",
        hypothesis_indices=guess.indices,
        hypothesis_values=guess.values,
        hypothesis_shape=guess.dense_shape,
        truth_indices=right.indices,
        truth_values=right.values,
        truth_shape=right.dense_shape,
        normalize=normalize,
        name=name,
    )
