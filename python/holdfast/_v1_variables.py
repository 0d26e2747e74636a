"""`get_variable` and `variable_scope`: variables that are found again by their names."""

from __future__ import annotations

import contextlib
import enum
from typing import Any

from . import _holdfast
from ._dtypes import as_dtype, float32
from ._graph import GraphKeys, get_default_graph
from ._name_scope import name_scope
from ._shape import as_shape
from ._v1_initializers import GlorotUniform, Zeros
from ._variable import Variable, VariableAggregation, VariableSynchronization
from .errors import fail, unsupported

__all__ = ["AUTO_REUSE", "VariableScope", "get_variable", "get_variable_scope", "variable_scope"]


class _Reuse(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _Reuse.AUTO_REUSE


class VariableScope:
    """What `get_variable` looks at: a prefix for names, and defaults."""

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        dtype: Any = float32,
        constraint: Any = None,
        name_scope: str = "",
    ) -> None:
        self._reuse, self._name, self._name_scope = reuse, name, name_scope
        self.initializer, self.regularizer = initializer, regularizer
        self.dtype, self.constraint = dtype, constraint

    @property
    def name(self) -> str:
        """The prefix, without its last slash."""
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The prefix that ops had in it."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        """Whether variables are found (True), made (False), or either (AUTO_REUSE)."""
        return self._reuse

    def reuse_variables(self) -> None:
        """From now on variables are found, not made."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """The initializer of variables that name none."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """The regularizer of variables that name none."""
        self.regularizer = regularizer

    def global_variables(self) -> list[Any]:
        """The variables below it."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def trainable_variables(self) -> list[Any]:
        """The trainable ones below it."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def get_collection(self, name: Any) -> list[Any]:
        """What a collection holds below it."""
        return get_default_graph().get_collection(name, self._name and self._name + "/")


def get_variable_scope() -> VariableScope:
    """The scope that `get_variable` uses now."""
    graph = get_default_graph()
    if graph._variable_scope is None:
        graph._variable_scope = VariableScope(False)
    scope: VariableScope = graph._variable_scope
    return scope


class variable_scope:
    """A context in which `get_variable` and names of ops begin with a prefix."""

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: bool | None = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        for option, value in (
            ("caching_device", caching_device),
            ("partitioner", partitioner),
            ("custom_getter", custom_getter),
        ):
            if value is not None:
                unsupported(
                    f"`variable_scope({option}=...)` is not supported",
                    "a variable is one place, made by `get_variable` itself",
                    fix=f"leave `{option}` out",
                )
        if name_or_scope is None and default_name is None:
            fail("E1104", "`variable_scope` got no name", fix="give `name_or_scope`")
        self._given, self._default_name = name_or_scope, default_name
        self._initializer, self._regularizer = initializer, regularizer
        self._reuse, self._dtype, self._constraint = reuse, dtype, constraint
        self._auxiliary = auxiliary_name_scope

    def __enter__(self) -> VariableScope:
        graph, around = get_default_graph(), get_variable_scope()
        self._graph, self._around = graph, around
        elsewhere = _holdfast.current_graph() is None and _holdfast.graph_around() is None
        entered = graph.as_default() if elsewhere else None
        self._default = entered
        if entered is not None:
            entered.__enter__()
        given = self._given
        if isinstance(given, VariableScope):
            name, base = given.name, given
            leaf = given.original_name_scope or given.name.rpartition("/")[2]
        else:
            leaf = given
            if given is None:
                leaf = self._unique(graph, around.name, self._default_name)
            name, base = "/".join(part for part in (around.name, leaf) if part), around
        self._scope = None
        shown = _holdfast.get_name_scope()
        if self._auxiliary and leaf:
            self._scope = name_scope(leaf)
            shown = self._scope.__enter__()
        graph._variable_scope = VariableScope(
            (self._reuse if self._reuse is not None else False) or base.reuse or around.reuse,
            name,
            self._initializer if self._initializer is not None else base.initializer,
            self._regularizer if self._regularizer is not None else base.regularizer,
            self._dtype if self._dtype is not None else base.dtype,
            self._constraint if self._constraint is not None else base.constraint,
            shown,
        )
        scope: VariableScope = graph._variable_scope
        return scope

    @staticmethod
    def _unique(graph: Any, around: str, name: Any) -> str:
        """`name`, or `name_1`, ... where a scope around it has one already."""
        full = f"{around}/{name}"
        count = graph._used_scopes.get(full, 0)
        graph._used_scopes[full] = count + 1
        return f"{name}_{count}" if count else str(name)

    def __exit__(self, *error: object) -> None:
        if self._scope is not None:
            self._scope.__exit__(None, None, None)
        self._graph._variable_scope = self._around
        if self._default is not None:
            self._default.__exit__(None, None, None)


def _initial(initializer: Any, shape: Any, dtype: Any) -> Any:
    """What a variable begins with, as a value or a function that makes it."""
    if isinstance(initializer, type):
        initializer = initializer()
    if not callable(initializer):
        return initializer
    if shape is None or not as_shape(shape).is_fully_defined():
        return initializer  # it says itself what it makes
    dims = as_shape(shape).as_list()
    return lambda: initializer(dims, dtype)


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
    for option, value in (("partitioner", partitioner), ("custom_getter", custom_getter)):
        if value is not None:
            unsupported(
                f"`get_variable({option}=...)` is not supported",
                "a variable is one place, made by `get_variable` itself",
                fix=f"leave `{option}` out",
            )
    scope = get_variable_scope()
    graph = get_default_graph()
    full = f"{scope.name}/{name}" if scope.name else name
    dtype = as_dtype(dtype if dtype is not None else scope.dtype)
    found = graph._variables.get(full)
    if found is not None and full in graph._made_before:
        graph._made_before = graph._made_before - {full}
        return found
    if found is not None:
        return _reused(found, full, scope, shape, dtype if initializer is None else found.dtype)
    if scope.reuse is True:
        raise ValueError(
            f"`get_variable` has made no `{full}`, and its scope only reuses: leave `reuse=True` "
            "out, or make it `reuse=tf.AUTO_REUSE` to have what is missing made"
        )
    initializer = initializer if initializer is not None else scope.initializer
    if initializer is None:
        initializer = GlorotUniform() if dtype.is_floating else Zeros()
    given = not callable(initializer)
    if given and shape is not None:
        raise ValueError(f"`{full}` starts as a value, which has a shape: leave `shape` out")
    if not given and shape is None:
        fail("E1102", f"`{full}` is new and has no `shape`", "an initializer has to be told")
    if not given and not as_shape(shape).is_fully_defined():
        fail("E1102", f"`{full}` is new, and its shape {as_shape(shape)} is not fully known")
    options: dict[str, Any] = {"caching_device": caching_device, "synchronization": synchronization}
    around = _holdfast.graph_around()  # a branch or a body makes its variables in its graph
    in_graph = around is not None or _holdfast.current_graph() is not None
    if in_graph:
        options |= {"collections": collections, "validate_shape": validate_shape}
    with contextlib.nullcontext() if around is None else around.as_default(), name_scope(""):
        made = Variable(
            _initial(initializer, shape, dtype),
            trainable,
            name=full,
            dtype=_dtype_for(initializer, dtype, given),
            constraint=constraint if constraint is not None else scope.constraint,
            aggregation=aggregation,
            **options,
        )
    if in_graph:
        graph._variables[full] = made
    regularizer = regularizer if regularizer is not None else scope.regularizer
    if regularizer is not None:
        loss = regularizer(made)
        if loss is not None:
            graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return made


def _dtype_for(initializer: Any, dtype: Any, given: bool) -> Any:
    """Floats take the scope's dtype; arrays, tensors and other numbers keep their own."""
    if given and hasattr(initializer, "dtype"):
        return None
    if given and isinstance(initializer, (bool, int, str, bytes)):
        return None
    return dtype


def _reused(found: Any, full: str, scope: VariableScope, shape: Any, dtype: Any) -> Any:
    if not scope.reuse:
        raise ValueError(
            f"there is a variable `{full}` already: give the new one another name, or share it "
            "by entering the scope with `reuse=tf.AUTO_REUSE`"
        )
    if shape is not None and not as_shape(shape).is_compatible_with(found.shape):
        fail("E1102", f"`{full}` is asked for as {as_shape(shape)}, and it is {found.shape}")
    if dtype != found.dtype:
        fail("E1101", f"`{full}` is asked for as {dtype.name}, and it is {found.dtype.name}")
    return found
