"""`tf.compat.v1.losses`: one number from predictions, labels and weights, kept in a collection.

Each is a formula of one loss per element, which `compute_weighted_loss` weighs and reduces.
"""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._flow.checks import Assert
from .._flow.control import cond
from .._graphs.eager import control_dependencies
from .._graphs.graph import GraphKeys, get_default_graph
from .._graphs.name_scope import name_scope
from .._tensors import registry
from .._tensors.dtypes import float32
from .._tensors.tensor import convert_to_tensor
from .name_scope import v1_name_scope
from .nn import one_of

__all__ = ["NAMES"]

_LOSSES = GraphKeys.LOSSES


class Reduction:
    """How losses of elements become one: the names that `reduction` takes."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Every name that `reduction` takes."""
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: Any) -> None:
        """Refuses what is no such name."""
        if key not in cls.all():
            known = ", ".join(dict.fromkeys(cls.all()))
            raise ValueError(f"`reduction` is {key!r}, expected one of {known}")


def _of(path: str, *args: Any, **kwargs: Any) -> Any:
    return registry.function(path)(*args, **kwargs)


# What a program keeps.


def add_loss(loss: Any, loss_collection: Any = _LOSSES) -> None:
    """Keeps `loss` among the graph's losses; eager code has no such list."""
    if loss_collection and _holdfast.current_graph() is not None:
        get_default_graph().add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: Any = _LOSSES) -> list[Any]:
    """The losses that were kept, those under `scope` alone if it is given."""
    return get_default_graph().get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """What regularizers of variables gave."""
    return get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Any:
    """Their sum; 0 of none."""
    losses = get_regularization_losses(scope)
    return _of("add_n", losses, name=name) if losses else convert_to_tensor(0.0)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Any:
    """The sum of all losses that were kept, with those of regularizers if asked for."""
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope=scope)
    return _of("add_n", losses, name=name)


# Weighing.


def _fits(weights: Any, values: Any) -> Any:
    """Refuses weights that do not go into `values`; None, or a check that runs with the graph.

    Weights are one number, or have as many axes as the values, each of size 1 or of theirs.
    """
    given, wanted = weights.shape, values.shape
    if given.rank == 0:
        return None
    if given.rank is not None and wanted.rank is not None:
        pairs = [] if given.rank != wanted.rank else list(zip(given.as_list(), wanted.as_list()))
        if given.rank != wanted.rank or any(
            w is not None and v is not None and w not in (1, v) for w, v in pairs
        ):
            raise ValueError(
                f"`weights` has the shape {given}, expected one number, or sizes of 1 or of "
                f"the losses' {wanted}"
            )
        if all(w == 1 or (w is not None and w == v) for w, v in pairs):
            return None
    if _holdfast.current_graph() is None:
        return None
    small, large = _of("shape", weights), _of("shape", values)

    def each() -> Any:
        good = _of("logical_or", _of("equal", small, large), _of("equal", small, 1))
        return _of("reduce_all", good)

    alone = _of("equal", _of("size", small), 0)
    same = _of("equal", _of("size", small), _of("size", large))
    holds = cond(alone, lambda: convert_to_tensor(True), lambda: cond(
        same, each, lambda: convert_to_tensor(False)))  # fmt: skip
    return Assert(holds, ["weights do not go into the losses", small, large])


def _mean(total: Any, count: Any) -> Any:
    return _of("math.divide_no_nan", total, count, name="value")


def _present(losses: Any, weights: Any, per_batch: bool = False) -> Any:
    """How many losses have a weight other than 0; in all, or of each element of the batch."""
    with name_scope("num_present"):
        has = _of("cast", _of("not_equal", weights, 0.0), float32)
        spread = has * _of("ones_like", losses)
        if not per_batch:
            return _of("reduce_sum", spread)
        axes = _of("range", 1, _of("rank", spread))
        return _of("reduce_sum", spread, axes, True)


def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = _LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """`losses` times `weights`, reduced as `reduction` says, in the dtype of `losses`."""
    Reduction.validate(reduction)
    with v1_name_scope(scope, "weighted_loss", (losses, weights)):
        given = convert_to_tensor(losses)
        elements = _of("cast", given, float32)
        weighs = _of("cast", convert_to_tensor(weights), float32)
        check = _fits(weighs, elements)
        with control_dependencies([] if check is None else [check]):
            weighted = elements * weighs
            if reduction == Reduction.NONE:
                loss = weighted
            else:
                loss = _of("reduce_sum", weighted)
                if reduction == Reduction.MEAN:
                    loss = _mean(loss, _of("reduce_sum", _of("ones_like", elements) * weighs))
                elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
                    loss = _mean(loss, _present(elements, weighs))
                elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                    loss = _mean(loss, _of("cast", _of("size", elements), float32))
            loss = _of("cast", loss, given.dtype)
        add_loss(loss, loss_collection)
    return loss


