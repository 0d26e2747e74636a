"""`tf.keras.Variable`: variables as Keras shows them. Those of layers and optimizers are such."""

from __future__ import annotations

import itertools
from typing import Any

from .. import _holdfast
from .._tensors.dtypes import as_dtype
from .._tensors.tensor import convert_to_tensor
from .._variables.spec import VariableAggregation, VariableSynchronization
from .._variables.variable import Variable as TensorFlowVariable
from ..errors import fail, unsupported
from .config import floatx

__all__ = ["Variable"]

_AGGREGATIONS = {
    "none": VariableAggregation.NONE,
    "sum": VariableAggregation.SUM,
    "mean": VariableAggregation.MEAN,
    "only_first_replica": VariableAggregation.ONLY_FIRST_REPLICA,
}
_SYNCHRONIZATIONS = {
    "auto": VariableSynchronization.AUTO,
    "none": VariableSynchronization.NONE,
    "on_write": VariableSynchronization.ON_WRITE,
    "on_read": VariableSynchronization.ON_READ,
}
_numbers = itertools.count()


def _chosen(known: dict[str, Any], given: Any, argument: str, default: str) -> Any:
    found = known.get(default if given is None else given) if _is_text(given) else None
    if found is None:
        names = ", ".join(f'"{name}"' for name in known)
        fail("E1104", f"`Variable`: `{argument}` is {given!r}, expected one of {names}")
    return found


def _is_text(given: Any) -> bool:
    return given is None or isinstance(given, str)


def _named(known: dict[str, Any], member: Any) -> str:
    return next(name for name, each in known.items() if each is member)


def _checked_name(name: Any) -> str:
    if name is None:
        number = next(_numbers)
        return f"variable_{number}" if number else "variable"
    if not isinstance(name, str) or not name or "/" in name:
        fail("E1104", f"`Variable`: `name` is {name!r}, expected a string without `/`")
    return name


def _first_value(initializer: Any, shape: Any, dtype: Any) -> Any:
    """A value as it is, or what an initializer makes of a shape."""
    if isinstance(initializer, str) or callable(initializer):
        if shape is None:
            fail(
                "E1104",
                "`Variable` of an initializer got no `shape`",
                "an initializer makes values of any shape",
                fix='say it: `keras.Variable("zeros", shape=(2, 3))`',
            )
        if isinstance(initializer, str):
            what = "`initializer` of a `Variable`"
            initializer = _holdfast.keras_object(initializer, "initializers", what)
        return initializer(tuple(shape), dtype=as_dtype(dtype or floatx()))
    value = convert_to_tensor(initializer, None if dtype is None else as_dtype(dtype))
    if shape is not None and not value.shape.is_compatible_with(shape):
        fail(
            "E1102",
            f"`Variable` got the shape {tuple(shape)} for a value of shape {tuple(value.shape)}",
        )
    return value


class Variable(TensorFlowVariable):
    """A Variable as Keras shows it: `name` is its own alone, `path` has the scopes before it.

    All else is as with `tf.Variable`, which it is.
    """

    _autocast = True
    _frozen = False  # a program has said later that it is not trained

    def __init__(
        self,
        initializer: Any,
        shape: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        aggregation: str | None = "none",
        synchronization: str | None = "auto",
        name: str | None = None,
        layout: Any = None,
    ) -> None:
        if layout is not None:
            unsupported(
                "`Variable` with a `layout` is not supported",
                "a layout shares a variable out among devices, and there is one",
                fix="leave `layout` out",
            )
        together = _chosen(_AGGREGATIONS, aggregation, "aggregation", "none")
        equal = _chosen(_SYNCHRONIZATIONS, synchronization, "synchronization", "auto")
        checked = _checked_name(name)
        super().__init__(
            _first_value(initializer, shape, dtype),
            trainable=bool(trainable),
            name=checked,
            synchronization=equal,
            aggregation=together,
        )
        self._autocast = bool(autocast)

    @classmethod
    def _like(cls, value: Any, name: str, options: dict[str, Any]) -> Variable:
        made: Variable = cls.__new__(cls)
        TensorFlowVariable.__init__(made, value, name=name, **options)
        return made

    @property
    def name(self) -> str:
        """Its own name."""
        return self.path.rpartition("/")[2]

    @property
    def path(self) -> str:
        """Its name, with those of the scopes that it was made in."""
        return str(self._full_name)

    @property
    def value(self) -> Any:
        """The value, as a tensor."""
        return self.read()

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def trainable(self) -> bool:
        """Whether training changes it."""
        _holdfast.goes_by_trainable(self)
        return bool(super().trainable) and not self._frozen

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if value and not super().trainable:
            unsupported(
                f"the Variable `{self.path}` can't be made trainable: it was made without",
                "tapes watch by themselves what is trainable from the start",
                fix="make it with `trainable=True`, and set that to False until it is wanted",
            )
        self._freeze(not value)

    def _freeze(self, frozen: bool) -> None:
        """Follows the layer that holds it; what was never trained stays so."""
        if frozen is not self._frozen:
            self._frozen = frozen
            _holdfast.note_frozen(self)

    @property
    def aggregation(self) -> str:  # type: ignore[override]
        """How copies of it are put together."""
        return _named(_AGGREGATIONS, self._aggregation)

    @property
    def synchronization(self) -> str:  # type: ignore[override]
        """When copies of it are made equal."""
        return _named(_SYNCHRONIZATIONS, self._synchronization)

    def __repr__(self) -> str:
        return (
            f"<Variable path={self.path}, shape={tuple(self.shape)}, dtype={self.dtype.name}, "
            f"value={self.numpy()}>"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        made = memo[id(self)] = self._like(self.read(), self.path, self._options())
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.numpy(), self.dtype.name, self.path, self._options())


def _restored(value: Any, dtype: str, name: str, options: dict[str, Any]) -> Variable:
    return Variable._like(convert_to_tensor(value, as_dtype(dtype)), name, options)


# What C++ makes without Python is what Keras makes: layers' weights, what optimizers keep.
_holdfast.set_class("Variable", Variable)
