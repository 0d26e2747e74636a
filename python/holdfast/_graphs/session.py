"""`tf.compat.v1.Session`: runs parts of a graph, and holds its variables' values."""

from __future__ import annotations

import collections
import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from .. import _holdfast
from .._devices.listing import list_logical_devices
from .._messages.contexts import contextmanager
from .._messages.diagnostics import mark
from .._tensors.composite import Composite
from .._tensors.symbols import is_symbol
from ..errors import fail
from .default_session import get_default_session, stack
from .graph import Graph, get_default_graph
from .operation import Operation
from .server import server_at
from .session_options import ConfigProto, measured

__all__ = [
    "InteractiveSession",
    "Session",
    "get_default_session",
]

Tensor = _holdfast.Tensor


def _tensor_behind(operation: Any) -> Any:
    """A tensor of an operation, or of those that it waits for, such as a group's; else None."""
    left, seen = [operation], set[str]()
    while left:
        op = left.pop()
        if op.outputs:
            return op.outputs[0]
        waits = [*op.control_inputs, *(tensor.op for tensor in op.inputs)]
        left += [each for each in waits if each.name not in seen]
        seen.update(each.name for each in waits)
    return None


class _Fetches:
    """What a run is asked for, in any structure: flattened for the run, and put together again."""

    def __init__(self, graph: Graph, fetches: Any) -> None:
        self._graph = graph
        self.wanted: list[Any] = []
        self._rebuild = self._plan(fetches)

    def _plan(self, fetches: Any) -> Callable[[list[Any]], Any]:
        if isinstance(fetches, Mapping):
            keys, parts = list(fetches), [self._plan(value) for value in fetches.values()]
            kind: Any = type(fetches) if isinstance(fetches, dict) else dict
            if isinstance(fetches, collections.defaultdict):
                kind = functools.partial(kind, fetches.default_factory)
            return lambda values: kind(zip(keys, (part(values) for part in parts), strict=True))
        if isinstance(fetches, (list, tuple)):
            parts = [self._plan(part) for part in fetches]
            if isinstance(fetches, list):
                return lambda values: [part(values) for part in parts]
            if hasattr(fetches, "_fields"):
                return lambda values: type(fetches)(*(part(values) for part in parts))
            return lambda values: tuple(part(values) for part in parts)
        if isinstance(fetches, Composite):
            parts = [self._plan(part) for part in fetches._tensors()]
            return lambda values: fetches._fetched([part(values) for part in parts])
        return self._leaf(fetches)

    def _leaf(self, fetch: Any) -> Callable[[list[Any]], Any]:
        if isinstance(fetch, bytes):
            fetch = fetch.decode()
        if isinstance(fetch, str):
            fetch = _named(self._graph, fetch, "fetched")
        element = getattr(fetch, "_as_graph_element", None)
        if element is not None:
            fetch = element()
        elif isinstance(fetch, _holdfast.VariableBase):
            fetch = fetch.read()
        if self._graph._closed and isinstance(fetch, (Operation, Tensor)):
            self._check_open(fetch)
        if isinstance(fetch, Operation):
            if fetch.graph is not self._graph:
                tensor = _tensor_behind(fetch)
                if tensor is not None:
                    return self._leaf(tensor)  # it is refused with both graphs' lines
                fail(
                    "E0111",
                    f"the operation `{fetch.name}` belongs to another graph than the session runs",
                    "a session runs the graph that it was opened with, and no other",
                    fix="open a session for its graph: `tf.compat.v1.Session(graph=op.graph)`",
                )
            fetch = fetch._node
        elif not isinstance(fetch, Tensor):
            fail(
                "E1104",
                f"what is of type {type(fetch).__name__} can't be fetched",
                "a fetch is a tensor, an operation, a Variable or the name of one, alone or in "
                "lists, tuples and dicts",
            )
        at = len(self.wanted)
        self.wanted.append(fetch)
        return lambda values: values[at]

    def _check_open(self, fetch: Any) -> None:
        if fetch.graph is self._graph and not self._graph.is_fetchable(fetch):
            raise ValueError(f"`{fetch.name}` may not be fetched: `prevent_fetching` said so")

    def result(self, values: list[Any]) -> Any:
        """The values in the structure that was asked for."""
        return self._rebuild(values)


