"""`tf.Variable`: a place that holds a tensor and can be given another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from .. import _holdfast
from .._graphs.name_scope import named_ops, scoped
from .._messages.in_place import refuse_in_place
from .._tensors import registry, slicing
from .._tensors.dtypes import as_dtype
from .._tensors.indexed_slices import IndexedSlices
from .._tensors.shape import TensorShape, as_shape
from .._tensors.tensor import Reference, convert_to_tensor, numpy_text
from ..errors import OutOfRangeError, fail, unsupported
from . import creation, creators, strategies
from .graph_changes import changed
from .spec import VariableAggregation, VariableSpec, VariableSynchronization, as_choice

__all__ = ["Variable"]


def _in_place(symbol: str, method: str) -> Callable[[Any, Any], Any]:
    def refuse(self: Any, other: Any) -> NoReturn:
        refuse_in_place(self, symbol, method)

    return refuse


_DEFAULTS: dict[str, Any] = {
    "initial_value": None,
    "trainable": None,
    "validate_shape": True,
    "caching_device": None,
    "name": None,
    "variable_def": None,
    "dtype": None,
    "import_scope": None,
    "constraint": None,
    "synchronization": VariableSynchronization.AUTO,
    "aggregation": VariableAggregation.NONE,
    "shape": None,
}


_graph_variable: Callable[[], type[Variable]]


def set_graph_variable(load: Callable[[], type[Variable]]) -> None:
    """Says what `Variable` makes while a graph is the default: a class of its own, loaded late."""
    global _graph_variable
    _graph_variable = load


class Variable(_holdfast.VariableBase):
    """A named, typed place for a tensor. Read it like a tensor, change it with `assign`."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """What the creators in force make; while a graph is the default, one of that graph."""
        if cls is not Variable:
            return super().__new__(cls)
        made = creators.created_by(cls._made_now, _DEFAULTS, args, kwargs)
        if made is None:
            return cls._blank()
        if isinstance(made, cls):
            made._made = True  # Python calls `__init__` once more
        return made

    @classmethod
    def _blank(cls) -> Any:
        # One that is made in a branch or a loop of a graph is the graph's.
        graph = _holdfast.root_graph()
        if graph is None or graph._lifts_variables:
            return super().__new__(cls)
        return super().__new__(_graph_variable())

    @classmethod
    def _made_now(cls, **kwargs: Any) -> Any:
        made = cls._blank()
        made.__init__(**kwargs)
        return made

    _made = False

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: str | None = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
        *,
        collections: Any = None,
        use_resource: bool | None = None,
        expected_shape: Any = None,
    ) -> None:
        """`collections` are those of a graph; every variable is a resource."""
        if self._made:
            del self._made
            return
        super().__init__()
        self._wanted_collections = collections
        shape = shape if shape is not None else expected_shape
        if variable_def is not None:
            if initial_value is not None:
                fail(
                    "E1104", "`Variable` got an `initial_value` and a `variable_def`, expected one"
                )
            unsupported(
                "`Variable` from a `variable_def` is not supported",
                "a Variable is made from an initial value",
                fix="give `initial_value`",
            )
        if initial_value is None:
            fail(
                "E1104",
                "`Variable` got no `initial_value`",
                "a Variable has a value from the start, and its dtype and shape from that",
                fix="give one: `tf.Variable(tf.zeros([2, 3]))`",
            )
        if caching_device:
            self._cache_on(caching_device)
        if constraint is not None and not callable(constraint):
            fail(
                "E1104", f"`constraint` is of type {type(constraint).__name__}, expected a function"
            )
        synchronization = as_choice(VariableSynchronization, synchronization, "synchronization")
        aggregation = as_choice(VariableAggregation, aggregation, "aggregation")
        synchronization = strategies.kept(synchronization, name or "Variable")
        if trainable is None:
            trainable = synchronization is not VariableSynchronization.ON_READ
        self._synchronization, self._aggregation = synchronization, aggregation
        self._set_up(initial_value, dtype, shape, bool(trainable), name or "Variable")
        self._constraint = constraint
        strategies.note_owner(self)

    def _cache_on(self, device: Any) -> None:
        unsupported(
            "`Variable` with a `caching_device` is not supported outside of a graph",
            "a session caches what a run reads; eager code reads a Variable where it is",
            fix="leave `caching_device` out, and place reads with `tf.device`",
        )

    def _set_up(
        self, initial_value: Any, dtype: Any, shape: Any, trainable: bool, name: str
    ) -> None:
        if callable(initial_value):
            with creation.scope():
                initial_value = initial_value()
        given = convert_to_tensor(initial_value, dtype)
        value = creation.starting_value(given)
        wanted = value.shape if shape is None else as_shape(shape)
        if not wanted.is_compatible_with(value.shape):
            fail("E1102", f"`Variable` got the shape {wanted} for a value of shape {value.shape}")
        graph = creation.lifting_graph()
        full_name = scoped(name) if graph is None else graph.unique_name(name)
        self._make(value, trainable, full_name, loose(shape))
        self._static_shape = wanted
        creation.created(self, given)

    # What it is. One that C++ made has these from its state alone.

    _static_shape: TensorShape | None = None
    _synchronization = VariableSynchronization.AUTO
    _aggregation = VariableAggregation.NONE

    @property
    def _shared_name(self) -> str:
        return self._full_name

    @property
    def shape(self) -> TensorShape:
        """The shape that every value has."""
        if self._static_shape is None:
            self._static_shape = self._shape
        return self._static_shape

    @property
    def synchronization(self) -> VariableSynchronization:
        """As given."""
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """As given."""
        return self._aggregation

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        """The function that an optimizer applies to the value after an update."""
        return self._constraint

    @property
    def _type_spec(self) -> VariableSpec:
        return VariableSpec(self.shape, self.dtype, self.trainable)

    def get_shape(self) -> TensorShape:
        """The shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Narrows the shape to what `shape` knows as well."""
        self._static_shape = self.shape.merge_with(shape)

    def ref(self) -> Reference:
        """A hashable reference to this Variable."""
        return Reference(self)

    experimental_ref = ref

    # Its value.

    def numpy(self) -> Any:
        """A NumPy copy of the value."""
        return self.read().numpy()

    def is_initialized(self, name: str | None = None) -> Any:
        """True: a Variable is made with its value."""
        return convert_to_tensor(True)

    def initialized_value(self) -> Any:
        """The value; a Variable is made with it."""
        return self.read()

    @property
    def initializer(self) -> None:
        """None: a Variable is made with its value."""
        return None

    @classmethod
    def _after(cls, variable: Variable, done: Any, name: str) -> Any:
        raise NotImplementedError  # graphs do

    def _changed(
        self, change: Any, value: Any, name: str | None, read_value: bool, kind: str
    ) -> Any:
        """A change in a graph that is written by hand: itself after it, or the op."""
        graph = _holdfast.current_graph()
        done = changed(graph, change, self._fitting(value), name)
        return _graph_variable()._after(self, done, name or kind) if read_value else done

    def load(self, value: Any, session: Any = None) -> None:
        """The same as `assign`."""
        self.assign(value)

    def _fitting(self, value: Any) -> Any:
        return _holdfast.convert(value, self.dtype)

    # Parts of its value.

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        """The rows `indices`."""
        return registry.function("gather")(self, indices, name=name)

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        """The parts that `indices` point at."""
        return registry.function("gather_nd")(self, indices, name=name)

    def count_up_to(self, limit: int) -> Any:
        """The value, which then goes up by one; OutOfRangeError at `limit`."""
        if self.dtype.name not in ("int32", "int64"):
            fail("E1101", f"`count_up_to` of a {self.dtype.name} Variable, expected int32 or int64")
        now = self.read()
        if int(now) >= limit:
            raise OutOfRangeError(None, None, f"`{self._full_name}` has come up to {limit}")
        self.assign_add(1)
        return now

    def _scatter(self, how: str, sparse_delta: Any) -> Variable:
        if not isinstance(sparse_delta, IndexedSlices):
            fail(
                "E1104",
                f"`scatter_{how}` got a {type(sparse_delta).__name__}, expected tf.IndexedSlices",
                "the rows to change and their numbers come together, as an IndexedSlices",
                fix="give `tf.IndexedSlices(values, indices)`",
            )
        updates = self._fitting(sparse_delta.values)
        return self._scatter_rows(how, convert_to_tensor(sparse_delta.indices), updates)

    def _scatter_rows(self, how: str, indices: Any, updates: Any) -> Variable:
        op = f"ResourceScatter{how.capitalize()}"
        registry.raw_op(op, resource=self, indices=indices, updates=updates)
        return self

    def _scatter_nd(self, how: str, indices: Any, updates: Any) -> Variable:
        op = f"ResourceScatterNd{how.capitalize()}"
        given = {"indices": convert_to_tensor(indices), "updates": self._fitting(updates)}
        registry.raw_op(op, ref=self, **given)
        return self

    @named_ops
    def scatter_add(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Adds rows."""
        return self._scatter("add", sparse_delta)

    @named_ops
    def scatter_sub(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Subtracts rows."""
        return self._scatter("sub", sparse_delta)

    @named_ops
    def scatter_max(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Takes the greater of its own and the given rows."""
        return self._scatter("max", sparse_delta)

    @named_ops
    def scatter_min(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Takes the lesser of its own and the given rows."""
        return self._scatter("min", sparse_delta)

    @named_ops
    def scatter_mul(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Multiplies rows."""
        return self._scatter("mul", sparse_delta)

    @named_ops
    def scatter_div(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Divides rows."""
        return self._scatter("div", sparse_delta)

    @named_ops
    def scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Replaces rows."""
        return self._scatter("update", sparse_delta)

    @named_ops
    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Adds to the parts that `indices` point at."""
        return self._scatter_nd("add", indices, updates)

    @named_ops
    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Subtracts from the parts that `indices` point at."""
        return self._scatter_nd("sub", indices, updates)

    @named_ops
    def scatter_nd_max(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Takes the greater of its own and the given parts."""
        return self._scatter_nd("max", indices, updates)

    @named_ops
    def scatter_nd_min(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Takes the lesser of its own and the given parts."""
        return self._scatter_nd("min", indices, updates)

    @named_ops
    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Replaces the parts that `indices` point at."""
        return self._scatter_nd("update", indices, updates)

    @named_ops
    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Variable:
        """Replaces rows along the last axis of the indices; the axes before it are batches."""
        if not isinstance(sparse_delta, IndexedSlices):
            given = type(sparse_delta).__name__
            fail("E1104", f"`batch_scatter_update` got a {given}, expected tf.IndexedSlices")
        indices = convert_to_tensor(sparse_delta.indices)
        return self._scatter_batches(indices, self._fitting(sparse_delta.values))

    def _scatter_batches(self, indices: Any, updates: Any) -> Variable:
        self._batch_scatter_update(indices, updates)
        return self

    def _assign_part(self, key: Any, value: Any, name: str | None = None) -> Variable:
        """`self[key].assign(value)`."""
        self._assign_index(key, self._fitting(value))
        return self

    def __getitem__(self, key: Any) -> Any:
        return slicing.remember(self.read()[key], self, key)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.read())

    # As a Python value.

    def __bool__(self) -> bool:
        return bool(self.read())

    def __int__(self) -> int:
        return int(self.read())

    def __float__(self) -> float:
        return float(self.read())

    def __complex__(self) -> complex:
        return complex(self.read())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        value: np.ndarray[Any, Any] = np.asarray(self.numpy())
        return value if dtype is None else value.astype(dtype, copy=False)

    __array_priority__ = 100

    def __hash__(self) -> int:
        raise TypeError(
            f"the Variable `{self._full_name}` compares by its value, so it is no key: "
            "use `variable.ref()`"
        )

    __iadd__ = _in_place("+", "assign_add")
    __isub__ = _in_place("-", "assign_sub")
    __imul__ = _in_place("*", "")
    __itruediv__ = _in_place("/", "")
    __ifloordiv__ = _in_place("//", "")
    __imod__ = _in_place("%", "")
    __ipow__ = _in_place("**", "")

    def __repr__(self) -> str:
        text = numpy_text(self.read(), is_repr=True)
        gap = "\n" if "\n" in text else ""
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, "
            f"numpy={gap}{text}>"
        )

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(repr(self))}</pre>"

    # Copies and files.

    _save_slice_info: Any = None

    def _set_save_slice_info(self, save_slice_info: Any) -> None:
        """Notes that it holds a part of a greater variable."""
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> Any:
        return self._save_slice_info

    def _options(self) -> dict[str, Any]:
        return {
            "trainable": self.trainable,
            "constraint": self._constraint,
            "synchronization": self._synchronization,
            "aggregation": self._aggregation,
            "shape": self.shape,
        }

    def __copy__(self) -> Variable:
        return self  # two names of one place, as in TensorFlow

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        made = Variable(self.read(), name=self._full_name, **self._options())
        memo[id(self)] = made
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.numpy(), self.dtype.name, self._full_name, self._options())

    # Of graphs only.

    @property
    def op(self) -> NoReturn:
        """Of graphs only."""
        raise AttributeError("an eager Variable has no `op`: only those of a graph do")

    @property
    def graph(self) -> NoReturn:
        """Of graphs only."""
        raise AttributeError("an eager Variable has no `graph`: only those of a graph do")

    @property
    def initial_value(self) -> NoReturn:
        """Of graphs only."""
        raise RuntimeError("an eager Variable keeps its present value, not its `initial_value`")

    def eval(self, session: Any = None) -> NoReturn:
        """Of graphs only."""
        raise RuntimeError(
            "`eval` asks a session for the value of a graph's Variable; an eager one has its "
            "value: `.numpy()`"
        )

    def to_proto(self, export_scope: str | None = None) -> NoReturn:
        """Of graphs only."""
        raise RuntimeError("an eager Variable has no `to_proto`: only those of a graph do")


def loose(shape: Any) -> Any:
    """A shape as the binding takes it: None for that of the value, `...` for an unknown rank."""
    wanted = None if shape is None else as_shape(shape)
    return wanted if wanted is None else ... if wanted.rank is None else tuple(wanted)


def _restore(value: Any, dtype: str, name: str, options: dict[str, Any]) -> Variable:
    return Variable(value, name=name, dtype=as_dtype(dtype), **options)


_holdfast.set_class("Variable", Variable)
