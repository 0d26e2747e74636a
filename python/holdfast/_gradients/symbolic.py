"""`tf.gradients`: gradients as further ops of the same graph."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._graphs.name_scope import name_scope, named_ops
from .._structures import nesting
from .._tensors import registry
from .._tensors.composite import differentiated, regrouped
from .._tensors.indexed_slices import IndexedSlices
from .._tensors.tensor import UnconnectedGradients, convert_to_tensor
from .._variables.variable import Variable
from ..errors import fail, unsupported

__all__ = ["AggregationMethod", "gradients", "hessians"]

Tensor = _holdfast.Tensor


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _tensor(value: Any) -> Any:
    return value if isinstance(value, Tensor) else convert_to_tensor(value)


class AggregationMethod:
    """How TensorFlow 1 adds gradients of several paths; the sum is the same with each."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The gradient of the sum of `ys` with respect to each of `xs`, None where no path leads.

    A Variable that is read by rows has an `IndexedSlices`. `gate_gradients` and
    `aggregation_method` say how TensorFlow 1 orders and adds; they change no result.
    """
    targets = [_tensor(y) for y in differentiated(_listed(ys))]
    if not _holdfast.is_tracing() and not any(y._symbolic for y in targets):
        raise RuntimeError(
            "`tf.gradients` looks back along a graph, and these `ys` were computed without one: "
            "record them with a `tf.GradientTape`"
        )
    sources = differentiated(_listed(xs))
    sources = [x if isinstance(x, (Tensor, Variable)) else _tensor(x) for x in sources]
    given = [] if grad_ys is None else _listed(grad_ys)
    upstream = [None if g is None else _tensor(g) for g in given]
    if upstream and len(upstream) != len(targets):
        fail("E1104", f"`grad_ys` has {len(upstream)} tensors for {len(targets)} `ys`")
    stop = [_tensor(t) for t in _listed(stop_gradients)] if stop_gradients is not None else []
    zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    owner = next((y.graph for y in targets if y._symbolic and _holdfast.graph_of(y)), None)
    with _entered(owner), name_scope(name):
        found = _holdfast.graph_gradients(targets, sources, upstream, stop, zero)
    gradients = [IndexedSlices(*g) if isinstance(g, tuple) else g for g in found]
    return nesting.flatten(regrouped(_listed(xs), gradients), whole=True)


class _entered:
    """A graph as the default, unless one is already."""

    def __init__(self, graph: Any) -> None:
        self._context = graph.as_default() if graph is not None else None

    def __enter__(self) -> None:
        if self._context is not None:
            self._context.__enter__()

    def __exit__(self, *error: object) -> None:
        if self._context is not None:
            self._context.__exit__(*error)


@named_ops
def hessians(
    ys: Any,
    xs: Any,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    name: str = "hessians",
) -> list[Any]:
    """The second derivatives of the sum of `ys`, one matrix-like tensor for each of `xs`."""
    reshape, stack = registry.function("reshape"), registry.function("stack")
    found = []
    for x, slope in zip(_listed(xs), gradients(ys, xs), strict=True):
        shape = x.shape
        if slope is None or not shape.is_fully_defined():
            unsupported(
                "`hessians` of a tensor whose shape is not known, or that `ys` does not depend on",
                "there is one row of second derivatives for each element",
                fix="give the tensor a full shape",
            )
        flat = reshape(_tensor(slope), [-1])
        count = shape.num_elements()
        rows = [gradients(flat[i], x, unconnected_gradients="zero")[0] for i in range(count)]
        found.append(reshape(stack(rows), [*shape.as_list(), *shape.as_list()]))
    return found
