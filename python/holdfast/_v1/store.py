"""`get_variable`: variables that are found again by their names."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import _holdfast
from .._graphs.graph import GraphKeys, get_default_graph, graph_around
from .._graphs.name_scope import name_scope
from .._messages.contexts import contextmanager
from .._tensors import registry
from .._tensors.dtypes import as_dtype
from .._tensors.shape import as_shape
from .._tensors.tensor import convert_to_tensor
from .._variables.spec import VariableAggregation, VariableSynchronization
from .._variables.variable import Variable
from ..errors import fail
from .initializers import GlorotUniform, Zeros
from .partition import PartitionedVariable, PartitionInfo, SaveSliceInfo, partitions_of, slices
from .scopes import AUTO_REUSE, VariableScope, get_variable_scope, variable_scope

Variable.SaveSliceInfo = SaveSliceInfo  # type: ignore[attr-defined]

__all__ = [
    "EagerVariableStore",
    "VariableStore",
    "create_partitioned_variables",
    "get_local_variable",
    "get_variable",
    "store_here",
    "used",
]


class VariableStore:
    """Variables by their names. `keeps_eager`: also those that are made outside of graphs."""

    def __init__(self, keeps_eager: bool = False) -> None:
        self.variables: dict[str, Any] = {}
        self.partitioned: dict[str, PartitionedVariable] = {}
        self.keeps_eager = keeps_eager

    def get(self, name: str, custom_getter: Any, options: dict[str, Any]) -> Any:
        """The variable `name`: found or made, as `options["reuse"]` says."""
        if custom_getter is None:
            return self._true_getter(name, **options)
        if not callable(custom_getter):
            kind = type(custom_getter).__name__
            fail("E1104", f"`custom_getter` is of type {kind}, which is not callable")
        newer = ("constraint", "synchronization", "aggregation")
        if not _takes_anything(custom_getter):
            known = _parameters(custom_getter)
            options = {k: v for k, v in options.items() if k in known or k not in newer}
        return custom_getter(getter=self._true_getter, name=name, **options)

    def _true_getter(
        self, name: str, shape: Any = None, partitioner: Any = None, reuse: Any = None, **rest: Any
    ) -> Any:
        scalar = isinstance(shape, Sequence) and not shape
        if partitioner is not None and not scalar:
            if not callable(partitioner):
                raise ValueError(f"`partitioner` is {partitioner!r}, which is not callable")
            return self._parts(name, shape, partitioner, reuse, **rest)
        if reuse is True and name in self.partitioned:
            return self._parts(name, shape, None, reuse, **rest)
        if f"{name}/part_0" in self.variables:
            raise ValueError(
                f"`{name}` is a variable in parts, and this `get_variable` has no `partitioner`"
            )
        return self._single(name, shape, reuse, **rest)

    def _keeps(self) -> bool:
        return self.keeps_eager or _holdfast.is_tracing()

    # One variable.

    def _single(
        self,
        name: str,
        shape: Any = None,
        reuse: Any = None,
        *,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        partition_info: Any = None,
        **rest: Any,
    ) -> Any:
        dtype = as_dtype(dtype)
        found = self.variables.get(name)
        given = initializer is not None and not callable(initializer)
        if given and shape is not None:
            raise ValueError(f"`{name}` starts as a value, which has a shape: leave `shape` out")
        graph = get_default_graph()
        if found is not None and name in graph._made_before:
            graph._made_before = graph._made_before - {name}
            return found
        if found is not None:
            return _reused(found, name, reuse, shape, dtype)
        if reuse is True:
            raise ValueError(
                f"`get_variable` has made no `{name}`, and its scope only reuses: leave "
                "`reuse=True` out, or make it `reuse=tf.AUTO_REUSE` to have what is missing made"
            )
        if initializer is None:
            initializer = _default_initializer(name, dtype)
        around = graph_around()  # a branch or a body makes its variables in its graph
        with contextlib.nullcontext() if around is None else around.as_default():
            if given:
                initial, dtype = _as_it_is(initializer, dtype)
            else:
                initial, dtype = _initial(name, initializer, shape, dtype, partition_info)
            with name_scope(""):
                made = Variable(initial, name=name, dtype=dtype, **rest)
        if self._keeps():
            self.variables[name] = made
            if self.keeps_eager and not _holdfast.is_tracing():
                get_default_graph()._collect_variable(made)
        if regularizer is not None:
            with name_scope(f"{name}/Regularizer/"):
                loss = regularizer(made)
            if loss is not None:
                get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
        return made

    # One in parts.

    def _parts(
        self,
        name: str,
        shape: Any,
        partitioner: Any,
        reuse: Any,
        *,
        dtype: Any = None,
        initializer: Any = None,
        **rest: Any,
    ) -> PartitionedVariable:
        if name in self.variables:
            raise ValueError(
                f"`{name}` is one variable, and this `get_variable` has a `partitioner`"
            )
        dtype = as_dtype(dtype)
        whole = as_shape(shape)
        given = initializer is not None and not callable(initializer)
        if given:
            initializer = convert_to_tensor(initializer, None if _typed(initializer) else dtype)
            whole, dtype = whole.merge_with(initializer.shape), initializer.dtype
        cut = partitions_of(partitioner, whole, dtype) if partitioner is not None else None
        found = self.partitioned.get(name)
        if found is not None:
            _reused(found, name, reuse, shape, dtype)
            if cut is not None and found._get_partitions() != cut:
                raise ValueError(
                    f"`{name}` is asked for in the parts {cut}, and it has the parts "
                    f"{found._get_partitions()}"
                )
            return found
        if reuse is True or cut is None:
            raise ValueError(
                f"`get_variable` has made no `{name}` in parts, and its scope only reuses: leave "
                "`reuse=True` out, or make it `reuse=tf.AUTO_REUSE`"
            )
        full = [int(size or 0) for size in whole.as_list()]
        parts = []
        for number, (offset, size) in enumerate(slices(full, cut)):
            part = f"{name}/part_{number}"
            start: Any = initializer
            part_shape: list[int] | None = size
            if given:
                with name_scope(f"{part}/PartitionedInitializer"):
                    start = registry.function("slice")(initializer, offset, size)
                part_shape = None
            info = PartitionInfo(full, offset)
            made = self._single(
                part,
                part_shape,
                reuse,
                dtype=dtype,
                initializer=start,
                partition_info=info,
                **rest,
            )
            made._set_save_slice_info(SaveSliceInfo(name, full, offset, size))
            parts.append(made)
        whole_variable = PartitionedVariable(name, whole, dtype, parts, cut)
        if self._keeps():
            self.partitioned[name] = whole_variable
        return whole_variable


def _typed(value: Any) -> bool:
    return hasattr(value, "dtype")


def _default_initializer(name: str, dtype: Any) -> Any:
    if dtype.is_floating:
        return GlorotUniform()
    if dtype.is_integer or dtype.is_bool or dtype.name == "string":
        return Zeros()
    raise ValueError(f"`{name}` is of {dtype.name}, which has no initializer: give one")


def _as_it_is(value: Any, dtype: Any) -> tuple[Any, Any]:
    """An initial value and its dtype: floats take the scope's, what else has one keeps it."""
    if _typed(value) or isinstance(value, (bool, int, str, bytes)):
        return value, None
    return value, dtype


