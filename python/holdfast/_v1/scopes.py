"""`variable_scope`: where `get_variable` looks, and its defaults. Each thread has its own."""

from __future__ import annotations

import contextlib
import enum
import threading
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._graphs.control import graph_for
from .._graphs.graph import Graph, GraphKeys, get_default_graph
from .._graphs.name_scope import name_scope
from .._tensors.dtypes import float32
from ..errors import fail, unsupported

__all__ = [
    "AUTO_REUSE",
    "VariableScope",
    "get_variable_scope",
    "variable_op_scope",
    "variable_scope",
]


class _Reuse(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _Reuse.AUTO_REUSE

_DEFAULTS = (
    *("initializer", "regularizer", "caching_device", "partitioner", "custom_getter", "dtype"),
    *("use_resource", "constraint"),
)


def _check_caching_device(caching_device: Any) -> None:
    if caching_device:
        unsupported(
            "`variable_scope(caching_device=...)` is not supported",
            "a variable is read on the device that holds it",
            fix="leave `caching_device` out",
        )


class VariableScope:
    """What `get_variable` looks at: a prefix for names, and defaults."""

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        name_scope: str = "",
        dtype: Any = float32,
        use_resource: bool | None = None,
        constraint: Any = None,
    ) -> None:
        _check_caching_device(caching_device)
        # Eager variables are found through an EagerVariableStore, if at all: it says what is found.
        self._reuse = reuse if _holdfast.is_tracing() else AUTO_REUSE
        self._name, self._name_scope = name, name_scope
        self.initializer, self.regularizer = initializer, regularizer
        self.caching_device, self.partitioner = caching_device, partitioner
        self.custom_getter, self.dtype, self.constraint = custom_getter, dtype, constraint
        self.use_resource = use_resource

    @property
    def name(self) -> str:
        """The prefix, without its last slash."""
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The prefix that ops had in it when it was made."""
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

    def set_partitioner(self, partitioner: Any) -> None:
        """What cuts variables that say nothing themselves into parts."""
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        """What stands before `get_variable`."""
        self.custom_getter = custom_getter

    def set_dtype(self, dtype: Any) -> None:
        """The dtype of variables that name none."""
        self.dtype = dtype

    def set_caching_device(self, caching_device: Any) -> None:
        """Only none: a variable is read on the device that holds it."""
        _check_caching_device(caching_device)
        self.caching_device = caching_device

    def set_use_resource(self, use_resource: bool) -> None:
        """Kept: every variable is a resource."""
        self.use_resource = use_resource

    def global_variables(self) -> list[Any]:
        """The variables below it."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """The local ones below it."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def trainable_variables(self) -> list[Any]:
        """The trainable ones below it."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def get_collection(self, name: Any) -> list[Any]:
        """What a collection holds below it."""
        return get_default_graph().get_collection(name, self._name and self._name + "/")


class _Here(threading.local):
    """The scope in force in one graph on this thread, and how often names were used there."""

    def __init__(self) -> None:
        self.scope: VariableScope | None = None
        self.opened: dict[str, int] = {}

    def current(self) -> VariableScope:
        if self.scope is None:
            self.scope = VariableScope(False)
        return self.scope

    def open(self, name: str) -> None:
        self.opened[name] = self.opened.get(name, 0) + 1

    def close_below(self, name: str) -> None:
        for known in self.opened:
            if known.startswith(f"{name}/"):
                self.opened[known] = 0


def _here(graph: Graph) -> _Here:
    if graph._scopes is None:
        graph._scopes = _Here()
    found: _Here = graph._scopes
    return found


def get_variable_scope() -> VariableScope:
    """The scope that `get_variable` uses now, on this thread."""
    return _here(get_default_graph()).current()


def _chained(inner: Any, outer: Any) -> Any:
    """Both custom getters: the inner one's `getter` is the outer one."""
    if outer is None:
        return inner

    def both(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return inner(lambda *a, **k: outer(getter, *a, **k), *args, **kwargs)

    return both


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
        if name_or_scope is None and default_name is None:
            raise TypeError("`variable_scope` got no name: give `name_or_scope` or `default_name`")
        if not isinstance(name_or_scope, (str, VariableScope, type(None))):
            kind = type(name_or_scope).__name__
            fail("E1104", f"`name_or_scope` is of type {kind}, expected a name or a VariableScope")
        if not isinstance(auxiliary_name_scope, bool):
            kind = type(auxiliary_name_scope).__name__
            fail("E1104", f"`auxiliary_name_scope` is of type {kind}, expected a bool")
        if reuse not in (None, True, False, AUTO_REUSE):
            raise ValueError(f"`reuse` is {reuse!r}, expected True, False, None or AUTO_REUSE")
        if reuse and name_or_scope is None:
            raise ValueError(
                "`reuse` finds variables of a scope that was there before, and `default_name` "
                "makes a new one each time: give `name_or_scope`"
            )
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(f"`custom_getter` is {custom_getter!r}, which is not callable")
        _check_caching_device(caching_device)
        self._given, self._default_name = name_or_scope, default_name
        self._values = values
        self._reuse, self._auxiliary = reuse, auxiliary_name_scope
        options = locals()
        self._options = {name: options[name] for name in _DEFAULTS if options[name] is not None}

    def __enter__(self) -> VariableScope:
        with contextlib.ExitStack() as entered:
            graph = graph_for(self._values or ()) if not _holdfast.is_tracing() else None
            if graph is not None:
                entered.enter_context(graph.as_default())
            self._here = here = _here(get_default_graph())
            self._around = around = here.current()
            given: Any = self._given
            jump = isinstance(given, VariableScope)
            leaf = given.name.rpartition("/")[2] if jump else given
            leaf = self._default_name if leaf is None else leaf
            shown = _holdfast.get_name_scope()
            if self._auxiliary and leaf:
                shown = entered.enter_context(name_scope(leaf))
            if given is None:
                leaf = _unique(here, around.name, leaf)
            name = f"{around.name}/{leaf}" if around.name else leaf
            name = given.name if jump else name
            here.open(name)
            self._opened_before = dict(here.opened) if jump else None
            here.scope = self._inside = self._made(given if jump else around, name, shown, jump)
            self._exits = entered.pop_all()
        return self._inside

    def _made(self, base: VariableScope, name: str, shown: str, jump: bool) -> VariableScope:
        options = {option: getattr(base, option) for option in _DEFAULTS} | self._options
        if self._options.get("custom_getter") is not None:
            options["custom_getter"] = _chained(options["custom_getter"], base.custom_getter)
        original = base.original_name_scope if jump else shown
        return VariableScope(self._reuse or base.reuse, name, name_scope=original, **options)

    def __exit__(self, *error: object) -> None:
        if self._here.scope is not self._inside:
            raise RuntimeError(
                f"the variable scope `{self._inside.name}` ends while one that was entered in it "
                "is still open: scopes end in the reverse order in which they began"
            )
        if self._opened_before is not None:
            self._here.opened = (
                self._opened_before
            )  # a visit: counting goes on as if there was none
        else:
            self._here.close_below(self._inside.name)
        self._here.scope = self._around
        self._exits.close()


def _unique(here: _Here, around: str, name: str) -> str:
    """`name`, or `name_1`, ... where the scope around it has one already."""
    prefix = f"{around}/" if around else ""
    found, number = name, 0
    while here.opened.get(prefix + found):
        number += 1
        found = f"{name}_{number}"
    return found


def variable_op_scope(
    values: Any,
    name_or_scope: Any,
    default_name: str | None = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: bool | None = None,
    constraint: Any = None,
) -> variable_scope:
    """`variable_scope`, whose arguments stand in another order."""
    return variable_scope(
        name_or_scope,
        default_name,
        values,
        initializer,
        regularizer,
        caching_device,
        partitioner,
        custom_getter,
        reuse,
        dtype,
        use_resource,
        constraint,
    )
