"""`tf.data.Iterator`: one iteration of a dataset, which C++ holds."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .. import _holdfast
from .._flow.optional import Optional
from .._graphs.operation import named
from .._tensors.composite import Composite
from ..errors import fail, unsupported
from .loop import graph_for, loop_from
from .spec import IteratorSpec
from .structure import holds_datasets, map_leaves, packed, spec_of

__all__ = [
    "Iterator",
    "NumpyIterator",
    "TracedIterator",
    "iterator_of",
    "kind_of",
    "traced_iterator",
]

# How often an iterator is asked for its next element while a function is traced: each is an op of
# the graph, and a loop of Python's would write them down without end.
_MOST_ASKED = 1000


class Iterator(_holdfast.DatasetIteratorBase):
    """One iteration of a dataset.

    `save` gives its position as bytes, with buffers and seeds; `restore` takes it, in an iterator
    of a dataset that is made in the same way.
    """

    _template: Any = None
    _dataset: Any = None

    @property
    def element_spec(self) -> Any:
        """The specs of its elements."""
        return self._dataset.element_spec

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec.from_value(self)

    def get_next(self) -> Any:
        """The next element; OutOfRangeError at the end."""
        for element in self:
            return element
        fail(
            "E1402",
            "End of sequence: the iterator has no element left",
            "the dataset has given all of its elements",
            fix="iterate with `for`, which ends by itself, or `repeat` the dataset",
        )

    def get_next_as_optional(self) -> Optional:
        """The next element, or none at the end."""
        if _holdfast.is_tracing():
            return TracedIterator(
                kind_of(self._dataset), _holdfast.data_begin_loop(self)
            ).get_next_as_optional()
        found = list(itertools.islice(self, 1))
        if not found:
            return Optional.empty(self.element_spec)
        return Optional(self.element_spec, _holdfast.convert(True), lambda: found[0])

    def __graph_for__(self, step: Any, go_on: Any, state: Any) -> list[Any]:
        return graph_for(self, self._dataset, step, go_on, state)

    # An argument of a traced function is its position: one trace serves all iterators of a kind.

    def __tf_flatten__(self) -> tuple[Any, tuple[Any]]:
        return (kind_of(self._dataset),), (_holdfast.data_position(self),)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> Any:
        (kind,), (position,) = metadata, components
        return TracedIterator(kind, position)

    def save(self) -> bytes:
        """Where it stands."""
        return _holdfast.data_iterator_save(self)

    def restore(self, position: bytes) -> None:
        """Goes on from a position that was saved."""
        if not isinstance(position, bytes):
            fail("E1104", f"a position is {type(position).__name__}, expected bytes")
        _holdfast.data_iterator_restore(self, position)

    # What checkpoints ask of it.

    def _checkpoint_position(self) -> bytes:
        return self.save()

    def _checkpoint_go_to(self, position: bytes) -> None:
        self.restore(position)


class _Kind:
    """What a trace knows of an iterator: the specs of its elements, and their named tuples."""

    def __init__(self, dataset: Any) -> None:
        spec = spec_of(dataset)
        self.promised, self.template = _holdfast.data_promised(spec), dataset._template
        self.element_spec = dataset.element_spec
        self._words = repr(self.element_spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kind) and self._words == other._words

    def __hash__(self) -> int:
        return hash(self._words)


def kind_of(dataset: Any) -> _Kind:
    """What traces and graphs know of the iterators of a dataset."""
    if dataset._kind is None:  # asked for in each step of a program's loop
        dataset._kind = _Kind(dataset)
    found: _Kind = dataset._kind
    return found


def traced_iterator(dataset: Any) -> TracedIterator:
    """An iterator that each call of the function begins anew."""
    if _holdfast.current_graph() is not None:
        unsupported(
            "`iter` of a dataset is not supported in a graph that a session runs",
            "each run of an op takes the next element, whatever Python does around it",
            fix="use `tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()`",
        )
    return TracedIterator(kind_of(dataset), _holdfast.data_begin_loop(dataset))


class TracedIterator:
    """An iterator that is an argument of the function that is traced."""

    def __init__(self, kind: _Kind, position: Any) -> None:
        self._kind, self._position, self._asked = kind, position, 0

    def __tf_flatten__(self) -> tuple[Any, tuple[Any]]:
        return (self._kind,), (self._position,)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> Any:
        (kind,), (position,) = metadata, components
        return cls(kind, position)

    @property
    def element_spec(self) -> Any:
        """The specs of its elements."""
        return self._kind.element_spec

    def __iter__(self) -> TracedIterator:
        return self

    def __next__(self) -> Any:
        self._asked += 1
        if self._asked > _MOST_ASKED:
            unsupported(
                "this way of going through a dataset is not supported while a function is traced",
                "elements would become ops of the graph, one after the other, without end",
                fix="write a `for` statement in the function: it becomes a loop of the graph",
            )
        return self.get_next()

    def get_next(self, name: str | None = None) -> Any:
        """The next element of each run; OutOfRangeError at the end."""
        given = named(name, lambda: _holdfast.data_next_at(self._position, self._kind.promised))
        return packed(self._kind.template, given)

    def get_next_as_optional(self) -> Optional:
        """The next element, or none at the end; its value is taken at most once."""
        there = _holdfast.data_advance_loop(self._position)

        def value() -> Any:
            given = _holdfast.data_loop_element(self._position, self._kind.promised)
            return packed(self._kind.template, given)

        return Optional(self.element_spec, there, value)

    def __graph_for__(self, step: Any, go_on: Any, state: Any) -> list[Any]:
        promised = self._kind.promised
        promised._template = self._kind.template
        return loop_from(self._position, promised, step, go_on, state)


class _PackedIterator(Iterator):
    """One that gives named tuples."""

    def __next__(self) -> Any:
        return packed(self._template, super().__next__())


class NumpyIterator:
    """Elements with NumPy's arrays in place of tensors. They are for reading."""

    def __init__(self, dataset: Any) -> None:
        if _holdfast.is_tracing():
            unsupported(
                "`as_numpy_iterator` is not supported while a function is traced",
                "arrays have values, and tensors of a graph have none yet",
                fix="write a `for` statement over the dataset itself",
            )
        if holds_datasets(dataset.element_spec):
            fail(
                "E1104",
                f"`as_numpy_iterator` got elements that are datasets: {dataset.element_spec!r}",
                "a dataset is no array",
                fix="make tensors of them with `flat_map`, or iterate over the dataset itself",
            )
        self._iterator = iterator_of(dataset)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return map_leaves(_as_numpy, next(self._iterator))

    next = __next__

    def save(self) -> bytes:
        """Where it stands."""
        return self._iterator.save()

    def restore(self, state: bytes) -> None:
        """Goes on from a position that was saved."""
        self._iterator.restore(state)

    _checkpoint_position = save
    _checkpoint_go_to = restore


def _as_numpy(tensor: Any) -> Any:
    # A ragged one becomes an array of rows, a sparse one a dense array.
    found = tensor._numpy() if isinstance(tensor, Composite) else tensor.numpy()
    if isinstance(found, np.ndarray):
        found.flags.writeable = False  # the memory may be the tensor's own, or the source's
    return found


def iterator_of(dataset: Any) -> Iterator:
    """A fresh iteration."""
    made: Iterator = _holdfast.data_iterator(dataset)
    made._dataset = dataset
    if dataset._template is not None:
        made._template = dataset._template
        made.__class__ = _PackedIterator
    return made


_holdfast.set_class("DatasetIterator", Iterator)
