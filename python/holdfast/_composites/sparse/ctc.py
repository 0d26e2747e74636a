"""What a network trained with CTC says, as sparse matrices of labels."""

from __future__ import annotations

from typing import Any

from ..._tensors import registry
from .tensor import SparseTensor

__all__ = ["ctc_beam_search_decoder", "ctc_beam_search_decoder_v1", "ctc_greedy_decoder"]


def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True, blank_index: int | None = None
) -> tuple[list[SparseTensor], Any]:
    """The best class of each step, without blanks; and minus the sum of what they have.

    `inputs` are logarithms, [time, batch, classes]. With `merge_repeated` the same class in steps
    that follow each other counts once. The blank is the last class, or `blank_index`.
    """
    indices, values, shape, less = registry.raw_op(
        "CTCGreedyDecoder",
        inputs=inputs,
        sequence_length=sequence_length,
        merge_repeated=merge_repeated,
        blank_index=-1 if blank_index is None else blank_index,
    )
    return [SparseTensor(indices, values, shape)], less


def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Any]:
    """The most probable rows of labels, the best first, and the logarithms of what they have.

    `inputs` are logits, [time, batch, classes], the last class being the blank; of all rows,
    `beam_width` are followed from step to step.
    """
    return ctc_beam_search_decoder_v1(inputs, sequence_length, beam_width, top_paths, False)


def ctc_beam_search_decoder_v1(
    inputs: Any,
    sequence_length: Any,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Any]:
    """The same; with `merge_repeated`, equal labels that follow each other in a row count once."""
    found = registry.raw_op(
        "CTCBeamSearchDecoder",
        inputs=inputs,
        sequence_length=sequence_length,
        beam_width=beam_width,
        top_paths=top_paths,
        merge_repeated=merge_repeated,
    )
    *parts, logs = found
    n = len(parts) // 3
    rows = zip(parts[:n], parts[n : 2 * n], parts[2 * n :], strict=True)
    return [SparseTensor(*row) for row in rows], logs
