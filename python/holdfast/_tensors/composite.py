"""Values that are made of several tensors: rows of a larger one, ragged and sparse tensors.

A class says what it is made of, in `_tensors`, and what else tells two of them apart, in `_facts`.
By that functions, loops, branches, tapes, sessions and datasets take it apart and put it together
again (`_structures/nesting.py`); none of them knows a class by name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

from .. import _holdfast
from .._structures import nesting
from ..errors import fail, unsupported
from .shape import TensorShape, TensorSpec, TypeSpec

__all__ = [
    "Composite",
    "CompositeSpec",
    "after_iteration",
    "differentiated",
    "each_time",
    "either",
    "facts_of",
    "handles",
    "invariants_of",
    "made_of",
    "regrouped",
    "taking_values",
    "with_composites",
    "wrap_handlers",
]


class Composite:
    """A value that is made of several tensors."""

    __slots__ = ()
    _is_composite = True

    def _tensors(self) -> tuple[Any, ...]:
        """What it is made of."""
        raise NotImplementedError

    def _facts(self) -> Any:
        """What else it is, known without a value: hashable, and compared by `==`."""
        return None

    @classmethod
    def _made(cls, facts: Any, tensors: tuple[Any, ...]) -> Any:
        """One of other tensors, or of what stands for tensors: nothing is checked."""
        raise NotImplementedError

    @classmethod
    def _spec(cls, facts: Any, specs: tuple[Any, ...]) -> CompositeSpec:
        """The specification of one that is made of such tensors."""
        raise NotImplementedError

    def _row_count(self) -> Any:
        """How many rows it has: a number, or a scalar."""
        unsupported(
            f"functions over the rows of a {type(self).__name__} are not supported",
            "they go through the rows of tensors, ragged and sparse tensors",
            fix="go through the rows in a loop, or make it dense first",
        )

    def _row(self, i: Any) -> Any:
        """One of its rows."""
        raise NotImplementedError

    def _gradient_part(self) -> Any:
        """The tensor that gradients flow through."""
        raise NotImplementedError

    def _with_gradient(self, gradient: Any) -> Any:
        """What the gradient of that tensor is as one of this."""
        raise NotImplementedError

    def _restated(self, facts: Any) -> Any:
        """The same, of which no more is known than `facts`."""
        return self._made(facts, self._tensors())

    @classmethod
    def _either(cls, a: Any, b: Any) -> Any:
        """What is known of one that has the facts `a` or `b`."""
        if a != b:
            fail("E1104", f"a branch gives another kind of {cls.__name__} than the other")
        return a

    @classmethod
    def _each_time(cls, facts: Any) -> Any:
        """What of the facts of its first value holds in every iteration of a loop."""
        return facts

    def _extent(self) -> Any:
        """The sizes of the rectangle that it fills, as a tensor; None where it is no rectangle."""
        return None

    def _invariants(self, shape: TensorShape) -> list[Any]:
        """The shapes that its tensors keep in a loop in which it keeps `shape`."""
        kind = type(self).__name__
        return unsupported(
            f"a shape as the invariant of a {kind} is not supported",
            "it does not say which shapes its parts keep",
            fix=f"give the specification that it keeps, a `tf.{kind}Spec`",
        )

    def _fetched(self, values: list[Any]) -> Any:
        """What a session gives for it, from the arrays of its tensors."""
        raise NotImplementedError

    def _fed(self, value: Any) -> tuple[Any, ...]:
        """What a session is fed for its tensors, from what a program gave for it."""
        return value._tensors() if isinstance(value, Composite) else tuple(value)

    def _printed(self, summarize: int) -> list[Any]:
        """What `tf.print` shows for it: texts, and tensors between them."""
        parts: list[Any] = [f"{type(self).__name__}("]
        for i, tensor in enumerate(self._tensors()):
            parts += [", ", tensor] if i else [tensor]
        return [*parts, ")"]

    def _numpy(self) -> Any:
        """Its value as an array."""
        unsupported(f"a {type(self).__name__} has no array of its own", "it is several tensors")

    @property
    def value_type(self) -> type[Any]:
        """Its class."""
        return type(self)

    @property
    def _type_spec(self) -> CompositeSpec:
        specs = tuple(TensorSpec(t.shape, t.dtype) for t in self._tensors())
        return self._spec(self._facts(), specs)

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        return self._facts(), self._tensors()

    @classmethod
    def __tf_unflatten__(cls, facts: Any, tensors: tuple[Any, ...]) -> Any:
        specs = bool(tensors) and all(isinstance(each, TypeSpec) for each in tensors)
        return cls._spec(facts, tensors) if specs else cls._made(facts, tensors)


class CompositeSpec(TypeSpec):
    """What is known of such a value. In structures it is like one, with specs for tensors."""

    __slots__ = ()
    _is_composite = True

    def _facts(self) -> Any:
        raise NotImplementedError

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        raise NotImplementedError

    def _serialize(self) -> tuple[Any, ...]:
        """What it is made with."""
        raise NotImplementedError

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        tensors: tuple[Any, ...] = value._tensors()
        return tensors

    def _from_components(self, tensors: Any) -> Any:
        return self.value_type.__tf_unflatten__(self._facts(), tuple(tensors))

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        return self._facts(), self._component_specs

    @classmethod
    def __tf_unflatten__(cls, facts: Any, tensors: tuple[Any, ...]) -> Any:
        return cls._VALUE.__tf_unflatten__(facts, tensors)

    _VALUE: ClassVar[Any] = None  # the class of such values

    @property
    def value_type(self) -> type[Any]:
        """The class of such values."""
        return self._VALUE  # type: ignore[no-any-return]

    def _with_shape(self, shape: Any, added: int) -> Any:
        """One of another shape, with so many more axes in front."""
        raise NotImplementedError

    def _batch(self, batch_size: int | None) -> Any:
        """That of values of this side by side."""
        return self._with_shape(TensorShape([batch_size]).concatenate(self.shape), 1)

    def _unbatch(self) -> Any:
        """That of a row."""
        shape = self.shape
        return self._with_shape(shape if shape.rank is None else shape[1:], -1)

    # Values of this side by side are made of pieces, each joined along its first axis.

    def _piece_specs(self) -> list[TensorSpec]:
        """What each of the pieces of a value is."""
        unsupported(
            f"`map_fn` of functions that give {self!r} is not supported",
            "results are put side by side, which is known of ragged and sparse tensors",
        )

    def _pieces(self, value: Any, i: Any) -> list[Any]:
        """The pieces of a value that is row `i`."""
        raise NotImplementedError

    def _from_pieces(self, pieces: list[Any], n: Any) -> Any:
        """`n` values side by side, of their pieces end to end."""
        raise NotImplementedError

    def _joined(self, other: Any) -> Any:
        """One that values of both fit."""
        return self._with_shape(self.shape.most_specific_compatible_shape(other.shape), 0)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or another specification, may be meant."""
        other = spec_or_value
        if isinstance(other, self._VALUE):
            other = other._type_spec
        if type(other) is not type(self):
            return False
        mine, theirs = self._component_specs, other._component_specs
        return (
            len(mine) == len(theirs)
            and self._shape_fits(other)
            and all(a.is_compatible_with(b) for a, b in zip(mine, theirs, strict=True))
        )

    def _shape_fits(self, other: Any) -> bool:
        return bool(self.shape.is_compatible_with(other.shape))

    @property
    def shape(self) -> Any:
        """The shape of the whole."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return repr(self._serialize()) == repr(other._serialize())

    def __hash__(self) -> int:
        return hash((type(self), repr(self._serialize())))

    def __reduce__(self) -> Any:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


# Gradients.


def differentiated(structure: Any) -> list[Any]:
    """The leaves of a structure that gradients flow through: of a composite one of its tensors."""
    flat = nesting.flatten(structure, whole=True)
    return [each._gradient_part() if isinstance(each, Composite) else each for each in flat]


def regrouped(structure: Any, gradients: list[Any]) -> Any:
    """Gradients of such leaves in the structure: that of a composite is one."""
    flat = nesting.flatten(structure, whole=True)
    both = zip(flat, gradients, strict=True)
    found = [
        x._with_gradient(g) if isinstance(x, Composite) and g is not None else g for x, g in both
    ]
    return nesting.pack_sequence_as(structure, found, whole=True)


# Functions of composites.

_HANDLERS: dict[tuple[Any, type[Any]], Callable[..., Any]] = {}


def handles(function: Any, kind: type[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Says what a registered function does with arguments of which one is of a class."""

    def note(handler: Callable[..., Any]) -> Callable[..., Any]:
        _HANDLERS[function, kind] = handler
        return handler

    return note