def _initial(
    name: str, initializer: Any, shape: Any, dtype: Any, partition_info: Any
) -> tuple[Callable[[], Any], Any]:
    """A function that makes the initial value, and its dtype."""
    if isinstance(initializer, type):
        initializer = initializer()
    parameters = _parameters(initializer)
    if shape is not None and as_shape(shape).is_fully_defined():
        dims = as_shape(shape).as_list()
        if "partition_info" in parameters:
            return lambda: initializer(dims, dtype=dtype, partition_info=partition_info), dtype
        return lambda: initializer(dims, dtype=dtype), dtype
    if shape is None and all(p.default is not p.empty for p in parameters.values()):
        return initializer, None  # it says itself what it makes
    if shape is None:
        fail("E1102", f"`{name}` is new and has no `shape`", "an initializer has to be told")
    fail("E1102", f"`{name}` is new, and its shape {as_shape(shape)} is not fully known")


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    try:
        named = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    rest = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {name: p for name, p in named.items() if p.kind not in rest}


def _takes_anything(function: Any) -> bool:
    """Whether it takes keywords that it does not name; a getter of old programs may not."""
    try:
        named = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    return any(p.kind is p.VAR_KEYWORD for p in named.values())


def _reused(found: Any, name: str, reuse: Any, shape: Any, dtype: Any) -> Any:
    if reuse is False:
        raise ValueError(
            f"there is a variable `{name}` already: give the new one another name, or share it "
            "by entering the scope with `reuse=tf.AUTO_REUSE`"
        )
    if shape is not None and not as_shape(shape).is_compatible_with(found.shape):
        fail("E1102", f"`{name}` is asked for as {as_shape(shape)}, and it is {found.shape}")
    if dtype != found.dtype:
        raise ValueError(
            f"`{name}` is asked for with the dtype {dtype.name}, and it is {found.dtype.name}"
        )
    return found