def _two(labels: Any, predictions: Any, first: str = "labels", second: str = "predictions") -> Any:
    """Both in float32, of shapes that go together."""
    if labels is None:
        raise ValueError(f"`{first}` is None, expected a tensor")
    if predictions is None:
        raise ValueError(f"`{second}` is None, expected a tensor")
    x = _of("cast", convert_to_tensor(predictions), float32)
    y = _of("cast", convert_to_tensor(labels), float32)
    _need_alike(y, x, first, second)
    return y, x


def _need_alike(y: Any, x: Any, first: str, second: str) -> None:
    if not x.shape.is_compatible_with(y.shape):
        raise ValueError(
            f"`{first}` has the shape {y.shape} and `{second}` {x.shape}, expected one shape"
        )


# The losses.


def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = _LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """|predictions - labels|."""
    with v1_name_scope(scope, "absolute_difference", (labels, predictions, weights)) as inside:
        y, x = _two(labels, predictions)
        losses = _of("abs", x - y)
        return compute_weighted_loss(losses, weights, inside, loss_collection, reduction)


def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: Any = None,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = _LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim: Any = None,
) -> Any:
    """1 less the product of two unit vectors along `axis`."""
    along = one_of(axis, dim, "axis", "dim")
    if along is None:
        raise ValueError("`axis` is missing: along which axis do the vectors lie?")
    with v1_name_scope(scope, "cosine_distance_loss", (labels, predictions, weights)) as inside:
        y, x = _two(labels, predictions)
        losses = 1 - _of("reduce_sum", x * y, [along], True)
        return compute_weighted_loss(losses, weights, inside, loss_collection, reduction)


def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = _LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """max(0, 1 - s * logits), with s = -1 where the label is 0 and 1 where it is 1."""
    with v1_name_scope(scope, "hinge_loss", (labels, logits, weights)) as inside:
        y, x = _two(labels, logits, second="logits")
        losses = _of("nn.relu", 1 - (2 * y - 1) * x)
        return compute_weighted_loss(losses, weights, inside, loss_collection, reduction)


def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: Any = _LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Half the square of an error up to `delta`, and a straight line beyond."""
    with v1_name_scope(scope, "huber_loss", (labels, predictions, weights)) as inside:
        y, x = _two(labels, predictions)
        error = _of("abs", x - y)
        near = _of("minimum", error, delta)
        losses = 0.5 * near * near + delta * (error - near)
        return compute_weighted_loss(losses, weights, inside, loss_collection, reduction)


def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: Any = _LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Cross entropy of probabilities of two classes; `epsilon` keeps logarithms finite."""
    with v1_name_scope(scope, "log_loss", (labels, predictions, weights)) as inside:
        y, x = _two(labels, predictions)
        yes = y * _of("math.log", x + epsilon)
        no = (1 - y) * _of("math.log", 1 - x + epsilon)
        return compute_weighted_loss(-yes - no, weights, inside, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = _LOSSES,
) -> Any:
    """The mean, over pairs of elements of a row, of the squared error of their difference."""
    with v1_name_scope(scope, "mean_pairwise_squared_error", (labels, predictions, weights)):
        y, x = _two(labels, predictions)
        weighs = _of("cast", convert_to_tensor(weights), float32)
        check = _fits(weighs, y)
        with control_dependencies([] if check is None else [check]):
            error = x - y
            axes = _of("range", 1, _of("rank", error))
            squares = _of("reduce_sum", error * error, axes, True)
            n = _present(error, weighs, per_batch=True)
            # Of n errors, those of pairs add up to twice (n sum of squares - square of the sum).
            first = 2 * _of("math.divide_no_nan", squares, _of("maximum", n - 1, 0))
            total = _of("reduce_sum", error, axes, True)
            pairs = _of("maximum", n * (n - 1), 0)
            second = 2 * _of("math.divide_no_nan", total * total, pairs)
            weighted = (first - second) * weighs
            loss = _of("reduce_sum", weighted)
            some = _of("reduce_sum", n) > 0
            loss = _of("where", some, loss, _of("zeros_like", loss), name="value")
        add_loss(loss, loss_collection)
    return loss


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = _LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """(predictions - labels) ** 2."""
    with v1_name_scope(scope, "mean_squared_error", (labels, predictions, weights)) as inside:
        y, x = _two(labels, predictions)
        losses = _of("math.squared_difference", x, y)
        return compute_weighted_loss(losses, weights, inside, loss_collection, reduction)