def _named(graph: Graph, name: str, done: str, allow_operation: bool = True) -> Any:
    """What a name of a fetch or a feed stands for."""
    try:
        return graph.as_graph_element(name, allow_operation=allow_operation)
    except KeyError as error:
        fail(
            "E1104",
            f"{name!r} can't be {done}: the graph has nothing of that name",
            str(error.args[0]),
            fix="give the tensor itself, or the name that its `name` tells",
        )


def _feeds(graph: Graph, feed_dict: Mapping[Any, Any] | None) -> list[tuple[Any, Any]]:
    if feed_dict is not None and not isinstance(feed_dict, Mapping):
        kind = type(feed_dict).__name__
        fail("E1104", f"`feed_dict` is of type {kind}, expected a dict from tensors to values")
    feeds: list[tuple[Any, Any]] = []
    for key, value in (feed_dict or {}).items():
        feeds += (_feed(graph, tensor, given) for tensor, given in _pairs(key, value))
    return feeds


def _pairs(key: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """The tensors and values of one entry, both of which may be structures of the same form."""
    if isinstance(key, Composite):
        key, value = key._tensors(), key._fed(value)
    if not isinstance(key, tuple):
        yield key, value
        return
    if not isinstance(value, (tuple, list)) or len(value) != len(key):
        raise ValueError(
            f"`feed_dict` has a key of {len(key)} tensors, and its value is no tuple of as many"
        )
    for part, given in zip(key, value, strict=True):
        if part is not None:
            yield from _pairs(part, given)


def _arrays(values: list[Any]) -> list[Any]:
    return [None if v is None else v.numpy() for v in values]


def _key(graph: Graph, key: Any) -> Any:
    if isinstance(key, str):
        key = _named(graph, key, "fed", allow_operation=False)
    if not isinstance(key, Tensor):
        fail(
            "E1104",
            f"`feed_dict` has a key of type {type(key).__name__}, expected a tensor of the graph",
            "a run gives values to tensors",
            fix="feed a placeholder, or another tensor of the graph",
        )
    return key


def _feed(graph: Graph, key: Any, value: Any) -> tuple[Any, Any]:
    key = _key(graph, key)
    if graph._closed and not graph.is_feedable(key):
        raise ValueError(f"`{key.name}` may not be fed: `prevent_feeding` said so")
    if is_symbol(value):
        fail(
            "E1104",
            "`feed_dict` gives a tensor of a graph, which has no value, as the value of a feed",
            f"the run needs a value for `{key.name}` before it begins: {value}",
            fix="compute it first, by a `run` of its own, and feed what that gives",
        )
    if isinstance(value, Tensor) and not value._symbolic:
        return key, value
    return key, _holdfast.convert_value(value, key.dtype, False)


class Session(_holdfast.SessionBase):
    """Runs a graph. Each session has its own values of the graph's variables.

    Those with the target of a `tf.distribute.Server` share them, by the variables' names.
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if not isinstance(target, (str, bytes)):
            fail("E1104", f"`target` is of type {type(target).__name__}, expected a string")
        self._target = target.decode() if isinstance(target, bytes) else target
        self._server = server_at(self._target) if target else None
        if graph is not None and not isinstance(graph, Graph):
            fail("E1104", f"`graph` is of type {type(graph).__name__}, expected a `tf.Graph`")
        if config is not None and not isinstance(config, ConfigProto):
            fail("E1104", f"`config` is of type {type(config).__name__}, expected a `ConfigProto`")
        self._python_graph = graph if graph is not None else get_default_graph()
        self._config = config
        if config is not None:
            config.apply()
        at = mark()
        names = at.names().assigned_names if at else ()
        super().__init__(self._python_graph, names[0] if names else "")
        if self._server is not None:
            self._share(self._server._variables)
        self._contexts: list[contextlib.ExitStack] = []

    @property
    def graph(self) -> Graph:
        """The graph it runs."""
        return self._python_graph

    @property
    def graph_def(self) -> Any:
        """The graph in TensorFlow's format."""
        return self.graph.as_graph_def()

    @property
    def sess_str(self) -> bytes:
        """The target: that of its server, else empty."""
        return self._target.encode()

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Computes `fetches`: tensors, operations, names, in any nested structure.

        `feed_dict` gives tensors the values they have in this run; a key may be a tuple of them. An
        operation's result is None. `run_metadata` is told how long the run took, if `options` ask.
        """
        asked = _Fetches(self.graph, fetches)
        feeds = _feeds(self.graph, feed_dict)
        if not asked.wanted and not self.graph._size():
            raise RuntimeError("the graph that this session runs is empty: add operations first")
        with measured(options, run_metadata):
            values = self._run(asked.wanted, feeds)
        return asked.result(_arrays(values))

    def make_callable(
        self, fetches: Any, feed_list: Any = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function of the values for `feed_list` that runs `fetches`."""
        keys = list(feed_list or ())

        def call(*values: Any, **measures: Any) -> Any:
            if measures and not accept_options:
                raise TypeError(f"{next(iter(measures))!r} needs `accept_options=True`")
            if len(values) != len(keys):
                raise ValueError(f"got {len(values)} values for {len(keys)} feeds")
            return self.run(fetches, dict(zip(keys, values, strict=True)), **measures)

        return call

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        """A handle for `partial_run`: one run that is fed, and gives its results, in parts."""
        asked = _Fetches(self.graph, fetches)
        given = [_key(self.graph, feed) for feed in feeds or ()]
        return _holdfast.PartialRun(self, asked.wanted, given)

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """Some results of a run in parts. Each op runs once, in the part that needs it first."""
        if not isinstance(handle, _holdfast.PartialRun):
            kind = type(handle).__name__
            fail("E1104", f"`handle` is of type {kind}, expected what `partial_run_setup` gave")
        asked = _Fetches(self.graph, fetches)
        return asked.result(_arrays(handle.run(asked.wanted, _feeds(self.graph, feed_dict))))

    def list_devices(self) -> list[Any]:
        """The devices it can run on."""
        return list(list_logical_devices())

    def close(self) -> None:
        """Lets go of the variables' values. Nothing can be run any more."""
        self._close(False)

    @contextmanager
    def as_default(self) -> Iterator[Session]:
        """Makes it the session that `eval` and `run` of tensors and operations use."""
        stack.sessions.append(self)
        try:
            yield self
        finally:
            if stack.sessions and stack.sessions[-1] is not self:
                stack.sessions.remove(self)
                raise AssertionError(
                    "a session ends being the default while one that became it later still is: "
                    "contexts end in the reverse order in which they began"
                )
            stack.sessions.pop()

    def __enter__(self) -> Self:
        stack = contextlib.ExitStack()
        stack.enter_context(self.graph.as_default())
        stack.enter_context(self.as_default())
        self._contexts.append(stack)
        return self

    def __exit__(self, *_: object) -> None:
        self._contexts.pop().close()
        if not self._contexts:
            self._close(True)


class InteractiveSession(Session):
    """A session that is the default one as soon as it is made, for notebooks."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._explicit = contextlib.ExitStack()
        if graph is not None:
            self._explicit.enter_context(graph.as_default())
        stack.sessions.append(self)

    def close(self) -> None:
        """Closes it, and makes it the default one no more."""
        if self in stack.sessions:
            stack.sessions.remove(self)
            self._explicit.close()
        self._close(False)
