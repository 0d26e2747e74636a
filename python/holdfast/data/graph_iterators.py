"""`tf.compat.v1.data`: iterators of graphs, which sessions run."""

from __future__ import annotations

from typing import Any, NoReturn

from .. import _holdfast
from .._composites.ragged.spec import RaggedTensorSpec
from .._composites.sparse.spec import SparseTensorSpec
from .._flow.optional import OptionalSpec
from .._graphs.operation import named
from .._tensors.dtypes import string
from .._tensors.shape import TensorSpec, TypeSpec
from ..errors import fail, unsupported
from .experimental import map_and_batch
from .generators import paired_spec
from .iterator import TracedIterator, iterator_of, kind_of
from .spec import DatasetSpec
from .structure import map_leaves, template_of

__all__ = ["NAMES", "GraphIterator"]


class GraphIterator(TracedIterator):
    """An iterator of a graph: each run of `get_next()` takes the next element.

    One that `make_initializable_iterator` or `from_structure` made begins when its initializer
    runs, and begins anew when that runs again.
    """

    def __init__(self, kind: Any, position: Any, initializer: Any = None) -> None:
        super().__init__(kind, position)
        self._initializer = initializer

    @staticmethod
    def from_structure(
        output_types: Any,
        output_shapes: Any = None,
        shared_name: str | None = None,
        output_classes: Any = None,
    ) -> GraphIterator:
        """One of no dataset yet: `make_initializer` says which it begins with."""
        _need_graph("Iterator.from_structure")
        _need_own_name(shared_name)
        kind = _kind(output_types, output_shapes, output_classes)
        return GraphIterator(kind, _holdfast.data_graph_iterator(None))

    @staticmethod
    def from_string_handle(
        string_handle: Any,
        output_types: Any,
        output_shapes: Any = None,
        output_classes: Any = None,
    ) -> GraphIterator:
        """The one whose `string_handle()` has that value, which a run may feed."""
        _need_graph("Iterator.from_string_handle")
        kind = _kind(output_types, output_shapes, output_classes)
        name = _holdfast.convert(string_handle, string)
        return GraphIterator(kind, _holdfast.data_from_string_handle(name))

    @property
    def initializer(self) -> Any:
        """The operation that begins it."""
        if self._initializer is None:
            fail(
                "E1104",
                "the iterator has no `initializer`",
                "one that `make_one_shot_iterator` made begins by itself",
                fix="use `make_initializable_iterator`, or `make_initializer(dataset)`",
            )
        return self._initializer

    def make_initializer(self, dataset: Any, name: str | None = None) -> Any:
        """The operation that begins it with the elements of a dataset."""
        if not DatasetSpec(self.element_spec).is_compatible_with(dataset):
            fail(
                "E1101",
                f"the iterator gives {self.element_spec!r}, and the dataset has "
                f"{dataset.element_spec!r}",
                "an iterator begins with datasets of its own structure, dtypes and shapes",
            )
        return named(name, lambda: _holdfast.data_initialize(self._position, dataset)).op

    def string_handle(self, name: str | None = None) -> Any:
        """A text by which `from_string_handle` finds it."""
        return named(name, lambda: _holdfast.data_string_handle(self._position))

    @property
    def output_types(self) -> Any:
        """The dtypes of its elements."""
        return _types(self)

    @property
    def output_shapes(self) -> Any:
        """The shapes of its elements."""
        return _shapes(self)

    @property
    def output_classes(self) -> Any:
        """The classes of its elements' parts."""
        return _classes(self)


def _need_graph(function: str) -> None:
    if _holdfast.current_graph() is None:
        _refuse_eager(function)


def _refuse_eager(function: str) -> NoReturn:
    unsupported(
        f"`{function}` is for graphs, and this code is eager",
        "an initializer is an operation, which a session runs",
        fix="iterate over the dataset: `for element in dataset`",
    )


def _need_own_name(shared_name: str | None) -> None:
    if shared_name:
        unsupported(
            f"an iterator with the `shared_name` {shared_name!r} is not supported",
            "there is one process, in which a Python name is shared by all sessions",
        )


def _kind(types: Any, shapes: Any, classes: Any) -> Any:
    def need_tensor(each: Any) -> Any:
        if each is not _holdfast.Tensor:
            unsupported(
                f"`output_classes` has {each!r}, which is not supported",
                "elements of such an iterator are tensors",
            )
        return each

    map_leaves(need_tensor, classes)
    spec = paired_spec(types, shapes)
    promised = _holdfast.data_promised(spec)
    promised._template = template_of(spec)
    return kind_of(promised)


def make_one_shot_iterator(dataset: Any) -> Any:
    """An iterator that begins by itself, and ends once."""
    if _holdfast.current_graph() is None:
        return iterator_of(dataset)
    return GraphIterator(kind_of(dataset), _holdfast.data_graph_iterator(dataset))


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> GraphIterator:
    """An iterator that begins whenever a session runs its `initializer`."""
    _need_graph("make_initializable_iterator")
    _need_own_name(shared_name)
    made = GraphIterator(kind_of(dataset), _holdfast.data_graph_iterator(None))
    made._initializer = made.make_initializer(dataset)
    return made


def _types(dataset_or_iterator: Any) -> Any:
    """The dtypes of the elements of a dataset or an iterator."""
    return map_leaves(lambda spec: spec.dtype, dataset_or_iterator.element_spec)


def _shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of the elements of a dataset or an iterator."""
    return map_leaves(lambda spec: spec.shape, dataset_or_iterator.element_spec)


def _classes(dataset_or_iterator: Any) -> Any:
    """The classes of what the elements of a dataset or an iterator are made of."""

    def of(spec: Any) -> Any:
        return _holdfast.Tensor if isinstance(spec, TensorSpec) else spec.value_type

    return map_leaves(of, dataset_or_iterator.element_spec)


NAMES: dict[str, Any] = {
    f"compat.v1.data.{name}": value
    for name, value in {
        "Iterator": GraphIterator,
        "make_one_shot_iterator": make_one_shot_iterator,
        "make_initializable_iterator": make_initializable_iterator,
        "get_output_types": _types,
        "get_output_shapes": _shapes,
        "get_output_classes": _classes,
        "experimental.DatasetStructure": DatasetSpec,
        "experimental.OptionalStructure": OptionalSpec,
        "experimental.Structure": TypeSpec,
        "experimental.TensorStructure": lambda dtype, shape: TensorSpec(shape, dtype),
        "experimental.SparseTensorStructure": lambda dtype, shape: SparseTensorSpec(shape, dtype),
        "experimental.RaggedTensorStructure": lambda dtype, shape, ragged_rank: RaggedTensorSpec(
            shape, dtype, ragged_rank
        ),
        "experimental.map_and_batch_with_legacy_function": map_and_batch,
    }.items()
}