def store_here() -> VariableStore:
    """The store that `get_variable` uses now: the default graph's."""
    graph = get_default_graph()
    if graph._store is None:
        graph._store = VariableStore()
    found: VariableStore = graph._store
    return found


@contextmanager
def used(store: VariableStore) -> Iterator[None]:
    """A context in which the default graph's variables are those of `store`."""
    graph = get_default_graph()
    before, graph._store = graph._store, store
    try:
        yield
    finally:
        graph._store = before


class EagerVariableStore:
    """While it is the default, `get_variable` in eager code finds again what it made."""

    def __init__(self, store: VariableStore | None = None) -> None:
        if store is not None and not store.keeps_eager:
            raise ValueError(
                "an EagerVariableStore is made from a store that keeps eager variables"
            )
        self._store = store if store is not None else VariableStore(keeps_eager=True)

    def as_default(self) -> contextlib.AbstractContextManager[None]:
        """Makes it the store of `get_variable`."""
        return used(self._store)

    def variables(self) -> list[Any]:
        """All its variables, by name."""
        return sorted(self._store.variables.values(), key=lambda v: str(v.name))

    def trainable_variables(self) -> list[Any]:
        """Those that tapes watch."""
        return [v for v in self.variables() if v.trainable]

    def non_trainable_variables(self) -> list[Any]:
        """The others."""
        return [v for v in self.variables() if not v.trainable]

    def copy(self) -> EagerVariableStore:
        """Another store whose variables have the same names and values, and are others."""
        made = EagerVariableStore()
        for name, variable in self._store.variables.items():
            # A scope in force has had its say in the name already.
            with name_scope(""):
                made._store.variables[name] = Variable(
                    variable.read(), variable.trainable, name=name, dtype=variable.dtype
                )
        return made


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """The variable called `name` in the scope in force: found or made, as its `reuse` says."""
    scope: VariableScope = get_variable_scope()
    store = store_here()
    full = "/".join(part for part in (scope.name, name) if part)
    if dtype is not None and initializer is not None and not callable(initializer):
        own = convert_to_tensor(initializer, None if _typed(initializer) else dtype).dtype
        if own != as_dtype(dtype):
            raise ValueError(
                f"the dtype of `{full}`'s initial value, {own.name}, and `dtype`, "
                f"{as_dtype(dtype).name}, don't match"
            )
    reuse: Any = scope.reuse or False
    if not _holdfast.is_tracing():
        reuse = AUTO_REUSE if store.keeps_eager else False
    if trainable is None:
        trainable = synchronization is not VariableSynchronization.ON_READ
    options = {
        "shape": shape,
        "dtype": as_dtype(dtype if dtype is not None else scope.dtype),
        "initializer": initializer if initializer is not None else scope.initializer,
        "regularizer": regularizer if regularizer is not None else scope.regularizer,
        "reuse": reuse,
        "trainable": trainable,
        "collections": collections,
        "caching_device": caching_device if caching_device is not None else scope.caching_device,
        "partitioner": partitioner if partitioner is not None else scope.partitioner,
        "validate_shape": validate_shape,
        "use_resource": use_resource if use_resource is not None else scope.use_resource,
        "constraint": constraint if constraint is not None else scope.constraint,
        "synchronization": synchronization,
        "aggregation": aggregation,
    }
    getter = custom_getter if custom_getter is not None else scope.custom_getter
    # Variables take their names from variable scopes alone.
    with name_scope(""):
        return store.get(full, getter, options)


def get_local_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = False,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """`get_variable` for what is no part of a model: it is not trained, and not global."""
    return get_variable(
        name,
        shape,
        dtype,
        initializer,
        regularizer,
        trainable=False,
        collections=[*(collections or ()), GraphKeys.LOCAL_VARIABLES],
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        custom_getter=custom_getter,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def create_partitioned_variables(
    shape: Any,
    slicing: Any,
    initializer: Any,
    dtype: Any = None,
    trainable: bool = True,
    collections: Any = None,
    name: str | None = None,
    reuse: Any = None,
) -> list[Any]:
    """The parts of a variable that is cut as `slicing` says: how many parts along each axis."""
    whole, cut = as_shape(shape), list(slicing)
    if whole.rank != len(cut):
        raise ValueError(f"`slicing` is {cut}, and `shape` is {whole}")
    if any(size < 1 or size > dim for size, dim in zip(cut, whole.as_list(), strict=True)):
        raise ValueError(f"`slicing` is {cut}, and `shape` {whole} can't be cut so")
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        made = get_variable(
            "",
            None if not callable(initializer) else whole,
            dtype if dtype is not None else getattr(initializer, "dtype", None),
            initializer,
            trainable=trainable,
            collections=collections,
            partitioner=lambda **_: cut,
        )
    return list(made)