def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: Any = _LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Cross entropy of each class by itself; smoothing draws labels towards 1/2."""
    if multi_class_labels is None or logits is None:
        raise ValueError("`multi_class_labels` and `logits` are given both")
    with v1_name_scope(
        scope, "sigmoid_cross_entropy_loss", (multi_class_labels, logits, weights)
    ) as inside:
        x = convert_to_tensor(logits)
        y = _of("cast", convert_to_tensor(multi_class_labels), x.dtype)
        _need_alike(y, x, "multi_class_labels", "logits")
        if label_smoothing > 0:
            y = y * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = _of("nn.sigmoid_cross_entropy_with_logits", labels=y, logits=x, name="xentropy")
        return compute_weighted_loss(losses, weights, inside, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: Any = _LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Cross entropy of exclusive classes; smoothing draws labels towards 1/classes."""
    if onehot_labels is None or logits is None:
        raise ValueError("`onehot_labels` and `logits` are given both")
    with v1_name_scope(
        scope, "softmax_cross_entropy_loss", (onehot_labels, logits, weights)
    ) as inside:
        x = convert_to_tensor(logits)
        y = _of("cast", convert_to_tensor(onehot_labels), x.dtype)
        _need_alike(y, x, "onehot_labels", "logits")
        if label_smoothing > 0:
            classes = _of("cast", _of("shape", y)[1], x.dtype)
            y = y * (1 - label_smoothing) + label_smoothing / classes
        y = _of("stop_gradient", y, name="labels_stop_gradient")
        losses = _of("nn.softmax_cross_entropy_with_logits", labels=y, logits=x, name="xentropy")
        return compute_weighted_loss(losses, weights, inside, loss_collection, reduction)


def _less_one(given: Any, known: bool | None, excess: Any) -> Any:
    """`given` without its last axis, if `known` or, where that is None, if `excess` proves 0."""
    if known is None:
        last = given.shape.as_list()[-1:] if given.shape.rank is not None else [1]
        if last not in ([1], [None]):
            return given
        return cond(_of("equal", excess(), 0), lambda: _of("squeeze", given, [-1]), lambda: given)
    return _of("squeeze", given, [-1]) if known else given


def _squeezed(labels: Any, logits: Any) -> Any:
    """Labels without a last axis of size 1, where they have as many axes as the logits."""
    known: bool | None = None
    if labels.shape.rank is not None and logits.shape.rank is not None:
        ends = labels.shape.as_list()[-1:] in ([1], [None])
        known = labels.shape.rank == logits.shape.rank and ends
    return _less_one(labels, known, lambda: _of("rank", logits) - _of("rank", labels))


def _squeezed_weights(weights: Any, labels: Any) -> Any:
    """Weights without a last axis that the labels do not have."""
    known: bool | None = None
    if weights.shape.rank is not None and labels.shape.rank is not None:
        known = weights.shape.rank == labels.shape.rank + 1
    elif weights.shape.rank == 0:
        known = False
    return _less_one(weights, known, lambda: _of("rank", weights) - _of("rank", labels) - 1)


def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = _LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Cross entropy of exclusive classes that are given by number."""
    if labels is None or logits is None:
        raise ValueError("`labels` and `logits` are given both")
    with v1_name_scope(
        scope, "sparse_softmax_cross_entropy_loss", (labels, logits, weights)
    ) as inside:
        x = convert_to_tensor(logits)
        y = convert_to_tensor(labels)
        ranks = x.shape.rank, y.shape.rank
        if None not in ranks and ranks[0] == ranks[1] + 2 and x.shape.as_list()[-1] in (1, None):
            x = _of("squeeze", x, [-1])
        y = _squeezed(y, x)
        weighs = _squeezed_weights(convert_to_tensor(weights), y)
        losses = _of(
            "nn.sparse_softmax_cross_entropy_with_logits", labels=y, logits=x, name="xentropy"
        )
        return compute_weighted_loss(losses, weighs, inside, loss_collection, reduction)


NAMES: dict[str, Any] = {
    f"compat.v1.losses.{function.__name__}": function
    for function in (
        Reduction,
        *(add_loss, get_losses, get_regularization_losses, get_regularization_loss),
        *(get_total_loss, compute_weighted_loss, absolute_difference, cosine_distance),
        *(hinge_loss, huber_loss, log_loss, mean_pairwise_squared_error, mean_squared_error),
        *(sigmoid_cross_entropy, softmax_cross_entropy, sparse_softmax_cross_entropy),
    )
}
