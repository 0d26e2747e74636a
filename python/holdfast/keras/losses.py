"""`tf.keras.losses`: C++'s classes, and each of them as a function of labels and predictions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from ..errors import fail
from . import declared
from .by_name import FromConfig, snake_case
from .configs import holds_functions, named_or_made, serialize_keras_object

_NOT_OF_FUNCTIONS = ("reduction", "name", "dtype")
_NOT_PUBLIC = ("bce", "BCE")  # names for `get` alone


def _function(info: dict[str, Any]) -> Callable[..., Any]:
    """The losses of each example, as a class computes them."""
    name = snake_case(info["name"])
    options = [o for o in info["options"] if o[0] not in _NOT_OF_FUNCTIONS]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [inspect.Parameter("y_true", kind), inspect.Parameter("y_pred", kind)]
        + [inspect.Parameter(option, kind, default=default) for option, default, _ in options]
    )

    def function(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        y_true, y_pred = given.pop("y_true"), given.pop("y_pred")
        return _holdfast.loss_function(info["path"], y_true, y_pred, given)

    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{info['doc']} A loss for each example."
    function.__module__ = __name__
    made: Any = _holdfast.PublicFunction(function)
    made._registered_name = name
    return made  # type: ignore[no-any-return]


class Reduction:
    """The reductions of losses by the names that they had before Keras 3."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Every one of them."""
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key: str) -> None:
        """Refuses what is none of them."""
        if key not in cls.all():
            fail("E1104", f"`reduction` is {key!r}, expected one of {', '.join(cls.all())}")


_FUNCTIONS: dict[str, Callable[..., Any]] = {}
_CLASSES = declared.export("losses", FromConfig, globals(), frozenset({"name", "dtype"}))
Loss: Any = declared.class_of("losses.Loss")
for _info in declared.classes("losses"):
    if _info["name"] != "Loss":
        _made = _function(_info)
        for _name in (_made.__name__, *_info["short_names"]):
            _FUNCTIONS[_name] = _made


def circle(
    y_true: Any,
    y_pred: Any,
    ref_labels: Any = None,
    ref_embeddings: Any = None,
    remove_diagonal: bool = True,
    gamma: float = 80,
    margin: float = 0.4,
) -> Any:
    """Draws embeddings of one class together: against those of the batch, or further ones."""
    return _holdfast.circle_loss(
        y_true, y_pred, ref_labels, ref_embeddings, remove_diagonal, gamma, margin
    )


_FUNCTIONS["circle"] = _holdfast.PublicFunction(circle)
_FUNCTIONS["circle"]._registered_name = "circle"  # type: ignore[attr-defined]
globals().update({k: v for k, v in _FUNCTIONS.items() if k not in _NOT_PUBLIC})


def get(identifier: Any) -> Any:
    """The loss of a name or of a config: a function or an object; or itself."""
    if isinstance(identifier, str) and identifier in _FUNCTIONS:
        return _FUNCTIONS[identifier]
    if isinstance(identifier, type):
        return identifier()
    if callable(identifier):
        return identifier
    return _holdfast.keras_object(identifier, "losses", "`identifier` of `losses.get`")


def serialize(loss: Any) -> Any:
    """What it can be made from again: a function is its name."""
    name = getattr(loss, "__name__", None)
    return name if name in _FUNCTIONS else serialize_keras_object(loss)


def deserialize(name: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The loss that a name or a config describes."""
    return named_or_made(name, custom_objects, get)


__all__ = [  # noqa: PLE0604
    "Reduction",
    *_CLASSES,
    *(name for name in _FUNCTIONS if name not in _NOT_PUBLIC),
    "deserialize",
    "get",
    "serialize",
]

holds_functions(globals())