def wrap_handlers(
    kind: type[Any], wrap: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> None:
    """Puts something around all that was said by `handles` of a class so far."""
    for key, handler in list(_HANDLERS.items()):
        if key[1] is kind:
            _HANDLERS[key] = wrap(handler)


# How what a session gives for a composite is made one again.
_MADE_OF: dict[type[Any], Callable[[Any], Composite]] = {}


def made_of(kind: type[Any], make: Callable[[Any], Composite]) -> None:
    """Functions take a composite's value in NumPy's arrays, a `kind`, for the composite."""
    _MADE_OF[kind] = make


def with_composites(value: Any) -> Any:
    """The value, or the list of such, with composites in place of their values."""
    make = _MADE_OF.get(type(value))
    if make is not None:
        return make(value)
    if isinstance(value, (list, tuple)) and any(type(item) in _MADE_OF for item in value):
        return [with_composites(item) for item in value]
    return value


def taking_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which also takes values of composites for composites."""

    @functools.wraps(function)
    def take(*args: Any, **kwargs: Any) -> Any:
        given = {key: with_composites(value) for key, value in kwargs.items()}
        return function(*map(with_composites, args), **given)

    return take


def _composite_among(values: Any) -> Composite | None:
    for value in values:
        if isinstance(value, Composite):
            return value
        if isinstance(value, (list, tuple)):
            found = _composite_among(value)
            if found is not None:
                return found
    return None


def _dispatched(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a class says that a function does with its values; NotImplemented where it is silent."""
    args = tuple(map(with_composites, args))
    kwargs = {key: with_composites(value) for key, value in kwargs.items()}
    found = _composite_among((*args, *kwargs.values()))
    handler = None if found is None else _HANDLERS.get((function, type(found)))
    return NotImplemented if handler is None else handler(*args, **kwargs)


_holdfast.set_composites_hook(_dispatched)


def _with_facts(value: Any, facts: Any) -> Any:
    return value if facts == value._facts() else value._restated(facts)


def either(x: Any, y: Any) -> Any:
    """`y`, which knows no more of its composites than `x` says too: a branch gives one of them."""
    mine, others = nesting.flatten(x, whole=True), nesting.flatten(y, whole=True)
    if not any(isinstance(part, Composite) for part in others):
        return y
    parts = [
        _with_facts(b, b._either(a._facts(), b._facts())) if isinstance(b, Composite) else b
        for a, b in zip(mine, others, strict=True)
    ]
    return nesting.pack_sequence_as(y, parts, whole=True)


def after_iteration(before: Any, after: Any, same: bool) -> Any:
    """`before`, which knows of its composites what `after` says: alone, or only what is the `same`.

    An iteration that began with `before` gave `after`.
    """
    mine, others = nesting.flatten(before, whole=True), nesting.flatten(after, whole=True)
    kinds = [
        [type(part) if isinstance(part, Composite) else None for part in parts]
        for parts in (mine, others)
    ]
    if not any(kinds[0]) and not any(kinds[1]):
        return before
    if kinds[0] != kinds[1]:
        fail(
            "E1104",
            "the body of a loop gives sparse or ragged tensors where it got others, or none",
            "each variable of a loop stays of one kind",
            fix="convert them before the loop",
        )
    parts = [
        _with_facts(a, a._either(a._facts(), b._facts()) if same else b._facts())
        if isinstance(a, Composite)
        else a
        for a, b in zip(mine, others, strict=True)
    ]
    return nesting.pack_sequence_as(before, parts, whole=True)


def facts_of(value: Any) -> list[Any]:
    """What is known of each composite of a structure."""
    parts = nesting.flatten(value, whole=True)
    return [part._facts() for part in parts if isinstance(part, Composite)]


def each_time(value: Any) -> Any:
    """`value`, which knows of its composites what holds in every iteration of a loop."""
    parts = nesting.flatten(value, whole=True)
    if not any(isinstance(part, Composite) for part in parts):
        return value
    known = [
        _with_facts(part, part._each_time(part._facts())) if isinstance(part, Composite) else part
        for part in parts
    ]
    return nesting.pack_sequence_as(value, known, whole=True)


def invariants_of(value: Any, shape: Any) -> list[Any]:
    """The shape that each tensor of a structure keeps, from what a program says of the whole."""
    if isinstance(value, Composite):
        if isinstance(shape, CompositeSpec):
            return [spec.shape for spec in shape.__tf_flatten__()[1]]
        return value._invariants(TensorShape(shape))
    if isinstance(value, (list, tuple)) and isinstance(shape, (list, tuple)):
        if len(value) != len(shape):
            fail("E1104", f"there are {len(shape)} shape invariants for {len(value)} values")
        pairs = zip(value, shape, strict=True)
        return [found for v, s in pairs for found in invariants_of(v, s)]
    if isinstance(value, dict) and isinstance(shape, dict):
        return [found for key in sorted(value) for found in invariants_of(value[key], shape[key])]
    return [getattr(shape, "shape", shape)]
